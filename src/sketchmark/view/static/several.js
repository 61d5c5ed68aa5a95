// Three or more runs at once: the gains, every condition, and the samples on which they disagree.

import { address, get, asked as now } from "./api.js";
import { chart, choice, el, name, sign, table } from "./dom.js";
import { bracket, brief, chance, count, percent, points, scoredBy, verdict } from "./format.js";

export async function showSeveral(parameters, go) {
  const data = await get("several", parameters);
  const change = (more) => go(address("several", { ...now(), ...more }), { replace: true });
  const label = (run) => (data.runs.filter((one) => one.model === run.model).length > 1 ? run.run : run.model || run.run);
  return {
    title: "Compare runs",
    trail: [["Runs", address("", { all: 1 })], [`${data.runs.length} runs`]],
    content: [
      el("h1", {}, `${count(data.runs.length, "run")} compared`),
      el("p", { class: "lede" }, data.runs.map(label).join(", "), "."),
      data.forest ? el("section", { class: "panel section slide" }, el("h2", {}, "Gain by drawing, in points"), el("p", { class: "quiet" }, "Filled: p < 0.05 after Holm’s correction over the comparisons of each run. Hollow: unclear."), chart(data.forest)) : null,
      scores(data, label),
      matrix(data, label, change),
    ].filter(Boolean),
    keys: { u: ["u", "all runs", () => go(address("", { all: 1 }))] },
  };
}

function scores(data, label) {
  const tasks = [...new Set(data.runs.flatMap((run) => Object.keys(run.tasks)))];
  const value = (metric) => (metric ? `${percent(metric.mean, metric.ci95)} ${bracket(metric.ci95)}` : "–");
  const rows = tasks.flatMap((task) =>
    data.runs
      .filter((run) => run.tasks[task])
      .map((run) => {
        const found = run.tasks[task];
        const gain = found.gain;
        return [
          task,
          el("a", { href: address("run", { run: run.run }) }, name(label(run))),
          value(found.direct),
          value(found.drawn),
          gain ? el("span", { class: `change ${verdict(gain)}` }, `${points(gain.gain, gain.ci95)} ${bracket(gain.ci95)}`) : "–",
          gain ? chance(gain.p_holm) : "–",
          found.blank ? `${points(found.blank.gain, found.blank.ci95)} ${bracket(found.blank.ci95)}` : "not run",
          found.n,
          brief(run.usage.calls ?? 0),
        ];
      }),
  );
  const caption = `Scores in percent by ${scoredBy(data.runs.flatMap((run) => run.standings)) || "no scoring yet"}; p corrected by Holm within each run`;
  return el("section", { class: "section" }, el("h2", {}, "Scores"), table(caption, ["Task", "Run", "Direct [95%]", "Drawn [95%]", "Gain [95%]", "p (Holm)", "Own − blank", "n", "Calls"], rows));
}

function matrix(data, label, change) {
  const rows = data.matrix.map(({ sample, outcomes }) => [
    name(sample),
    ...outcomes.map((outcome, at) => (outcome ? el("a", { href: address("episode", { run: data.runs[at].run, cell: data.cell, sample }) }, sign(outcome)) : "–")),
  ]);
  return el(
    "section",
    { class: "section" },
    el("div", { class: "bar" }, el("h2", {}, "Sample by sample"), choice("Task and mode", data.cell, data.cells.map((cell) => [cell]), (cell) => change({ cell }))),
    el("p", { class: "quiet" }, `${count(data.shared, "shared sample")}, the runs disagree on ${data.disagreed}; those come first.`),
    rows.length ? table("Right and wrong answers by run", ["Sample", ...data.runs.map((run) => name(label(run)))], rows, { class: "matrix" }) : null,
  );
}
