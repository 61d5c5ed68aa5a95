"""Current results of a run, from its view: an unfinished run has no results.json yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from sketchmark.errors import SketchmarkError
from sketchmark.folder.format import Score
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.results_format import CellResult, Gain, Mean
from sketchmark.results import summary as computed
from sketchmark.results.summary import mean_of, summarise, withheld
from sketchmark.stats.differences import Difference

MOST_GROUPS = 24


class CurvePoint(Mean):
    """The headline score of one group."""

    value: str | int | float = ""


class CurveLine(Struct):
    mode: str
    canvas: str
    points: list[CurvePoint]


class Curve(Struct):
    """A task's headline score by one key of its groups; `numeric`: they are difficulties, not categories."""

    task: str
    key: str
    numeric: bool
    lines: list[CurveLine]


class Answers(Mean):
    """The headline score of some episodes, and the number that are completely right."""

    right: int = 0


class DrawingTable(Struct):
    """Answers after right drawings, and after wrong ones."""

    task: str
    canvas: str
    right: Answers
    wrong: Answers


def live_result(cell: CellView) -> CellResult:
    """Return means with intervals, failures and usage; computed again only when lines were added."""
    return cell.result.at(cell.version, lambda: _result(cell))


def _result(cell: CellView) -> CellResult:
    rows = cell.scored().values()
    result = computed.describe(summarise(rows, None), cell.about)
    result.task = cell.task
    result.scoring = next((row.scoring for row in rows), "")
    return result


def live_results(run: RunView) -> Mapping[str, CellResult]:
    """Return the cells of results.json, for what only a scoring computes (baselines, published scores, `ra-al`).

    Empty if the file does not exist or cannot be read.
    """
    return run.stored.at(run.version, lambda: _read(run))


def _read(run: RunView) -> dict[str, CellResult]:
    try:
        tasks = run.folder.results().tasks
    except (SketchmarkError, OSError):
        return {}
    return {name: tasks[name] for name in run.cells if name in tasks}


def gains(run: RunView) -> list[Gain]:
    """Return the gains of results.json, on the samples that both sides have scored so far."""
    about = {name: cell.about for name, cell in run.cells.items()}
    return computed.gains(about, lambda name: run.cells[name].scored())


def paired(before: CellView, after: CellView, family: Sequence[tuple[CellView, CellView]]) -> Gain:
    """Return the difference of two cells' headline scores on shared samples, corrected together with its `family`. A
    difference outside the family has no corrected p and is unclear."""
    made = computed.gain_of(after.about, _difference(before, after))
    others = [pair for pair in family if set(pair) != {before, after}]
    if len(others) == len(family):
        made.p_holm, made.verdict = None, "unclear"
    else:
        computed.correct([made], [_difference(*pair).p for pair in others])
    return made


def _difference(before: CellView, after: CellView) -> Difference:
    return computed.pair(before.scored(), after.scored(), after.headline, before.headline).difference()


def curves(run: RunView) -> list[Curve]:
    """Return each task's headline score by the groups of its samples: numbers are difficulties (a line), texts are
    categories (bars)."""
    found = []
    for task in dict.fromkeys(cell.task for cell in run.cells.values()):
        cells = [c for c in run.cells.values() if c.task == task and c.headline and c.canvas == "own"]
        for key in _group_keys(cells):
            lines = [CurveLine(cell.mode, cell.canvas, _points(cell, key, run.about.seed)) for cell in cells]
            values = [point.value for line in lines for point in line.points]
            numeric = all(isinstance(value, (int, float)) for value in values)
            if 1 < len(set(map(str, values))) <= MOST_GROUPS:
                found.append(Curve(task, key, numeric, lines))
    return found


def _group_keys(cells: Iterable[CellView]) -> list[str]:
    keys: dict[str, None] = {}
    for cell in cells:
        first = next(iter(cell.rows.values()), None)
        keys |= dict.fromkeys(cell.about.breakdown or (first.groups if first else ()))
    return [key for key in keys if key != "cluster"]


def _points(cell: CellView, key: str, seed: int) -> list[CurvePoint]:
    groups: dict[Any, list[Score]] = {}
    for row in _shown(cell):
        value, group = row.value(cell.headline), row.groups.get(key)
        if value is not None and isinstance(group, (str, int, float)):
            groups.setdefault(group, []).append(row)
    if len(groups) > MOST_GROUPS:
        return []
    points = []
    for group in sorted(groups, key=lambda g: (isinstance(g, str), g if not isinstance(g, str) else 0, str(g))):
        found = mean_of(cell.headline, groups[group], seed)
        points.append(CurvePoint(found.mean, (found.low, found.high), found.n, group))
    return points


def drawing_and_answer(cell: CellView) -> DrawingTable | None:
    """Return the scores of answers after right and after wrong drawings; None if no drawing could be checked."""
    right: list[Score] = []
    wrong: list[Score] = []
    for row in _shown(cell):
        value, drawing = row.value(cell.headline), row.drawing_right
        if value is not None and drawing is not None:
            (right if drawing else wrong).append(row)
    if not right and not wrong:
        return None
    return DrawingTable(cell.task, cell.canvas, _answers(cell.headline, right), _answers(cell.headline, wrong))


def _shown(cell: CellView) -> Iterable[Score]:
    """Return the rows that enter results: none if the cell's scores are withheld."""
    rows = cell.scored().values()
    return () if withheld(rows) else rows


def _answers(headline: str, rows: Sequence[Score]) -> Answers:
    found = mean_of(headline, rows)
    return Answers(found.mean, (found.low, found.high), found.n, sum((row.value(headline) or 0) >= 1 for row in rows))
