// Two cells on the same samples: direct against drawn, or two runs. Samples that changed come first.

import { address, get, asked as now } from "./api.js";
import { changeTag, choice, el, empty, name, sign } from "./dom.js";
import { bracket, chance, count, noScore, percent, points, verdict } from "./format.js";
import { answerLine, filmStrip, focusFrame, inputs, replies } from "./strip.js";

const KEYS = ["a", "b", "cell_a", "cell_b", "change", "page"];

export async function showCompare(parameters, go) {
  const asked = Object.fromEntries(KEYS.map((key) => [key, parameters[key]]));
  const [runs, data] = await Promise.all([get("runs"), get("compare", asked)]);
  const change = (more) => go(address("compare", { ...now(), page: "", ...more }), { replace: true });
  const sample = parameters.sample ?? data.pairs[0]?.sample;
  const to = (pair) => address("compare", { ...asked, sample: pair.sample });
  const at = data.pairs.findIndex((pair) => pair.sample === sample);
  const move = (by) => {
    const next = data.pairs[Math.max(0, at + by)];
    return next && next.sample !== sample ? go(to(next), { replace: true }) : false;
  };
  const sides = sample ? await Promise.all([side("A", data.a, sample), side("B", data.b, sample)]) : [];
  const swap = () => change({ a: data.b.run, b: data.a.run, cell_a: data.b.cell, cell_b: data.a.cell });
  const filters = buttons(data);
  const press = (number) => change({ change: filters[number][1], sample: "" });
  const one = data.a.run === data.b.run;
  const trail = one ? [[data.a.run === "." ? data.a.model : data.a.run, address("run", { run: data.a.run })]] : [];
  const pair = data.pairs[at];
  return {
    title: "Compare",
    trail: [["Runs", address("", { all: 1 })], ...trail, ["Compare"]],
    content: [
      el("h1", {}, title(data)),
      el("div", { class: "pickers" }, picker("a", "A", data.a, runs.runs, change), el("button", { type: "button", class: "swap", onclick: swap, "aria-label": "Swap A and B" }, "⇄"), picker("b", "B", data.b, runs.runs, change)),
      result(data, asked, filters, change),
      el(
        "div",
        { class: "compare" },
        el("nav", { class: "panel pair-list", "aria-label": "Samples" }, pairs(data, sample, to, asked)),
        sides.length
          ? el("section", { class: "panel both" }, el("div", { class: "bar" }, el("h2", {}, name(sample)), changeTag(pair?.change), data.repeated && pair ? el("span", { class: "quiet" }, `${percent(pair.a)} → ${percent(pair.b)}, means over all repeats; the first is shown`) : null), el("div", { class: "sides" }, sides))
          : empty("No sample is in both", "Choose two cells of the same task."),
      ),
    ],
    shown: () => showChosen(document.querySelector(".pair-list")),
    keys: {
      j: ["j k", "sample", () => move(1)],
      k: ["", "", () => move(-1)],
      ArrowDown: ["", "", () => move(1)],
      ArrowUp: ["", "", () => move(-1)],
      x: ["x", "swap A and B", swap],
      1: ["1 2 3 4", "changed, hurt, helped, all", () => press(0)],
      2: ["", "", () => press(1)],
      3: ["", "", () => press(2)],
      4: ["", "", () => press(3)],
      w: ["w", "first wrong", () => document.querySelector(".frame.first")?.focus() ?? false],
      Enter: ["Enter", "open", () => (sample ? go(address("episode", { run: data.b.run, cell: data.b.cell, sample })) : false)],
      u: one ? ["u", "run", () => go(address("run", { run: data.a.run }))] : ["u", "all runs", () => go(address("", { all: 1 }))],
    },
  };
}

/** Scroll the list only: the page itself stays where the reader is. */
function showChosen(list) {
  const current = list?.querySelector("[aria-current]");
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
}

const chosen = (one) => one.cells.find((cell) => cell.cell === one.cell) ?? { label: one.cell, short: one.cell, task: "" };

function title(data) {
  const [a, b] = [chosen(data.a), chosen(data.b)];
  if (data.a.run === data.b.run) return `${capital(b.short)} against ${a.short}, on ${a.task}`;
  return data.a.model === data.b.model ? `${data.b.run} against ${data.a.run}, on ${b.task}` : `${data.b.model} against ${data.a.model}, on ${b.task}`;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function picker(letter, shown, one, runs, change) {
  const several = runs.length > 1;
  return el(
    "div",
    { class: `picker-${letter}` },
    several ? choice(shown, one.run, runs.map((run) => [run.run, `${run.model} (${run.run})`]), (run) => change({ [letter]: run, [`cell_${letter}`]: "", sample: "" }), { "data-key": letter }) : null,
    choice(several ? "Task and condition" : shown, one.cell, one.cells.map((cell) => [cell.cell, `${cell.task} · ${cell.label}`]), (cell) => change({ [`cell_${letter}`]: cell, sample: "" }), { "data-key": `cell_${letter}` }),
  );
}

function buttons({ counts }) {
  const { helped, hurt, right, wrong } = counts;
  return [[`Changed ${helped + hurt}`, "changed"], [`▼ Hurt ${hurt}`, "hurt"], [`▲ Helped ${helped}`, "helped"], [`All ${helped + hurt + right + wrong}`, ""]];
}

function result({ summary, difference, differs, counts, family }, asked, filters, change) {
  const told = (cell) => {
    const metric = cell.metrics[cell.headline];
    return metric ? `${percent(metric.mean, metric.ci95)}%` : noScore(cell);
  };
  const cell = (kind, text) => el("td", { class: kind }, text);
  const changed = counts.helped + counts.hurt;
  return el(
    "div",
    { class: "outcome" },
    el(
      "table",
      { class: "square" },
      el("caption", { class: "sr" }, "Samples by outcome in A and B"),
      el("thead", {}, el("tr", {}, el("td"), el("th", { scope: "col" }, "B right"), el("th", { scope: "col" }, "B wrong"))),
      el("tbody", {}, el("tr", {}, el("th", { scope: "row" }, "A right"), cell("", counts.right), cell("bad", `▼ ${counts.hurt}`)), el("tr", {}, el("th", { scope: "row" }, "A wrong"), cell("good", `▲ ${counts.helped}`), cell("", counts.wrong))),
    ),
    el(
      "div",
      {},
      el("p", { class: "result" }, el("span", { class: "quiet" }, told(summary[0])), " → ", el("b", { class: "own" }, told(summary[1])), difference.n ? [", ", el("span", { class: `change ${verdict(difference)}` }, el("b", {}, `${points(difference.gain, difference.ci95)} points`), " ", bracket(difference.ci95))] : null),
      el("p", { class: "quiet" }, difference.n ? `${changed} of ${count(difference.n, "shared sample")} changed: ${counts.helped} for the better, ${counts.hurt} for the worse. ${corrected(difference, family)} Scored by ${[...new Set(summary.map((one) => one.scoring))].join(" and ")}.` : "No shared, scored sample."),
      differs.length ? el("p", { class: "caution" }, "Not the same conditions: ", differs.join("; ")) : null,
      el("div", { class: "seg", role: "group", "aria-label": "Show" }, filters.map(([text, value]) => el("button", { type: "button", "aria-pressed": String((asked.change ?? "") === value), onclick: () => change({ change: value, sample: "" }) }, text))),
    ),
  );
}

/** The p value with the family it is corrected over; if it is in none, that is said. */
function corrected({ p, p_holm: holm = null }, family) {
  if (holm === null) return p === null ? "" : `p ${chance(p)}, not corrected.`;
  return `p ${chance(holm)} (Holm, over ${count(family, "comparison")}).`;
}

function pairs(data, sample, to, asked) {
  const mark = { helped: "▲", hurt: "▼", same: "·" };
  const heading = { helped: "▲ Helped", hurt: "▼ Hurt", same: "Same" };
  const rows = [];
  let kind;
  for (const pair of data.pairs) {
    if (pair.change !== kind) {
      kind = pair.change;
      rows.push(el("h3", {}, heading[kind] ?? "Not scored"));
    }
    rows.push(el("a", { href: to(pair), "aria-current": pair.sample === sample ? "true" : null }, el("span", {}, name(pair.sample)), el("span", { class: `change ${pair.change === "helped" ? "good" : pair.change === "hurt" ? "bad" : ""}` }, mark[pair.change] ?? "–")));
  }
  if (data.page < data.pages) rows.push(el("a", { href: address("compare", { ...asked, page: data.page + 1 }) }, "more ›"));
  return rows;
}

async function side(letter, { run, cell, model, cells }, sample) {
  const label = cells.find((one) => one.cell === cell)?.label ?? cell;
  try {
    const data = await get("episode", { run, cell, sample });
    return el(
      "section",
      { class: `side side-${letter.toLowerCase()}` },
      el("h3", {}, `${letter} · `, el("span", {}, label), " ", sign(data.outcome, true), " ", el("span", { class: "quiet small" }, name(model))),
      data.frames.length ? filmStrip(data) : el("div", { class: "inputs" }, inputs(data)),
      el("p", {}, el("span", { class: "quiet" }, "Answer: "), answerLine(data.answer, data.expected)),
      el("details", {}, el("summary", {}, "The reply"), replies(data)),
      el("p", {}, el("a", { href: address("episode", { run, cell, sample }) }, "The whole episode")),
    );
  } catch (error) {
    return el("section", { class: "side" }, empty("Not here", error.message));
  }
}
