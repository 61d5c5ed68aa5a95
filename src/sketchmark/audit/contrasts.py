"""Pairs of conditions to compare in an audit, the sentences on their outcomes, and the audit as text.

A condition is a mode without drawings, or the canvas of visual_cot. A canvas without a named contrast is compared
with the model's own drawing. The text fits 80 columns: one chart of all intervals, and a sentence for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sketchmark.comparison.findings import Direction
from sketchmark.episode.desk import CANVASES
from sketchmark.stats.intervals import Interval
from sketchmark.stats.power import Sequence
from sketchmark.terminal.tables import wrapped

DRAWING_MODE = "visual_cot"
TEXT_INPUT = "text_input"
"""Only generated worlds have this mode."""
MODES = ("direct", "blind", TEXT_INPUT, "text_cot", DRAWING_MODE)
GAIN = "gain"


@dataclass(frozen=True)
class Contrast:
    """after - before, and a sentence per outcome: `{size}` is the difference without its sign, `{span}` with it."""

    name: str
    before: str
    after: str
    more: str
    less: str
    none: str
    open: str

    @property
    def label(self) -> str:
        return f"{self.after} − {self.before}"


_NAMED = (
    Contrast(GAIN, "direct", "own",
        "Drawing helps: {size} over direct.",
        "Drawing hurts: it costs {size} against direct.",
        "Drawing makes a negligible difference: {span} over direct.",
        "Whether drawing helps is not settled: {span} over direct."),
    Contrast("seeing", "blind", "direct",
        "Seeing helps: the images of the question add {size}.",
        "Seeing hurts: without the images of the question it scores {size} more.",
        "Seeing makes a negligible difference: {span} over the question without its images.",
        "Whether seeing helps is not settled: {span} over the question without its images."),
    Contrast("lost by perception", "direct", TEXT_INPUT,
        "Perception costs {size}: given the puzzle as text it scores more.",
        "The image of the puzzle scores {size} more than its text.",
        "Perception costs a negligible amount: the puzzle as text adds {span}.",
        "Whether perception costs anything is not settled: the puzzle as text adds {span}."),
    Contrast("lost by drawing", "own", "oracle",
        "Wrong drawings cost {size} against ground-truth images.",
        "The ground-truth images score {size} less than its own drawings.",
        "Wrong drawings cost a negligible amount: ground-truth images add {span}.",
        "Whether wrong drawings cost anything is not settled: ground-truth images add {span}."),
    Contrast("content", "blank", "own",
        "The drawing's content adds {size} over a blank canvas.",
        "The drawing's content costs {size} against a blank canvas.",
        "The drawing's content adds a negligible amount over a blank canvas: {span}.",
        "Whether the drawing's content adds anything is not settled: {span} over a blank canvas."),
    Contrast("own content", "other", "own",
        "It needs its own drawing: another sample's costs {size}.",
        "Another sample's drawing scores {size} more than its own.",
        "Another sample's drawing makes a negligible difference: its own adds {span}.",
        "Whether it needs its own drawing is not settled: {span} over another sample's."),
    Contrast("picture over words", "text_cot", "own",
        "Drawing adds {size} over reasoning in text.",
        "Reasoning in text scores {size} more than drawing.",
        "Drawing adds a negligible amount over reasoning in text: {span}.",
        "Whether drawing adds anything over reasoning in text is not settled: {span}."),
    Contrast("picture over caption", "caption", "own",
        "The image adds {size} over its text description.",
        "The text description of its drawing scores {size} more than the image.",
        "The image adds a negligible amount over its text description: {span}.",
        "Whether the image adds anything over its text description is not settled: {span}."),
    Contrast("led astray", "corrupt", "oracle",
        "One error in the ground-truth images costs {size}.",
        "With one error the ground-truth images score {size} more.",
        "One error in the ground-truth images costs a negligible amount: {span}.",
        "Whether one error in the ground-truth images costs anything is not settled: {span}."),
)  # fmt: skip


def all_contrasts() -> Iterator[Contrast]:
    yield from _NAMED
    held = {place for contrast in _NAMED for place in (contrast.before, contrast.after)}
    for canvas in CANVASES:
        if canvas not in held:
            yield Contrast(f"picture over {canvas}", canvas, "own",
                f"Its own drawing adds {{size}} over the canvas {canvas}.",
                f"The canvas {canvas} scores {{size}} more than its own drawing.",
                f"Its own drawing adds a negligible amount over the canvas {canvas}: {{span}}.",
                f"Whether its own drawing adds to the canvas {canvas} is not settled: {{span}}.")  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One difference (after - before on the same samples) or one proportion, with its 95% interval and a sentence.

    `p_holm` is corrected over the `family`. `more_needed` is the number of further samples that would
    settle it if they resemble the present ones; None if it is settled. `left_out` samples were not scored on both
    sides. The `verdict` on a proportion is `more` if it is known to within the margin, else `open`.
    """

    name: str
    label: str
    kind: Literal["difference", "share"]
    mean: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    n: int
    left_out: int
    verdict: Direction
    more_needed: int | None
    sentence: str
    family: str = ""


@dataclass(frozen=True)
class ConditionScore:
    """Score of one condition: `place` is a mode, or the canvas of visual_cot."""

    place: str
    score: Interval


@dataclass(frozen=True)
class TaskAudit:
    """Audit of one task. `anytime` is the drawing gain's confidence sequence (stats/power.py)."""

    task: str
    metric: str
    scoring: str
    scores: tuple[ConditionScore, ...]
    findings: tuple[Finding, ...]
    anytime: Sequence | None


@dataclass(frozen=True)
class Audit:
    """Audit of one run. `notes` lists what was skipped, with the reason."""

    run: str
    model: str
    margin: float
    tasks: tuple[TaskAudit, ...]
    notes: tuple[str, ...]


def as_json(found: Audit) -> dict[str, Any]:
    return asdict(found)


WIDTH = 80
_LABEL, _CHART = 17, 33
_NUMBERS = WIDTH - _CHART - 3
"""Column in which the chart begins."""


def lines(found: Audit) -> Iterator[str]:
    yield from _wrapped(f"Drawing audit: {found.model}")
    for task in found.tasks:
        yield ""
        yield from _task(task)
    yield ""
    yield from _wrapped(f"● settled, ○ not settled. {settled_when(found)}")
    for note in found.notes:
        yield from _wrapped(f"Note: {note}")


def settled_when(found: Audit) -> str:
    tests = sum(one.kind == "difference" for task in found.tasks for one in task.findings)
    near = f"{100 * found.margin:.0f} points"
    return (
        f"A difference is settled if p < 0.05 after Holm's correction over {tests}, or if its 95% interval is within "
        f"±{near}; a proportion if it is known to ±{near}."
    )


def _task(found: TaskAudit) -> Iterator[str]:
    scores = (f"{one.place} {100 * one.score.mean:.0f}%" for one in found.scores if one.score.mean is not None)
    yield from _wrapped(f"{found.task} ({found.metric}, {found.scoring}): {', '.join(scores)}")
    yield ""
    yield f"{'':{_NUMBERS}}{'-100':<{_CHART // 2}}0{'+100':>{_CHART // 2}}"
    yield from map(_row, found.findings)
    yield ""
    for one in found.findings:
        yield from _wrapped(one.sentence, "• ")
    if found.anytime:
        low, high = 100 * found.anytime.low, 100 * found.anytime.high
        yield from _wrapped(f"Gain, valid at any stopping point: [{low:+.1f}, {high:+.1f}].", "• ")
    for one in found.findings:
        if one.left_out:
            yield from _wrapped(f"{one.label}: {one.left_out} of {one.n + one.left_out} samples left out.", "• ")


def _row(found: Finding) -> str:
    sign = "+" if found.kind == "difference" else ""
    ends = ""
    if found.low is not None and found.high is not None:
        ends = f"[{100 * found.low:{sign}6.1f}, {100 * found.high:{sign}6.1f}]"
    return f"  {found.label:<{_LABEL}} {100 * found.mean:{sign}6.1f} {ends:<16} {_bar(found)}".rstrip()


def _bar(found: Finding) -> str:
    cells = [" "] * _CHART
    cells[_CHART // 2] = "│"
    if found.low is not None and found.high is not None:
        first, last = _column(found.low), _column(found.high)
        cells[first : last + 1] = "─" * (last + 1 - first)
        cells[first], cells[last] = "├", "┤"
    cells[_column(found.mean)] = "○" if found.verdict == "open" else "●"
    return "".join(cells)


def _column(value: float) -> int:
    return round((min(1.0, max(-1.0, value)) + 1) / 2 * (_CHART - 1))


def _wrapped(text: str, first: str = "") -> list[str]:
    return wrapped(text, WIDTH, first)
