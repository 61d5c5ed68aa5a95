// Two runs, or two modes of one run, on the same samples.

import { address, get, asked as now } from "./api.js";
import { el, empty, name, pill } from "./dom.js";
import { bracket, chance, count, noScore, percent, points, verdict } from "./format.js";
import { filmStrip } from "./strip.js";

const KEYS = ["a", "b", "cell_a", "cell_b", "change", "page"];

export async function showCompare(parameters, go) {
  const asked = Object.fromEntries(KEYS.map((key) => [key, parameters[key]]));
  const [runs, data] = await Promise.all([get("runs"), get("compare", asked)]);
  const change = (more) => go(address("/compare", { ...now(), page: "", ...more }), { replace: true });
  const sample = parameters.sample ?? data.pairs[0]?.sample;
  const to = (pair) => address("/compare", { ...asked, sample: pair.sample });
  const at = data.pairs.findIndex((pair) => pair.sample === sample);
  const move = (by) => {
    const next = data.pairs[Math.max(0, at + by)];
    return next && next.sample !== sample ? go(to(next), { replace: true }) : false;
  };
  const strips = sample ? await Promise.all([side(data.a, sample), side(data.b, sample)]) : [];
  return {
    title: "Compare",
    trail: [["Runs", "/?all=1"], ["Compare"]],
    content: [
      el("h1", {}, "Side by side"),
      el("div", { class: "pickers" }, picker("a", data.a, runs.runs, change), picker("b", data.b, runs.runs, change)),
      result(data),
      el(
        "div",
        { class: "compare" },
        el("div", { class: "pairs" }, filter(asked, change), pairs(data, sample, to, asked)),
        el("div", { class: "sides" }, strips.length ? strips : empty("No sample is in both", "Choose two cells of the same task.")),
      ),
    ],
    shown: () => document.querySelector(".pairs [aria-current]")?.scrollIntoView({ block: "nearest" }),
    keys: {
      j: ["j / k or ← →: next, previous sample", () => move(1)],
      k: ["", () => move(-1)],
      ArrowRight: ["", () => move(1)],
      ArrowLeft: ["", () => move(-1)],
    },
  };
}

function picker(letter, chosen, runs, change) {
  const select = (label, value, options, key) =>
    el(
      "label",
      { class: "field" },
      label,
      el(
        "select",
        { onchange: (event) => change({ [key]: event.target.value, sample: "" }), "data-key": key },
        options.map(([option, text]) => el("option", { value: option, selected: option === value }, text)),
      ),
    );
  return el(
    "div",
    { class: `picker series-${letter === "a" ? 5 : 1}` },
    select(letter === "a" ? "Before" : "After", chosen.run, runs.map((run) => [run.run, `${run.model} (${run.run})`]), letter),
    select("Task and mode", chosen.cell, chosen.cells.map((cell) => [cell, cell]), `cell_${letter}`),
  );
}

function result({ summary, difference, differs }) {
  const told = (cell) => {
    const metric = cell.metrics[cell.headline];
    return metric ? `${percent(metric.mean, metric.ci95)} ${bracket(metric.ci95)} by ${cell.scoring}` : noScore(cell);
  };
  return el(
    "div",
    {},
    el(
      "p",
      { class: "result" },
      told(summary[0]),
      " → ",
      told(summary[1]),
      " ",
      difference.n ? pill(`${points(difference.gain, difference.ci95)} points ${bracket(difference.ci95)}`, verdict(difference)) : null,
      " ",
      el(
        "span",
        { class: "quiet" },
        difference.n ? `${corrected(difference)} · ${count(difference.n, "shared sample")} · ${difference.helped} better, ${difference.hurt} worse` : "no shared, scored sample",
      ),
    ),
    differs.length ? el("p", { class: "caution" }, "Not the same conditions: ", differs.join("; ")) : null,
  );
}

/** As the run's own page has it; where nothing else is compared with it, that is said. */
function corrected({ p, p_holm = null }) {
  return p_holm === null && p !== null ? `p ${chance(p)}, not corrected` : `p (Holm) ${chance(p_holm)}`;
}

function filter(asked, change) {
  const options = [["", "all samples"], ["helped", "better after"], ["hurt", "worse after"], ["same", "the same"]];
  return el(
    "label",
    { class: "field" },
    "Show",
    el(
      "select",
      { id: "filter-change", onchange: (event) => change({ change: event.target.value, sample: "" }) },
      options.map(([value, text]) => el("option", { value, selected: (asked.change ?? "") === value }, text)),
    ),
  );
}

function pairs(data, sample, to, asked) {
  const more = data.page < data.pages ? el("a", { href: address("/compare", { ...asked, page: data.page + 1 }) }, "more ›") : null;
  const mark = { helped: "▲", hurt: "▼", same: "·" };
  return el(
    "ol",
    { class: "pair-list" },
    data.pairs.map((pair) =>
      el(
        "li",
        {},
        el(
          "a",
          { href: to(pair), "aria-current": pair.sample === sample ? "true" : null },
          el("span", { class: `change ${pair.change === "helped" ? "good" : pair.change === "hurt" ? "bad" : ""}` }, mark[pair.change] ?? "–"),
          name(pair.sample),
        ),
      ),
    ),
    more ? el("li", {}, more) : null,
  );
}

async function side({ run, cell, model }, sample) {
  try {
    const data = await get("episode", { run, cell, sample });
    return el(
      "section",
      { class: "side" },
      el("h2", {}, name(model), " ", el("span", { class: "quiet" }, cell), " ", pill(data.outcome, data.outcome)),
      filmStrip(data),
      el("p", {}, el("a", { href: address("/episode", { run, cell, sample }) }, "The whole episode")),
    );
  } catch (error) {
    return el("section", { class: "side" }, empty("Not here", error.message));
  }
}
