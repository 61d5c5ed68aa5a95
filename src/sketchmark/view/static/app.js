// The router: an address, its view, and a look every two seconds whether the run has grown.

import { asked, get } from "./api.js";
import { el, empty } from "./dom.js";
import { keys } from "./keys.js";
import { showCompare } from "./compare.js";
import { showEpisode } from "./episode.js";
import { showRun } from "./run.js";
import { showRuns } from "./runs.js";
import { showSamples } from "./samples.js";

const views = {
  "/": showRuns,
  "/run": showRun,
  "/samples": showSamples,
  "/episode": showEpisode,
  "/compare": showCompare,
};
const POLL = 2000;
const main = document.getElementById("view");
const live = document.getElementById("live");
let showing = 0;
let refresh = null;
let seen = null;

/** Go to another view; `replace` for changes of a filter, which are no new place to come back to. */
export function go(to, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", to);
  show({ keepScroll: replace });
}

async function show({ keepScroll = false } = {}) {
  const mine = ++showing;
  const parameters = asked();
  if (!keepScroll) main.classList.add("waiting");
  keys({});
  const version = get("version", { run: parameters.run }).then(JSON.stringify, () => null); // before what is shown
  try {
    const view = await views[location.pathname]?.(parameters, go);
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
    main.replaceChildren(empty("This cannot be shown", error.message));
  }
  main.classList.remove("waiting");
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
      live.textContent = now.state === "running" ? "live" : "";
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
  if (!link || link.target || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || !(to.pathname in views) || link.hash) return;
  event.preventDefault();
  go(to.pathname + to.search);
});
window.addEventListener("popstate", () => show());
show();
setTimeout(poll, POLL);
