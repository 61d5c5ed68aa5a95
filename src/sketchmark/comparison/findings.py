"""Results of a comparison as plain data, their columns, and numbers as text.

Tables, CSV, JSON, report and viewer show these records and nothing else. To add a column to the tables of differences
and to the CSV, add one `Column` to `COLUMNS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from sketchmark import stats
from sketchmark.files.jsonl import plain
from sketchmark.folder.results_format import Gain, Mean, Repeats
from sketchmark.stats.differences import Apart, Difference, Trend, Verdict, share_of, verdict
from sketchmark.stats.intervals import Bounds, Interval, as_bracket, as_p, as_percent, as_points


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a cell of a run. `score` is over the paired samples only.

    `trouble` counts the flags of all its episodes (unparsed, truncated, refused, no_picture, failures by kind).
    """

    run: str
    model: str
    cell: str
    mode: str
    canvas: str
    scoring: str
    score: Interval
    trouble: Mapping[str, int]


@dataclass(frozen=True)
class Group:
    """The samples of one group (or a range of values), compared."""

    value: str
    before: Interval
    after: Interval
    difference: Difference
    p_holm: float | None
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        _judge(self, self.difference)


@dataclass(frozen=True)
class Breakdown:
    """The difference by one group key. Numbers are difficulties and have a trend; texts are categories."""

    key: str
    kind: Literal["category", "difficulty"]
    groups: tuple[Group, ...]
    trend: Trend | None


@dataclass(frozen=True)
class DrawingSplit:
    """The answer's score on samples with all drawn frames right, and on the others.

    `gain_right` and `gain_wrong` are the differences on these samples. Easy samples are easier both to draw and to
    answer, so the split does not show that a right drawing causes a right answer. The oracle canvas does.
    """

    right: Interval
    wrong: Interval
    gain_right: Difference
    gain_wrong: Difference
    sentence: str


@dataclass(frozen=True)
class Plan:
    """The samples that a gain needs if as many samples change as here, and the smallest gain visible with these."""

    gain: float
    needed: int
    smallest: float | None


_NO_REPEATS = "No number of repeats halves that; it takes"


@dataclass(frozen=True)
class Further:
    """Gain in precision from more repeats or samples: half the width of the 95% interval now, after twice the samples
    and after twice the repeats, and the repeats that halve it (None: no number does)."""

    samples: int
    repeats: int
    half_width: float
    twice_samples: float
    twice_repeats: float
    repeats_for_half: int | None

    @property
    def sentence(self) -> str:
        if not self.half_width:
            return f"The gain is the same on all {self.samples} samples, so they do not show what more would give."
        now, samples, repeats = (as_percent(one) for one in (self.half_width, self.twice_samples, self.twice_repeats))
        half = f"Half of that takes {self.repeats_for_half} repeats or" if self.repeats_for_half else _NO_REPEATS
        better = "more samples gain more" if samples != repeats else "both gain as much"
        return (
            f"{self.samples} samples with {self.repeats} repeats give ±{now} points. {half} "
            f"{4 * self.samples} samples. For twice the cost, twice the samples give ±{samples}, "
            f"twice the repeats ±{repeats}: {better}."
        )


@dataclass(frozen=True)
class TableRow:
    """after - before on the same samples. `p_holm` is corrected over the rows of the comparison.

    `unpaired` samples were run on one side only. `unscored` ones failed on a side without fault of the model. Both
    are left out.
    """

    task: str
    metric: str
    label: str
    kind: Literal["modes", "runs"]
    before: Side
    after: Side
    difference: Difference
    p_holm: float | None
    unpaired: int
    unscored: int
    breakdowns: tuple[Breakdown, ...]
    drawing: DrawingSplit | None
    plan: Plan | None
    further: Further | None = None
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        _judge(self, self.difference)


@dataclass(frozen=True)
class CanvasScore:
    """The score with one canvas, and own - this canvas on the same samples (None for own itself)."""

    canvas: str
    score: Interval
    own_minus_this: Difference | None
    p_holm: float | None
    trouble: Mapping[str, int]
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        _judge(self, self.own_minus_this)


@dataclass(frozen=True)
class CanvasTable:
    """The canvas controls of one task, and a sentence on their outcome."""

    task: str
    metric: str
    run: str
    model: str
    scoring: str
    scores: tuple[CanvasScore, ...]
    sentence: str


@dataclass(frozen=True)
class PublishedRow:
    """A published score (a proportion) and your own. `apart` is own - published; None for the reason `untold`."""

    model: str
    score: str
    channel: str
    value: float
    n: int | None
    yours: Interval
    scoring: str
    apart: Apart | None
    untold: str


@dataclass(frozen=True)
class PublishedTable:
    """Published scores for one cell, with their sources and notes on known differences."""

    task: str
    mode: str
    run: str
    model: str
    rows: tuple[PublishedRow, ...]
    sources: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class RepeatedCell:
    """Results of the repeated episodes of one cell, from results.json."""

    run: str
    model: str
    cell: str
    found: Repeats


@dataclass(frozen=True)
class Findings:
    """A whole comparison. `notes` lists differences between the runs and parts that could not be compared."""

    rows: tuple[TableRow, ...]
    canvases: tuple[CanvasTable, ...]
    notes: tuple[str, ...]
    published: tuple[PublishedTable, ...] = ()
    repeats: tuple[RepeatedCell, ...] = ()


def _judge(found: Group | TableRow | CanvasScore, difference: Difference | None) -> None:
    """Set the verdict from the corrected p, also after that was replaced."""
    object.__setattr__(found, "verdict", verdict(difference.mean if difference else None, found.p_holm))


def as_json(comparison: Findings) -> dict[str, Any]:
    repeats = [{**vars(one), "found": plain(one.found)} for one in comparison.repeats]
    return {**asdict(replace(comparison, repeats=())), "repeats": repeats}


Direction = Literal["more", "less", "none", "open"]
"""Clearly above zero, clearly below, within the margin of zero, or not settled."""


def direction(found: Difference, p: float | None, margin: float) -> Direction:
    """Judge a difference by the corrected `p`. For "none" the whole interval must be within the margin of zero."""
    clear = stats.verdict(found.mean, p)
    if clear != "unclear":
        return "more" if clear == "better" else "less"
    if found.low is None or found.high is None or max(abs(found.low), abs(found.high)) > margin:
        return "open"
    return "none"


def points(value: float | None, ci: Bounds = ()) -> str:
    return "–" if value is None else f"{as_points(value, ci)} points"


def span(found: Difference | Gain) -> str:
    """Return `+12.0 points [+5.1, +18.8]`."""
    mean = found.gain if isinstance(found, Gain) else found.mean
    return " ".join(filter(None, (points(mean, ends(found)), bounds(found))))


def ends(found: Interval | Difference | Apart | Mean | Gain) -> Bounds:
    return found.ci95 if isinstance(found, (Mean, Gain)) else (found.low, found.high)


def mean_of(found: Interval | Difference | Apart | Mean | Gain | None) -> str:
    """Return a mean, a difference with its sign; `–` without one. A count stays whole."""
    if found is None:
        return "–"
    if isinstance(found, (Difference, Apart)):
        return as_points(found.mean, ends(found))
    if isinstance(found, Gain):
        return as_points(found.gain, ends(found))
    return str(found.mean) if isinstance(found.mean, int) else as_percent(found.mean, ends(found))


def bounds(found: Interval | Difference | Apart | Mean | Gain | None) -> str:
    """Return `[8.9, 53.2]`, for a difference with signs; empty without an interval."""
    return as_bracket(ends(found), signed=isinstance(found, (Difference, Apart, Gain))) if found else ""


def verdict_text(found: Difference | Apart | Gain | None, verdict: str | None) -> str:
    """Return the verdict for a reader. No helped and no hurt sample is a finding, not an unclear one."""
    if isinstance(found, (Difference, Gain)) and verdict == "unclear" and not found.helped and not found.hurt:
        return NO_CHANGE
    return verdict or ""


NO_CHANGE = "no change seen"


@dataclass(frozen=True)
class Line:
    """One difference of a comparison: a line of the CSV, and a row of a table of differences.

    Canvas lines have the control as `before` and the model's own drawing as `after`. Published lines have the
    published score as `before`.
    """

    table: str
    task: str
    compared: str
    score: str
    run_before: str
    run_after: str
    scoring_before: str
    scoring_after: str
    before: Interval | None
    after: Interval | None
    difference: Difference | Apart | None
    p_holm: float | None = None
    key: str = ""
    value: str = ""

    @property
    def verdict(self) -> Verdict | None:
        found = self.difference
        return None if found is None or self.p_holm is None else verdict(found.mean, self.p_holm)

    @property
    def verdict_text(self) -> str:
        return verdict_text(self.difference, self.verdict)


def lines(found: Findings) -> Iterator[Line]:
    for row in found.rows:
        line = line_of(row)
        yield line
        for breakdown in row.breakdowns:
            yield from group_lines(line, breakdown)
        if split := row.drawing:
            part = replace(line, table="drawing", key="drawing", before=None, p_holm=None)
            yield replace(part, value="right", after=split.right, difference=split.gain_right)
            yield replace(part, value="wrong", after=split.wrong, difference=split.gain_wrong)
    for table in found.canvases:
        own = next((one.score for one in table.scores if one.canvas == "own"), None)
        for one in table.scores:
            if one.own_minus_this:
                names = ("canvas", table.task, f"own − {one.canvas}", table.metric)
                sides = (table.run, table.run, table.scoring, table.scoring)
                numbers = (one.score, own, one.own_minus_this, one.p_holm)
                yield Line(*names, *sides, *numbers, "canvas", one.canvas)
    for theirs in found.published:
        for figure in theirs.rows:
            score = share_of(figure.value, figure.n) if figure.n else Interval(figure.value, None, None, 0, "")
            names = ("published", theirs.task, f"{theirs.mode} − {figure.model}", figure.score)
            sides = (figure.model, theirs.run, "", figure.scoring)
            yield Line(*names, *sides, score, figure.yours, figure.apart, None, "published", figure.channel)


def line_of(row: TableRow) -> Line:
    sides = (row.before.run, row.after.run, row.before.scoring, row.after.scoring)
    scores = row.before.score, row.after.score
    return Line("difference", row.task, row.label, row.metric, *sides, *scores, row.difference, row.p_holm)


def group_lines(line: Line, found: Breakdown) -> Iterator[Line]:
    for group in found.groups:
        yield replace(
            line,
            table=found.kind,
            key=found.key,
            value=group.value,
            before=group.before,
            after=group.after,
            difference=group.difference,
            p_holm=group.p_holm,
        )


@dataclass(frozen=True)
class Column:
    """One column of the CSV, of the tables of differences, or of both.

    `path` is the value's path in a `Line`; with underscores it is the name in the CSV. In the tables the title is
    `head` and `place` gives the order. `groups`: it is in the tables by group as well. `detail`: the table of
    differences has it only with `--details`.
    """

    path: str
    head: str = ""
    text: Callable[[Any], str] = str
    place: int = 0
    groups: bool = True
    detail: bool = False
    csv: bool = True

    @property
    def name(self) -> str:
        return self.path.replace(".", "_")

    def value(self, line: Line) -> Any:
        """Return the value, None if the line has none."""
        found: Any = line
        for name in self.path.split("."):
            found = getattr(found, name, None)
        return found

    def shown(self, line: Line) -> str:
        return self.text(self.value(line))


_ENDS = ("mean", "low", "high", "n", "method")
COLUMNS = (
    Column("table"),
    Column("task", "task", place=10, groups=False),
    Column("compared", "compared", place=30, groups=False),
    Column("score"),
    Column("key"),
    Column("value"),
    Column("run_before"),
    Column("run_after"),
    Column("scoring_before"),
    Column("scoring_after"),
    Column("before", "before", mean_of, place=40, csv=False),
    *(Column(f"before.{name}") for name in _ENDS),
    Column("after", "after", mean_of, place=50, csv=False),
    *(Column(f"after.{name}") for name in _ENDS),
    Column("difference", "change", mean_of, place=60, csv=False),
    Column("difference", "95%", bounds, place=70, csv=False),
    *(Column(f"difference.{name}") for name in ("mean", "low", "high")),
    Column("difference.p", "p", as_p, place=130, groups=False, detail=True),
    Column("difference.helped", "helped", place=100, detail=True),
    Column("difference.hurt", "hurt", place=110, detail=True),
    Column("difference.same", "same", place=120, detail=True),
    Column("difference.n", "n", place=140),
    Column("difference.method"),
    Column("p_holm", "p (Holm)", as_p, place=80, detail=True),
    Column("verdict_text", "verdict", place=90, groups=False, csv=False),
    Column("verdict"),
)
"""In the order of the CSV; `place` orders them in the tables."""


def table_columns(*, groups: bool = False, details: bool = True) -> list[Column]:
    """Return the columns of the table of differences, or of the tables by group, in their order."""
    wanted = [one for one in COLUMNS if one.head and (one.groups or not groups) and (details or not one.detail)]
    return sorted(wanted, key=lambda column: column.place)
