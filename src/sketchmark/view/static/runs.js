// All runs, and the leaderboard.

import { address, get } from "./api.js";
import { el, empty, name, pill, table } from "./dom.js";
import { bracket, count, noScore, percent, played, points, scoredBy, verdict } from "./format.js";

export async function showRuns(parameters, go) {
  const data = await get("runs");
  if (data.runs.length === 1 && !Object.keys(data.troubles).length && !parameters.all) {
    history.replaceState(null, "", address("/run", { run: data.runs[0].run }));
    return (await import("./run.js")).showRun({ run: data.runs[0].run }, go);
  }
  const content = el("div");
  const draw = (now) => content.replaceChildren(...sections(now, parameters.sort, go));
  draw(data);
  return {
    title: "Runs",
    trail: [["Runs"]],
    content: [content],
    refresh: async () => draw(await get("runs")),
  };
}

function sections({ runs, troubles }, sort, go) {
  if (!runs.length && !Object.keys(troubles).length) {
    return [empty("No runs here yet", "sketchmark run --model player/sketcher --tasks maze --mode direct,visual_cot makes one in seconds.")];
  }
  return [
    el("h1", {}, "Runs"),
    el("div", { class: "cards" }, runs.map(card)),
    Object.keys(troubles).length ? brokenRuns(troubles) : null,
    runs.length ? leaderboard(runs, sort, go) : null,
  ].filter(Boolean);
}

function card(run) {
  const tasks = [...new Set(run.cells.map((cell) => cell.task))];
  return el(
    "a",
    { class: "card run", href: address("/run", { run: run.run }) },
    el("strong", {}, name(run.model || "unnamed model")),
    el("span", { class: "quiet" }, name(run.run)),
    el("span", {}, run.state === "finished" ? null : pill(run.state, run.state), ` ${count(run.episodes, "episode")}`),
    run.why && run.state !== "finished" ? el("span", { class: `why ${run.state}` }, name(run.why)) : null,
    el("span", { class: "quiet" }, tasks.slice(0, 5).join(", "), tasks.length > 5 ? ` and ${tasks.length - 5} more` : ""),
    scored(run.cells),
    failed(run.cells),
    el("span", { class: "quiet" }, run.started.replace("T", " ").replace("Z", " UTC")),
  );
}

const ON_A_CARD = 6;

/** The headline score of each cell; of many the first, the run's own page has all. */
function scored(cells) {
  const having = cells.filter((cell) => cell.episodes);
  const lines = having.slice(0, ON_A_CARD).map((cell) => {
    const found = cell.metrics[cell.headline];
    const value = found ? [el("strong", {}, percent(found.mean, found.ci95)), " ", el("span", { class: "quiet whole" }, `${bracket(found.ci95)} n ${found.n}`)] : noScore(cell);
    return el("li", {}, name(`${cell.task} ${played(cell)}`), " ", value);
  });
  const more = having.length - ON_A_CARD;
  return lines.length ? el("ul", { class: "scores" }, lines, more > 0 ? el("li", { class: "quiet" }, `and ${more} more`) : null) : null;
}

/** Kinds of trouble over all cells. */
function failed(cells) {
  const counts = new Map();
  for (const [kind, number] of cells.flatMap((cell) => Object.entries(cell.failures))) counts.set(kind, (counts.get(kind) ?? 0) + number);
  return counts.size ? el("span", { class: "failures" }, name([...counts].map(([kind, number]) => `${kind} ${number}`).join(", "))) : null;
}

function brokenRuns(troubles) {
  return el(
    "details",
    { class: "trouble" },
    el("summary", {}, count(Object.keys(troubles).length, "folder"), " could not be read"),
    el("ul", {}, Object.entries(troubles).map(([key, why]) => el("li", {}, name(key), ": ", why))),
  );
}

/** One row per run, one column per task: direct → visual_cot, and the gain. */
function leaderboard(runs, sort, go) {
  const tasks = [...new Set(runs.flatMap((run) => run.standings.map((one) => one.task)))];
  const best = (run, task) => Math.max(-1, ...standings(run, task).map((one) => one.score?.mean ?? -1));
  const by = tasks.includes(sort) ? sort : tasks[0];
  const ordered = [...runs].sort((a, b) => best(b, by) - best(a, by));
  const chosen = new Set();
  const button = el("button", { type: "button", disabled: true }, "Compare two runs");
  button.addEventListener("click", () => {
    const [a, b] = [...chosen];
    go(address("/compare", { a, b }));
  });
  const choose = (run) =>
    el("input", {
      type: "checkbox",
      "aria-label": `Choose ${run.run} to compare`,
      onchange: (event) => {
        chosen[event.target.checked ? "add" : "delete"](run.run);
        button.disabled = chosen.size !== 2;
      },
    });
  const scorings = scoredBy(runs.flatMap((run) => run.standings));
  const mixed = scorings.includes(",");
  const columns = [
    "Run",
    ...tasks.map((task) =>
      task === by ? `${task} ↓` : el("a", { href: address("/", { sort: task, all: 1 }) }, task),
    ),
  ];
  const rows = ordered.map((run) => [
    el("label", { class: "choose" }, choose(run), el("span", {}, name(run.model), el("br"), el("span", { class: "quiet" }, name(run.run)))),
    ...tasks.map((task) => standing(run, task, mixed)),
  ]);
  const published = publishedRows(runs, tasks);
  return el(
    "section",
    {},
    el("div", { class: "bar" }, el("h2", {}, "Leaderboard"), button),
    table(`Headline score of each task, in percent with 95 % intervals, by ${scorings || "no scoring yet"}`, columns, [...rows, ...published]),
    published.length ? el("p", { class: "quiet" }, "Rows marked published are others’ figures, copied from their pages, and in no statistic here: their data, protocol and reading of answers may differ (sketchmark compare RUN --published). From: ", sources(runs).map((source, at) => [at ? "; " : "", name(source)]), ".") : null,
  );
}

const sources = (runs) => [...new Set(runs.flatMap((run) => run.published).map((one) => one.source))];

/** Others' figures for the same tasks, a row for each model of a source, best first; they cannot be chosen. */
function publishedRows(runs, tasks) {
  const figures = new Map();
  for (const one of runs.flatMap((run) => run.published)) figures.set(JSON.stringify([one.source, one.model, one.task, one.mode]), one);
  const rows = new Map();
  for (const one of figures.values()) {
    const key = JSON.stringify([one.source, one.model]);
    rows.set(key, [...(rows.get(key) ?? []), one]);
  }
  const best = (of) => Math.max(...of.map((one) => one.value));
  return [...rows.values()].sort((a, b) => best(b) - best(a)).map((of) => [
    el("span", { title: of[0].source }, pill("published"), " ", name(of[0].model)),
    ...tasks.map((task) =>
      of
        .filter((one) => one.task === task)
        .map((one) =>
          el("div", { class: "standing" }, el("span", { class: "quiet" }, one.mode), percent(one.value), el("span", { class: "quiet" }, one.n ? `n ${one.n}` : "")),
        ),
    ),
  ]);
}

const standings = (run, task) => run.standings.filter((one) => one.task === task && one.canvas === "own");

function standing(run, task, mixed) {
  const shown = standings(run, task).filter((one) => one.score || one.problem);
  if (!shown.length) return el("span", { class: "quiet" }, "–");
  return shown.map((one) => {
    if (!one.score) return el("div", { class: "standing" }, el("span", { class: "quiet" }, `${one.mode} ${noScore(one)}`));
    return el(
      "div",
      { class: "standing" },
      el("span", { class: "quiet" }, mixed ? `${one.mode}, ${one.scoring}` : one.mode),
      el("a", { href: address("/samples", { run: run.run, task, mode: one.mode }) }, `${percent(one.score.mean, one.score.ci95)}`),
      el("span", { class: "quiet" }, bracket(one.score.ci95)),
      one.gain ? pill(points(one.gain.gain, one.gain.ci95), verdict(one.gain)) : null,
      el("span", { class: "quiet" }, `n ${one.n}`),
    );
  });
}
