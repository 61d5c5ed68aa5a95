// A drawing surface: pen, line, box, stamp, copy, eraser, undo and redo, by mouse, finger, pen or keyboard.
// The drawing has the size of the image it begins with, whatever the window's zoom or pixel ratio.

const MOST_STROKES = 4000;
const MOST_POINTS = 18000;

export class Surface {
  /** `setup` is the page's `surface`; `images` has a decoded image for each of its files. */
  constructor(canvas, overlay, setup, images, changed) {
    Object.assign(this, { canvas, overlay, setup, images, changed });
    for (const one of [canvas, overlay]) {
      one.width = setup.width;
      one.height = setup.height;
    }
    this.pen = canvas.getContext("2d", { willReadFrequently: true });
    this.layer = Object.assign(document.createElement("canvas"), { width: setup.width, height: setup.height });
    this.strokes = [];
    this.undone = [];
    this.undos = 0;
    this.began = performance.now();
    this.tool = setup.stamps.length ? "stamp" : "pen";
    this.colour = clearest(setup.colours);
    this.tiles = new Map(setup.stamps.map((stamp) => [stamp.name, tile(stamp, images[stamp.file])]));
    this.width = Math.max(2, Math.round(Math.min(setup.width, setup.height) / 60));
    this.stamp = setup.stamps[0] ?? null;
    this.copied = null;
    this.cursor = null;
    this.now = null;
    canvas.style.touchAction = "none"; // otherwise a finger scrolls the page
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.#up(event));
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("blur", () => this.#lift());
    this.paint();
  }

  get grid() {
    return this.setup.rows?.length > 1 && this.setup.columns?.length > 1;
  }

  choose(tool, detail = {}) {
    this.#lift();
    Object.assign(this, detail);
    this.tool = tool;
    this.paint();
    this.changed();
  }

  undo() {
    this.#lift();
    if (!this.strokes.length) return;
    this.undone.push(this.strokes.pop());
    this.undos += 1;
    this.paint();
    this.changed();
  }

  redo() {
    if (!this.undone.length) return;
    this.strokes.push(this.undone.pop());
    this.paint();
    this.changed();
  }

  clear() {
    while (this.strokes.length) this.undone.push(this.strokes.pop());
    this.undos += 1;
    this.paint();
    this.changed();
  }

  /** The strokes as the server takes them. */
  recorded() {
    return this.strokes.map(({ tool, pointer, points, colour, width, stamp, source }) => {
      const plain = { tool, pointer, points };
      if (tool === "stamp") return { ...plain, stamp: stamp.name ?? "", source };
      return tool === "eraser" ? { ...plain, width } : { ...plain, colour, width };
    });
  }

  /** Strokes to be drawn again after a reload. A copied piece is kept as an image. */
  saved() {
    return this.strokes.map((one) => ({ ...one, stamp: one.stamp && { ...one.stamp, image: one.stamp.image?.toDataURL() } }));
  }

  async restore(strokes) {
    for (const one of strokes) {
      if (one.stamp?.image) one.stamp.image = await decoded(one.stamp.image);
    }
    this.strokes = strokes;
    this.paint();
    this.changed();
  }

  png() {
    this.#lift();
    return this.canvas.toDataURL("image/png").replace(/^data:image\/png;base64,/, "");
  }

  // Positions

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) * this.canvas.width) / box.width;
    const y = ((event.clientY - box.top) * this.canvas.height) / box.height;
    return this.#point(x, y);
  }

  #point(x, y) {
    const inside = (value, most) => Math.max(0, Math.min(most - 1, Math.round(value)));
    return [inside(x, this.canvas.width), inside(y, this.canvas.height), Math.round(performance.now() - this.began)];
  }

  /** Left, top, width and height of the cell at a point; null outside of the board. */
  #cell(x, y) {
    const place = (edges, value) => {
      const at = edges.findLastIndex((edge) => edge <= value);
      return at < 0 || at >= edges.length - 1 ? null : [edges[at], edges[at + 1] - edges[at]];
    };
    const across = place(this.setup.columns, x);
    const down = place(this.setup.rows, y);
    return across && down ? [across[0], down[0], across[1], down[1]] : null;
  }

  /** Where a stamp goes: the whole cell on a board, otherwise its own size around the point. */
  #target(stamp, x, y) {
    const cell = this.grid && stamp.file ? this.#cell(x, y) : null;
    if (cell) return [cell[0] + stamp.inset, cell[1] + stamp.inset, cell[2] - 2 * stamp.inset, cell[3] - 2 * stamp.inset];
    if (this.grid && stamp.file) return null;
    const [, , width, height] = stamp.box;
    return [Math.round(x - width / 2), Math.round(y - height / 2), width, height];
  }

  // Strokes

  #start(point, pointer) {
    if (this.strokes.length >= MOST_STROKES) return;
    const { tool, colour, width } = this;
    if (tool === "stamp" && !this.stamp) return;
    this.now = { tool, pointer, points: [point] };
    if (tool === "stamp") Object.assign(this.now, { stamp: this.stamp, source: this.stamp.box });
    else Object.assign(this.now, { colour, width: tool === "eraser" ? width * 3 : width });
    if (tool !== "copy") {
      this.undone = [];
      this.strokes.push(this.now);
    }
    this.paint();
  }

  #extend(point) {
    const { points, tool } = this.now;
    if (points.length >= MOST_POINTS) return;
    if (["line", "box", "copy"].includes(tool)) points.splice(1, Infinity, point);
    else if (tool !== "stamp") points.push(point);
    else if (this.grid && this.now.stamp.file && String(this.#cell(...point)) !== String(this.#cell(...points.at(-1)))) points.push(point);
    this.paint();
  }

  #lift() {
    const done = this.now;
    this.now = null;
    if (!done) return;
    if (done.tool === "copy") this.#copy(done.points);
    this.paint();
    this.changed();
  }

  #copy([[x, y], [u, v] = []]) {
    const box = this.grid && (u === undefined || (u === x && v === y)) ? this.#cell(x, y) : u === undefined ? null : span(x, y, u, v);
    if (!box || box[2] < 2 || box[3] < 2) return;
    const image = Object.assign(document.createElement("canvas"), { width: box[2], height: box[3] });
    image.getContext("2d").drawImage(this.canvas, box[0], box[1], box[2], box[3], 0, 0, box[2], box[3]);
    this.copied = { name: "copy", box, image };
    this.stamp = this.copied;
    this.tool = "stamp";
  }

  #down(event) {
    if (event.button || this.now) return;
    event.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.cursor = null;
    this.id = event.pointerId;
    this.#start(this.#at(event), ["mouse", "touch", "pen"].includes(event.pointerType) ? event.pointerType : "mouse");
  }

  #move(event) {
    if (!this.now || event.pointerId !== this.id) return;
    const seen = event.getCoalescedEvents?.() ?? [];
    for (const one of seen.length ? seen : [event]) this.#extend(this.#at(one));
  }

  #up(event) {
    if (this.now && event.pointerId === this.id) this.#lift();
  }

  // Keyboard: arrows move a cursor, Shift by one pixel; Space or Enter puts a stamp, or begins and ends a stroke.

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      this.cursor = this.cursor ? this.#moved(...step, event.shiftKey) : this.#middle();
      if (this.now) this.#extend(this.#point(...this.cursor));
    } else if (event.key === " " || event.key === "Enter") {
      this.cursor ??= this.#middle();
      if (this.now) this.#lift();
      else {
        this.#start(this.#point(...this.cursor), "keyboard");
        if (this.tool === "stamp") this.#lift();
      }
    } else if (event.key === "Escape" && this.now) {
      if (this.strokes.at(-1) === this.now) this.strokes.pop();
      this.now = null;
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.paint();
  }

  #middle() {
    const x = this.canvas.width / 2;
    const y = this.canvas.height / 2;
    const cell = this.grid ? this.#cell(x, y) : null;
    return cell ? [cell[0] + cell[2] / 2, cell[1] + cell[3] / 2] : [x, y];
  }

  #moved(right, down, fine) {
    const [x, y] = this.cursor;
    const cell = this.grid && !fine ? this.#cell(x, y) : null;
    if (cell) {
      const next = this.#cell(cell[0] + cell[2] / 2 + right * cell[2], cell[1] + cell[3] / 2 + down * cell[3]) ?? cell;
      return [next[0] + next[2] / 2, next[1] + next[3] / 2];
    }
    const by = fine ? 1 : Math.max(4, Math.round(Math.min(this.canvas.width, this.canvas.height) / 48));
    return this.#point(x + right * by, y + down * by).slice(0, 2);
  }

  // Painting

  paint() {
    const { pen, layer, canvas, setup } = this;
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    if (setup.background) pen.drawImage(this.images[setup.background], 0, 0, canvas.width, canvas.height);
    const over = layer.getContext("2d");
    over.clearRect(0, 0, layer.width, layer.height);
    over.imageSmoothingEnabled = false;
    for (const stroke of this.strokes) this.#mark(over, stroke);
    pen.drawImage(layer, 0, 0);
    this.#guide();
  }

  #mark(over, { tool, points, colour, width, stamp }) {
    over.globalCompositeOperation = tool === "eraser" ? "destination-out" : "source-over";
    over.strokeStyle = over.fillStyle = colour ?? "#000000";
    over.lineWidth = width;
    over.lineCap = over.lineJoin = "round";
    if (tool === "stamp") {
      const image = stamp.image ?? this.tiles.get(stamp.name);
      for (const [x, y] of points) {
        const to = this.#target(stamp, x, y);
        if (to) over.drawImage(image, ...to);
      }
    } else if (tool === "box") {
      over.fillRect(...span(...points[0].slice(0, 2), ...(points[1] ?? points[0]).slice(0, 2)));
    } else {
      over.beginPath();
      over.moveTo(points[0][0], points[0][1]);
      for (const [x, y] of points) over.lineTo(x + 0.01, y);
      over.stroke();
    }
    over.globalCompositeOperation = "source-over";
  }

  /** The keyboard's cursor and the piece to be copied, above the drawing and not part of it. */
  #guide() {
    const guide = this.overlay.getContext("2d");
    guide.clearRect(0, 0, this.overlay.width, this.overlay.height);
    const thick = Math.max(2, Math.round(this.overlay.width / 200));
    const frame = (box, colour, dash) => {
      guide.setLineDash(dash.map((one) => one * thick));
      guide.lineWidth = thick;
      guide.strokeStyle = colour;
      guide.strokeRect(...box);
    };
    const both = (box) => {
      frame(box, "#ffffff", []);
      frame(box, "#2457c5", [3, 3]);
    };
    if (this.now?.tool === "copy" && this.now.points[1]) both(span(...this.now.points[0].slice(0, 2), ...this.now.points[1].slice(0, 2)));
    if (!this.cursor) return;
    const cell = this.grid ? this.#cell(...this.cursor) : null;
    const [x, y] = this.cursor;
    both(cell ?? [x - 6 * thick, y - 6 * thick, 12 * thick, 12 * thick]);
    if (!cell) guide.fillRect(x - thick / 2, y - thick / 2, thick, thick);
  }
}

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const apart = (one, other) => Math.hypot(...channels(one).map((value, at) => value - channels(other)[at]));

/** The colour that differs most from the two that cover most of the image. */
function clearest(colours) {
  const [ground, second = ground] = colours;
  const contrast = (colour) => Math.min(apart(colour, ground), apart(colour, second));
  return colours.reduce((best, colour) => (contrast(colour) > contrast(best) ? colour : best), colours[0]);
}

/** A stamp's image, without the ground around the thing that it shows. */
export function tile({ box: [x, y, width, height], clear }, image) {
  const made = Object.assign(document.createElement("canvas"), { width, height });
  const pen = made.getContext("2d", { willReadFrequently: true });
  pen.drawImage(image, x, y, width, height, 0, 0, width, height);
  if (!clear) return made;
  const pixels = pen.getImageData(0, 0, width, height);
  const [red, green, blue] = channels(clear);
  for (let at = 0; at < pixels.data.length; at += 4) {
    const [r, g, b] = pixels.data.subarray(at, at + 3);
    if (Math.hypot(r - red, g - green, b - blue) < 24) pixels.data[at + 3] = 0;
  }
  pen.putImageData(pixels, 0, 0);
  return made;
}

const span = (x, y, u, v) => [Math.min(x, u), Math.min(y, v), Math.max(1, Math.abs(u - x) + 1), Math.max(1, Math.abs(v - y) + 1)];

export async function decoded(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  return image;
}
