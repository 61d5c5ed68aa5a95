// The leaderboard: one row per run, direct → drawn for every task.

import { address, get, thumbnail } from "./api.js";
import { drawing, el, empty, name, pill, sign } from "./dom.js";
import { bracket, brief, count, day, noScore, percent, points, scoredBy, shortDay, verdict } from "./format.js";

const MOST_TASKS = 4;
const GLYPH = { better: "▲", worse: "▼" };

export async function showRuns(parameters, go) {
  const data = await get("runs");
  if (data.runs.length === 1 && !Object.keys(data.troubles).length && !parameters.all) {
    history.replaceState(null, "", address("run", { run: data.runs[0].run }));
    return (await import("./run.js")).showRun({ run: data.runs[0].run }, go);
  }
  const content = el("div");
  const state = { sort: parameters.sort ?? "", text: parameters.text ?? "", tag: parameters.tag ?? "", group: parameters.group ?? "folder", tasks: parameters.tasks ?? "", chosen: new Set() };
  let now = data;
  const field = searchField(state, () => drawRows());
  const change = (more) => {
    Object.assign(state, more);
    const { chosen: _, ...kept } = state;
    history.replaceState(null, "", address("", { ...kept, group: kept.group === "folder" ? "" : kept.group, all: 1 }));
    draw();
  };
  const host = el("div");
  const drawRows = () => host.replaceChildren(...board(now, state, change, go));
  const draw = () => {
    content.replaceChildren(...opening(now), now.runs.length ? toolbar(now, state, change, field, go) : "", host);
    drawRows();
  };
  draw();
  const sortBy = (at) => {
    const task = tasksOf(now.runs, state)[at];
    return task === undefined ? false : change({ sort: task });
  };
  return {
    title: "Runs",
    trail: [["Runs"]],
    content: [content],
    refresh: async () => {
      now = await get("runs");
      if (document.activeElement !== field) draw();
      else drawRows();
    },
    keys: {
      j: ["j k", "row", () => step(1)],
      k: ["", "", () => step(-1)],
      Enter: ["Enter", "open", () => document.activeElement?.closest("tr")?.querySelector("a")?.click() ?? false],
      x: ["x", "choose", () => toggleRow()],
      c: ["c", "compare chosen", () => compareChosen(state, go)],
      "/": ["/", "filter", () => field.focus()],
      1: ["1 2 3", "sort by task", () => sortBy(0)],
      2: ["", "", () => sortBy(1)],
      3: ["", "", () => sortBy(2)],
    },
  };
}

function opening({ runs, troubles }) {
  if (!runs.length && !Object.keys(troubles).length) {
    return [empty("No runs here yet", "sketchmark run --model player/sketcher --tasks maze --mode direct,visual_cot makes one in seconds.")];
  }
  const tasks = new Set(runs.flatMap((run) => Object.keys(run.tasks)));
  const episodes = runs.reduce((sum, run) => sum + run.episodes, 0);
  return [
    el("h1", {}, "Does drawing help them think?"),
    el("p", { class: "lede" }, `${count(runs.length, "run")}, ${count(tasks.size, "task")}, ${count(episodes, "episode")}: the same samples answered `, el("b", {}, "directly"), " and ", el("b", {}, "with drawings"), "."),
    Object.keys(troubles).length ? brokenRuns(troubles) : null,
  ].filter(Boolean);
}

function searchField(state, redraw) {
  const field = el("input", { type: "search", placeholder: "Model, folder or tag", "aria-label": "Filter the runs", value: state.text });
  field.addEventListener("input", () => {
    state.text = field.value.trim().toLowerCase();
    redraw();
  });
  return field;
}

function toolbar({ runs }, state, change, field, go) {
  const tags = [...new Set(runs.flatMap((run) => run.tags))].sort();
  const groups = [["folder", "By folder"], ...(tags.length ? [["tag", "By tag"]] : []), ["none", "One list"]];
  return el(
    "div",
    { class: "bar tools" },
    field,
    el("span", { class: "seg", role: "group", "aria-label": "Group" }, groups.map(([value, text]) => el("button", { type: "button", "aria-pressed": String(state.group === value), onclick: () => change({ group: value }) }, text))),
    tags.length
      ? el("select", { "aria-label": "Tag", onchange: (event) => change({ tag: event.target.value }) }, el("option", { value: "" }, "any tag"), tags.map((tag) => el("option", { value: tag, selected: state.tag === tag }, tag)))
      : null,
    taskPicker(runs, state, change),
    el("span", { class: "grow" }),
    el(
      "span",
      { class: "legend" },
      el("span", {}, el("i", { class: "dot hollow" }), " direct"),
      el("span", {}, el("i", { class: "dot" }), " drawn, 95% interval"),
      runs.some((run) => run.people) ? el("span", {}, el("i", { class: "people-line" }), " people") : null,
      el("span", {}, el("b", { class: "good" }, "▲ +65.0"), " settled gain"),
      el("span", {}, el("b", {}, "● ±0.0"), " unclear"),
    ),
    el("button", { type: "button", id: "compare", disabled: state.chosen.size < 2, onclick: () => compareChosen(state, go) }, compareText(state)),
  );
}

const compareText = ({ chosen }) => (chosen.size > 1 ? `Compare ${chosen.size} runs` : "Compare: choose runs");

function compareChosen({ chosen }, go) {
  const runs = [...chosen];
  if (runs.length < 2) return false;
  if (runs.length === 2) return go(address("compare", { a: runs[0], b: runs[1] }));
  return go(address("several", Object.fromEntries(runs.map((run, at) => [`r${at + 1}`, run]))));
}

/** Beyond four tasks the reader chooses the columns; else the page would scroll sideways. */
function taskPicker(runs, state, change) {
  const all = allTasks(runs);
  if (all.length <= MOST_TASKS) return null;
  const shown = tasksOf(runs, state);
  return el(
    "details",
    { class: "picker" },
    el("summary", { class: "button" }, `${shown.length} of ${all.length} tasks`),
    el(
      "div",
      { class: "panel" },
      all.map((task) =>
        el("label", {}, el("input", { type: "checkbox", checked: shown.includes(task), onchange: (event) => change({ tasks: (event.target.checked ? [...shown, task] : shown.filter((one) => one !== task)).slice(-MOST_TASKS).join(",") }) }), " ", name(task)),
      ),
    ),
  );
}

const allTasks = (runs) => [...new Set(runs.flatMap((run) => Object.keys(run.tasks)))];
function tasksOf(runs, state) {
  const all = allTasks(runs);
  const chosen = state.tasks.split(",").filter((task) => all.includes(task));
  return (chosen.length ? all.filter((task) => chosen.includes(task)) : all).slice(0, MOST_TASKS);
}

const score = (run, task) => run.tasks[task]?.drawn?.mean ?? run.tasks[task]?.direct?.mean ?? -Infinity;
const SORTS = {
  model: (run) => run.model,
  n: (run) => -Math.max(0, ...Object.values(run.tasks).map((task) => task.n)),
  cost: (run) => -(run.usage.calls ?? 0),
  started: (run) => run.started,
};

/** Best first; ties by model and run, as the server orders them and as the terminal prints them. */
function sorted(runs, state, tasks) {
  const key = SORTS[state.sort] ?? ((run) => -score(run, tasks.includes(state.sort) ? state.sort : tasks[0]));
  const newest = state.sort === "started" ? -1 : 1;
  return [...runs].sort((a, b) => newest * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

function board({ runs }, state, change, go) {
  if (!runs.length) return [];
  const tasks = tasksOf(runs, state);
  const wanted = runs.filter(
    (run) => (!state.tag || run.tags.includes(state.tag)) && [run.model, run.run, ...run.tags].some((text) => text.toLowerCase().includes(state.text)),
  );
  const ordered = sorted(wanted, state, tasks);
  const by = SORTS[state.sort] ? state.sort : tasks.includes(state.sort) ? state.sort : tasks[0];
  const blank = runs.some((run) => Object.values(run.tasks).some((task) => task.blank));
  const scorings = scoredBy(runs.flatMap((run) => run.standings));
  const heading = (key, text) =>
    el("th", { scope: "col", "aria-sort": key === by ? "descending" : null }, el("button", { type: "button", class: "link", onclick: () => change({ sort: key }) }, text, key === by ? " ↓" : ""));
  const columns = 6 + tasks.length + (blank ? 1 : 0);
  const body = grouped(ordered, state).flatMap(([group, of]) => [
    group === null ? null : el("tr", { class: "group" }, el("th", { colspan: columns, scope: "rowgroup" }, el("code", {}, name(group)), ` ${count(of.length, "run")}`)),
    ...of.map((run) => row(run, tasks, blank, state)),
  ]);
  const published = publishedRows(runs, tasks, blank);
  return [
    el(
      "div",
      { class: "scroll board panel", tabindex: 0, role: "region", "aria-label": "Leaderboard" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, el("td"), el("td"), heading("model", "Model"), tasks.map((task) => heading(task, name(task))), blank ? el("th", { scope: "col" }, "With a blank image") : null, heading("n", "n"), heading("cost", "Cost"), heading("started", "Started"))),
        el("tbody", {}, body, published),
      ),
    ),
    wanted.length ? null : empty("No run matches", "Remove a filter."),
    el("p", { class: "quiet" }, `Scores in percent, by the scoring ${scorings || "(none yet)"}. Gains in points on the same samples; a gain is settled if its p is below 0.05 after Holm’s correction over the comparisons of its run. Equal scores are ordered by model, then by run.`),
    published.length ? el("p", { class: "quiet" }, "Rows marked published are scores of others, copied from their pages; they enter no statistic here, and their data, protocol and parsing may differ. From: ", sources(runs).map((source, at) => [at ? "; " : "", name(source)]), ".") : null,
  ].filter(Boolean);
}

function grouped(runs, { group }) {
  if (group === "none") return [[null, runs]];
  const groups = new Map();
  for (const run of runs) {
    const keys = group === "tag" ? (run.tags.length ? run.tags : ["no tag"]) : [run.run.includes("/") ? run.run.replace(/[^/]*$/, "") : "."];
    for (const key of keys) groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return groups.size < 2 && group === "folder" ? [[null, runs]] : [...groups];
}

function row(run, tasks, blank, state) {
  const { label, detail } = named(run);
  const box = el("input", {
    type: "checkbox",
    "aria-label": `Choose ${run.run} to compare`,
    checked: state.chosen.has(run.run),
    onchange: (event) => {
      state.chosen[event.target.checked ? "add" : "delete"](run.run);
      const button = document.getElementById("compare");
      button.disabled = state.chosen.size < 2;
      button.textContent = compareText(state);
    },
  });
  const n = Math.max(0, ...tasks.map((task) => run.tasks[task]?.n ?? 0));
  return el(
    "tr",
    { class: "row" },
    el("td", { class: "pick" }, box),
    el("td", { class: "shot-cell" }, run.shot ? el("img", { class: "thumb", src: thumbnail(run.run, run.shot, 160), alt: "", loading: "lazy" }) : null),
    el("th", { scope: "row", class: "model" }, el("a", { href: address("run", { run: run.run }) }, el("strong", {}, name(label)), el("span", { class: "quiet small" }, name(detail))), settings(run), run.tags.map((tag) => pill(tag, "tag")), failed(run.cells)),
    tasks.map((task) => el("td", { class: "task", "data-task": task }, standing(run, task))),
    blank ? el("td", { class: "blank", "data-task": "with a blank image" }, control(run)) : null,
    el("td", { class: "num n", "data-task": "n" }, n),
    el("td", { class: "num cost", "data-task": "cost" }, cost(run.usage)),
    el("td", { class: "started", "data-task": "started" }, started(run)),
  );
}

const named = (run) => ({ label: run.model || "unnamed model", detail: run.run === "." ? "" : run.run });
const settings = (run) => {
  const shown = Object.entries(run.args).map(([key, value]) => `${key}=${value}`);
  return shown.length ? el("code", { class: "quiet small" }, shown.slice(0, 4).join(" ")) : null;
};

/** Kinds of trouble over all cells. */
function failed(cells) {
  const counts = new Map();
  for (const [kind, number] of cells.flatMap((cell) => Object.entries(cell.failures))) counts.set(kind, (counts.get(kind) ?? 0) + number);
  return counts.size ? el("span", { class: "failures small" }, name([...counts].map(([kind, number]) => `${kind} ${number}`).join(", "))) : null;
}

function standing(run, task) {
  const found = run.tasks[task];
  if (!found) return el("span", { class: "quiet" }, "not run");
  if (found.problem) return el("span", { class: "quiet" }, noScore(found));
  const { direct, drawn, gain } = found;
  if (!direct && !drawn) return el("span", { class: "quiet" }, "no score yet");
  const live = run.state === "running";
  const one = (metric) => (metric ? percent(metric.mean, metric.ci95) : "–");
  return el(
    "a",
    { class: "standing", href: address("samples", { run: run.run, task }) },
    el("span", { class: "bell" }, drawing(found.picture)),
    el("span", { class: "pair" }, direct ? one(direct) : "", direct && drawn ? " → " : "", drawn ? el("b", {}, one(drawn)) : ""),
    gain
      ? el("span", { class: `gain ${live ? "" : verdict(gain)}` }, live ? el("b", {}, `${points(gain.gain, gain.ci95)} so far`) : [`${GLYPH[gain.verdict] ?? "●"} `, el("b", {}, points(gain.gain, gain.ci95))], " ", el("span", { class: "quiet" }, live ? `${found.n} so far` : bracket(gain.ci95)))
      : el("span", { class: "quiet" }, bracket((drawn ?? direct).ci95)),
  );
}

/** What the paired difference own − blank says, for the tasks that have a gain. */
function control(run) {
  const tasks = Object.values(run.tasks).filter((task) => task.blank);
  if (!tasks.length) return el("span", { class: "quiet" }, "not run");
  const gained = tasks.filter((task) => task.gain?.verdict === "better");
  if (!gained.length) return el("span", { class: "quiet" }, "no gain to lose");
  const needed = gained.filter((task) => task.blank.verdict === "better").length;
  if (needed === gained.length) return el("span", {}, sign("right"), el("b", { class: "good" }, " lower"), el("span", { class: "quiet small" }, "uses its drawing"));
  return el("span", {}, el("b", {}, needed ? `lower on ${needed} of ${gained.length}` : "not clearly lower"), el("span", { class: "quiet small" }, "own − blank"));
}

function cost(usage) {
  const { calls = 0, pictures_out: drawn = 0 } = usage;
  return [el("span", {}, `${brief(calls)} calls`), drawn ? el("span", { class: "quiet small" }, `${brief(drawn)} drawn`) : null];
}

function started(run) {
  if (run.state === "finished") return el("span", { class: "quiet", title: `${day(run.started)} UTC` }, shortDay(run.started));
  const bar = run.progress === null ? null : el("span", { class: "progress" }, el("progress", { max: 1, value: run.progress, "aria-label": "progress" }), ` ${Math.floor(100 * run.progress)}%`);
  return [pill(run.state, run.state), bar, run.why ? el("span", { class: `why small ${run.state}` }, name(run.why)) : null];
}

function step(by) {
  const rows = [...document.querySelectorAll("tr.row th a")];
  if (!rows.length) return false;
  const at = rows.findIndex((one) => one.closest("tr").contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + (at < 0 && by < 0 ? 0 : by)))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function toggleRow() {
  const box = document.activeElement?.closest("tr")?.querySelector("input[type=checkbox]");
  return box ? box.click() : false;
}

function brokenRuns(troubles) {
  return el(
    "details",
    { class: "trouble" },
    el("summary", {}, count(Object.keys(troubles).length, "folder"), " could not be read"),
    el("ul", {}, Object.entries(troubles).map(([key, why]) => el("li", {}, name(key), ": ", why))),
  );
}

const sources = (runs) => [...new Set(runs.flatMap((run) => run.published).map((one) => one.source))];

/** Scores of others for the same tasks, a row for each model of a source, best first; they cannot be chosen. */
function publishedRows(runs, tasks, blank) {
  const figures = new Map();
  for (const one of runs.flatMap((run) => run.published)) figures.set(JSON.stringify([one.source, one.model, one.task, one.mode]), one);
  const rows = new Map();
  for (const one of figures.values()) {
    const key = JSON.stringify([one.source, one.model]);
    rows.set(key, [...(rows.get(key) ?? []), one]);
  }
  const best = (of) => Math.max(...of.map((one) => one.value));
  return [...rows.values()].sort((a, b) => best(b) - best(a)).map((of) =>
    el(
      "tr",
      { class: "published" },
      el("td"),
      el("td"),
      el("th", { scope: "row", title: of[0].source }, pill("published"), " ", name(of[0].model)),
      tasks.map((task) =>
        el("td", { "data-task": task }, of.filter((one) => one.task === task).map((one) => el("div", {}, el("span", { class: "quiet" }, `${one.mode} `), percent(one.value), el("span", { class: "quiet" }, one.n ? ` n ${one.n}` : "")))),
      ),
      blank ? el("td") : null,
      el("td"),
      el("td"),
      el("td"),
    ),
  );
}
