// Film strips: the drawings of an episode in order, small on cards and large on an episode's page.

import { overlay, picture, sound, thumbnail } from "./api.js";
import { el, sign, svg, words } from "./dom.js";
import { steps } from "./format.js";

const MOST = 16;

/** One row of small images: the input, each drawing, and the ground truth of the first wrong one. */
export function miniStrip(run, item) {
  const image = (name, alt) => el("img", { src: thumbnail(run, name, 160), alt, loading: "lazy", decoding: "async" });
  const wrong = item.strip.findIndex((one) => one.right === false);
  const shown = item.strip.slice(0, MOST);
  const left = item.strip.length - shown.length;
  return el(
    "span",
    { class: "mini" },
    item.input ? el("span", { class: "still in" }, image(item.input, "input")) : null,
    shown.map((one, at) =>
      el("span", { class: `still ${one.right === false ? (at === wrong ? "first" : "amiss") : ""}` }, image(one.name, `drawing ${at + 1}${one.right === false ? ", wrong" : ""}`)),
    ),
    left > 0 ? el("span", { class: "quiet" }, `+${left}`) : null,
    item.true ? el("span", { class: "still true" }, image(item.true, `ground truth of drawing ${wrong + 1}`)) : null,
    item.input || shown.length || item.sounds ? null : el("span", { class: "quiet" }, "no image"),
    item.sounds ? el("span", { class: "quiet" }, `${item.sounds} ${item.sounds === 1 ? "sound" : "sounds"}`) : null,
  );
}

/** What became of the drawings, in a few words. */
export function drawingsInWords({ strip, outcome }) {
  if (!strip.length) return "";
  const wrong = strip.findIndex((one) => one.right === false);
  if (wrong >= 0) return `✕ from drawing ${wrong + 1} of ${strip.length}`;
  const all = `${strip.length === 1 ? "the drawing is" : `all ${strip.length} drawings`} right`;
  if (strip.every((one) => one.right)) return outcome === "wrong" ? `${all}, answer wrong` : all;
  return `${strip.length} ${strip.length === 1 ? "drawing" : "drawings"}`;
}

/** An answer on one line: moves as arrows, with those that differ from the expected ones marked. */
export function answerLine(answer, expected) {
  const moves = steps(answer);
  if (!moves) return el("bdi", { class: "answer", dir: "auto" }, String(answer ?? "–").trim() || "no answer");
  const wanted = steps(expected);
  const words = moves.some((move) => move.length > 1);
  return el(
    "span",
    { class: words ? "moves words" : "moves" },
    moves.length ? null : "no moves",
    moves.map((move, at) => [words && at ? ", " : null, el("span", { class: wanted && wanted[at] !== move ? "x" : null }, move)]),
  );
}

/** Expected, direct and drawn moves below each other, one cell per move. */
export function ribbons(rows, expected) {
  const wanted = steps(expected) ?? [];
  return el(
    "div",
    { class: "ribbon" },
    rows.map(([who, answer, outcome]) => {
      const moves = steps(answer) ?? [];
      const missing = Math.max(0, wanted.length - moves.length);
      return [
        el("span", { class: "who" }, who),
        outcome ? sign(outcome, true) : el("span"),
        el(
          "ol",
          { "aria-label": who },
          moves.map((move, at) => el("li", { class: wanted[at] !== move ? "x" : null }, move)),
          Array.from({ length: missing }, () => el("li", { class: "gap" }, "·")),
        ),
      ];
    }),
  );
}

export function shot({ run }, name, alt) {
  return el(
    "a",
    { href: picture(run, name), target: "_blank", class: "pic shot" },
    el("img", { src: thumbnail(run, name, 320), alt, loading: "lazy", decoding: "async" }),
  );
}

/** Fetched when it is played: a sound may be a hundred megabytes. */
export function player({ run, sounds }, name) {
  const caption = el("figcaption", {}, sounds[name]);
  const failed = () => (caption.textContent = `${sounds[name]}: this browser cannot play it, or it is not in the run`);
  return el(
    "figure",
    { class: "sound" },
    el("audio", { controls: true, preload: "none", src: sound(run, name), "aria-label": sounds[name], onerror: failed }),
    caption,
  );
}

/** The inputs of a sample: images and sounds. */
export function inputs(data) {
  const { pictures, sounds } = data.record.sample;
  const images = Object.entries(pictures).flatMap(([label, value]) => [value].flat().map((one) => [label, one]));
  return [
    ...images.map(([label, one]) => el("figure", {}, shot(data, one, `input image ${label}`), images.length > 1 ? el("figcaption", {}, label) : null)),
    ...Object.entries(sounds ?? {}).flatMap(([label, names]) => names.map((one) => el("figure", {}, player(data, one), el("figcaption", {}, label)))),
  ];
}

/** As the scorer says; without its verdict, a board that reads differently. Different pixels are not an error. */
export const isWrong = (frame) => frame.right === false || (frame.right === null && frame.differs && frame.kind === "cells");

/** Every drawing with the text before it; the ground truth only where it differs. */
export function filmStrip(data) {
  const wrong = data.frames.findIndex(isWrong);
  return el(
    "ol",
    { class: "strip", "aria-label": "The drawings, step by step" },
    data.frames.map((frame, at) => tile(data, frame, at, at === wrong)),
  );
}

/** ✓ and ✕ of every drawing, as links to them. */
export function minimap(data) {
  const wrong = data.frames.findIndex(isWrong);
  if (data.frames.length < 2 || (wrong < 0 && data.frames.every((frame) => frame.right === null))) return null;
  return el(
    "nav",
    { class: "map", "aria-label": "Drawings" },
    data.frames.map((frame, at) =>
      el(
        "button",
        { type: "button", class: `${isWrong(frame) ? "b" : frame.right ? "g" : ""} ${at === wrong ? "now" : ""}`, onclick: () => focusFrame(at), "aria-label": `drawing ${at + 1}: ${isWrong(frame) ? "wrong" : frame.right ? "right" : "not known"}` },
        isWrong(frame) ? "✕" : frame.right ? "✓" : "·",
        el("small", {}, at + 1),
      ),
    ),
  );
}

export function focusFrame(at) {
  const frames = [...document.querySelectorAll(".strip .frame")];
  const target = frames[Math.max(0, Math.min(frames.length - 1, at))];
  if (!target) return false;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
  return true;
}

export const focusedFrame = () => [...document.querySelectorAll(".strip .frame")].indexOf(document.activeElement);

function tile(data, frame, at, first) {
  const number = `${at + 1}`;
  const bad = isWrong(frame);
  const label = el("span", { class: "number" }, el("b", {}, first ? `${number} · ✕ first wrong drawing` : bad ? `${number} · ✕` : number));
  const body = frame.drawn ? images(data, frame, at, bad, first) : el("div", { class: "missing" }, `no image (${frame.missing})`);
  return el(
    "li",
    { class: `frame ${bad || !frame.drawn ? "amiss" : ""} ${first ? "first" : ""}`, tabindex: 0, "aria-label": `drawing ${number}${bad ? ", wrong" : frame.right ? ", right" : ""}` },
    label,
    body,
    frame.said ? said(frame.said) : null,
    frame.described ? el("div", { class: "quiet small" }, "seen as: ", frame.described) : null,
    first && frame.words ? el("p", { class: "difference" }, frame.words) : null,
  );
}

function images(data, frame, at, bad, first) {
  const drawn = el(
    "span",
    { class: "pic peek" },
    el("img", { src: thumbnail(data.run, frame.drawn, 320), alt: `drawing ${at + 1} by the model`, loading: "lazy", decoding: "async" }),
    frame.boxes ? marks(frame.boxes) : null,
    frame.true && frame.right !== true && !first ? truth(data, frame, at) : null,
  );
  const link = el("a", { href: picture(data.run, frame.drawn), target: "_blank", tabindex: -1, title: frame.words }, drawn);
  const beside = [];
  if (frame.seen) beside.push(captioned(data, frame.seen, `shown to the model instead of drawing ${at + 1}`, "shown instead"));
  if (first && frame.true) beside.push(captioned(data, frame.true, `ground truth of drawing ${at + 1}`, "ground truth", "truth"));
  if (first && frame.kind === "pixels" && frame.differs) {
    const source = overlay({ run: data.run, cell: data.cell, sample: data.sample, drawn: frame.drawn, true: frame.true });
    if (source) beside.push(el("span", {}, el("span", { class: "pic" }, el("img", { src: source, alt: frame.words, loading: "lazy" })), el("span", { class: "cap" }, "difference")));
  }
  return el("div", { class: `two n${beside.length + 1}` }, el("span", {}, link, beside.length ? el("span", { class: "cap" }, "drawn") : null), beside);
}

const captioned = (data, name, alt, caption, kind = "") =>
  el("span", {}, el("span", { class: `pic ${kind}` }, el("img", { src: thumbnail(data.run, name, 320), alt, loading: "lazy", decoding: "async" })), el("span", { class: "cap" }, caption));

const truth = (data, frame, at) =>
  el("span", { class: "over" }, el("img", { src: thumbnail(data.run, frame.true, 320), alt: `ground truth of drawing ${at + 1}`, loading: "lazy", decoding: "async" }));

/** Boxes around the cells that differ, in proportions of the image. */
function marks(boxes) {
  return svg(
    "svg",
    { class: "marks", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" },
    boxes.map(([x, y, width, height]) => svg("rect", { x, y, width, height, "vector-effect": "non-scaling-stroke" })),
  );
}

/** Text of the model under a drawing; a click opens what is clamped. */
function said(text) {
  const box = el("div", { class: "says", dir: "auto", title: text.length > 120 ? "Click to show all" : null }, text.length > 3000 ? `${text.slice(0, 3000)}…` : text);
  box.addEventListener("click", () => box.classList.toggle("open"));
  return box;
}

/** Replies that belong to no drawing: the answer, a plan, a description. */
export function replies(data) {
  const shown = [];
  const { turns } = data.record;
  turns.forEach((turn, at) => {
    const beforeDrawing = turns.slice(at + 1).find((next) => next.reply)?.act === "draw";
    if (turn.act === "skip") shown.push(el("li", {}, el("span", { class: "label" }, "left out"), words(turn.note ?? "", 400)));
    else if (turn.act === "say" && turn.reply && !beforeDrawing) {
      const finish = turn.reply.finish === "stop" ? null : el("span", { class: "pill bad" }, turn.reply.finish);
      shown.push(el("li", {}, el("span", { class: "label" }, "said ", finish), turn.reply.text ? words(turn.reply.text, 1200) : el("span", { class: "quiet" }, `nothing (${turn.reply.finish})`)));
    }
  });
  return shown.length ? el("ol", { class: "replies", "aria-label": "Replies" }, shown) : null;
}
