// One run: its sentence, one chart, two film strips, then tables and settings.

import { address, exported, get, report } from "./api.js";
import { changeTag, chart, choice, drawing, el, empty, name, pill, sign, table } from "./dom.js";
import { bracket, chance, count, day, noScore, percent, played, points, scoredBy, seconds, share, verdict } from "./format.js";
import { answerLine, drawingsInWords, miniStrip } from "./strip.js";

export async function showRun({ run, task = "" }, go) {
  const content = el("div");
  let chosen = { task };
  let data = await get("run", { run });
  const change = (more) => {
    chosen = { ...chosen, ...more };
    history.replaceState(null, "", address("run", { run, ...chosen }));
    draw();
  };
  const draw = () => content.replaceChildren(...sections(data, narrowed(data, chosen), chosen, change));
  draw();
  const to = { samples: address("samples", { run }), compare: address("compare", { a: run, b: run }) };
  return {
    title: data.model || run,
    trail: [["Runs", address("", { all: 1 })], [run === "." ? data.model : run]],
    content: [content],
    refresh: async () => {
      data = await get("run", { run });
      draw();
    },
    keys: {
      s: ["s", "samples", () => go(to.samples)],
      c: ["c", "compare", () => go(to.compare)],
      r: data.has_report ? ["r", "report", () => window.open(report(run), "_blank")] : ["", ""],
      g: data.saved_chart ? ["g", "save the chart", () => saveSvg(data)] : ["", ""],
      u: ["u", "all runs", () => go(address("", { all: 1 }))],
    },
  };
}

/** Only one task, if asked for. */
function narrowed(data, { task }) {
  const wanted = (one) => !task || one.task === task;
  return {
    ...data,
    cells: data.cells.filter(wanted),
    gains: data.gains.filter(wanted),
    curves: data.curves.filter(wanted),
    drawing_and_answer: data.drawing_and_answer.filter(wanted),
  };
}

function sections(whole, data, chosen, change) {
  const { run } = data;
  const samples = (more) => address("samples", { run, ...more });
  return [
    ...opening(data, samples),
    data.scores_chart ? scoresChart(data) : null,
    data.episodes ? null : unplayed(data.state),
    strips(data, samples),
    findings(data),
    taskChoice(whole.cells, chosen, change),
    curves(data.curves),
    drawn(data.drawing_and_answer),
    data.gains.length ? gains(data.gains, samples) : null,
    data.episodes ? scores(data, samples) : null,
    repeated(data.repeats),
    failures(data.cells, samples),
    el("details", { class: "section" }, el("summary", {}, "run.json"), el("pre", { dir: "auto" }, JSON.stringify(data.about, null, 2))),
  ].filter(Boolean);
}

function opening(data, samples) {
  const { run } = data;
  const waiting = data.cells.reduce((sum, cell) => sum + cell.played - cell.episodes, 0);
  const args = Object.entries(data.args).map(([key, value]) => `${key}=${value}`).join(" ");
  const running = data.state === "running";
  return [
    el("h1", {}, running ? "So far: " : "", data.story.headline),
    data.story.lede ? el("p", { class: "lede" }, data.story.lede) : null,
    el(
      "div",
      { class: "bar meta" },
      el("span", {}, el("strong", {}, name(data.model || run)), " ", args ? el("code", {}, name(args)) : null),
      data.state === "finished" ? null : pill(data.state, data.state),
      data.tags.map((tag) => pill(tag, "tag")),
      el("span", { class: "quiet" }, count(data.episodes, "episode"), waiting > 0 ? `, ${waiting} of them not scored yet` : ""),
      el("span", { class: "quiet" }, day(data.started), " UTC"),
      el("span", { class: "grow" }),
      el("a", { class: "button", href: samples() }, "Samples"),
      el("a", { class: "button", href: address("compare", { a: run, b: run }) }, "Compare"),
      data.has_report ? el("a", { class: "button", href: report(run), target: "_blank" }, "Report") : null,
    ),
    data.why && data.state !== "finished" ? el("p", { class: `why ${data.state}` }, name(data.why)) : null,
  ].filter(Boolean);
}

function unplayed(state) {
  if (state === "running") return empty("No episode has finished yet", "Episodes appear here as they finish.");
  return empty("No episode was run", "Run the same `sketchmark run` command to start it.");
}

function scoresChart(data) {
  return el(
    "section",
    { class: "panel slide", "aria-label": "Score by condition" },
    el(
      "div",
      { class: "bar" },
      el("h2", {}, "Score by what the model sees"),
      el("span", { class: "quiet" }, "mark: score · line: 95% interval · dashed: direct · shaded: gain by drawing"),
      el("span", { class: "grow" }),
      el("button", { type: "button", onclick: () => saveSvg(data) }, "Save SVG"),
      el("button", { type: "button", onclick: () => savePng(data) }, "Save PNG"),
    ),
    chart(data.scores_chart),
    data.story.controls ? el("p", { class: "quiet" }, data.story.controls) : null,
  );
}

const fileName = (data, ending) => `${(data.model || "run").replace(/[^\w.-]+/g, "-")}-scores.${ending}`;

function download(blob, named) {
  const link = el("a", { href: URL.createObjectURL(blob), download: named });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function saveSvg(data) {
  download(new Blob([data.saved_chart], { type: "image/svg+xml" }), fileName(data, "svg"));
}

/** The saved chart is always light, three times as large as on the screen. */
async function savePng(data) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([data.saved_chart], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = el("canvas", { width: 3 * image.width, height: 3 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((blob) => download(blob, fileName(data, "png")), "image/png");
}

/** One episode that drawing helped and one that it hurt. */
function strips(data, samples) {
  if (!data.strips.length) return null;
  const total = data.cells.filter((cell) => cell.mode === "visual_cot" && cell.canvas === "own").reduce((sum, cell) => sum + cell.played, 0);
  return el(
    "section",
    { class: "section slide" },
    el("div", { class: "bar" }, el("h2", {}, "See it happen"), el("a", { href: samples() }, `all ${count(total, "drawn episode")}`)),
    el("div", { class: "gallery" }, data.strips.map((item) => stripCard(data.run, item, {}))),
  );
}

/** A card of the gallery: strip, both answers, what became of the drawings. */
export function stripCard(run, item, filters) {
  const trouble = item.flags.map((flag) => pill(flag, "bad"));
  return el(
    "a",
    { class: "card panel", href: address("episode", { run, ...filters, cell: item.cell, sample: item.sample }) },
    el("span", { class: "card-head" }, el("strong", { class: "card-name" }, name(item.sample)), el("span", { class: `quiet small ${drawingsInWords(item).startsWith("✕") ? "bad" : ""}` }, drawingsInWords(item)), el("span", { class: "grow" }), changeTag(item.change), item.change && item.change !== "same" ? null : pill(item.outcome, item.outcome), trouble),
    miniStrip(run, item),
    el(
      "span",
      { class: "answers" },
      item.direct ? el("span", {}, "direct ", sign(item.direct.outcome), " ", answerLine(item.direct.answer, item.expected)) : null,
      el("span", {}, el("span", { class: "own" }, item.mode === "visual_cot" ? "drawn " : `${played(item)} `), sign(item.outcome), " ", answerLine(item.answer, item.expected)),
    ),
  );
}

function findings({ findings: found }) {
  if (!found.length) return null;
  return el("section", { class: "section" }, el("h2", {}, "What the controls show"), el("ul", { class: "findings" }, found.map((line) => el("li", {}, line))));
}

function taskChoice(cells, chosen, change) {
  const tasks = [...new Set(cells.map((cell) => cell.task))];
  if (tasks.length < 2) return null;
  return el("div", { class: "bar section noprint" }, el("h2", {}, "Details"), choice("Task", chosen.task, [["", "all tasks"], ...tasks.map((task) => [task])], (task) => change({ task })));
}

function curves(found) {
  if (!found.length) return null;
  const figures = found.map((one) => el("figure", { class: "panel" }, el("figcaption", {}, name(one.title)), chart(one)));
  return el("section", { class: "section" }, el("h2", {}, "Score by difficulty"), el("div", { class: "charts" }, figures));
}

function drawn(found) {
  const own = found.filter((one) => one.canvas === "own");
  if (!own.length) return null;
  const rows = own.map((one) => [
    one.task,
    `${percent(one.right.mean, one.right.ci95)} ${bracket(one.right.ci95)}, n = ${one.right.n}`,
    `${percent(one.wrong.mean, one.wrong.ci95)} ${bracket(one.wrong.ci95)}, n = ${one.wrong.n}`,
    one.right.right,
    one.right.other,
    one.wrong.right,
    one.wrong.other,
  ]);
  return el(
    "section",
    { class: "section" },
    el("h2", {}, "Right drawing, right answer?"),
    table("Score of the answer after right and after wrong drawings, and episodes by drawing and answer", ["Task", "All drawings right", "A drawing wrong", "Both right", "Only the drawings", "Only the answer", "Neither"], rows),
  );
}

function gains(found, samples) {
  const link = (gain, change) => el("a", { href: samples({ task: gain.task, mode: gain.mode, canvas: gain.canvas, change }) }, gain[change]);
  return el(
    "section",
    { class: "section" },
    el("h2", {}, "Does drawing help?"),
    table(
      "Each condition minus direct, and direct minus blind, on the same samples, in points; p corrected by Holm over the comparisons of this run (other canvases separately)",
      ["Task", "Condition", "Gain [95%]", "p (Holm)", "Helped", "Hurt", "Same"],
      found.map((gain) => [gain.task, gain.over === "blind" ? "direct minus blind" : played(gain), pill(`${points(gain.gain, gain.ci95)} ${bracket(gain.ci95)}`, verdict(gain)), chance(gain.p_holm), link(gain, "helped"), link(gain, "hurt"), link(gain, "same")]),
    ),
  );
}

function scores(data, samples) {
  const rows = data.cells.map((cell) => {
    const metric = cell.metrics[cell.headline];
    return [
      el("a", { href: samples({ task: cell.task, mode: cell.mode, canvas: cell.canvas }) }, cell.task),
      played(cell),
      metric ? el("span", { class: "whole" }, el("strong", {}, percent(metric.mean, metric.ci95)), " ", el("span", { class: "quiet" }, bracket(metric.ci95))) : noScore(cell),
      metric?.n ?? cell.n,
      share(cell.cut),
      share(cell.unparsed),
      Object.values(cell.failures).reduce((sum, n) => sum + n, 0) || "–",
      cell.usage.calls ? `${(cell.usage.tokens_in ?? 0).toLocaleString("en")} / ${(cell.usage.tokens_out ?? 0).toLocaleString("en")}` : "–",
      seconds(cell.seconds),
    ];
  });
  const every = data.cells.flatMap((cell) =>
    Object.entries(cell.metrics).map(([metric, value]) => [cell.cell, metric, `${percent(value.mean, value.ci95)} ${bracket(value.ci95)}`, value.n]),
  );
  return el(
    "section",
    { class: "section" },
    el("h2", {}, "Scores"),
    table(
      `Headline score of each task and condition in percent, by ${scoredBy(data.cells) || "no scoring yet"}`,
      ["Task", "Condition", "Score [95%]", "n", "Truncated", "Unparsed", "Failures", "Tokens in / out", "Mean time"],
      rows,
    ),
    data.readings.length
      ? el("div", {}, data.readings.map((line) => el("p", {}, line)), el("p", {}, el("a", { href: samples({ read: "any", mode: "any" }) }, "Replies that scorings read differently")))
      : null,
    el("details", {}, el("summary", {}, `Every score (${every.length})`), table("Every score by the name of its cell", ["Cell", "Score", "Mean [95%]", "n"], every)),
  );
}

/** Scores of repeated episodes, as the terminal prints them, with pass@k by k. */
function repeated(found) {
  if (!found) return null;
  const figures = found.charts.map((one) => el("figure", { class: "panel" }, el("figcaption", {}, name(one.title)), chart(one)));
  return el(
    "section",
    { class: "section" },
    el("h2", {}, "Repeats"),
    table("Repeated episodes, in percent; k is the number of repeats", found.columns, found.rows),
    found.below.map((line) => el("p", {}, line)),
    figures.length ? el("div", { class: "charts" }, figures) : null,
  );
}

function failures(cells, samples) {
  const rows = cells.flatMap((cell) =>
    Object.entries({ ...cell.failures, ...(cell.left_out ? { left_out: cell.left_out } : {}) }).map(([flag, n]) => [
      el("a", { href: samples({ task: cell.task, mode: cell.mode, canvas: cell.canvas, flag }) }, flag),
      cell.task,
      played(cell),
      n,
      share(n / Math.max(1, cell.episodes)),
    ]),
  );
  if (!rows.length) return null;
  return el("section", { class: "section" }, el("h2", {}, "Failures"), table("Episodes with each kind of failure", ["Kind", "Task", "Condition", "Episodes", "Proportion"], rows));
}
