"""Several runs side by side: models as rows, tasks as columns, and where their numbers may not be held against each
other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from sketchmark.comparison import fairness
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.runs.index import CellIndex, RunIndex
from sketchmark.runs.scored import ScoredCell
from sketchmark.runs.shelf import run_folders
from sketchmark.runs.standings import Standing, standings
from sketchmark.runs.store import RunFolder

Prices = Callable[[str], Callable[[Mapping[str, int]], float] | None]
"""Model → what its usage costs; None: nobody knows."""


class BoardRow(Struct, kw_only=True):
    """One run. `costs` has the cost of each cell, where prices are known."""

    run: str
    model: str
    standings: list[Standing]
    costs: dict[str, float]


class Leaderboard(Struct, kw_only=True):
    """`notes` says which numbers are not of the same test, and what could not be read."""

    tasks: list[str]
    rows: list[BoardRow]
    """The best in the first task comes first."""

    notes: list[str]


def is_shelf(path: Path) -> bool:
    """A folder of runs, and no run itself."""
    return path.is_dir() and not (path / "run.json").exists() and next(run_folders(path), None) is not None


def leaderboard(
    folder: Path | str,
    *,
    runs: Sequence[Path] | None = None,
    metric: str = "",
    prices: Prices = lambda model: None,
) -> Leaderboard:
    """The runs below a folder, or those of them that are named. `metric` replaces each task's headline score."""
    root = Path(folder)
    notes: list[str] = []
    indexes = list(_opened(root, run_folders(root) if runs is None else runs, notes))
    rows = [_row(run, metric, prices(run.model)) for run in indexes]
    tasks = list(dict.fromkeys(one.task for row in rows for one in row.standings))
    if not tasks:
        raise BadInput(f"no run in {root} has played anything", "; ".join(notes) or "`sketchmark run` makes runs")
    if metric and not any(one.score for row in rows for one in row.standings):
        raise BadInput(f"nothing in {root} is scored by {metric}", "leave --metric out for each task's headline")
    rows.sort(key=lambda row: (_rank(row, tasks[0]), row.model, row.run))
    notes += _left(rows)
    notes += _without_judge(indexes, rows)
    notes += _unlike(indexes, metric)
    return Leaderboard(tasks=tasks, rows=rows, notes=notes)


def _opened(root: Path, paths: Iterator[Path] | Sequence[Path], notes: list[str]) -> Iterator[RunIndex]:
    """One broken folder is named and hides no other."""
    for path in paths:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        run = RunIndex(RunFolder(path), name)
        try:
            run.refresh()
        except (SketchmarkError, OSError) as error:
            notes.append(f"{name} cannot be read: {error}")
        else:
            yield run


def _row(run: RunIndex, metric: str, price: Callable[[Mapping[str, int]], float] | None) -> BoardRow:
    found = standings(run, metric)
    costs = {one.cell: price(one.usage) for one in found} if price else {}
    return BoardRow(run=run.key, model=run.model or run.key, standings=found, costs=costs)


def _rank(row: BoardRow, task: str) -> list[float]:
    """By the best of its modes, then by the others."""
    own = (one.score.mean for one in row.standings if one.task == task and one.canvas == "own" and one.score)
    return [*sorted(-mean for mean in own), 1.0]


def _left(rows: Sequence[BoardRow]) -> Iterator[str]:
    """What stands in the way of a number."""
    for row in rows:
        for one in row.standings:
            if one.problem:
                yield f"{one.cell} of {row.run}: {one.problem}; `sketchmark score` on its folder tries again"
            elif not one.metric:
                yield f"{one.cell} of {row.run} names no headline score: choose one with --metric"


def _without_judge(runs: Sequence[RunIndex], rows: Sequence[BoardRow]) -> Iterator[str]:
    """A run folder does not keep what its judge was asked."""
    if not any(row.costs for row in rows):
        return
    judges = {row.judge for run in runs for cell in run.cells.values() for row in cell.rows.values() if row.judge}
    if judges:
        yield f"the cost is the models' own, the judge ({', '.join(sorted(judges))}) left out"


def _unlike(runs: Sequence[RunIndex], metric: str) -> Iterator[str]:
    """Where two runs of a cell were not asked the same, or are not scored on the same samples: the first run that has
    the cell, held against each of the others. Runs and cells of which the same is to be said share a note."""
    first: dict[tuple[str, str, str], tuple[RunIndex, CellIndex]] = {}
    found: dict[tuple[str, str, str], list[str]] = {}
    for run in runs:
        for cell in run.cells.values():
            other = first.setdefault((cell.task, cell.mode, cell.canvas), (run, cell))
            if other[1] is not cell:
                for line in _differing(*other, run, cell, metric):
                    found.setdefault((run.key, other[0].key, line), []).append(cell.name)
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (name, against, line), cells in found.items():
        alike.setdefault((against, line, tuple(cells)), []).append(name)
    for (against, line, together), names in alike.items():
        yield f"{', '.join(together)}: {', '.join(names)} and {against} {line}"


def _differing(first: RunIndex, before: CellIndex, run: RunIndex, after: CellIndex, metric: str) -> Iterator[str]:
    sides = _scored(first, before), _scored(run, after)
    rows = before.scored(), after.scored()
    if not all(rows):  # a run that stopped early has not come to it
        return
    found = [
        *fairness.how_sourced(*sides, *rows),
        *fairness.how_asked(*sides),
        *fairness.how_grouped(*rows),
    ]
    if found:
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        yield f"are not the same test: {'; '.join(found[:3])}{more}"
        return
    score = metric or after.headline
    one, other = ({name for name, row in side.items() if row.value(score) is not None} for side in rows)
    if one != other:
        yield (
            f"are scored on different samples ({len(other)} and {len(one)}, {len(one & other)} of them shared)"
            ": their scores do not rank; `sketchmark compare` of two folders pairs what they share"
        )
    for line in fairness.how_generated(*sides):
        yield f"differ in settings: {line}"


def _scored(run: RunIndex, cell: CellIndex) -> ScoredCell:
    scoring = next((row.scoring for row in cell.rows.values()), "")
    return ScoredCell(run.folder, run.key, run.model, cell.name, cell.about, scoring)
