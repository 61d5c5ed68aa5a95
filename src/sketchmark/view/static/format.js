// Numbers as a reader wants them.

const MINUS = "\u2212";

/** A share in points; other numbers as they are. The interval decides, because the number itself may be small. */
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

export const share = (value) => (value === null || value === undefined ? "–" : `${percent(value)}%`);
/** The rules by which these cells were scored. */
export const scoredBy = (cells) => [...new Set(cells.map((cell) => cell.scoring).filter(Boolean))].join(", ");

/** Shown in place of a score that does not exist. */
export const noScore = (cell) => (cell.problem ? `–, ${cell.problem}; sketchmark score RUN` : "–");

export const chance = (p) => (p === null ? "–" : p < 0.001 ? "< 0.001" : rounded(p, 3).toFixed(3));
export const seconds = (value) =>
  value >= 100 ? `${Math.round(value)} s` : value >= 0.1 ? `${Number(value.toPrecision(2))} s` : `${Number((1000 * value).toPrecision(2))} ms`;

const PLACES = {
  direct: "direct",
  blind: "blind",
  text_input: "puzzle as text",
  text_cot: "text only",
  own: "own drawing",
  blank: "blank image",
  other: "another’s drawing",
  oracle: "ground truth",
  corrupt: "truth with one error",
  caption: "description",
  source: "code",
};
const condition = (way) => (way ? ` ${way === "native history" ? "with" : "by"} ${way}` : "");
/** A condition as the charts name it: the canvas of visual_cot, or else the mode. */
export const played = (cell) => {
  const place = cell.mode === "visual_cot" ? cell.canvas : cell.mode;
  const beside = cell.mode !== "visual_cot" && cell.canvas && cell.canvas !== "own" ? `, ${cell.canvas} canvas` : "";
  return `${PLACES[place] ?? place}${beside}${condition(cell.draw_with)}`;
};
/** The same from a cell's name, `maze.visual_cot.blank`. */
export const placeOf = (cell, task) => {
  const [mode, canvas = "own"] = cell.slice(task.length + 1).split(".");
  return played({ mode, canvas });
};
export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** 11.0k rather than 10,963, where a column is narrow. */
export const brief = (number) =>
  number < 1000 ? String(number) : number < 1e6 ? `${rounded(number / 1e3).toFixed(1)}k` : `${rounded(number / 1e6).toFixed(1)}M`;
export const day = (started) => started.slice(0, 16).replace("T", " ");
export const shortDay = (started) => day(started).slice(5);

const ARROWS = { up: "↑", down: "↓", left: "←", right: "→" };
/** An answer as a list of short texts, moves as arrows; null for any other answer. */
export const steps = (answer) => (Array.isArray(answer) ? answer.map((one) => ARROWS[one] ?? one) : null);
