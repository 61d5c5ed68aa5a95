// Numbers as a reader wants them.

const MINUS = "\u2212";

/** A share in points; a number that is no share as it is. Its interval tells, where it is small itself. */
const inPoints = (value, ci = []) => ([value, ...ci].every((end) => end === null || Math.abs(end) <= 1) ? 100 * value : value);

export const percent = (value, ci) => (value === null || value === undefined ? "–" : inPoints(value, ci).toFixed(1));

export function points(value, ci) {
  if (value === null || value === undefined) return "–";
  const rounded = Math.round(10 * inPoints(value, ci)) / 10;
  return (rounded > 0 ? "+" : rounded < 0 ? MINUS : "±") + Math.abs(rounded);
}

export function bracket(ci) {
  const [low, high] = ci;
  if (low === null || high === null) return "";
  const whole = (value) => String(Math.round(inPoints(value, ci))).replace("-", MINUS);
  return `[${whole(low)}, ${whole(high)}]`;
}

export const verdict = (gain) => ({ better: "good", worse: "bad" })[gain.verdict] ?? "";

export const share = (value) => (value === null || value === undefined ? "–" : `${percent(value)} %`);
/** By which rules these cells were scored, to be said beside their scores. */
export const scoredBy = (cells) => [...new Set(cells.map((cell) => cell.scoring).filter(Boolean))].join(", ");

/** What stands in place of a score that is not there. */
export const noScore = (cell) => (cell.problem ? `–, ${cell.problem}; sketchmark score RUN` : "–");

export const chance = (p) => (p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));
export const seconds = (value) =>
  value >= 100 ? `${Math.round(value)} s` : value >= 0.1 ? `${Number(value.toPrecision(2))} s` : `${Number((1000 * value).toPrecision(2))} ms`;
const condition = (way) => (way ? ` ${way === "native history" ? "with" : "by"} ${way}` : "");
export const played = (cell) =>
  `${cell.mode}${condition(cell.draw_with)}${cell.canvas === "own" ? "" : `, ${cell.canvas} canvas`}`;
export const count = (number, one, many = `${one}s`) => `${number.toLocaleString()} ${number === 1 ? one : many}`;
