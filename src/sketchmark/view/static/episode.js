// One episode: the film strip, then everything that was sent, said, drawn, scored and paid for.

import { address, get } from "./api.js";
import { el, name, pill, table, words } from "./dom.js";
import { count, played, seconds } from "./format.js";
import { filtersOf } from "./samples.js";
import { filmStrip, player, shot } from "./strip.js";

export async function showEpisode(parameters, go) {
  const { run, cell, sample } = parameters;
  const filters = filtersOf(parameters);
  const data = await get("episode", { run, cell, sample, ...filters });
  const to = (pair) => pair && address("/episode", { run, ...filters, cell: pair[0], sample: pair[1] });
  const move = (pair) => (pair ? go(to(pair)) : false);
  const list = address("/samples", { run, ...filters });
  return {
    title: sample,
    trail: [["Runs", "/?all=1"], [run === "." ? data.model : run, address("/run", { run })], ["Samples", list], [sample]],
    content: [head(data, to), filmStrip(data), ...details(data)],
    keys: {
      j: ["j / k or ← →: next, previous episode", () => move(data.after)],
      k: ["", () => move(data.before)],
      ArrowRight: ["", () => move(data.after)],
      ArrowLeft: ["", () => move(data.before)],
      m: data.siblings.length > 1 ? ["m: the same sample in the next mode", () => nextMode(data, go, filters)] : [""],
      u: ["u: back to the list", () => go(list)],
    },
  };
}

function nextMode(data, go, filters) {
  const at = data.siblings.findIndex((one) => one.cell === data.cell);
  const next = data.siblings[(at + 1) % data.siblings.length];
  go(address("/episode", { run: data.run, ...filters, cell: next.cell, sample: data.sample }));
}

/** Direct against what is open; from direct, against the first mode that is not. */
const otherCell = (data) => (data.cell === data.siblings[0].cell ? data.siblings[1].cell : data.cell);

function head(data, to) {
  const link = (pair, text) => (pair ? el("a", { class: "button", href: to(pair) }, text) : el("span", { class: "button off" }, text));
  return el(
    "div",
    {},
    el(
      "div",
      { class: "bar" },
      el("h1", {}, name(data.sample)),
      pill(data.outcome, data.outcome),
      data.change && data.change !== "same" ? pill(`drawing ${data.change}`, data.change === "helped" ? "good" : "bad") : null,
      (data.score?.flags ?? []).map((flag) => pill(flag, "bad")),
      el("span", { class: "grow" }),
      data.total ? el("span", { class: "quiet" }, data.position ? `${data.position} of ${data.total}` : "") : null,
      link(data.before, "‹ Previous"),
      link(data.after, "Next ›"),
    ),
    el(
      "nav",
      { class: "tabs", "aria-label": "The same sample, played otherwise" },
      data.siblings.map((one) =>
        el(
          "a",
          { href: to([one.cell, data.sample]), "aria-current": one.cell === data.cell ? "page" : null },
          one.cell.slice(data.task.length + 1),
          pill(one.outcome, one.outcome),
        ),
      ),
      data.siblings.length > 1
        ? el("a", { href: address("/compare", { a: data.run, b: data.run, cell_a: data.siblings[0].cell, cell_b: otherCell(data), sample: data.sample }) }, "side by side")
        : null,
    ),
  );
}

function details(data) {
  return [
    el("div", { class: "columns" }, el("section", {}, el("h2", {}, "Scores"), scores(data)), el("section", {}, el("h2", {}, "What is true"), truth(data))),
    el("section", {}, el("h2", {}, "Transcript"), transcript(data)),
  ];
}

function scores({ score, headline, readings }) {
  if (!score) return el("p", { class: "quiet" }, "Not scored yet.");
  const rows = Object.entries(score.values).map(([metric, value]) => [
    metric === headline ? el("strong", {}, metric) : metric,
    value === null ? "does not apply" : Number(value.toFixed(4)),
  ]);
  const usage = Object.entries(score.usage).map(([key, value]) => [key.replace("_", " "), value.toLocaleString()]);
  return el(
    "div",
    {},
    rows.length ? table("Of this episode", ["Score", "Value"], rows) : el("p", { class: "quiet" }, "Not scored: what failed says nothing about the model."),
    readings.map((one) => table("Read differently", ["Scoring", "Read", "Score"], readingRows(one))),
    Object.keys(score.notes).length ? json("Notes of the scorer", score.notes) : null,
    table("What it took", ["Cost", "In all"], [...usage, ["time", seconds(score.seconds)]]),
  );
}

/** What each of two scorings read: null is nothing, and a scorer that does not say has no entry. */
const readingRows = ({ readings, values }) =>
  Object.entries(values).map(([scoring, value]) => [
    scoring,
    readings?.[scoring] === undefined ? "?" : readings[scoring] === null ? "unparsed" : words(readings[scoring]),
    value === null ? "–" : Number(value.toFixed(4)),
  ]);

function truth({ record }) {
  const { sample } = record;
  const facts = [...Object.entries(sample.groups), ...Object.entries(sample.fields)];
  return el(
    "div",
    {},
    facts.length ? table("Groups and fields", ["Field", "Value"], facts.map(([key, value]) => [key, words(String(value), 400)])) : null,
    json("Target", sample.target, true),
  );
}

function json(label, value, open = false) {
  return el("details", { open }, el("summary", {}, label), el("pre", { dir: "auto" }, JSON.stringify(value, null, 2)));
}

/** Each call with the exact context it was sent: all that earlier turns added, plus its own suffix. */
function transcript(data) {
  const context = [];
  return el(
    "ol",
    { class: "turns" },
    data.record.turns.map((turn) => {
      const sent = turn.reply ? [...context, ...(turn.suffix ? [{ by: "task", text: turn.suffix, once: true }] : [])] : null;
      context.push(...turn.added);
      return el(
        "li",
        { class: `turn ${turn.act}` },
        el(
          "div",
          { class: "turn-head" },
          el("strong", {}, turn.act),
          turn.reply ? el("span", { class: "quiet" }, cost(turn)) : null,
          turn.reply && turn.reply.finish !== "stop" ? pill(turn.reply.finish, "bad") : null,
          turn.reply?.trouble ? pill(turn.reply.trouble, "bad") : null,
          (turn.reply?.left_out ?? []).map((what) => pill(`not sent: ${what}`, "bad")),
        ),
        turn.note ? words(turn.note) : null,
        turn.suffix ? el("div", { class: "asked" }, el("span", { class: "label" }, "asked, for this call only"), words(turn.suffix)) : null,
        turn.act === "show" ? parts(data, turn.added) : null,
        turn.reply?.text ? el("div", { class: "said" }, words(turn.reply.text, 6000)) : null,
        turn.reply?.picture ? shot(data, turn.reply.picture, "what the model drew") : null,
        sent ? el("details", {}, el("summary", {}, `exact context: ${count(sent.length, "part")}`), lazily(() => parts(data, sent))) : null,
        turn.reply?.raw !== undefined ? rawReply(turn.reply.raw) : null,
      );
    }),
  );
}

function cost({ reply, seconds: took }) {
  const { tokens_in = 0, tokens_out = 0, pictures_in = 0, calls = 0 } = reply.usage;
  return [
    `${tokens_in.toLocaleString()} tokens in, ${tokens_out.toLocaleString()} out`,
    pictures_in ? count(pictures_in, "picture") : "",
    calls ? "" : "nothing charged",
    took === undefined ? "" : seconds(took),
  ].filter(Boolean).join(" · ");
}

function parts(data, list) {
  return el(
    "ol",
    { class: "parts" },
    list.map((part) =>
      el(
        "li",
        { class: part.by },
        el("span", { class: "label" }, part.once ? "task, this call only" : part.by),
        content(data, part),
      ),
    ),
  );
}

function content(data, part) {
  if (part.picture) return shot(data, part.picture, `picture by the ${part.by}`);
  return part.sound ? player(data, part.sound) : words(part.text ?? "");
}

/** Built when it is opened: the contexts of a long episode add up to far more than the episode. */
function lazily(build) {
  const host = el("div");
  queueMicrotask(() =>
    host.parentElement?.addEventListener("toggle", () => host.childElementCount || host.append(build())),
  );
  return host;
}

function rawReply(raw) {
  return el("details", {}, el("summary", {}, "raw reply"), lazily(() => el("pre", { dir: "auto" }, JSON.stringify(raw, null, 2))));
}
