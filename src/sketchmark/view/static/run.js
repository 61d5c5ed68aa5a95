// One run: tables, charts, failures, configuration.

import { address, get } from "./api.js";
import { bars, curve, forest, legend } from "./charts.js";
import { el, empty, name, pill, table } from "./dom.js";
import { bracket, chance, count, noScore, percent, played, points, scoredBy, seconds, share, verdict } from "./format.js";

export async function showRun({ run, task = "", mode = "" }, go) {
  const content = el("div");
  let chosen = { task, mode };
  let data = await get("run", { run });
  const change = (more) => {
    chosen = { ...chosen, ...more };
    history.replaceState(null, "", address("/run", { run, ...chosen }));
    draw();
  };
  const draw = () => content.replaceChildren(...sections(narrowed(data, chosen), filters(data.cells, chosen, change)));
  draw();
  return {
    title: data.model || run,
    trail: [["Runs", "/?all=1"], [run === "." ? data.model : run]],
    content: [content],
    refresh: async () => {
      data = await get("run", { run });
      draw();
    },
    keys: { s: ["s: samples", () => go(address("/samples", { run }))] },
  };
}

/** Only the task and mode that were asked for; direct stays, as what others are measured against. */
function narrowed(data, { task, mode }) {
  const wanted = (one) => (!task || one.task === task) && (!mode || !one.mode || one.mode === mode || one.mode === "direct");
  return {
    ...data,
    cells: data.cells.filter(wanted),
    gains: data.gains.filter(wanted),
    curves: data.curves.filter(wanted).map((curve) => ({ ...curve, lines: curve.lines.filter((line) => wanted({ ...line, task })) })),
    drawing_and_answer: data.drawing_and_answer.filter(wanted),
  };
}

function filters(cells, chosen, change) {
  const choice = (key, label) => {
    const options = [...new Set(cells.map((cell) => cell[key]))];
    if (options.length < 2) return null;
    const all = [["", "all"], ...options.map((option) => [option, option])];
    return el(
      "label",
      { class: "field" },
      label,
      el(
        "select",
        { onchange: (event) => change({ [key]: event.target.value }) },
        all.map(([value, text]) => el("option", { value, selected: chosen[key] === value }, text)),
      ),
    );
  };
  return el("div", { class: "narrow" }, choice("task", "Task"), choice("mode", "Mode"));
}

function sections(data, filters) {
  const { run } = data;
  const samples = (more) => address("/samples", { run, ...more });
  const waiting = data.cells.reduce((sum, cell) => sum + cell.played - cell.episodes, 0);
  return [
    el(
      "div",
      { class: "bar" },
      el("h1", {}, name(data.model || run)),
      data.state === "finished" ? null : pill(data.state, data.state),
      el("span", { class: "grow" }),
      el("a", { class: "button", href: samples() }, "Samples"),
      el("a", { class: "button", href: address("/compare", { a: run, b: run }) }, "Compare"),
      data.has_report ? el("a", { class: "button", href: address("/report", { run }), target: "_blank" }, "Report") : null,
    ),
    el("p", { class: "quiet" }, count(data.episodes, "episode"), waiting > 0 ? `, ${waiting} of them not scored yet` : "", " · started ", data.started.replace("T", " ").replace("Z", " UTC")),
    data.why && data.state !== "finished" ? el("p", { class: `why ${data.state}` }, name(data.why)) : null,
    filters,
    data.episodes ? scores(data, samples) : unplayed(data.state),
    data.gains.length ? el("section", {}, el("h2", {}, "Does drawing help?"), forest(data.gains), gains(data.gains, samples)) : null,
    curves(data.curves),
    canvases(data.cells),
    drawn(data.drawing_and_answer),
    failures(data.cells, samples),
    configuration(data.about),
  ].filter(Boolean);
}

function unplayed(state) {
  if (state === "running") return empty("Nothing has been played yet", "Episodes appear here as they finish.");
  return empty("Nothing was played", "The same `sketchmark run` command plays it.");
}

function scores(data, samples) {
  const rows = data.cells.map((cell) => {
    const metric = cell.metrics[cell.headline];
    const gain = data.gains.find((g) => g.task === cell.task && g.mode === cell.mode && g.canvas === cell.canvas);
    return [
      el("a", { href: samples({ task: cell.task, mode: cell.mode, canvas: cell.canvas }) }, cell.task),
      played(cell),
      metric ? el("span", { class: "whole" }, el("strong", {}, percent(metric.mean, metric.ci95)), " ", el("span", { class: "quiet" }, bracket(metric.ci95))) : noScore(cell),
      metric?.n ?? cell.n,
      share(cell.cut),
      share(cell.unparsed),
      gain ? pill(`${points(gain.gain, gain.ci95)} ${bracket(gain.ci95)}`, verdict(gain)) : "",
      Object.values(cell.failures).reduce((sum, n) => sum + n, 0) || "–",
      cell.usage.calls ? `${(cell.usage.tokens_in ?? 0).toLocaleString()} / ${(cell.usage.tokens_out ?? 0).toLocaleString()}` : "–",
      seconds(cell.seconds),
    ];
  });
  const every = data.cells.flatMap((cell) =>
    Object.entries(cell.metrics).map(([metric, value]) => [
      cell.task,
      played(cell),
      metric,
      `${percent(value.mean, value.ci95)} ${bracket(value.ci95)}`,
      value.n,
    ]),
  );
  return el(
    "section",
    {},
    table(
      `Headline score of each task and mode, by ${scoredBy(data.cells) || "no scoring yet"}`,
      ["Task", "Mode", "Score", "n", "Cut", "Unparsed", "Gain over direct", "Trouble", "Tokens in / out", "Mean time"],
      rows,
    ),
    data.readings.length
      ? el("div", {}, data.readings.map((line) => el("p", {}, line)), el("p", {}, el("a", { href: samples({ read: "any" }) }, "Replies that scorings read differently")))
      : null,
    el(
      "details",
      {},
      el("summary", {}, `Every score (${every.length})`),
      table("Every score", ["Task", "Mode", "Score", "Mean [95 %]", "n"], every),
    ),
  );
}

function gains(found, samples) {
  const link = (gain, change) =>
    el("a", { href: samples({ task: gain.task, mode: gain.mode, canvas: gain.canvas, change }) }, gain[change]);
  return table(
    "Each mode against direct, on the same samples",
    ["Task", "Mode", "Gain", "p (Holm)", "Helped", "Hurt", "Same"],
    found.map((gain) => [
      gain.task,
      played(gain),
      pill(`${points(gain.gain, gain.ci95)} ${bracket(gain.ci95)}`, verdict(gain)),
      chance(gain.p_holm),
      link(gain, "helped"),
      link(gain, "hurt"),
      link(gain, "same"),
    ]),
  );
}

function curves(found) {
  if (!found.length) return null;
  const figures = found.map((one) =>
    one.numeric
      ? el("div", {}, curve(one), legend(one.lines))
      : bars(
          `${one.task}: score by ${one.key}`,
          one.lines.flatMap((line, at) =>
            line.points.map((point) => ({ ...point, label: `${point.value} · ${played(line)}`, series: (at % 6) + 1 })),
          ),
        ),
  );
  return el("section", {}, el("h2", {}, "How hard can it get?"), el("div", { class: "charts" }, figures));
}

function canvases(cells) {
  const drawing = cells.filter((cell) => cell.mode === "visual_cot" && cell.metrics[cell.headline]);
  const tasks = [...new Set(drawing.map((cell) => cell.task))].filter(
    (task) => drawing.filter((cell) => cell.task === task).length > 1,
  );
  if (!tasks.length) return null;
  const order = ["own", "blank", "other", "oracle", "corrupt", "caption", "source"];
  const figures = tasks.map((task) =>
    bars(
      `${task}: score by canvas`,
      drawing
        .filter((cell) => cell.task === task)
        .sort((a, b) => order.indexOf(a.canvas) - order.indexOf(b.canvas))
        .map((cell) => ({ ...cell.metrics[cell.headline], label: `${cell.canvas} canvas`, series: order.indexOf(cell.canvas) + 1 })),
    ),
  );
  return el(
    "section",
    {},
    el("h2", {}, "Does it use what it drew?"),
    el("p", { class: "quiet" }, "own: it sees its drawing · blank: white paper · other: another sample’s drawing · oracle: the true picture · corrupt: the true picture with one thing wrong · caption: what a reader sees in its drawing, in words · source: the code it drew by"),
    el("div", { class: "charts" }, figures),
  );
}

function drawn(found) {
  const own = found.filter((one) => one.canvas === "own");
  if (!own.length) return null;
  const rows = own.flatMap((one) => [
    { ...one.right, label: `${one.task} · drawing right`, series: 3 },
    { ...one.wrong, label: `${one.task} · drawing wrong`, series: 2 },
  ]);
  const counts = own.map((one) => [
    one.task,
    one.right.right,
    one.right.n - one.right.right,
    one.wrong.right,
    one.wrong.n - one.wrong.right,
  ]);
  return el(
    "section",
    {},
    el("h2", {}, "Right drawing, right answer?"),
    bars("Score of the answer when all drawings are right, and when not", rows),
    table(
      "Episodes by drawing and answer",
      ["Task", "Both right", "Only the drawing", "Only the answer", "Neither"],
      counts,
    ),
  );
}

function failures(cells, samples) {
  const rows = cells.flatMap((cell) =>
    Object.entries({ ...cell.failures, ...(cell.left_out ? { left_out: cell.left_out } : {}) }).map(([flag, n]) => [
      el("a", { href: samples({ task: cell.task, mode: cell.mode, canvas: cell.canvas, flag }) }, flag),
      cell.task,
      played(cell),
      n,
      percent(n / Math.max(1, cell.episodes)) + " %",
    ]),
  );
  if (!rows.length) return null;
  return el(
    "section",
    {},
    el("h2", {}, "Trouble"),
    table("Episodes with each kind of trouble", ["Kind", "Task", "Mode", "Episodes", "Share"], rows),
  );
}

function configuration(about) {
  return el(
    "section",
    {},
    el("h2", {}, "Configuration"),
    el("details", {}, el("summary", {}, "run.json"), el("pre", { dir: "auto" }, JSON.stringify(about, null, 2))),
  );
}
