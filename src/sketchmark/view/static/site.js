// Answers of an exported viewer: what the server would compute, from the files that the export wrote.

import { nameFolders, runFolder } from "./api.js";

const PAGE = 48;
const files = new Map();

async function read(path) {
  if (!files.has(path)) {
    files.set(
      path,
      fetch(path).then((answer) => {
        if (!answer.ok) throw new Error(`${path} is missing in this export`);
        return answer.json();
      }),
    );
  }
  return files.get(path);
}

async function runs() {
  const data = await read("data/runs.json");
  nameFolders(data.folders);
  return data;
}

async function ofRun(run, name) {
  await runs();
  const folder = runFolder(run);
  if (!folder) throw new Error(`there is no run ${JSON.stringify(run)} here`);
  return read(`data/${folder}/${name}`);
}

const known = (values) => new Set(Object.values(values).filter((value) => value !== "any"));

/** The episodes that the filters of the address leave, in their order. */
function hits(items, asked) {
  const [key, group] = (asked.groups ?? "").split(/=(.*)/s);
  const text = (asked.text ?? "").toLowerCase();
  const fits = (name, value) => !asked[name] || asked[name] === "any" || asked[name] === value;
  const found = items.filter(
    (item) =>
      fits("task", item.task) &&
      fits("mode", item.mode) &&
      fits("canvas", item.canvas) &&
      (!asked.outcome || asked.outcome === item.outcome) &&
      (!asked.change || asked.change === item.change) &&
      (!asked.flag || (asked.flag === "any" ? item.flags.length : item.flags.includes(asked.flag))) &&
      (!asked.groups || String(item.groups[key]) === group) &&
      (!text || `${item.sample} ${JSON.stringify(item.answer)}`.toLowerCase().includes(text)),
  );
  if (!asked.sort) return found;
  const [name, direction] = asked.sort.split(":");
  const changes = ["helped", "hurt", "same"];
  const value = (item) => {
    if (name === "change") return changes.indexOf(item.change) < 0 ? 3 : changes.indexOf(item.change) + (item.change === "same" && !item.value ? 0.5 : 0);
    if (name === "score") return item.value ?? Infinity;
    return item[name] ?? item.groups[name] ?? Infinity;
  };
  const sign = direction === "down" ? -1 : 1;
  return [...found].sort((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0));
}

function counts(items) {
  const found = {};
  for (const { change, value } of items) {
    if (!change) continue;
    const kind = change !== "same" ? change : value >= 1 ? "right" : "wrong";
    found[kind] = (found[kind] ?? 0) + 1;
  }
  return found;
}

async function samples(asked) {
  const data = await ofRun(asked.run, "samples.json");
  const found = hits(data.items, asked);
  const whole = hits(data.items, { ...asked, outcome: "", change: "" });
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const page = Math.min(Math.max(1, Number(asked.page) || 1), pages);
  return { ...data, total: found.length, page, pages, counts: counts(whole), all: whole.length, items: found.slice((page - 1) * PAGE, page * PAGE) };
}

async function episode(asked) {
  const { items } = await ofRun(asked.run, "samples.json");
  const number = items.findIndex((item) => item.cell === asked.cell && item.sample === asked.sample);
  if (number < 0) throw new Error(`${asked.cell} has no sample ${JSON.stringify(asked.sample)}`);
  const data = await ofRun(asked.run, `episodes/${number}.json`);
  const list = hits(items, asked);
  const exact = list.findIndex((item) => item === items[number]);
  const at = exact >= 0 ? exact : list.findIndex((item) => item.sample === asked.sample);
  const neighbour = (by) => {
    const next = at < 0 ? undefined : list[at + by];
    if (!next) return null;
    const same = exact < 0 && items.some((item) => item.cell === asked.cell && item.sample === next.sample);
    return [same ? asked.cell : next.cell, next.sample];
  };
  return { ...data, position: at + 1, total: list.length, before: neighbour(-1), after: neighbour(1) };
}

const choices = (data) => data.cells.map((cell) => ({ cell: cell.cell, task: cell.task, label: cell.label, short: cell.short }));

function twoCells(left, right, asked) {
  const drawn = right.cells.filter((cell) => cell.mode === "visual_cot" && cell.canvas === "own");
  const names = left.cells.map((cell) => cell.cell);
  const first = asked.cell_b ?? drawn[0]?.cell ?? right.cells[0].cell;
  const task = right.cells.find((cell) => cell.cell === first)?.task;
  const direct = left.run === right.run && names.includes(`${task}.direct`) ? `${task}.direct` : "";
  const before = asked.cell_a || direct || (names.includes(first) ? first : names[0]);
  return [before, asked.cell_b || (left.run === right.run || right.cells.some((cell) => cell.cell === before) === false ? first : before)];
}

/** Swap the sign of a difference that was computed the other way round. */
const turned = (found) => ({
  ...found,
  summary: [...found.summary].reverse(),
  difference: {
    ...found.difference,
    gain: -found.difference.gain,
    ci95: found.difference.ci95[0] === null ? [null, null] : [-found.difference.ci95[1], -found.difference.ci95[0]],
    helped: found.difference.hurt,
    hurt: found.difference.helped,
    verdict: { better: "worse", worse: "better" }[found.difference.verdict] ?? found.difference.verdict,
  },
});

async function compare(asked) {
  const { compared } = await runs();
  const [left, right] = await Promise.all([ofRun(asked.a, "run.json"), ofRun(asked.b, "run.json")]);
  const [one, other] = twoCells(left, right, asked);
  const of = async (run, cell) => (await ofRun(run, "samples.json")).items.filter((item) => item.cell === cell);
  const [before, after] = await Promise.all([of(asked.a, one), of(asked.b, other)]);
  const values = new Map(after.map((item) => [item.sample, item.value]));
  const table = { helped: 0, hurt: 0, right: 0, wrong: 0 };
  const pairs = [];
  for (const { sample, value } of before.filter((item) => values.has(item.sample))) {
    const now = values.get(sample);
    const change = value === null || now === null ? null : value === now ? "same" : now > value ? "helped" : "hurt";
    if (change) table[change !== "same" ? change : now >= 1 ? "right" : "wrong"] += 1;
    if (!asked.change || change === asked.change || (asked.change === "changed" && (change === "helped" || change === "hurt"))) pairs.push({ sample, a: value, b: now, change });
  }
  const order = ["hurt", "helped", "same", null];
  pairs.sort((a, b) => order.indexOf(a.change) - order.indexOf(b.change));
  const straight = compared[key([asked.a, asked.b, one, other])];
  const reverse = compared[key([asked.b, asked.a, other, one])];
  const row = (data, cell) => data.cells.find((found) => found.cell === cell);
  const uncomputed = { difference: { n: 0 }, family: 0, differs: ["an exported viewer has no interval for this pair: open the runs with sketchmark view"], summary: [row(left, one), row(right, other)] };
  const found = straight ?? (reverse ? turned(reverse) : uncomputed);
  const side = (data, cell) => ({ run: data.run, model: data.model, cells: choices(data), cell });
  return { ...found, a: side(left, one), b: side(right, other), counts: table, total: pairs.length, page: 1, pages: 1, pairs };
}

/** As Python's json.dumps writes a list of texts. */
const key = (texts) => `[${texts.map((text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)).join(", ")}]`;

async function several(asked) {
  const data = await runs();
  const wanted = [...known(Object.fromEntries(Object.entries(asked).filter(([name]) => /^r\d+$/.test(name))))];
  const chosen = wanted.map((run) => data.runs.find((one) => one.run === run)).filter(Boolean);
  const cells = [...new Set(chosen.flatMap((run) => run.cells.filter((cell) => cell.canvas === "own").map((cell) => cell.cell)))];
  const cell = asked.cell ?? cells.find((name) => name.endsWith(".visual_cot")) ?? cells[0];
  const outcomes = await Promise.all(chosen.map(async ({ run }) => new Map((await ofRun(run, "samples.json")).items.filter((item) => item.cell === cell).map((item) => [item.sample, item.outcome]))));
  const having = outcomes.filter((one) => one.size);
  const shared = [...(having[0]?.keys() ?? [])].filter((sample) => having.every((one) => one.has(sample)));
  const rows = shared.map((sample) => ({ sample, outcomes: outcomes.map((one) => one.get(sample) ?? "") }));
  const disagreed = rows.filter((row) => new Set(row.outcomes.filter(Boolean)).size > 1);
  const ordered = [...disagreed, ...rows.filter((row) => !disagreed.includes(row))];
  const forest = chosen.length === data.runs.length ? data.forest : null;
  return { runs: chosen, cells, cell, forest, shared: shared.length, disagreed: disagreed.length, matrix: ordered.slice(0, 60) };
}

const answers = { runs, run: ({ run }) => ofRun(run, "run.json"), samples, episode, compare, several };

export const answer = (path, parameters) => answers[path](parameters);
