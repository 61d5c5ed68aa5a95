// Small charts as SVG, drawn to the width they have, so that their text keeps its size on a phone.

import { el, svg } from "./dom.js";
import { bracket, percent, played, points, verdict } from "./format.js";

function figure(caption, description, draw) {
  const host = el("div", { class: "chart", role: "img", "aria-label": description });
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now && now !== width) {
      width = now;
      host.replaceChildren(draw(width));
    }
  }).observe(host);
  return el("figure", {}, el("figcaption", {}, caption), host);
}

/** Names stand left of their mark; on a narrow page above it. */
function layout(width, row) {
  const narrow = width < 520;
  const right = width - 118;
  return narrow ? { row: row + 18, left: 8, right, nameAt: -15 } : { row, left: Math.min(250, width * 0.36), right, nameAt: 5 };
}

const line = (x1, y1, x2, y2, kind) => svg("line", { x1, y1, x2, y2, class: kind });
const label = (x, y, text, properties = {}) => svg("text", { x, y, ...properties }, text);
const told = (point) => `${percent(point.mean, point.ci95)} ${bracket(point.ci95)}, n = ${point.n}`;

/** Each gain as a dot with its interval, zero marked. */
export function forest(gains) {
  const description = gains
    .map((gain) => `${gain.task}, ${played(gain)}: ${points(gain.gain, gain.ci95)} points ${bracket(gain.ci95)}`)
    .join("; ");
  return figure("Gain over direct, in points, with 95 % intervals", description, (width) => {
    const { row, left, right, nameAt } = layout(width, 34);
    const ends = gains.flatMap((gain) => gain.ci95).filter((end) => end !== null);
    const low = Math.min(0, ...ends);
    const high = Math.max(0.1, ...ends);
    const x = (value) => left + ((value - low) / (high - low)) * (right - left);
    const height = gains.length * row + 26;
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height },
      line(x(0), 0, x(0), height - 22, "axis"),
      label(x(0), height - 6, "0", { class: "tick", "text-anchor": "middle" }),
      gains.map((gain, at) => {
        const y = (at + 1) * row - 17;
        const [from, to] = gain.ci95;
        return svg(
          "g",
          { class: `mark ${verdict(gain)}` },
          label(0, y + nameAt, short(`${gain.task} · ${played(gain)}`, (nameAt < 0 ? width : left) / 6.8)),
          from === null ? null : line(x(from), y, x(to), y, "interval"),
          svg("circle", { cx: x(gain.gain), cy: y, r: 6 }),
          label(width, y + 5, `${points(gain.gain, gain.ci95)} ${bracket(gain.ci95)}`, { "text-anchor": "end", class: "value" }),
        );
      }),
    );
  });
}

/** A score against a difficulty, one line a mode, with the interval as a band. */
export function curve({ task, key, lines }) {
  const description = lines
    .map((one) => `${played(one)}: ${one.points.map((p) => `${p.value}: ${told(p)}`).join(", ")}`)
    .join("; ");
  return figure(`${task}: score by ${key}`, description, (width) => {
    const height = 210;
    const [left, right, top, bottom] = [34, width - 8, 8, height - 26];
    const values = lines.flatMap((one) => one.points.map((p) => p.value));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const x = (value) => (high === low ? (left + right) / 2 : left + ((value - low) / (high - low)) * (right - left));
    const y = (value) => bottom - value * (bottom - top);
    const ticks = [...new Set(values)].sort((a, b) => a - b);
    const every = Math.ceil(ticks.length / Math.max(2, (right - left) / 44));
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height },
      [0, 0.5, 1].map((at) => [
        line(left, y(at), right, y(at), "guide"),
        label(left - 6, y(at) + 4, 100 * at, { class: "tick", "text-anchor": "end" }),
      ]),
      ticks.filter((_, at) => at % every === 0).map((t) =>
        label(x(t), height - 8, t, { class: "tick", "text-anchor": "middle" }),
      ),
      lines.map((one, at) => {
        const shown = one.points.filter((p) => p.ci95[0] !== null);
        const band = [
          ...shown.map((p) => `${x(p.value)},${y(p.ci95[1])}`),
          ...shown.map((p) => `${x(p.value)},${y(p.ci95[0])}`).reverse(),
        ];
        return svg(
          "g",
          { class: `series-${(at % 6) + 1}` },
          svg("polygon", { points: band.join(" "), class: "band" }),
          svg("polyline", { points: one.points.map((p) => `${x(p.value)},${y(p.mean)}`).join(" "), class: "stroke" }),
          one.points.map((p) =>
            svg("circle", { cx: x(p.value), cy: y(p.mean), r: 3.5 }, svg("title", {}, `${p.value}: ${told(p)}`)),
          ),
        );
      }),
    );
  });
}

/** Bars with intervals: [{label, mean, ci95, n, series}]. */
export function bars(caption, rows) {
  const description = rows.map((row) => `${row.label}: ${row.mean === null ? "none" : told(row)}`).join("; ");
  return figure(caption, description, (width) => {
    const { row, left, right, nameAt } = layout(width, 30);
    const x = (value) => left + value * (right - left);
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${rows.length * row}`, width, height: rows.length * row },
      line(left, 0, left, rows.length * row, "axis"),
      rows.map((one, at) => {
        const y = (at + 1) * row - 15;
        const [from, to] = one.ci95;
        return svg(
          "g",
          { class: `series-${one.series ?? 1}` },
          label(nameAt < 0 ? left + 6 : 0, y + nameAt, short(one.label, (nameAt < 0 ? width : left) / 6.8)),
          one.mean === null
            ? label(left + 8, y + 5, "none", { class: "tick" })
            : [
                svg("rect", { x: left, y: y - 8, width: Math.max(1, x(one.mean) - left), height: 16, rx: 2 }),
                from === null ? null : line(x(from), y, x(to), y, "whisker"),
                label(width, y + 5, `${percent(one.mean, one.ci95)} ${bracket(one.ci95)}`, { "text-anchor": "end", class: "value" }),
              ],
        );
      }),
    );
  });
}

export function legend(lines) {
  return el(
    "ul",
    { class: "legend" },
    lines.map((one, at) => el("li", {}, el("span", { class: `swatch series-${(at % 6) + 1}` }), played(one))),
  );
}

const short = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, Math.floor(most) - 1))}…`);
