// One episode on one screen: direct next to drawn, the first wrong drawing marked. Below: scores and every call.

import { address, get } from "./api.js";
import { changeTag, el, name, pill, sign, table, words } from "./dom.js";
import { count, placeOf, seconds, steps } from "./format.js";
import { filtersOf } from "./samples.js";
import { answerLine, drawingsInWords, filmStrip, focusFrame, focusedFrame, inputs, isWrong, miniStrip, minimap, player, replies, ribbons, shot } from "./strip.js";

export async function showEpisode(parameters, go) {
  const { run, cell, sample } = parameters;
  const filters = filtersOf(parameters);
  const data = await get("episode", { run, cell, sample, ...filters });
  const to = (pair) => pair && address("episode", { run, ...filters, cell: pair[0], sample: pair[1] });
  const move = (pair) => (pair ? go(to(pair)) : false);
  const list = address("samples", { run, ...filters });
  const wrong = firstWrong(data);
  const truth = (on) => document.querySelector(".strip")?.classList.toggle("showtrue", on);
  return {
    title: sample,
    trail: [["Runs", address("", { all: 1 })], [run === "." ? data.model : run, address("run", { run })], ["Samples", list], [sample]],
    content: [head(data, to), body(data, wrong, truth), ...ending(data), repeats(data, to), ...details(data)].filter(Boolean),
    shown: () => (wrong >= 0 ? focusFrame(wrong) : null),
    keys: {
      ArrowLeft: data.frames.length ? ["← →", "drawing", () => focusFrame(focusedFrame() - 1)] : ["", ""],
      ArrowRight: ["", "", () => focusFrame(focusedFrame() + 1)],
      w: wrong >= 0 ? ["w", "first wrong", () => focusFrame(wrong)] : ["", ""],
      t: data.frames.some((frame) => frame.true) ? ["t", "hold: ground truth", () => truth(true), () => truth(false)] : ["", ""],
      j: ["j k", "episode", () => move(data.after)],
      k: ["", "", () => move(data.before)],
      r: data.repeats.length > 1 ? ["r", "next repeat", () => nextRepeat(data, go, to)] : ["", ""],
      m: data.siblings.length > 1 ? ["m", "next condition", () => nextCondition(data, go, filters)] : ["", ""],
      c: data.siblings.length > 1 ? ["c", "side by side", () => go(sideBySide(data))] : ["", ""],
      u: ["u", "samples", () => go(list)],
    },
  };
}

const firstWrong = ({ frames }) => frames.findIndex(isWrong);

function nextCondition(data, go, filters) {
  const at = data.siblings.findIndex((one) => one.cell === data.cell);
  const next = data.siblings[(at + 1) % data.siblings.length];
  go(address("episode", { run: data.run, ...filters, cell: next.cell, sample: next.sample }), { replace: true });
}

/** The first answer of the next repeat; after the last, the first again. */
function nextRepeat(data, go, to) {
  const firsts = data.repeats.filter((one) => !one.branch);
  const next = firsts.find((one) => one.repeat > (data.record.repeat ?? 0)) ?? firsts[0];
  return next ? go(to([data.cell, next.sample]), { replace: true }) : false;
}

/** All episodes of the sample in this cell side by side, one column per repeat, further answers below it. */
function repeats(data, to) {
  if (!data.repeats.length) return null;
  const columns = new Map();
  for (const one of data.repeats) columns.set(one.repeat, [...(columns.get(one.repeat) ?? []), one]);
  const right = data.repeats.filter((one) => one.outcome === "right").length;
  const answer = (one) =>
    el(
      "a",
      { class: "answered", href: to([data.cell, one.sample]), "aria-current": one.sample === data.sample ? "page" : null },
      sign(one.outcome), " ", columns.get(one.repeat).length > 1 ? el("span", { class: "quiet small" }, `answer ${one.branch}: `) : null, answerLine(one.answer, one.expected), " ", one.flags.map((flag) => pill(flag, "bad")),
    );
  const left = data.repeated - data.repeats.length;
  return el(
    "section",
    { class: "section", "aria-label": "Repeats of this sample" },
    el("div", { class: "bar" }, el("h2", {}, "Repeats of this sample"), el("span", { class: "quiet" }, `${right} of ${count(data.repeats.length, "episode")} right`, left > 0 ? `; ${left} more are not shown` : "")),
    el(
      "ol",
      { class: "repeats" },
      [...columns].map(([repeat, episodes]) =>
        el(
          "li",
          { class: episodes.some((one) => one.sample === data.sample) ? "panel now" : "panel" },
          el("h3", {}, `Repeat ${repeat} `, el("span", { class: `quiet small ${drawingsInWords(episodes[0]).startsWith("✕") ? "bad" : ""}` }, drawingsInWords(episodes[0]))),
          episodes[0].strip.length ? miniStrip(data.run, { ...episodes[0], input: null, sounds: 0 }) : null,
          episodes.map(answer),
        ),
      ),
    ),
  );
}

/** Direct against what is open; from direct, against the first condition that is not. */
function sideBySide(data) {
  const [first, second] = data.siblings;
  const other = data.cell === first.cell ? second.cell : data.cell;
  return address("compare", { a: data.run, b: data.run, cell_a: first.cell, cell_b: other, sample: data.sample });
}

/** The verdict in one sentence. That drawing and answer are both wrong does not show a cause. */
function verdictOf(data) {
  const { frames, outcome, record } = data;
  if (record.failure) return `The episode failed: ${record.failure.kind}.`;
  const answer = { right: "right", wrong: "wrong", partly: "partly right", unscored: "not scored yet" }[outcome];
  if (!frames.length) return `The answer is ${answer}.`;
  const wrong = firstWrong(data);
  const many = frames.length > 1;
  if (wrong >= 0) {
    const which = many ? `Drawing ${wrong + 1} of ${frames.length} went wrong` : "The drawing is wrong";
    return outcome === "wrong" ? `${which}; so is the answer.`.replace("went wrong; so is", "went wrong; so did") : `${which}; the answer is ${answer}.`;
  }
  if (frames.every((frame) => frame.right)) {
    const drawn = many ? `All ${frames.length} drawings` : "The drawing";
    return outcome === "right" ? `${drawn} and the answer are right.` : `${drawn} ${many ? "are" : "is"} right; the answer is ${answer}.`;
  }
  return `${count(frames.length, "drawing")}; the answer is ${answer}.`;
}

function head(data, to) {
  const link = (pair, text, label) => (pair ? el("a", { class: "button", href: to(pair), "aria-label": label }, text) : el("span", { class: "button off", "aria-hidden": "true" }, text));
  const args = Object.entries(data.args).map(([key, value]) => `${key}=${value}`).join(" ");
  return el(
    "div",
    { class: "head" },
    el("div", { class: "bar" }, el("h1", {}, verdictOf(data)), el("span", { class: "grow" }), data.total && data.position ? el("span", { class: "quiet" }, `${data.position} of ${data.total}`) : null, el("span", { class: "seg" }, link(data.before, "‹", "Previous episode"), link(data.after, "›", "Next episode"))),
    el("div", { class: "bar meta" }, el("strong", {}, name(data.sample)), changeTag(data.change), (data.score?.flags ?? []).map((flag) => pill(flag, "bad")), el("span", { class: "quiet" }, name(data.model), " ", args ? el("code", {}, name(args)) : null)),
    el(
      "nav",
      { class: "tabs", "aria-label": "The same sample in other conditions" },
      data.siblings.map((one) => el("a", { href: to([one.cell, one.sample]), "aria-current": one.cell === data.cell ? "page" : null }, placeOf(one.cell, data.task), " ", sign(one.outcome))),
      data.siblings.length > 1 ? el("a", { href: sideBySide(data) }, "side by side") : null,
    ),
  );
}

function body(data, wrong, truth) {
  const drawn = data.frames.length > 0;
  const failure = data.record.failure ? el("div", { class: "failed" }, el("span", { class: "label" }, `failed: ${data.record.failure.kind}`), words(data.record.failure.message, 800)) : null;
  const left = el(
    "section",
    { class: "side" },
    el("h2", {}, drawn && data.direct ? ["Answered directly ", sign(data.direct.outcome, true)] : "The sample"),
    el("div", { class: "inputs" }, inputs(data)),
    data.mode === "blind" ? el("p", { class: "quiet" }, "The model was not shown these images: it got the text only.") : null,
    drawn && data.direct ? el("p", {}, answerLine(data.direct.answer, data.expected), " ", el("a", { class: "small", href: address("episode", { run: data.run, cell: data.direct.cell, sample: data.direct.sample }) }, "open")) : null,
  );
  const show = el("button", { type: "button", class: "hold", onpointerdown: () => truth(true), onpointerup: () => truth(false), onpointerleave: () => truth(false) }, "Ground truth ", el("kbd", {}, "t"));
  const right = el(
    "section",
    { class: "drawnside" },
    el(
      "div",
      { class: "bar" },
      el("h2", {}, drawn ? [data.mode === "visual_cot" && data.canvas === "own" ? "Drawn step by step " : `${placeOf(data.cell, data.task)} `, sign(data.outcome, true)] : [`${placeOf(data.cell, data.task)} `, sign(data.outcome, true)]),
      minimap(data),
      el("span", { class: "grow" }),
      wrong >= 0 ? el("button", { type: "button", onclick: () => focusFrame(wrong) }, "First wrong ", el("kbd", {}, "w")) : null,
      drawn && data.frames.some((frame) => frame.true) ? show : null,
    ),
    drawn ? filmStrip(data) : replies(data),
    failure,
  );
  return el("div", { class: "duo" }, left, right);
}

/** Answer and ground truth at the end, direct and drawn below each other. */
function ending(data) {
  const drawn = data.frames.length > 0;
  const expected = steps(data.expected);
  const own = placeOf(data.cell, data.task);
  const answers = expected && steps(data.answer)
    ? ribbons([["Ground truth", data.expected, null], ...(data.direct ? [["Direct", data.direct.answer, data.direct.outcome]] : []), [drawn ? "With drawing" : own, data.answer, data.outcome]], data.expected)
    : el(
        "dl",
        { class: "final" },
        data.expected !== null && data.expected !== undefined ? [el("dt", {}, "Ground truth"), el("dd", {}, answerLine(data.expected))] : null,
        data.direct ? [el("dt", {}, "Direct ", sign(data.direct.outcome)), el("dd", {}, answerLine(data.direct.answer))] : null,
        [el("dt", {}, drawn ? "With drawing " : `${own} `, sign(data.outcome)), el("dd", {}, answerLine(data.answer))],
      );
  return [el("section", { class: "panel end", "aria-label": "Answers" }, answers, drawn ? el("details", {}, el("summary", {}, "The reply"), replies(data)) : null)];
}

function details(data) {
  return [
    el("details", { class: "section" }, el("summary", {}, "Scores, cost and ground truth"), el("div", { class: "columns" }, el("section", {}, el("h2", {}, "Scores"), scores(data)), el("section", {}, el("h2", {}, "Ground truth"), truth(data)))),
    el("details", { class: "section" }, el("summary", {}, `Every call with its exact context (${data.record.turns.length})`), lazily(() => transcript(data))),
  ];
}

function scores({ score, headline, readings }) {
  if (!score) return el("p", { class: "quiet" }, "Not scored yet.");
  const rows = Object.entries(score.values).map(([metric, value]) => [metric === headline ? el("strong", {}, metric) : metric, value === null ? "does not apply" : Number(value.toFixed(4))]);
  const usage = Object.entries(score.usage).map(([key, value]) => [key.replace("_", " "), value.toLocaleString("en")]);
  return el(
    "div",
    {},
    rows.length ? table("Scores of this episode", ["Score", "Value"], rows) : el("p", { class: "quiet" }, "Not scored: the failure was not the model’s."),
    readings.map((one) => table("Read differently", ["Scoring", "Read", "Score"], readingRows(one))),
    Object.keys(score.notes).length ? json("Notes of the scorer", score.notes) : null,
    table("Cost", ["Kind", "Total"], [...usage, ["time", seconds(score.seconds)]]),
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
    `${tokens_in.toLocaleString("en")} tokens in, ${tokens_out.toLocaleString("en")} out`,
    pictures_in ? count(pictures_in, "image") : "",
    calls ? "" : "nothing charged",
    took === undefined ? "" : seconds(took),
  ].filter(Boolean).join(" · ");
}

function parts(data, list) {
  return el(
    "ol",
    { class: "parts" },
    list.map((part) => el("li", { class: part.by }, el("span", { class: "label" }, part.once ? "task, this call only" : part.by), content(data, part))),
  );
}

function content(data, part) {
  if (part.picture) return shot(data, part.picture, `image by the ${part.by}`);
  return part.sound ? player(data, part.sound) : words(part.text ?? "");
}

/** Built when it is opened: the contexts of a long episode add up to far more than the episode. */
function lazily(build) {
  const host = el("div");
  queueMicrotask(() => host.parentElement?.addEventListener("toggle", () => host.childElementCount || host.append(build())));
  return host;
}

function rawReply(raw) {
  return el("details", {}, el("summary", {}, "raw reply"), lazily(() => el("pre", { dir: "auto" }, JSON.stringify(raw, null, 2))));
}
