// One set of keys per view. Typing in a field is never taken for a command.

let current = {};

export function keys(bindings) {
  current = bindings;
  const hints = Object.values(bindings).map(([hint]) => hint).filter(Boolean);
  document.getElementById("keys").textContent = [...new Set(hints)].join("  ·  ");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key.startsWith("Arrow") && event.target.closest("audio")) return; // they move within the sound
  const binding = current[event.key];
  if (!binding) return;
  if (binding[1]() !== false) event.preventDefault();
});
