// The pages of `sketchmark play`. The server says what to show; here it is drawn, and what the person does is sent.

import { el, words } from "/static/dom.js";
import { keys } from "/static/keys.js";
import { Surface, decoded } from "/play/draw.js";

const view = document.getElementById("view");
const clock = document.getElementById("clock");
const progress = document.getElementById("progress");
const leave = document.getElementById("leave");

let page = { number: -1, kind: "" };
let shown = 0;
let hidden = 0;
let hiddenSince = 0;
let sending = false;

document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenSince = performance.now();
  else if (hiddenSince) {
    hidden += performance.now() - hiddenSince;
    hiddenSince = 0;
  }
});

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  const found = await answer.json().catch(() => ({ error: "the server sent something else than a page" }));
  if (!answer.ok) throw Object.assign(new Error(found.error ?? answer.statusText), { status: answer.status });
  return found;
}

const measured = () => ({
  rt: Math.round(performance.now() - shown),
  hidden: Math.round(hidden + (document.hidden && hiddenSince ? performance.now() - hiddenSince : 0)),
  ratio: Math.min(16, devicePixelRatio),
  window: [innerWidth, innerHeight],
});

/** Send what was done on this page, and show the next one. */
async function send(given) {
  if (sending) return;
  sending = true;
  view.classList.add("waiting");
  try {
    await show(await ask(`/api/reply?number=${page.number}`, { ...given, ...measured() }));
  } catch (error) {
    if (error.status === 409) await follow();
    else complain(error);
  } finally {
    sending = false;
    view.classList.remove("waiting");
  }
}

function complain(error) {
  view.querySelector(".caution")?.remove();
  const lost = error instanceof TypeError;
  const text = lost ? "The server does not respond. What you did is still here: try again in a moment." : error.message;
  (view.querySelector(".send") ?? view).before(el("p", { class: "caution", role: "alert" }, text));
}

/** Ask for the page until there is one. */
async function follow() {
  for (;;) {
    try {
      const found = await ask(`/api/page?after=${page.kind === "wait" ? page.number : page.number - 1}`);
      await show(found);
      if (found.kind !== "wait") return;
    } catch (error) {
      if (page.number < 0) view.replaceChildren(el("p", { class: "empty" }, error.message));
      await new Promise((done) => setTimeout(done, 1500));
    }
  }
}

async function show(found) {
  if (found.kind === "wait") {
    page = found;
    setTimeout(follow, 0);
    return;
  }
  const files = await pictures(found);
  page = found;
  shown = performance.now();
  hidden = 0;
  view.replaceChildren(...PAGES[page.kind](page, files));
  view.firstElementChild.dataset.page = page.number;
  if (page.at) meter(page);
  else progress.replaceChildren();
  leave.hidden = page.kind !== "call";
  document.body.dataset.kind = page.kind;
  scrollTo(0, 0);
  tick();
}

function meter({ at, total, practice, kind }) {
  const name = practice || kind === "feedback" ? "Practice" : "Sample";
  progress.replaceChildren(
    el("progress", { max: total, value: at - 1, "aria-label": "Progress" }),
    el("span", {}, `${name} ${at} of ${total}`),
  );
}

async function pictures(found) {
  const names = new Set([
    ...(found.surface?.stamps ?? []).map((one) => one.file),
    ...(found.surface?.background ? [found.surface.background] : []),
  ]);
  const pairs = await Promise.all([...names].map(async (name) => [name, await decoded(`/file/${name}`)]));
  return Object.fromEntries(pairs);
}

// Clock

function tick() {
  if (page.kind !== "call") {
    clock.textContent = "";
    clock.classList.remove("soon");
    return;
  }
  const passed = (performance.now() - shown) / 1000;
  const seconds = page.limit ? Math.max(0, page.left - passed) : page.spent + passed;
  const whole = Math.floor(seconds);
  clock.textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}${page.limit ? " left" : ""}`;
  clock.classList.toggle("soon", Boolean(page.limit) && seconds < Math.max(10, page.limit / 5));
  if (page.limit && seconds <= 0 && !sending) {
    page = { ...page, limit: 0 };
    follow();
  }
}
setInterval(tick, 500);

// What is kept in this window until it is sent, so that a reload loses nothing

const kept = {
  get name() {
    return `sketchmark-${page.number}`;
  },
  read() {
    try {
      return JSON.parse(sessionStorage.getItem(this.name) ?? "{}");
    } catch {
      return {};
    }
  },
  write(content) {
    try {
      for (const name of Object.keys(sessionStorage)) if (name !== this.name && name.startsWith("sketchmark-")) sessionStorage.removeItem(name);
      sessionStorage.setItem(this.name, JSON.stringify(content));
    } catch {
      // no room: a reload begins the drawing again
    }
  },
};

// Parts of pages

function part(one) {
  const who = one.by === "you" ? el("span", { class: "label" }, "You") : null;
  if (one.kind === "image") {
    const image = el("img", { src: `/file/${one.file}`, width: one.width, height: one.height, alt: one.by === "you" ? "Your drawing" : "Image of the question" });
    return el("figure", { class: `part ${one.by}` }, who, image);
  }
  if (one.kind === "sound") return el("div", { class: `part ${one.by}` }, who, el("audio", { src: `/file/${one.file}`, controls: true }));
  return el("div", { class: `part ${one.by}` }, who, words(one.text, 20000));
}

/** The parts in their order. The last text, which asks for this step, is shown above the place to answer. */
function split(parts) {
  const last = parts.at(-1);
  const asks = parts.length > 1 && last.kind === "text" && last.by === "task";
  return asks ? [parts.slice(0, -1), last] : [parts, null];
}

function call(found, files) {
  const [before, asks] = split(found.parts);
  const prompt = el("section", { class: "prompt", "aria-label": "The question" }, before.map(part));
  const [work, skip] = found.act === "draw" ? drawing(found, files) : answer(found);
  const place = el(
    "section",
    { class: "work panel", "aria-label": found.act === "draw" ? "Your drawing" : "Your answer" },
    asks ? el("div", { class: "asks" }, words(asks.text, 20000)) : null,
    work,
    skip,
  );
  const known = found.at > 1 || found.parts.some((one) => one.by === "you");
  setTimeout(() => {
    if (!known) return;
    prompt.scrollTop = prompt.scrollHeight;
    if (matchMedia("(max-width: 900px)").matches) place.scrollIntoView({ block: "start" });
  }, 0);
  return [el("div", { class: `desk ${found.act}` }, prompt, place)];
}

/** Whether a button was pressed before. If not, it says for four seconds what a second press does. */
function pressedTwice(button, warning) {
  if (button.dataset.sure) return true;
  const words = button.textContent;
  button.dataset.sure = "yes";
  button.textContent = warning;
  setTimeout(() => {
    delete button.dataset.sure;
    button.textContent = words;
  }, 4000);
  return false;
}

function buttons(label, submit) {
  const skip = el("button", { type: "button", class: "skip-sample" }, "Skip this sample");
  skip.addEventListener("click", () => {
    if (pressedTwice(skip, "Skip: it counts as not solved")) send({ act: "skip" });
  });
  const main = el("button", { type: "button", class: "main" }, label);
  main.addEventListener("click", submit);
  return [el("div", { class: "send bar" }, main, el("span", { class: "grow" }), skip), main];
}

function answer(found) {
  const field = el("textarea", { id: "answer", rows: 5, maxlength: 20000, spellcheck: "false", autocapitalize: "off", "aria-describedby": "read" });
  field.value = kept.read().text ?? "";
  const read = el("p", { id: "read", class: "read", role: "status" });
  let parsed = null;
  let asked = 0;
  async function look() {
    if (!found.final || !field.value.trim()) {
      read.textContent = "";
      parsed = null;
      return;
    }
    const own = ++asked;
    try {
      const result = await ask("/api/read", { text: field.value });
      if (own !== asked) return;
      parsed = result.parsed;
      read.className = `read ${parsed ? "good" : "bad"}`;
      read.textContent = parsed ? `✓ Read as: ${result.answer || "an answer"}` : "✕ No answer found in this text. Give it in the form that is asked for.";
    } catch {
      parsed = null;
    }
  }
  let soon = 0;
  field.addEventListener("input", () => {
    kept.write({ text: field.value });
    main.textContent = label;
    delete main.dataset.sure;
    clearTimeout(soon);
    soon = setTimeout(look, 350);
  });
  const label = found.final ? "Send answer" : "Send";
  async function submit() {
    if (!field.value.trim()) {
      read.className = "read bad";
      read.textContent = "✕ Write an answer, or skip the sample.";
      field.focus();
      return;
    }
    clearTimeout(soon);
    if (found.final) await look();
    if (parsed === false && !main.dataset.sure) {
      main.dataset.sure = "yes";
      main.textContent = "Send anyway: it counts as no answer";
      return;
    }
    send({ act: "say", text: field.value });
  }
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  });
  const form = found.final ? formIn(found.parts) : null;
  const insert = form ? el("button", { type: "button", class: "form" }, "Insert the form of the answer") : null;
  insert?.addEventListener("click", () => {
    const [open, inside, close] = form;
    const from = field.value.trim() ? `${field.value.trimEnd()}\n` : "";
    field.value = from + open + inside + close;
    field.focus();
    field.setSelectionRange(from.length + open.length, from.length + open.length + inside.length);
    field.dispatchEvent(new Event("input"));
  });
  const [row, main] = buttons(label, submit);
  keys({ "": ["Ctrl Enter", "send", null] });
  if (field.value) look();
  setTimeout(() => matchMedia("(pointer: fine)").matches && field.focus({ preventScroll: true }), 0);
  return [[el("label", { class: "label", for: "answer" }, found.final ? "Your answer" : "Your reply"), field, insert, read], row];
}

/** The tags that the task asks for around an answer, with the example inside: `<ANSWER>…</ANSWER>`. */
function formIn(parts) {
  const texts = parts.filter((one) => one.kind === "text" && one.by === "task").map((one) => one.text);
  const found = texts.flatMap((text) => [...text.matchAll(/(<([A-Z_]{2,40})>)([^<]{0,200})(<\/\2>)/g)]);
  const best = found.find((one) => !one[3].includes("...")) ?? found[0];
  return best ? [best[1], best[3], best[4]] : null;
}

const TOOLS = {
  stamp: ["Stamp", "s"],
  pen: ["Pen", "p"],
  line: ["Line", "l"],
  box: ["Box", "b"],
  copy: ["Copy", "c"],
  eraser: ["Eraser", "e"],
};

function drawing(found, files) {
  const setup = found.surface;
  const canvas = el("canvas", { class: "surface", tabindex: 0, role: "application", "aria-label": "Drawing. Arrows move the cursor, Space draws." });
  const overlay = el("canvas", { class: "overlay", "aria-hidden": "true" });
  const tools = el("div", { class: "seg tools", role: "group", "aria-label": "Tool" });
  const colours = el("div", { class: "swatches", role: "group", "aria-label": "Colour" });
  const stamps = el("div", { class: "swatches stamps", role: "group", "aria-label": "Stamp" });
  const undo = el("button", { type: "button" }, "Undo");
  const redo = el("button", { type: "button" }, "Redo");
  const clear = el("button", { type: "button" }, "Clear");
  const widths = el("div", { class: "seg", role: "group", "aria-label": "Width" });
  const surface = new Surface(canvas, overlay, setup, files, refresh);
  const usable = Object.keys(TOOLS).filter((tool) => tool !== "stamp" || setup.stamps.length);

  for (const tool of usable) tools.append(press(TOOLS[tool][0], () => surface.choose(tool, tool === "stamp" ? { stamp: surface.stamp ?? setup.stamps[0] } : {}), { "data-tool": tool }));
  setup.colours.forEach((colour, at) => {
    const one = press("", () => surface.choose(["pen", "line", "box"].includes(surface.tool) ? surface.tool : "pen", { colour }), { class: "swatch", "data-colour": colour, "aria-label": `Colour ${at + 1}, ${colour}`, title: colour });
    one.style.background = colour;
    colours.append(one);
  });
  for (const stamp of setup.stamps) {
    const shape = el("canvas", { width: 32, height: 32, "aria-hidden": "true" });
    const pen = shape.getContext("2d");
    pen.imageSmoothingEnabled = true;
    pen.drawImage(files[stamp.file], ...stamp.box, 0, 0, 32, 32);
    stamps.append(press([shape, stamp.name], () => surface.choose("stamp", { stamp }), { class: "swatch", "data-stamp": stamp.name }));
  }
  const base = surface.width;
  for (const [name, times] of [["Thin", 0.5], ["Medium", 1], ["Thick", 3]]) widths.append(press(name, () => surface.choose(surface.tool, { width: Math.max(1, base * times) }), { "data-width": Math.max(1, base * times) }));
  undo.addEventListener("click", () => surface.undo());
  redo.addEventListener("click", () => surface.redo());
  clear.addEventListener("click", () => surface.clear());

  function refresh() {
    if (!surface) return;
    for (const one of tools.children) one.setAttribute("aria-pressed", String(one.dataset.tool === surface.tool));
    for (const one of colours.children) one.setAttribute("aria-pressed", String(one.dataset.colour === surface.colour));
    for (const one of stamps.children) one.setAttribute("aria-pressed", String(surface.tool === "stamp" && one.dataset.stamp === surface.stamp?.name));
    for (const one of widths.children) one.setAttribute("aria-pressed", String(Number(one.dataset.width) === surface.width));
    const paints = ["pen", "line", "box", "eraser"].includes(surface.tool);
    stamps.hidden = surface.tool !== "stamp" || !setup.stamps.length;
    colours.hidden = !paints || surface.tool === "eraser";
    widths.hidden = !paints || surface.tool === "box";
    undo.disabled = !surface.strokes.length;
    redo.disabled = !surface.undone.length;
    clear.disabled = !surface.strokes.length;
    help.textContent = HELP[surface.tool];
    kept.write({ strokes: surface.saved() });
  }
  const HELP = {
    stamp: surface.grid ? "Click a cell to put the chosen piece there." : "Click where the copied piece goes.",
    copy: surface.grid ? "Click a cell, or drag around a piece, to make it a stamp." : "Drag around a piece to make it a stamp.",
    pen: "Draw with the chosen colour.",
    line: "Drag from one end to the other.",
    box: "Drag from corner to corner: a filled box.",
    eraser: "Rub out what you have drawn.",
  };
  const help = el("p", { class: "quiet small help-line", role: "status" });
  const [row] = buttons("Send drawing", () => {
    if (!surface.strokes.length && !row.dataset.sure) {
      row.dataset.sure = "yes";
      row.querySelector(".main").textContent = "Send without a change";
      return;
    }
    send({ act: "draw", drawing: surface.png(), strokes: surface.recorded(), undos: surface.undos });
  });
  const before = kept.read().strokes ?? [];
  refresh();
  if (before.length) surface.restore(before);
  const bindings = { z: ["z", "undo", () => surface.undo()], y: ["y", "redo", () => surface.redo()] };
  for (const tool of usable) bindings[TOOLS[tool][1]] = [TOOLS[tool][1], TOOLS[tool][0].toLowerCase(), () => surface.choose(tool)];
  const pick = (at) => {
    const from = surface.tool === "stamp" ? stamps : colours;
    from.children[at]?.click();
  };
  for (let at = 0; at < 9; at += 1) bindings[at + 1] = [at ? "" : "1–9", at ? "" : "colour or stamp", () => pick(at)];
  bindings.d = ["d", "cursor: arrows, Space", () => canvas.focus()];
  keys(bindings);
  const frame = el("div", { class: "frame" }, canvas, overlay);
  frame.style.aspectRatio = `${setup.width} / ${setup.height}`;
  frame.style.maxWidth = `min(100%, max(280px, calc((100vh - 420px) * ${setup.width / setup.height})), ${Math.max(setup.width, 640)}px)`;
  const bar = el("div", { class: "toolbar" }, tools, el("div", { class: "bar" }, undo, redo, clear));
  return [[bar, el("div", { class: "choices" }, stamps, colours, widths), help, frame], row];
}

function press(content, action, properties = {}) {
  const one = el("button", { type: "button", "aria-pressed": "false", ...properties }, content);
  one.addEventListener("click", action);
  return one;
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && page.act === "draw") {
    event.preventDefault();
    [...view.querySelectorAll(".toolbar button")].find((one) => one.textContent === (event.shiftKey ? "Redo" : "Undo"))?.click();
  }
});

function next(label = "Continue") {
  const main = el("button", { type: "button", class: "main" }, label);
  main.addEventListener("click", () => send({ act: "next" }));
  setTimeout(() => main.focus(), 0);
  keys({});
  return el("div", { class: "send bar" }, main);
}

function start(found) {
  const told = [
    ["The task", "You see exactly the texts and images that a model gets, also where they speak of output formats."],
    ["Your answer", "Below the answer you see how it is read, before you send it. It does not say whether it is right."],
    ["Drawing", "Where a drawing is asked for, you draw on the last image: with a pen, with stamps, or with the keyboard."],
    ["Skip", "A sample that you cannot solve may be skipped. It counts as not solved."],
  ];
  return [
    el(
      "article",
      { class: "sheet" },
      el("h1", {}, found.title ?? "Solve what a model is to solve"),
      found.text ? words(found.text, 20000) : null,
      el("dl", {}, told.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
      found.facts?.length ? el("p", { class: "quiet" }, found.facts.join(" · ")) : null,
      next("Start"),
    ),
  ];
}

const FAILED = { skipped: "You skipped it.", out_of_time: "The time was up." };

function feedback(found) {
  const verdict = found.right ? "✓ Right" : "✕ Not right";
  const answer = found.failure ? FAILED[found.failure] : found.unparsed ? "No answer was found in your text." : found.answer ? `Read as: ${found.answer}` : "";
  return [
    el(
      "article",
      { class: "sheet" },
      el("h1", { class: found.right ? "good" : "bad" }, verdict),
      answer ? el("p", { class: "lede" }, answer) : null,
      !found.right && found.expected ? el("p", { class: "lede" }, `A right answer: ${found.expected}`) : null,
      el("p", { class: "quiet" }, "This was practice and does not count. There is no feedback later."),
      next(),
    ),
  ];
}

/** The consent page: whoever refuses leaves nothing behind. The parameters of the address go with consent only. */
function consent(found) {
  const enrol = async (agree) => {
    const query = new URLSearchParams(location.search);
    const address = Object.fromEntries(["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"].filter((name) => query.get(name)).map((name) => [name, query.get(name)]));
    try {
      await show(await ask("/api/enrol", agree ? { agree, address } : { agree }));
      history.replaceState(null, "", "/");
    } catch (error) {
      complain(error);
    }
  };
  const yes = el("button", { type: "button", class: "main" }, "I agree and take part");
  const no = el("button", { type: "button" }, "I do not take part");
  yes.addEventListener("click", () => enrol(true));
  no.addEventListener("click", () => enrol(false));
  keys({});
  return [el("article", { class: "sheet" }, el("h1", {}, found.title), words(found.text, 20000), el("div", { class: "send bar" }, yes, no))];
}

function check(found) {
  const field = el("input", { id: "answer", maxlength: 200, autocomplete: "off" });
  const main = el("button", { type: "submit", class: "main" }, "Continue");
  const form = el("form", {}, el("label", { class: "label", for: "answer" }, "Your reply"), el("div", { class: "send bar" }, field, main));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) send({ act: "say", text: field.value });
  });
  keys({});
  setTimeout(() => field.focus(), 0);
  return [el("article", { class: "sheet" }, el("h1", {}, "A question in between"), words(found.text, 2000), form)];
}

function end(found) {
  keys({});
  return [
    el(
      "article",
      { class: "sheet" },
      el("h1", {}, found.title),
      found.text ? el("p", { class: "lede" }, found.text) : null,
      found.code ? el("p", { class: "code" }, el("code", {}, found.code)) : null,
      found.url ? el("p", {}, el("a", { class: "button main", href: found.url, rel: "noreferrer" }, "Report that you are done")) : null,
      found.scores?.length ? el("dl", { class: "scores" }, found.scores.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])) : null,
    ),
  ];
}

const PAGES = { consent, start, call, check, feedback, end };

leave.addEventListener("click", async () => {
  if (!pressedTwice(leave, "Stop: this sample begins again later")) return;
  await show(await ask("/api/leave", {}));
});

await follow();
