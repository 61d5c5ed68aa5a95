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

/** Someone else's words: their own direction, their line breaks, cut where they are very long. */
export function words(text, most = 3000) {
  const box = el("div", { class: "words", dir: "auto" });
  if (text.length <= most) {
    box.textContent = text;
    return box;
  }
  box.textContent = text.slice(0, most) + "…";
  const more = el("button", { class: "link", type: "button" }, `Show all ${text.length.toLocaleString()} characters`);
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

export function table(caption, columns, rows, properties = {}) {
  const head = el("tr", {}, columns.map((column) => el("th", { scope: "col" }, column)));
  const body = rows.map((row) =>
    el("tr", {}, row.map((cell, at) => (at === 0 ? el("th", { scope: "row" }, cell) : el("td", {}, cell)))),
  );
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el("table", properties, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body)),
  );
}

export function empty(title, hint) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), hint ? el("p", {}, hint) : null);
}
