// The episodes of a run as a grid of thumbnails, with filters that live in the address.

import { address, get, thumbnail } from "./api.js";
import { el, empty, name, pill } from "./dom.js";
import { count, played } from "./format.js";

export const FILTERS = ["task", "mode", "canvas", "outcome", "change", "flag", "read", "groups", "text", "sort"];

export const filtersOf = (parameters) =>
  Object.fromEntries(FILTERS.filter((key) => parameters[key]).map((key) => [key, parameters[key]]));

export async function showSamples(parameters, go) {
  const { run } = parameters;
  let asked = { run, ...filtersOf(parameters), page: parameters.page };
  let data = await get("samples", asked);
  const results = el("div", { class: "results", "aria-live": "polite" });
  const draw = () => results.replaceChildren(...grid(data, asked));
  draw();

  // A changed filter draws the results anew and leaves the fields alone: someone may be typing in them.
  async function load() {
    const mine = asked;
    const found = await get("samples", mine);
    if (mine !== asked) return;
    data = found;
    keepingFocus(results, draw);
    clear.hidden = !FILTERS.some((key) => asked[key]);
  }
  function change(more) {
    asked = { ...asked, page: "", ...more };
    history.replaceState(null, "", address("/samples", asked));
    load();
  }
  const search = searchField(asked, change);
  const clear = el("button", { type: "button", class: "link", hidden: !FILTERS.some((key) => asked[key]) }, "Clear all filters");
  const form = filters(data.facets, asked, change, search, clear);
  clear.addEventListener("click", () => {
    form.querySelectorAll("select, input").forEach((field) => (field.value = ""));
    change(Object.fromEntries(FILTERS.map((key) => [key, ""])));
  });
  const turn = (by) => {
    const page = data.page + by;
    return page < 1 || page > data.pages ? false : go(address("/samples", { ...asked, page }));
  };
  return {
    title: "Samples",
    trail: [["Runs", "/?all=1"], [run === "." ? data.model : run, address("/run", { run })], ["Samples"]],
    content: [el("div", { class: "samples" }, form, results)],
    refresh: load,
    keys: {
      j: ["j / k: next, previous", () => step(1)],
      k: ["", () => step(-1)],
      ArrowRight: ["", () => step(1)],
      ArrowLeft: ["", () => step(-1)],
      "/": ["/: search", () => search.focus()],
      n: ["n / p: pages", () => turn(1)],
      p: ["", () => turn(-1)],
    },
  };
}

/** New episodes come in below the reader's hands: what had the focus keeps it. */
function keepingFocus(results, draw) {
  const focused = document.activeElement?.closest?.(".card")?.getAttribute("href");
  draw();
  if (focused) results.querySelector(`.card[href="${CSS.escape(focused)}"]`)?.focus();
}

function step(by) {
  const cards = [...document.querySelectorAll(".grid .card")];
  if (!cards.length) return false;
  const at = cards.indexOf(document.activeElement);
  const next = cards[Math.min(cards.length - 1, Math.max(0, at + (at < 0 && by < 0 ? 0 : by)))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function searchField(asked, change) {
  let waiting;
  const field = el("input", {
    type: "search",
    id: "search",
    placeholder: "Words or an id",
    value: asked.text ?? "",
  });
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ text: field.value.trim() }), 350);
  });
  return field;
}

function filters(facets, asked, change, search, clear) {
  const choice = (key, label, options, unset = "any") => {
    if (options.length < 2 && !asked[key]) return null;
    const select = el(
      "select",
      { id: `filter-${key}`, onchange: (event) => change({ [key]: event.target.value }) },
      el("option", { value: "" }, unset),
      options.map(([value, text]) => el("option", { value, selected: asked[key] === value }, text ?? value)),
    );
    return el("div", { class: "field" }, el("label", { for: `filter-${key}` }, label), select);
  };
  const categories = Object.entries(facets.groups).flatMap(([key, groups]) =>
    Object.entries(groups).map(([group, n]) => [`${key}=${group}`, `${key}: ${group} (${n})`]),
  );
  const flags = Object.entries(facets.flag).map(([flag, n]) => [flag, `${flag} (${n})`]);
  const read = Object.entries(facets.read).map(([scoring, n]) => [scoring, `not as ${scoring} (${n})`]);
  const sorts = [
    ["score:up", "worst first"],
    ["score:down", "best first"],
    ["seconds:down", "slowest first"],
    ["tokens:down", "most tokens first"],
    ...facets.sort.flatMap((key) => [
      [`${key}:up`, `${key}, rising`],
      [`${key}:down`, `${key}, falling`],
    ]),
  ];
  return el(
    "form",
    { class: "filters", role: "search", "aria-label": "Filter the samples", onsubmit: (event) => event.preventDefault() },
    el("div", { class: "field" }, el("label", { for: "search" }, "Search"), search),
    choice("task", "Task", facets.task.map((one) => [one])),
    choice("mode", "Mode", facets.mode.map((one) => [one])),
    choice("canvas", "Canvas", facets.canvas.map((one) => [one])),
    choice("outcome", "Answer", [["right"], ["partly"], ["wrong"], ["unscored"]]),
    choice("change", "Against direct", [["helped"], ["hurt"], ["same"]]),
    choice("flag", "Trouble", flags.length ? [["any", "any trouble"], ...flags] : []),
    choice("read", "Read differently", read.length ? [["any", "by any scoring"], ...read] : []),
    choice("groups", "Category", categories),
    choice("sort", "Order", sorts, "as in the task"),
    clear,
  );
}

function grid(data, asked) {
  if (!data.total) {
    return [empty("No episode matches", "Take a filter away, or wait: a run that is still playing adds more.")];
  }
  return [
    el("h1", { class: "count" }, count(data.total, "episode"), data.pages > 1 ? ` · page ${data.page} of ${data.pages}` : ""),
    el("div", { class: "grid" }, data.items.map((item) => card(data.run, item, asked))),
    data.pages > 1 ? pager(data, asked) : null,
  ].filter(Boolean);
}

function card(run, item, asked) {
  const { page, ...filters } = asked;
  const shot = (picture, text) =>
    picture ? el("img", { src: thumbnail(run, picture, 320), alt: text, loading: "lazy", decoding: "async" }) : null;
  return el(
    "a",
    { class: "card", href: address("/episode", { ...filters, cell: item.cell, sample: item.sample }) },
    el(
      "div",
      { class: "shots" },
      shot(item.input, "input"),
      shot(item.drawn, "last drawing"),
      item.sounds ? el("span", { class: "quiet" }, count(item.sounds, "sound")) : null,
      item.input || item.drawn || item.sounds ? null : el("span", { class: "quiet" }, "no picture"),
    ),
    el("div", { class: "card-name" }, name(item.sample)),
    el("div", { class: "quiet" }, `${item.task} · ${played(item)}`),
    el(
      "div",
      { class: "pills" },
      pill(item.outcome, item.outcome),
      item.change && item.change !== "same" ? pill(item.change, item.change === "helped" ? "good" : "bad") : null,
      item.flags.map((flag) => pill(flag, "bad")),
    ),
    el("div", { class: "answer", dir: "auto" }, item.answer),
  );
}

function pager(data, asked) {
  const link = (page, text) =>
    page < 1 || page > data.pages
      ? el("span", { class: "quiet" }, text)
      : el("a", { href: address("/samples", { ...asked, page }) }, text);
  return el(
    "nav",
    { class: "pager", "aria-label": "Pages" },
    link(1, "« first"),
    link(data.page - 1, "‹ previous"),
    el("span", {}, `${data.page} / ${data.pages}`),
    link(data.page + 1, "next ›"),
    link(data.pages, "last »"),
  );
}
