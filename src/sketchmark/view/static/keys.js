// One set of keys per view: key → [hint, meaning, action]. Typing in a field is never taken for a command.

import { el } from "./dom.js";

let current = {};

export function keys(bindings) {
  current = bindings;
  document.getElementById("keys").replaceChildren(...hints(bindings), ...(Object.keys(bindings).length ? [hint("?", "all keys")] : []));
}

const hint = (shown, meaning) =>
  el("span", {}, shown.split(" ").map((key) => [el("kbd", {}, key), " "]), meaning);
/** Digits last: an object lists them first, whatever the order they were written in. */
const ordered = (bindings) => Object.keys(bindings).sort((a, b) => /^\d$/.test(a) - /^\d$/.test(b)).map((key) => bindings[key]);
const hints = (bindings) =>
  ordered(bindings).filter(([shown, meaning]) => shown && meaning).map(([shown, meaning]) => hint(shown, meaning));

/** Every key of this page in a dialog, which Escape closes. */
function help() {
  document.querySelector("dialog.help")?.remove();
  const dialog = el(
    "dialog",
    { class: "help", "aria-label": "Keys" },
    el("h2", {}, "Keys"),
    el("ul", {}, hints(current).map((one) => el("li", {}, one))),
    el("form", { method: "dialog" }, el("button", {}, "Close")),
  );
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?") return help();
  if (event.key.startsWith("Arrow") && event.target.closest("audio")) return; // they move within the sound
  const binding = current[event.key];
  if (!binding?.[2] || (event.repeat && binding[3])) return;
  if (binding[2]() !== false) event.preventDefault();
});
document.addEventListener("keyup", (event) => current[event.key]?.[3]?.());
