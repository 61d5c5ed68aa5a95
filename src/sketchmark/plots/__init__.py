"""Drawings for report, viewer and papers: marks on a plane, written as SVG, PNG or PDF.

One layer for all of them, so that a chart looks the same everywhere. SVG is text and needs nothing; PNG is drawn by
Pillow, PDF by reportlab (extra `figures`), both with the first usable font of the machine.
"""

from __future__ import annotations

import base64
import io
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.files import write_atomic
from sketchmark.markup import Html, tag

if TYPE_CHECKING:
    from PIL import ImageFont

__all__ = ["FORMATS", "Drawing", "breadth"]

COLOURS = {
    "card": "#ffffff",
    "ink": "#171b22",
    "quiet": "#596271",
    "line": "#d9d8d2",
    "direct": "#5b6472",
    "own": "#2457c5",
    "other": "#a35c00",
    "oracle": "#0b7a5c",
    "corrupt": "#9b3d8f",
    "wrong": "#bf3a0a",
}
"""Role → its colour on paper. On a page the custom property of the same name gives it, light or dark."""

FORMATS = ("svg", "png", "pdf")
_FAMILY = "Helvetica, Arial, 'Liberation Sans', sans-serif"
Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


@dataclass(frozen=True)
class Stroke:
    """A line, an outline or a filled area through points."""

    points: tuple[Point, ...]
    stroke: str = ""
    fill: str = ""
    width: float = 1.0
    opacity: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Disc:
    x: float
    y: float
    radius: float
    fill: str
    stroke: str
    width: float = 1.5


@dataclass(frozen=True)
class Words:
    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Anchor = "start"
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True)
class Still:
    """An image: the bytes of a PNG, JPEG or WebP file."""

    x: float
    y: float
    width: float
    height: float
    data: bytes


Shape = Stroke | Disc | Words | Still


@dataclass
class Drawing:
    """Marks in the order in which they are painted. `label` says what it shows, for readers who cannot see it."""

    width: float
    height: float
    label: str
    font: float = 13.0
    shapes: list[Shape] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1.0, **more: Any) -> None:
        self.shapes.append(Stroke(((x1, y1), (x2, y2)), stroke=colour, width=width, **more))

    def area(self, points: Sequence[Point], colour: str, opacity: float = 1.0) -> None:
        self.shapes.append(Stroke(tuple(points), fill=colour, opacity=opacity))

    def box(self, x: float, y: float, width: float, height: float, colour: str, opacity: float = 1.0) -> None:
        self.area(_corners(x, y, width, height), colour, opacity)

    def frame(
        self, x: float, y: float, width: float, height: float, colour: str, thick: float, dashed: bool = False
    ) -> None:
        points = (*_corners(x, y, width, height), (x, y))
        self.shapes.append(Stroke(points, stroke=colour, width=thick, dashed=dashed))

    def words(self, x: float, y: float, said: str, size: float = 1.0, colour: str = "ink", **more: Any) -> None:
        """Set a text with its baseline at `y`; `size` is relative to the drawing's font."""
        self.shapes.append(Words(x, y, said, size * self.font, colour, **more))

    def image(self, x: float, y: float, width: float, height: float, data: bytes) -> None:
        self.shapes.append(Still(x, y, width, height, data))

    def mark(self, kind: str, x: float, y: float, radius: float, colour: str) -> None:
        """Draw a mark that is known by its shape, without its colour."""
        r, thick = radius, radius / 3.2
        if kind in ("circle", "ring"):
            self.shapes.append(Disc(x, y, r, colour if kind == "circle" else "card", colour, thick))
        elif kind == "cross":
            for sign in (1, -1):
                self.line(x - r * 0.85, y - sign * r * 0.85, x + r * 0.85, y + sign * r * 0.85, colour, thick * 1.5)
        else:
            self.area([(x + dx * r, y + dy * r) for dx, dy in _SHAPES[kind]], colour)

    def place(self, other: Drawing, x: float, y: float, scale: float = 1.0) -> None:
        """Add another drawing's marks, moved and scaled."""
        self.shapes += [_moved(shape, x, y, scale) for shape in other.shapes]

    def svg(self, *, page: bool = False) -> Html:
        """Return the SVG element: for a page, whose colours and fonts it takes, or for a file."""
        paint = _on_a_page if page else COLOURS.__getitem__
        more: dict[str, Any] = {"class_": "drawing"} if page else {"width": _n(self.width), "height": _n(self.height)}
        if not page:
            more |= {"xmlns": "http://www.w3.org/2000/svg", "font_family": _FAMILY}
        return tag(
            "svg",
            *([] if page else [tag("rect", width="100%", height="100%", fill="#ffffff")]),
            *(_svg(shape, paint) for shape in self.shapes),
            viewBox=f"0 0 {_n(self.width)} {_n(self.height)}",
            role="img",
            aria_label=self.label,
            **more,
        )

    def save(self, path: Path) -> None:
        """Write the drawing in the format of the file's name; a unit is a point (1/72 inch)."""
        kind = path.suffix.lower().removeprefix(".")
        if kind == "svg":
            data = self.svg().encode()
        elif kind == "png":
            data = _png(self)
        elif kind == "pdf":
            data = _pdf(self)
        else:
            raise BadInput(f"{path.name} is not the name of a figure", f"end it in .{', .'.join(FORMATS)}")
        write_atomic(path, data)


_SHAPES: dict[str, tuple[Point, ...]] = {
    "diamond": ((0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0)),
    "triangle": ((0, -1.1), (1.05, 0.8), (-1.05, 0.8)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
}


def _moved(shape: Shape, x: float, y: float, scale: float) -> Shape:
    if isinstance(shape, Stroke):
        points = tuple((x + scale * px, y + scale * py) for px, py in shape.points)
        return replace(shape, points=points, width=shape.width * scale)
    placed = replace(shape, x=x + scale * shape.x, y=y + scale * shape.y)
    if isinstance(placed, Disc):
        return replace(placed, radius=placed.radius * scale, width=placed.width * scale)
    if isinstance(placed, Words):
        return replace(placed, size=placed.size * scale)
    return replace(placed, width=placed.width * scale, height=placed.height * scale)


def _corners(x: float, y: float, width: float, height: float) -> tuple[Point, ...]:
    return (x, y), (x + width, y), (x + width, y + height), (x, y + height)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _on_a_page(colour: str) -> str:
    return f"var(--{colour})"


def _svg(shape: Shape, paint: Any) -> Html:
    if isinstance(shape, Words):
        return tag(
            "text",
            shape.text,
            x=_n(shape.x),
            y=_n(shape.y),
            font_size=_n(shape.size),
            fill=paint(shape.colour),
            text_anchor=None if shape.anchor == "start" else shape.anchor,
            font_weight="600" if shape.bold else None,
            font_style="italic" if shape.italic else None,
        )
    if isinstance(shape, Disc):
        return tag(
            "circle",
            cx=_n(shape.x),
            cy=_n(shape.y),
            r=_n(shape.radius),
            fill=paint(shape.fill),
            stroke=paint(shape.stroke),
            stroke_width=_n(shape.width),
        )
    if isinstance(shape, Still):
        kind = "webp" if shape.data[8:12] == b"WEBP" else "png" if shape.data[:4] == b"\x89PNG" else "jpeg"
        return tag(
            "image",
            x=_n(shape.x),
            y=_n(shape.y),
            width=_n(shape.width),
            height=_n(shape.height),
            href=f"data:image/{kind};base64,{base64.b64encode(shape.data).decode()}",
        )
    return tag(
        "polygon" if shape.fill else "polyline",
        points=" ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points),
        fill=paint(shape.fill) if shape.fill else "none",
        stroke=paint(shape.stroke) if shape.stroke else None,
        stroke_width=_n(shape.width) if shape.stroke else None,
        stroke_dasharray=_n(3 * shape.width) if shape.dashed else None,
        opacity=_n(shape.opacity) if shape.opacity < 1 else None,
    )


_EMS: tuple[tuple[float, Callable[[str], bool]], ...] = (
    (1.0, lambda letter: ord(letter) >= 0x2E80),
    (0.86, frozenset("mwMW@%—").__contains__),
    (0.3, frozenset("iljtfrI.,:;|!'’()[] ·-").__contains__),
    (0.68, str.isupper),
)
"""Widths of letters in ems, by the first test that fits."""


def breadth(said: str, size: float, bold: bool = False) -> float:
    """Estimate the width of a text, without a font: enough to place labels."""
    ems = sum(next((em for em, fits in _EMS if fits(letter)), 0.555) for letter in said)
    return size * ems * (1.06 if bold else 1.0)


_FONTS = (
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
)
_DOTS = 300 / 72
"""Pixels of a PNG per unit."""


def _fonts() -> tuple[str, str] | None:
    """Find a font file and its bold one, as Pillow searches the machine's fonts."""
    from PIL import ImageFont

    for plain, bold in _FONTS:
        try:
            return tuple(str(ImageFont.truetype(name, 12).path) for name in (plain, bold))  # type: ignore[return-value]
        except OSError:
            continue
    return None


def _png(drawing: Drawing) -> bytes:
    """Draw three times as large as wanted and shrink it: Pillow does not smooth lines itself."""
    from PIL import Image, ImageColor, ImageDraw, ImageFont

    fonts, over = _fonts(), 3
    scale = _DOTS * over
    sheet = Image.new("RGB", (math.ceil(drawing.width * scale), math.ceil(drawing.height * scale)), "white")
    pen = ImageDraw.Draw(sheet, "RGBA")

    def paint(colour: str, opacity: float = 1.0) -> tuple[int, ...]:
        return (*ImageColor.getrgb(COLOURS[colour])[:3], round(255 * opacity))

    def font(shape: Words) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
        if fonts is None:
            return ImageFont.load_default(shape.size * scale)
        return ImageFont.truetype(fonts[shape.bold], shape.size * scale)

    for shape in drawing.shapes:
        if isinstance(shape, Words):
            anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
            at = (shape.x * scale, shape.y * scale)
            pen.text(at, shape.text, paint(shape.colour), font(shape), anchor=anchor)
        elif isinstance(shape, Disc):
            r, x, y = (shape.radius + shape.width / 2) * scale, shape.x * scale, shape.y * scale
            pen.ellipse(
                (x - r, y - r, x + r, y + r), paint(shape.fill), paint(shape.stroke), round(shape.width * scale)
            )
        elif isinstance(shape, Still):
            small = Image.open(io.BytesIO(shape.data)).convert("RGB")
            sheet.paste(
                small.resize((round(shape.width * scale), round(shape.height * scale)), Image.Resampling.LANCZOS),
                (round(shape.x * scale), round(shape.y * scale)),
            )
        else:
            points = [(x * scale, y * scale) for x, y in shape.points]
            if shape.fill:
                pen.polygon(points, paint(shape.fill, shape.opacity))
            for start, end in _pieces(points, 3 * shape.width * scale if shape.dashed else 0) if shape.stroke else ():
                pen.line((start, end), paint(shape.stroke, shape.opacity), max(1, round(shape.width * scale)))
    sheet = sheet.resize((sheet.width // over, sheet.height // over), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG", optimize=True, dpi=(300, 300))
    return buffer.getvalue()


def _pieces(points: Sequence[Point], dash: float) -> list[tuple[Point, Point]]:
    """Cut a line into its segments, or into dashes."""
    found = []
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        steps = max(1, round(math.hypot(x2 - x1, y2 - y1) / (2 * dash))) if dash else 1
        for step in range(steps):
            start, end = step / steps, (step + (0.5 if dash else 1)) / steps
            found.append(
                (
                    (x1 + (x2 - x1) * start, y1 + (y2 - y1) * start),
                    (x1 + (x2 - x1) * end, y1 + (y2 - y1) * end),
                )
            )
    return found


def _pdf(drawing: Drawing) -> bytes:
    """Write one page of the drawing's size, with its fonts embedded, as publishers ask for."""
    try:
        from reportlab.lib.colors import HexColor
        from reportlab.lib.utils import ImageReader
        from reportlab.pdfbase.pdfmetrics import registerFont
        from reportlab.pdfbase.ttfonts import TTFont
        from reportlab.pdfgen.canvas import Canvas
    except ImportError as error:
        raise MissingExtra("a figure as PDF", "figures") from error

    files = _fonts() or ("Vera.ttf", "VeraBd.ttf")  # the second pair comes with reportlab
    for name, file in zip(("plain", "bold"), files, strict=True):
        registerFont(TTFont(name, file))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, (drawing.width, drawing.height), invariant=1)
    canvas.setTitle(drawing.label[:200])
    canvas.setLineCap(1)
    for shape in drawing.shapes:
        if isinstance(shape, Words):
            canvas.setFont("bold" if shape.bold else "plain", shape.size)
            canvas.setFillColor(HexColor(COLOURS[shape.colour]))
            write = {"middle": canvas.drawCentredString, "end": canvas.drawRightString}
            write.get(shape.anchor, canvas.drawString)(shape.x, drawing.height - shape.y, shape.text)
        elif isinstance(shape, Disc):
            canvas.setFillColor(HexColor(COLOURS[shape.fill]))
            canvas.setStrokeColor(HexColor(COLOURS[shape.stroke]))
            canvas.setLineWidth(shape.width)
            canvas.setDash()
            canvas.circle(shape.x, drawing.height - shape.y, shape.radius, fill=1)
        elif isinstance(shape, Still):
            image = ImageReader(io.BytesIO(shape.data))
            canvas.drawImage(image, shape.x, drawing.height - shape.y - shape.height, shape.width, shape.height)
        else:
            path = canvas.beginPath()
            path.moveTo(shape.points[0][0], drawing.height - shape.points[0][1])
            for x, y in shape.points[1:]:
                path.lineTo(x, drawing.height - y)
            if shape.fill:
                path.close()
                canvas.setFillColor(HexColor(COLOURS[shape.fill]), alpha=shape.opacity)
            if shape.stroke:
                canvas.setStrokeColor(HexColor(COLOURS[shape.stroke]), alpha=shape.opacity)
                canvas.setLineWidth(shape.width)
                canvas.setDash(*([3 * shape.width, 3 * shape.width] if shape.dashed else []))
            canvas.drawPath(path, stroke=int(bool(shape.stroke)), fill=int(bool(shape.fill)))
            canvas.setFillAlpha(1)
            canvas.setStrokeAlpha(1)
    canvas.save()
    return buffer.getvalue()
