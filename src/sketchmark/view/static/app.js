// The router: an address, its view, and a look every two seconds whether the run has grown.

import { address, asked, exported, get, pageOf } from "./api.js";
import { el, empty } from "./dom.js";
import { keys } from "./keys.js";
import { showCompare } from "./compare.js";
import { showEpisode } from "./episode.js";
import { showRun } from "./run.js";
import { showRuns } from "./runs.js";
import { showSamples } from "./samples.js";
import { showSeveral } from "./several.js";

const views = {
  "": showRuns,
  run: showRun,
  samples: showSamples,
  episode: showEpisode,
  compare: showCompare,
  several: showSeveral,
};
const POLL = 2000;
const main = document.getElementById("view");
const live = document.getElementById("live");
let showing = 0;
let refresh = null;
let seen = null;

/** Go to another view; `replace` for changes of a filter, which the back button skips. */
export function go(to, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", to);
  show({ keepScroll: replace });
}

async function show({ keepScroll = false } = {}) {
  const mine = ++showing;
  const parameters = asked();
  if (!keepScroll) main.classList.add("waiting");
  keys({});
  const version = exported ? null : get("version", { run: parameters.run }).then(JSON.stringify, () => null); // before what is shown
  try {
    const view = await views[pageOf(location)]?.(parameters, go);
    if (mine !== showing) return;
    if (!view) throw new Error("There is no such page.");
    document.title = `${view.title} · Sketchmark`;
    document.getElementById("trail").replaceChildren(...trail(view.trail ?? []));
    main.replaceChildren(...view.content);
    keys(view.keys ?? {});
    refresh = view.refresh ?? null;
    seen = await version;
    if (!keepScroll) window.scrollTo(0, 0);
    view.shown?.();
  } catch (error) {
    if (mine !== showing) return;
    refresh = null;
    main.replaceChildren(empty("This cannot be shown", error.message, waysBack(parameters)));
    keys({ u: ["u", "back", () => history.back()], h: ["h", "all runs", () => go(address("", { all: 1 }))] });
  }
  main.classList.remove("waiting");
}

/** Out of a page that cannot be shown: the page before, the run and the list of runs. */
function waysBack({ run }) {
  const back = el("button", { type: "button", onclick: () => history.back() }, "‹ Back");
  return [
    history.length > 1 ? back : null,
    run && pageOf(location) !== "run" ? el("a", { class: "button", href: address("run", { run }) }, "The run") : null,
    el("a", { class: "button", href: address("", { all: 1 }) }, "All runs"),
  ];
}

function trail(steps) {
  return steps.flatMap(([text, to], at) => [
    at ? el("span", { "aria-hidden": "true" }, "/") : null,
    to ? el("a", { href: to }, el("bdi", {}, text)) : el("bdi", { "aria-current": "page" }, text),
  ]).filter(Boolean);
}

async function poll() {
  try {
    if (refresh && !document.hidden) {
      const run = asked().run;
      const mine = showing;
      const now = await get("version", { run });
      const running = now.state === "running" || (now.states ?? []).includes("running");
      live.textContent = running ? "live" : "";
      live.classList.remove("lost");
      const version = JSON.stringify(now);
      if (mine === showing) {
        if (seen !== null && seen !== version) await refresh();
        seen = version;
      }
    }
  } catch {
    live.textContent = "the viewer was stopped";
    live.classList.add("lost");
  }
  setTimeout(poll, POLL);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || link.target || link.download || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const to = new URL(link.href);
  if (!(pageOf(to) in views) || link.hash) return;
  event.preventDefault();
  go(exported ? `index.html${to.search}` : to.pathname + to.search);
});
window.addEventListener("popstate", () => show());
if (exported) document.querySelector(".brand").href = "index.html";
show();
if (!exported) setTimeout(poll, POLL);
