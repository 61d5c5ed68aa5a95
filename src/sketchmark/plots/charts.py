"""Charts of scores and gains: conditions, forest, difficulty, dumbbell, film strip. They compute no number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sketchmark.folder.format import DRAWING_MODE, label_of, place
from sketchmark.folder.results_format import CellResult, Gain, Mean
from sketchmark.markup import bracket, percent, points, with_interval
from sketchmark.plots import Anchor, Drawing, breadth
from sketchmark.results.summary import Curve, CurveLine
from sketchmark.stats.intervals import in_points

MARKS = {
    "direct": ("direct", "circle"),
    "blind": ("direct", "ring"),
    "text_input": ("direct", "square"),
    "text_cot": ("direct", "diamond"),
    "own": ("own", "circle"),
    "blank": ("own", "ring"),
    "other": ("other", "triangle"),
    "oracle": ("oracle", "square"),
    "corrupt": ("corrupt", "cross"),
    "caption": ("other", "ring"),
    "source": ("other", "square"),
}
"""Mode, or canvas of visual_cot → colour and mark. Shapes differ, so colour is never needed."""
_COMPARED = ("direct", "own")
"""The conditions of a ladder: their lines are in front and have bands."""


@dataclass(frozen=True)
class Panel:
    """One task: its conditions with their scores, and the gain by drawing if it is known."""

    task: str
    rows: Sequence[tuple[str, str, str, Mean | None]]
    """(mode, canvas, draw_with, score)."""

    gain: Gain | None = None

    @classmethod
    def all_of(cls, cells: Sequence[CellResult], gains: Sequence[Gain]) -> list[Panel]:
        """Make a panel for each task, conditions in the order of `MARKS`."""
        order = list(MARKS)
        found = {(gain.task, gain.mode, gain.canvas): gain for gain in gains}

        def rank(cell: CellResult) -> int:
            where = place(cell.mode, cell.canvas)
            return order.index(where) if where in order else len(order)

        panels = []
        for task in dict.fromkeys(cell.task for cell in cells):
            of = sorted((cell for cell in cells if cell.task == task), key=rank)
            rows = [(cell.mode, cell.canvas, cell.draw_with, cell.metrics.get(cell.headline)) for cell in of]
            if any(row[-1] for row in rows):
                panels.append(cls(task, rows, found.get((task, DRAWING_MODE, "own"))))
        return panels


def _end(means: Sequence[Mean | None]) -> float:
    """Return the right end of the scale: 100, unless a score is a sum."""
    ends = [in_points(end, one.ci95) for one in means if one for end in (one.mean, *one.ci95) if end is not None]
    return 100.0 if max(ends, default=0.0) <= 100 else max(ends)


def _at(mean: Mean) -> tuple[float, float | None, float | None]:
    value = in_points(mean.mean or 0.0, mean.ci95)
    low, high = mean.ci95
    return (
        value,
        None if low is None else in_points(low, mean.ci95),
        None if high is None else in_points(high, mean.ci95),
    )


def scores(panels: Sequence[Panel], width: float, font: float = 13.0, *, short: bool = False) -> Drawing:
    """Draw every condition as a mark with its interval, one panel per task; a band shows the gain by drawing."""
    u = font / 13
    short = short or width < 560 * u
    conditions = list(dict.fromkeys(row[:3] for panel in panels for row in panel.rows))
    names = [label_of(*one, short=short) for one in conditions]
    left = min(width * 0.42, max((breadth(name, font, True) for name in names), default=0) + 14 * u)
    per_row = max(1, min(len(panels), int((width - left) // (215 * u))))
    step, top, bottom = 29 * u, 62 * u, 30 * u
    block = top + step * len(conditions) + bottom
    rows = math.ceil(len(panels) / per_row)
    label = "; ".join(
        f"{panel.task}: " + ", ".join(f"{label_of(*row[:3])} {with_interval(row[3])}" for row in panel.rows)
        for panel in panels
    )
    drawing = Drawing(width, rows * block, label, font)
    share = (width - left) / per_row
    counts = {row[3].n for panel in panels for row in panel.rows if row[3]}
    for row in range(rows):
        y0 = row * block + top
        said = f"Score, % · n = {min(counts)}" if len(counts) == 1 else "Score, %"
        drawing.words(0, y0 - 14 * u, said, 0.92, "quiet")
        for number, (one, name) in enumerate(zip(conditions, names, strict=True)):
            y = y0 + step * (number + 0.5)
            important = place(*one[:2]) in ("direct", "own")
            for at, part in enumerate(wrapped(name, left - 12 * u, font, important)):
                drawing.words(0, y + 4.5 * u + at * font * 1.1, part, bold=important)
            if number:
                drawing.line(0, y - step / 2, left - 14 * u, y - step / 2, "line", 0.8 * u)
        for at, panel in enumerate(panels[row * per_row : (row + 1) * per_row]):
            _panel(drawing, panel, conditions, (left + at * share, y0, share, step), u)
    return drawing


Box = tuple[float, float, float, float]


def _panel(drawing: Drawing, panel: Panel, conditions: Sequence[tuple[str, str, str]], box: Box, u: float) -> None:
    x0, y0, share, step = box
    found = {row[:3]: row[3] for row in panel.rows}
    end, x1 = _end(list(found.values())), x0 + share - 52 * u
    bottom = y0 + step * len(conditions)

    def x(value: float) -> float:
        return x0 + 8 * u + (x1 - x0 - 8 * u) * max(0.0, value) / end

    drawing.words(x0 + 8 * u, y0 - 36 * u, panel.task, 1.15, bold=True)
    if panel.gain and panel.gain.gain is not None:
        said = f"{points(panel.gain.gain, panel.gain.ci95)} points"
        drawing.words(x0 + 8 * u, y0 - 16 * u, said, 0.95, "own", bold=True)
        after = x0 + 14 * u + breadth(said, 0.95 * drawing.font, True)
        room = breadth(f"{bracket(panel.gain.ci95)} by drawing", 0.92 * drawing.font) < x0 + share - after
        said = f"{bracket(panel.gain.ci95)}{' by drawing' if room else ''}"
        drawing.words(after, y0 - 16 * u, said, 0.92, "quiet")
    base, own = (next((found[one] for one in found if place(*one[:2]) == name), None) for name in ("direct", "own"))
    if base and own and base.mean is not None and own.mean is not None:
        ends = sorted((x(_at(base)[0]), x(_at(own)[0])))
        drawing.box(ends[0], y0, ends[1] - ends[0], bottom - y0, "own", 0.09)
    for tick in (0, 25, 50, 75, 100):
        drawing.line(x(end * tick / 100), y0, x(end * tick / 100), bottom, "line", 0.8 * u)
        if tick % 50 == 0:
            said = f"{end * tick / 100:g}" + (" %" if tick == 100 and end == 100 else "")
            drawing.words(x(end * tick / 100), bottom + 18 * u, said, 0.9, "quiet", anchor="middle")
    if base and base.mean is not None:
        drawing.line(x(_at(base)[0]), y0, x(_at(base)[0]), bottom, "direct", u, dashed=True)
    for number, one in enumerate(conditions):
        mean = found.get(one)
        y = y0 + step * (number + 0.5)
        colour, kind = MARKS.get(place(*one[:2]), ("quiet", "circle"))
        if mean is None or mean.mean is None:
            continue
        _interval(drawing, mean, x, y, colour, u)
        drawing.mark(kind, x(_at(mean)[0]), y, (7 if place(*one[:2]) in ("own", "direct") else 6) * u, colour)
        said = percent(mean.mean, mean.ci95)
        drawing.words(x0 + share - 8 * u, y + 4.5 * u, said, colour=colour, anchor="end", bold=True)


def _interval(drawing: Drawing, mean: Mean, x: object, y: float, colour: str, u: float) -> None:
    _, low, high = _at(mean)
    if low is not None and high is not None and callable(x):
        drawing.line(x(low), y, x(high), y, colour, 2 * u, opacity=0.6)


@dataclass(frozen=True)
class Row:
    """One line of a forest plot. A `clear` difference has a filled mark, any other a hollow one."""

    label: str
    mean: Mean
    clear: bool = True
    colour: str = "own"


def forest(
    groups: Mapping[str, Sequence[Row]],
    width: float,
    font: float = 13.0,
    *,
    signed: bool = True,
    title: str = "",
    people: Mapping[str, float] = MappingProxyType({}),
) -> Drawing:
    """Draw numbers with their intervals, one per line: differences around zero, or scores from 0 to 100. `people` is
    group → their number, a dashed line through the group's rows."""
    u = font / 13
    rows = [row for of in groups.values() for row in of]
    values = [_at(row.mean) for row in rows]
    write = points if signed else percent
    texts = [f"{write(row.mean.mean, row.mean.ci95)} {bracket(row.mean.ci95)}".strip() for row in rows]
    ends = [end for found in values for end in found if end is not None]
    ends += [100 * value for value in people.values()]
    low = min(0.0, 25 * math.floor(min(ends, default=0) / 25)) if signed else 0.0
    high = max(25.0, 25 * math.ceil(max(ends, default=0) / 25)) if signed else _end([row.mean for row in rows])
    right = max((breadth(said, font) for said in texts), default=0) + 12 * u
    left = min(width * 0.45, max((breadth(row.label, font) for row in rows), default=0) + 30 * u)
    narrow = left + right + 110 * u > width
    left = 8 * u if narrow else left
    step = (44 if narrow else 27) * u
    named = [name for name in groups if name]
    height = (24 * u if title else 6 * u) + len(named) * 28 * u + len(rows) * step + 28 * u
    label = (
        title + ": " * bool(title) + "; ".join(f"{row.label} {said}" for row, said in zip(rows, texts, strict=True))
    )
    drawing = Drawing(width, height, label, font)

    def x(value: float) -> float:
        return left + (width - right - left) * (value - low) / (high - low)

    y = 24 * u if title else 6 * u
    if title:
        drawing.words(0, 14 * u, title, 0.95, "quiet")
    room = max(2, (x(high) - x(low)) // (38 * u))
    top, tick = (
        y,
        next((one for one in (25, 50, 100) if (high - low) / one <= room), 100 * math.ceil((high - low) / 400)),
    )
    for value in _ticks(low, high, tick):
        axis = value == 0 and signed
        drawing.line(x(value), top, x(value), height - 24 * u, "quiet" if axis else "line", u if axis else 0.8 * u)
        said = f"{value:+g}".replace("-", "−") if signed and value else f"{value:g}"
        drawing.words(x(value), height - 8 * u, said, 0.9, "quiet", anchor="middle")
    number = 0
    for name, of in groups.items():
        if name:
            drawing.words(0, y + 20 * u, name, bold=True)
            y += 28 * u
        if name in people:
            at = x(100 * people[name])
            drawing.line(at, y, at, y + step * len(of), "other", 1.6 * u, dashed=True)
            drawing.words(at, y - 4 * u, "people", 0.9, "other", anchor="middle")
        for row in of:
            middle = y + step * (0.68 if narrow else 0.5)
            where = (0.0, y + 14 * u) if narrow else (14 * u if name else 0.0, middle + 4.5 * u)
            room = width if narrow else left - where[0] - 8 * u
            drawing.words(*where, _cut(row.label, room, font))
            _interval(drawing, row.mean, x, middle, row.colour, u)
            drawing.mark("circle" if row.clear else "ring", x(values[number][0]), middle, 5.6 * u, row.colour)
            drawing.words(width, middle + 4.5 * u, texts[number], anchor="end")
            number, y = number + 1, y + step
    return drawing


def groups_of(found: Curve) -> dict[str, list[Row]]:
    """Return the scores of categories as groups of a forest, one per condition."""
    return {
        label_of(line.mode, line.canvas): [
            Row(str(point.value), point, colour="own" if line.mode == DRAWING_MODE else "direct")
            for point in line.points
        ]
        for line in found.lines
        if line.points
    }


def _ticks(low: float, high: float, step: float) -> Iterator[float]:
    value = math.ceil(low / step) * step
    while value <= high:
        yield value
        value += step


def _cut(said: str, room: float, size: float) -> str:
    while breadth(said, size) > room and len(said) > 2:
        said = said[:-2].rstrip() + "…"
    return said


def wrapped(said: str, room: float, size: float, bold: bool = False, most: int = 2) -> list[str]:
    """Break a label into lines; the last is truncated."""
    lines = [""]
    for word in said.split():
        longer = f"{lines[-1]} {word}".strip()
        if breadth(longer, size, bold) <= room or not lines[-1] or len(lines) == most:
            lines[-1] = longer
        else:
            lines.append(word)
    return [*lines[:-1], _cut(lines[-1], room, size)]


def curve(found: Curve, width: float, font: float = 13.0, *, name: str = "score") -> Drawing:
    """Draw a score by difficulty, one line per mode. Direct and drawn are in front, with their intervals as bands.
    Each line is a little to the right of the one before, so that equal scores do not hide each other."""
    u = font / 13
    shown = _conditions([line for line in found.lines if line.points])
    lines = list(shown.values())
    values = sorted({float(point.value) for line in lines for point in line.points})
    means = [point for line in lines for point in line.points]
    label = f"{found.task}: {name} by {found.key}: " + "; ".join(
        f"{label_of(line.mode, line.canvas)} "
        + ", ".join(f"{point.value}: {with_interval(point)}" for point in line.points)
        for line in lines
    )
    keys = list(_legend(lines, width, font))
    foot = (keys[-1][2] + 1) * 20 * u + 26 * u if keys else 26 * u
    drawing = Drawing(width, 190 * u + foot, label, font)
    left, right, top, bottom = 48 * u, width - 22 * u, 12 * u, 178 * u
    end, low, high = _end(means), min(values, default=0), max(values, default=1)

    def x(value: float, aside: float = 0.0) -> float:
        return left + (right - left) * ((value - low) / (high - low) if high > low else 0.5) + aside

    def y(value: float) -> float:
        return bottom - (bottom - top) * max(0.0, value) / end

    for tick in (0, 50, 100):
        at = y(end * tick / 100)
        drawing.line(left - 8 * u, at, right + 12 * u, at, "line", 0.8 * u)
        drawing.words(left - 18 * u, at + 4 * u, f"{end * tick / 100:g}", 0.9, "quiet", anchor="end")
    every = math.ceil(len(values) / max(2, (right - left) // (34 * u)))
    for value in values[::every]:
        drawing.words(x(value), bottom + 17 * u, f"{value:g}", 0.9, "quiet", anchor="middle")
    apart = min(5 * u, (right - left) / (2 * len(values) * max(1, len(lines))))
    asides = {where: (number - (len(lines) - 1) / 2) * apart for number, where in enumerate(shown)}
    for where in sorted(shown, key=lambda where: where in _COMPARED):
        colour, kind = MARKS[where]
        placed = [(x(float(point.value), asides[where]), *_at(point)) for point in shown[where].points]
        upper = [(at, y(top_)) for at, _, _, top_ in placed if top_ is not None]
        lower = [(at, y(low_)) for at, _, low_, _ in placed if low_ is not None]
        if len(upper) > 1 and where in _COMPARED:
            drawing.area([*upper, *reversed(lower)], colour, 0.14)
        for (x1, y1, *_), (x2, y2, *_) in itertools.pairwise(placed):
            drawing.line(x1, y(y1), x2, y(y2), colour, (2.2 if where in _COMPARED else 1.0) * u)
        for at, value, *_ in placed:
            drawing.mark(kind, at, y(value), 4 * u, colour)
    for where, (said, at, row) in zip(shown, keys, strict=True):
        colour, kind = MARKS[where]
        level = bottom + 36 * u + row * 20 * u
        drawing.mark(kind, at + 6 * u, level + 4 * u, 4 * u, colour)
        drawing.words(at + 16 * u, level + 8 * u, said, 0.92, "quiet")
    return drawing


def _conditions(lines: Sequence[CurveLine]) -> dict[str, CurveLine]:
    """Return lines by condition, in the order of `MARKS`. Modes with other names get the marks that are left."""
    named = {where: line for line in lines if (where := place(line.mode, line.canvas)) in MARKS}
    others = [line for line in lines if line not in named.values()]
    spare = itertools.cycle([where for where in reversed(MARKS) if where not in named] or MARKS)
    named |= dict(zip(spare, others, strict=False))
    return {where: named[where] for where in MARKS if where in named}


def _legend(lines: Sequence[CurveLine], width: float, font: float) -> Iterator[tuple[str, float, int]]:
    """Yield each line's name, its place and its row."""
    at, row = 0.0, 0
    for line in lines:
        said = label_of(line.mode, line.canvas, short=True)
        wide = breadth(said, font) + font * 2.6
        if at and at + wide > width:
            at, row = 0.0, row + 1
        yield said, at, row
        at += wide


def dumbbell(
    before: Mean | None, after: Mean | None, label: str, width: float = 112.0, people: Mean | None = None
) -> Drawing:
    """Draw direct → drawn as one line: a ring, a band and a disc with its interval; a dashed line at the score of
    people, if it is known."""
    drawing = Drawing(width, 18, label)
    end = _end([before, after])

    def x(value: float) -> float:
        return 7 + (width - 14) * max(0.0, value) / end

    drawing.box(x(0), 7.5, x(end) - x(0), 3, "line")
    if people and people.mean is not None:
        at = min(x(end), x(_at(people)[0]))
        drawing.line(at, 0.5, at, 17.5, "other", 1.6, dashed=True)
    if before and after and before.mean is not None and after.mean is not None:
        ends = sorted((x(_at(before)[0]), x(_at(after)[0])))
        drawing.box(ends[0], 6, ends[1] - ends[0], 6, "own", 0.28)
    if after and after.mean is not None:
        _interval(drawing, after, x, 9, "own", 1)
    if before and before.mean is not None:
        drawing.mark("ring", x(_at(before)[0]), 9, 4.2, "direct")
    if after and after.mean is not None:
        drawing.mark("circle", x(_at(after)[0]), 9, 5, "own")
    return drawing


@dataclass(frozen=True)
class Frame:
    """One image of a film strip, with a caption; `right` is None where that is not known."""

    data: bytes
    caption: str
    right: bool | None = None
    truth: bool = False


def film(frames: Sequence[Frame], title: str, width: float, font: float = 7.5) -> Drawing:
    """Draw the images of one episode in rows, the first wrong one outlined, ground truth with a dashed outline."""
    u = font / 13
    gap, side = 8 * u, 92 * u
    per_row = max(1, min(len(frames), int((width + gap) // (side + gap))))
    side = min(side * 1.3, (width + gap) / per_row - gap)
    rows = math.ceil(len(frames) / per_row)
    high = side + 42 * u
    drawing = Drawing(width, rows * high + 26 * u, f"{title}: " + ", ".join(frame.caption for frame in frames), font)
    drawing.words(0, 14 * u, _cut(title, width, font), bold=True)
    first = next((at for at, frame in enumerate(frames) if frame.right is False), -1)
    for number, frame in enumerate(frames):
        x, y = number % per_row * (side + gap), 26 * u + number // per_row * high
        drawing.image(x, y, side, side, frame.data)
        colour = "oracle" if frame.truth else "wrong" if frame.right is False else "line"
        thick = (3 if number == first else 1.5 if frame.right is False or frame.truth else 0.8) * u
        drawing.frame(x, y, side, side, colour, thick, dashed=frame.truth)
        anchor: Anchor = "middle"
        for at, part in enumerate(wrapped(frame.caption, side + gap * 0.6, font * 0.92)):
            ink = colour if colour != "line" else "quiet"
            drawing.words(x + side / 2, y + side + (15 + 14 * at) * u, part, 0.92, ink, anchor=anchor)
    return drawing
