// Elements from plain data. Text is always set as text: nothing a model or a run folder holds can become markup.

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function el(name, properties, ...children) {
  return fill(document.createElement(name), properties, children);
}

export function svg(name, properties, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

const DRAWN = new Set(["svg", "text", "circle", "polygon", "polyline", "rect"]);

/** A chart that the server drew, as an element: shapes and texts only, whatever the file says. */
export function drawing(text) {
  const namespaced = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ');
  const root = new DOMParser().parseFromString(namespaced, "image/svg+xml").documentElement;
  const known = [root, ...root.querySelectorAll("*")].every(
    (one) => DRAWN.has(one.localName) && ![...one.attributes].some(({ name }) => name.startsWith("on") || name.endsWith("href")),
  );
  return known ? document.importNode(root, true) : el("p", { class: "quiet" }, "This chart cannot be shown.");
}

/** The same chart for a wide window and for a phone. */
export const chart = ({ wide, narrow }, properties = {}) =>
  el(
    "div",
    { class: "chart", ...properties },
    el("div", { class: "wide" }, drawing(wide)),
    el("div", { class: "narrow" }, drawing(narrow)),
  );

/** Someone else's words: their own direction, their line breaks, truncated where they are very long. */
export function words(text, most = 3000) {
  const box = el("div", { class: "words", dir: "auto" });
  if (text.length <= most) {
    box.textContent = text;
    return box;
  }
  box.textContent = text.slice(0, most) + "…";
  const more = el("button", { class: "link", type: "button" }, `Show all ${text.length.toLocaleString("en")} characters`);
  more.addEventListener("click", () => {
    box.textContent = text;
    more.remove();
  });
  return el("div", {}, box, more);
}

/** A short name inside a line: it cannot turn the rest of the line around. */
export function name(text) {
  return el("bdi", {}, text);
}

export function pill(text, kind = "") {
  return el("span", { class: `pill ${kind}` }, text);
}

const GLYPHS = { right: "✓", wrong: "✕", partly: "◐", unscored: "–" };
/** Right or wrong as a glyph and a colour, with the word for those who see neither. */
export const sign = (outcome, word = false) =>
  el("span", { class: `sign ${outcome}`, title: outcome }, GLYPHS[outcome] ?? "", word ? ` ${outcome}` : el("span", { class: "sr" }, outcome));

const CHANGES = { helped: "▲ helped", hurt: "▼ hurt", same: "same" };
export const changeTag = (change) => (change && change !== "same" ? pill(CHANGES[change], change === "helped" ? "good" : "bad") : null);

export function table(caption, columns, rows, properties = {}) {
  const head = el("tr", {}, columns.map((column) => el("th", { scope: "col" }, column)));
  const body = rows.map((row) =>
    el("tr", {}, row.map((cell, at) => (at === 0 ? el("th", { scope: "row" }, cell) : el("td", { "data-label": columns[at]?.textContent ?? columns[at] }, cell)))),
  );
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", properties, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body)),
  );
}

/** A select with its label; `options` are [value, text]. */
export function choice(label, value, options, change, properties = {}) {
  return el(
    "label",
    { class: "field" },
    label,
    el(
      "select",
      { onchange: (event) => change(event.target.value), ...properties },
      options.map(([option, text]) => el("option", { value: option, selected: option === value }, text ?? option)),
    ),
  );
}

export function empty(title, hint, ways = []) {
  return el(
    "div",
    { class: "empty" },
    el("p", { class: "empty-title" }, title),
    hint ? el("p", {}, hint) : null,
    ways.length ? el("p", { class: "ways" }, ways) : null,
  );
}
