// The episodes of a run as a gallery of film strips, with filters that live in the address.

import { address, asked as addressed, exported, get } from "./api.js";
import { el, empty } from "./dom.js";
import { count, played } from "./format.js";
import { stripCard } from "./run.js";

export const FILTERS = ["task", "mode", "canvas", "outcome", "change", "flag", "read", "groups", "text", "sort"];

export const filtersOf = (parameters) =>
  Object.fromEntries(FILTERS.filter((key) => parameters[key]).map((key) => [key, parameters[key]]));

/** Opened without a mode, the page shows drawn episodes, those that drawing changed first. */
async function opened(run, filters, page) {
  if (filters.mode || filters.text) return [filters, await get("samples", { run, ...filters, page })];
  const drawn = { mode: "visual_cot", canvas: "own", sort: "change", ...filters };
  const found = await get("samples", { run, ...drawn, page });
  if (found.total || !found.facets.mode.length || found.facets.mode.includes("visual_cot")) return [drawn, found];
  return [filters, await get("samples", { run, ...filters, page })];
}

export async function showSamples(parameters, go) {
  const { run } = parameters;
  let [filters, data] = await opened(run, filtersOf(parameters), parameters.page);
  let asked = { run, ...filters, page: parameters.page };
  history.replaceState(null, "", address("samples", asked));
  const results = el("div", { class: "results", "aria-live": "polite" });
  const head = el("div");
  const draw = () => {
    head.replaceChildren(...opening(data, asked, change));
    results.replaceChildren(...gallery(data, asked));
  };

  // A changed filter draws the results again and leaves the fields as they are: someone may be typing in them.
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
    history.replaceState(null, "", address("samples", asked));
    for (const [key, value] of Object.entries(more)) {
      const field = form.querySelector(`#filter-${key}`);
      if (field) field.value = value;
    }
    load();
  }
  const search = searchField(asked, change);
  const clear = el("button", { type: "button", class: "link" }, "Clear all filters");
  const form = filterForm(data.facets, asked, change, search, clear);
  clear.addEventListener("click", () => {
    form.querySelectorAll("select, input").forEach((field) => (field.value = ""));
    change({ ...Object.fromEntries(FILTERS.map((key) => [key, ""])), mode: "any" });
  });
  draw();
  const turn = (by) => {
    const page = data.page + by;
    return page < 1 || page > data.pages ? false : go(address("samples", { ...asked, page }));
  };
  const nextTask = () => {
    const tasks = data.facets.task;
    return tasks.length > 1 ? change({ task: tasks[(tasks.indexOf(asked.task) + 1) % tasks.length] }) : false;
  };
  const groups = buttons(data, asked);
  const press = (at) => (groups[at] ? change(groups[at][1]) : false);
  return {
    title: "Samples",
    trail: [["Runs", address("", { all: 1 })], [run === "." ? data.model : run, address("run", { run })], ["Samples"]],
    content: [head, form, results],
    refresh: load,
    keys: {
      j: ["j k", "next, previous", () => step(1)],
      k: ["", "", () => step(-1)],
      ArrowRight: ["", "", () => step(1)],
      ArrowLeft: ["", "", () => step(-1)],
      Enter: ["Enter", "open", () => false],
      1: ["1 2 3 4", "helped, hurt, right, wrong", () => press(1)],
      2: ["", "", () => press(2)],
      3: ["", "", () => press(3)],
      4: ["", "", () => press(4)],
      0: ["0", "all", () => press(0)],
      t: ["t", "task", nextTask],
      "/": ["/", "search", () => search.focus()],
      n: ["n p", "pages", () => turn(1)],
      p: ["", "", () => turn(-1)],
      u: ["u", "run", () => go(address("run", { run }))],
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
  const cards = [...document.querySelectorAll(".gallery .card")];
  if (!cards.length) return false;
  const at = cards.indexOf(document.activeElement);
  const next = cards[Math.min(cards.length - 1, Math.max(0, at + (at < 0 && by < 0 ? 0 : by)))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

/** The five filters that matter most: [text, filter, count, kind]. */
function buttons({ counts, all }, asked) {
  const { helped = 0, hurt = 0, right = 0, wrong = 0 } = counts;
  if (!helped && !hurt && !right && !wrong) return [[`All ${all}`, { change: "", outcome: "" }, all, ""]];
  return [
    [`All ${all}`, { change: "", outcome: "" }, all, ""],
    [`▲ Helped ${helped}`, { change: "helped", outcome: "" }, helped, "good"],
    [`▼ Hurt ${hurt}`, { change: "hurt", outcome: "" }, hurt, "bad"],
    [`Right both ways ${right}`, { change: "same", outcome: "right" }, right, "same"],
    [`Wrong both ways ${wrong}`, { change: "same", outcome: asked.outcome === "partly" ? "partly" : "wrong" }, wrong, "rest"],
  ];
}

function opening(data, asked, change) {
  const { helped = 0, hurt = 0, right = 0, wrong = 0 } = data.counts;
  const task = asked.task || (data.facets.task.length === 1 ? data.facets.task[0] : "");
  const how = asked.mode && asked.mode !== "any" ? played({ mode: asked.mode, canvas: asked.canvas || "own" }) : "";
  const compared = helped + hurt + right + wrong > 0;
  const groups = buttons(data, asked);
  return [
    el("h1", {}, [count(data.total, "episode"), task, how].filter(Boolean).join(" · "), data.pages > 1 ? el("span", { class: "quiet" }, ` · page ${data.page} of ${data.pages}`) : ""),
    compared
      ? el("p", { class: "lede" }, "Drawing turned ", el("b", {}, `${count(helped, "wrong answer")} right`), " and ", el("b", {}, `${count(hurt, "right answer")} wrong`), `; ${right} were right and ${wrong} wrong either way.`)
      : null,
    compared
      ? el("div", { class: "share", role: "img", "aria-label": `${helped} helped, ${hurt} hurt, ${right} right both ways, ${wrong} wrong both ways` }, groups.slice(1).filter(([, , n]) => n).map(([, , n, kind]) => wide(el("span", { class: kind }), n)))
      : null,
    el(
      "div",
      { class: "bar groups", role: "group", "aria-label": "Against direct" },
      groups.map(([text, filter]) => el("button", { type: "button", "aria-pressed": String((asked.change || "") === filter.change && (asked.outcome || "") === filter.outcome), onclick: () => change(filter) }, text)),
    ),
  ].filter(Boolean);
}

function wide(element, share) {
  element.style.flexGrow = share;
  return element;
}

function searchField(asked, change) {
  let waiting;
  const field = el("input", { type: "search", id: "search", placeholder: exported ? "An id or words of an answer" : "Words or an id", value: asked.text ?? "" });
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ text: field.value.trim() }), 350);
  });
  return field;
}

function filterForm(facets, asked, change, search, clear) {
  const select = (key, label, options, unset = "any", off = "") => {
    if (options.length < 2 && !asked[key]) return null;
    return el(
      "div",
      { class: "field" },
      el("label", { for: `filter-${key}` }, label),
      el(
        "select",
        { id: `filter-${key}`, onchange: (event) => change({ [key]: event.target.value }) },
        el("option", { value: off }, unset),
        options.map(([value, text]) => el("option", { value, selected: asked[key] === value }, text ?? value)),
      ),
    );
  };
  const categories = Object.entries(facets.groups).flatMap(([key, groups]) => Object.entries(groups).map(([group, n]) => [`${key}=${group}`, `${key}: ${group} (${n})`]));
  const flags = Object.entries(facets.flag).map(([flag, n]) => [flag, `${flag} (${n})`]);
  const read = Object.entries(facets.read).map(([scoring, n]) => [scoring, `not as ${scoring} (${n})`]);
  const sorts = [
    ["change", "helped, hurt, same"],
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
    select("task", "Task", facets.task.map((one) => [one])),
    select("mode", "Mode", facets.mode.map((one) => [one]), "any", "any"),
    select("canvas", "Canvas", facets.canvas.map((one) => [one, played({ mode: "visual_cot", canvas: one })])),
    select("outcome", "Answer", [["right"], ["partly"], ["wrong"], ["unscored"]]),
    select("change", "Against direct", [["helped"], ["hurt"], ["same"]]),
    select("flag", "Failure", flags.length ? [["any", "any failure"], ...flags] : []),
    select("read", "Read differently", read.length ? [["any", "by any scoring"], ...read] : []),
    select("groups", "Category", categories),
    select("sort", "Order", sorts, "as in the task"),
    clear,
  );
}

const HEADINGS = {
  helped: ["▲ Helped", "wrong directly, right after drawing"],
  hurt: ["▼ Hurt", "right directly, wrong after drawing"],
  same: ["Same", "drawing changed nothing"],
};

function gallery(data, asked) {
  if (!data.total) {
    return [empty("No episode matches", "Remove a filter, or wait: a run in progress adds more.")];
  }
  const { page, run, ...filters } = asked;
  const cards = (items) => el("div", { class: "gallery" }, items.map((item) => stripCard(data.run, item, filters)));
  const groups = [];
  for (const item of data.items) {
    const kind = asked.sort === "change" && !asked.change && item.change ? item.change : "";
    if (groups.at(-1)?.[0] !== kind) groups.push([kind, []]);
    groups.at(-1)[1].push(item);
  }
  return [
    ...groups.flatMap(([kind, items]) => [
      kind ? el("h2", { class: "change-head" }, HEADINGS[kind][0], " ", el("span", { class: "quiet" }, HEADINGS[kind][1])) : null,
      cards(items),
    ]),
    data.pages > 1 ? pager(data, asked) : null,
  ].filter(Boolean);
}

function pager(data, asked) {
  const link = (page, text) =>
    page < 1 || page > data.pages ? el("span", { class: "quiet" }, text) : el("a", { href: address("samples", { ...asked, page }) }, text);
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
