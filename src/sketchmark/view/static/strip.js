// A film strip: what was shown, said and drawn, in order, each drawing beside the true picture.

import { address, get, picture, sound, thumbnail } from "./api.js";
import { el, words } from "./dom.js";

export function filmStrip(data) {
  const { record } = data;
  const stills = [...inputs(data)];
  let drawn = 0;
  for (const turn of record.turns) {
    const { reply } = turn;
    if (turn.act === "skip") stills.push(still("left out", words(turn.note ?? "", 400)));
    else if (turn.act === "draw") stills.push(drawing(data, turn, drawn++));
    else if (reply) stills.push(still(turn.act === "describe" ? "described" : "said", said(reply)));
  }
  if (record.failure) stills.push(still(`failed: ${record.failure.kind}`, words(record.failure.message, 800), "failed"));
  return el("ol", { class: "strip", tabindex: 0, "aria-label": "What happened, step by step" }, stills);
}

function still(label, content, kind = "") {
  return el("li", { class: kind }, el("span", { class: "label" }, label), content);
}

function said(reply) {
  if (!reply.text) return el("div", { class: "missing" }, `nothing (${reply.finish})`);
  const box = words(reply.text, 1200);
  return reply.finish === "stop" ? box : el("div", {}, box, el("span", { class: "pill bad" }, reply.finish));
}

function* inputs(data) {
  for (const [label, value] of Object.entries(data.record.sample.pictures)) {
    for (const one of [value].flat()) yield still(`input: ${label}`, shot(data, one, `input picture ${label}`));
  }
  for (const [label, names] of Object.entries(data.record.sample.sounds ?? {})) {
    for (const one of names) yield still(`input: ${label}`, player(data, one));
  }
}

export function shot({ run }, name, alt) {
  return el(
    "a",
    { href: picture(run, name), target: "_blank", class: "shot" },
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

function drawing(data, turn, at) {
  const { run, cell, record } = data;
  const drawn = turn.reply?.picture;
  const label = `drawing ${at + 1}`;
  if (!drawn) return still(label, el("div", { class: "missing" }, `no picture (${turn.reply?.finish ?? "none"})`));
  const true_ = record.sample.frames?.[at];
  const seen = turn.added.find((part) => part.picture)?.picture;
  const captioned = (image, caption) => el("figure", {}, image, el("figcaption", {}, caption));
  const shots = [captioned(shot(data, drawn, `${label} by the model`), "drawn")];
  let verdict = null;
  if (seen && seen !== drawn) shots.push(captioned(shot(data, seen, `what the model was shown instead of ${label}`), "shown to it"));
  if (true_) {
    shots.push(captioned(shot(data, true_, `true picture for ${label}`), "true"));
    if (true_ === drawn) verdict = el("p", { class: "verdict good" }, "exactly the true picture");
    else {
      const asked = { run, cell, sample: data.sample, drawn, true: true_ };
      const overlay = el("img", { src: address("/overlay", asked), alt: `${label}, with what differs marked`, loading: "lazy" });
      verdict = el("p", { class: "verdict" }, "…");
      tell(verdict, overlay, asked);
      shots.push(captioned(el("span", { class: "shot" }, overlay), "difference"));
    }
  }
  return still(label, el("div", {}, el("div", { class: "shots" }, shots), verdict), "drawing");
}

async function tell(verdict, overlay, asked) {
  try {
    const found = await get("difference", asked);
    const same = found.kind === "cells" ? !found.cells.length : found.share === 0;
    verdict.textContent = found.words;
    verdict.classList.add(same ? "good" : "bad");
    overlay.alt = found.words;
  } catch (error) {
    verdict.textContent = `cannot be compared: ${error.message}`;
  }
}
