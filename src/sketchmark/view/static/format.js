// Numbers as a reader wants them.

const MINUS = "\u2212";

/** A share in points; a number that is no share as it is. Its interval tells, where it is small itself. */
const inPoints = (value, ci = []) => ([value, ...ci].every((end) => end === null || Math.abs(end) <= 1) ? 100 * value : value);

/** Halves away from zero, as `rounded` in stats/intervals.py has it: the same number in terminal, report and viewer. */
const rounded = (value, digits = 1) => {
  const scale = 10 ** digits;
  return (Math.sign(value) * Math.floor(Math.abs(value) * scale + 0.5 + 1e-7)) / scale || 0;
};
const written = (value, ci) => rounded(inPoints(value, ci)).toFixed(1).replace("-", MINUS);

export const percent = (value, ci) => (value === null || value === undefined ? "–" : written(value, ci));

export function points(value, ci) {
  if (value === null || value === undefined) return "–";
  const text = written(value, ci);
  return text === "0.0" ? "±0.0" : text.startsWith(MINUS) ? text : `+${text}`;
}

export function bracket(ci) {
  const [low, high] = ci;
  return low === null || high === null ? "" : `[${written(low, ci)}, ${written(high, ci)}]`;
}

export const verdict = (gain) => ({ better: "good", worse: "bad" })[gain.verdict] ?? "";

export const share = (value) => (value === null || value === undefined ? "–" : `${percent(value)} %`);
/** By which rules these cells were scored, to be said beside their scores. */
export const scoredBy = (cells) => [...new Set(cells.map((cell) => cell.scoring).filter(Boolean))].join(", ");

/** What stands in place of a score that is not there. */
export const noScore = (cell) => (cell.problem ? `–, ${cell.problem}; sketchmark score RUN` : "–");

export const chance = (p) => (p === null ? "–" : p < 0.001 ? "< 0.001" : rounded(p, 3).toFixed(3));
export const seconds = (value) =>
  value >= 100 ? `${Math.round(value)} s` : value >= 0.1 ? `${Number(value.toPrecision(2))} s` : `${Number((1000 * value).toPrecision(2))} ms`;
const condition = (way) => (way ? ` ${way === "native history" ? "with" : "by"} ${way}` : "");
export const played = (cell) =>
  `${cell.mode}${condition(cell.draw_with)}${cell.canvas === "own" ? "" : `, ${cell.canvas} canvas`}`;
export const count = (number, one, many = `${one}s`) => `${number.toLocaleString()} ${number === 1 ? one : many}`;
