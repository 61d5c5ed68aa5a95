"""Paired comparisons of modes, canvases and runs, on the same samples.

    for row in sketchmark.compare("runs/a", "runs/b").rows:
        print(row.task, row.label, row.difference)

`as_json` gives the same as plain values.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sketchmark.comparison.breakdowns import breakdowns, canvas_table, split_by_drawing
from sketchmark.comparison.findings import (
    Breakdown,
    CanvasScore,
    CanvasTable,
    DrawingSplit,
    Findings,
    Further,
    Group,
    Plan,
    PublishedRow,
    PublishedTable,
    RepeatedCell,
    Side,
    TableRow,
    as_json,
)
from sketchmark.comparison.formats import to_markdown
from sketchmark.comparison.headlines import has_controls
from sketchmark.comparison.pairs import (
    across_canvases,
    across_modes,
    across_runs,
    beside,
    beside_totals,
    how_asked,
    how_generated,
    how_grouped,
    how_sourced,
    why_no_gain,
)
from sketchmark.comparison.tables import to_terminal
from sketchmark.errors import BadInput, RunConflict, SketchmarkError
from sketchmark.files import from_home
from sketchmark.folder import RunFolder
from sketchmark.folder.columns import Rows
from sketchmark.folder.format import condition
from sketchmark.folder.index import CellView, RunView, open_cells
from sketchmark.folder.results_format import Results
from sketchmark.results.aggregate import results_before
from sketchmark.results.gains import MODE_PAIRS, Pairs, pair
from sketchmark.results.repeats import gain_spread
from sketchmark.results.summary import withheld
from sketchmark.stats.differences import Difference, holm
from sketchmark.stats.intervals import Interval
from sketchmark.stats.power import Pilot


@dataclass(frozen=True)
class Comparison(Findings):
    """Result of `sketchmark.compare`, with `print` and in a notebook as tables."""

    def __str__(self) -> str:
        return to_terminal(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_markdown_(self) -> str:
        """Show it in a notebook, with all untrusted text escaped."""
        return to_markdown(self)

    def details(self) -> str:
        """Return everything as text: with p values, breakdowns by group, and each canvas."""
        return to_terminal(self, details=True)


SORTS: dict[str, Callable[[TableRow], float | str]] = {
    "score": lambda row: -(row.after.score.mean or 0.0),
    "gain": lambda row: -(row.difference.mean or 0.0),
    "name": lambda row: row.task,
    "cost": lambda row: 0.0,
    "tag": lambda row: 0.0,
}
"""Orders of `--sort`. Costs and tags are known in a leaderboard only."""


def sorted_rows(found: Comparison, by: str) -> Comparison:
    """Sort the rows, best first; rows that are equal stay in the order of the runs' tasks."""
    if by in ("cost", "tag"):
        raise BadInput(
            f"a comparison of runs is not sorted by {by}", f"`compare FOLDER --sort {by}` sorts a leaderboard"
        )
    return replace(found, rows=tuple(sorted(found.rows, key=SORTS[by])))


Run = str | os.PathLike[str] | RunView
_MOST_TASKS = 4


def compare(
    *runs: Run | Sequence[Run],
    metric: str = "",
    power: float | None = None,
    anyway: bool = False,
    published: bool = False,
) -> Comparison:
    """Compare modes and canvases within each run, and every further run with the first.

    Cells of the same model in different folders count as one run, so that modes may be run one by one. A run is its
    path, what `sketchmark.run` returned, or a `RunView` that is open already. Give several one by one or as a list.
    `metric` replaces each task's headline score. `power` adds the number of samples that a gain of this size needs.
    `published` adds published scores for the same tasks.

    Raises RunConflict if prompts, scoring or data differ. With `anyway` the differences become notes.
    """
    listed = [[given] if isinstance(given, (str, os.PathLike, RunView)) else given for given in runs]
    opened = [run if isinstance(run, RunView) else from_home(run) for given in listed for run in given]
    names = _labels([run.folder.path if isinstance(run, RunView) else run for run in opened])
    cells = [cell for run, name in zip(opened, names, strict=True) for cell in open_cells(run, name)]
    folders = {cell.run: cell.folder for cell in cells if published}
    results = {name: found for name, folder in folders.items() if (found := results_before(folder))}
    work = _Work(metric, power, anyway, results)
    for task in dict.fromkeys(cell.task for cell in cells):
        work.compare_task([cell for cell in cells if cell.task == task], names)
    for name in names:
        work.published += beside_totals(results[name], name) if name in results else ()
    if not work.rows and not work.canvases and not work.published:
        raise BadInput(
            "nothing to compare: "
            + ("; ".join(work.notes) or f"no two modes, canvases or runs of one task in {', '.join(names)}"),
            "run direct and visual_cot, or give two runs of the same task and mode",
        )
    if published and not work.published:
        work.notes.append(f"no figures are known that others published for {_listed(cells)}")
    corrected = holm([row.difference.p for row in work.rows])
    rows = tuple(replace(row, p_holm=p) for row, p in zip(_told_apart(work.rows), corrected, strict=True))
    notes = tuple(dict.fromkeys(work.notes))
    return Comparison(rows, tuple(work.canvases), notes, tuple(work.published), tuple(work.repeats))


def _repeated(cells: Sequence[CellView]) -> Iterator[RepeatedCell]:
    """Yield the results of repeated episodes that a scoring has computed: votes need the notes of all rows."""
    stored = {cell.run: results_before(cell.folder) for cell in cells}
    for cell in cells:
        found = stored[cell.run]
        result = found.tasks.get(cell.name) if found else None
        if result and result.repeats:
            yield RepeatedCell(cell.run, cell.model, cell.name, result.repeats)


def controls_of(folder: RunFolder, results: Results) -> Comparison | None:
    """Compare the canvases and modes of a run; None if it has no controls, or none that can be compared."""
    if not has_controls(results):
        return None
    try:
        return compare(folder.path)
    except SketchmarkError:  # a side is not scored yet, or belongs to other data
        return None


@dataclass
class _Work:
    metric: str
    power: float | None
    anyway: bool
    results: Mapping[str, Results]
    """By run, for the published scores in them; empty unless these are wanted."""

    rows: list[TableRow] = field(default_factory=list)
    repeats: list[RepeatedCell] = field(default_factory=list)
    canvases: list[CanvasTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    published: list[PublishedTable] = field(default_factory=list)

    def compare_task(self, cells: list[CellView], runs: Sequence[str]) -> None:
        """Add the rows of one task; memory holds the scores of one at a time."""
        metric = self.metric or cells[0].about.headline
        if reason := why_no_gain(cells[0].about, metric):
            self.notes.append(reason)
            return
        rows = {id(cell): cell.complete_scores() for cell in cells}
        reasons = {id(cell): withheld(rows[id(cell)].values()) for cell in cells}
        for cell in cells:
            if reason := reasons[id(cell)]:
                hint = f"`sketchmark score {cell.folder.path}` tries again"
                self.notes.append(f"{cell.name} of {cell.run}: {reason}; {hint}")
        cells = [cell for cell in cells if not reasons[id(cell)]]
        if not cells:
            return
        for cell in cells:
            if cell.run in self.results and (table := beside(cell, rows[id(cell)], self.results[cell.run])):
                self.published.append(table)
        if all(bool(np.isnan(found.metric(metric)).all()) for found in rows.values()):
            self.notes.append(f"{cells[0].task}: nothing is scored by {metric}")
            return
        if metric == cells[0].about.headline:
            self.repeats += _repeated([cell for cell in cells if rows[id(cell)].repeats])
        for before, after in across_runs(cells, runs):
            self._add(metric, "runs", before, after, rows)
        for before, after in across_modes(cells, runs):
            self._add(metric, "modes", before, after, rows)
        for group in across_canvases(cells, runs):
            first = next(iter(group.values()))
            for other in list(group.values())[1:]:
                self._check(
                    f"{first.task} on the canvases {first.canvas} and {other.canvas}", first, other, rows, True
                )
            if shown := canvas_table({name: (cell, rows[id(cell)]) for name, cell in group.items()}, metric):
                self.canvases.append(shown)

    def _add(self, metric: str, kind: str, before: CellView, after: CellView, rows: Mapping[int, Rows]) -> None:
        label = _modes(after, before) if kind == "modes" else f"{after.run} − {before.run}, {_played(after, before)}"
        self._check(f"{before.task}: {label}", before, after, rows, kind == "runs")
        pairs = pair(rows[id(before)], rows[id(after)], metric)
        if not len(pairs):
            self.notes.append(f"{before.task}: {label}: no sample is scored on both sides by {metric}")
            return
        scores, difference = pairs.scores(), pairs.difference()
        main = kind == "runs" or (before.mode, after.mode) == MODE_PAIRS[0]
        self.rows.append(
            TableRow(
                task=before.task,
                metric=metric,
                label=label,
                kind="runs" if kind == "runs" else "modes",
                before=_side(before, scores[0], rows[id(before)]),
                after=_side(after, scores[1], rows[id(after)]),
                difference=difference,
                p_holm=None,
                unpaired=pairs.unpaired,
                unscored=pairs.unscored,
                breakdowns=breakdowns(pairs, after.about.breakdown) if main else (),
                drawing=split_by_drawing(pairs) if main and kind == "modes" else None,
                plan=self._plan(pairs),
                further=_further(rows[id(before)], rows[id(after)], metric, difference) if main else None,
            )
        )

    def _plan(self, pairs: Pairs) -> Plan | None:
        if self.power is None:
            return None
        pilot = Pilot.of(pairs.before, pairs.after, pairs.clusters)
        return Plan(self.power, pilot.samples_needed(self.power), pilot.smallest_gain(len(pairs)))

    def _check(self, what: str, before: CellView, after: CellView, rows: Mapping[int, Rows], same_mode: bool) -> None:
        """Refuse two sides with different samples, or cells of one mode with different prompts or scoring.

        A cell without rows is not checked: its run has not reached it, and its scoring is unknown.
        """
        if not (rows[id(before)] and rows[id(after)]):
            return
        found = how_grouped(rows[id(before)], rows[id(after)])
        if same_mode:
            sourced = how_sourced(before, after, rows[id(before)], rows[id(after)])
            found = [*sourced, *how_asked(before, after), *found]
            self.notes.extend(f"{what}: {line}" for line in how_generated(before, after))
        if not found:
            return
        if not self.anyway:
            raise RunConflict(
                f"{what} cannot be paired; what differs: {'; '.join(found[:4])}"
                + (f" and {len(found) - 4} more" if len(found) > 4 else ""),
                "compare them --anyway if you know why",
            )
        self.notes.extend(f"{what}: compared anyway, although {line}" for line in found)


def _further(before: Rows, after: Rows, metric: str, found: Difference) -> Further | None:
    """Return what more repeats would gain; None without repeats on both sides. The widths are in proportion to that
    of the interval found, which for few samples is wider than the normal one."""
    spread = gain_spread(before, after, metric) if before.repeats and after.repeats else None
    if spread is None or found.low is None or found.high is None:
        return None
    repeats = min(1 + int(rows.arrays["repeat"].max()) for rows in (before, after))
    answers = 1 + int(after.arrays["branch"].max())
    normal = spread.half_width(found.n, repeats, answers)
    wider = (found.high - found.low) / 2 / normal if normal else 0.0
    return Further(
        found.n,
        repeats,
        wider * normal,
        wider * spread.half_width(2 * found.n, repeats, answers),
        wider * spread.half_width(found.n, 2 * repeats, answers),
        spread.repeats_for_half(repeats, answers),
    )


def _listed(cells: Sequence[CellView]) -> str:
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    return ", ".join(tasks[:_MOST_TASKS]) + (f" or {len(tasks) - _MOST_TASKS} more" if tasks[_MOST_TASKS:] else "")


def _told_apart(rows: Sequence[TableRow]) -> list[TableRow]:
    """Add the run to the labels of rows that would read the same."""
    times = Counter((row.task, row.label) for row in rows)
    return [
        replace(row, label=f"{row.label} ({row.after.run})") if times[row.task, row.label] > 1 else row
        for row in rows
    ]


def _labels(runs: Sequence[Path]) -> list[str]:
    """Return the folder names, or whole paths if two folders have the same name."""
    if not runs:
        raise BadInput("no run to compare", "sketchmark compare RUN [RUN ...]")
    names = [path.resolve().name for path in runs]
    return names if len(set(names)) == len(names) else [str(path) for path in runs]


def _side(cell: CellView, score: Interval, rows: Rows) -> Side:
    return Side(cell.run, cell.model, cell.name, cell.mode, cell.canvas, cell.scoring, score, rows.flag_counts())


def _modes(after: CellView, before: CellView) -> str:
    """Label a pair of modes; a condition that both share is named once."""
    if after.about.draw_with == before.about.draw_with != "":
        return f"{after.mode} − {before.mode}, {condition(after.about.draw_with)}"
    return f"{_drawn(after)} − {_drawn(before)}"


def _played(after: CellView, before: CellView) -> str:
    """Name the mode, condition and canvas of two runs."""
    drawn = _drawn(after)
    if after.about.draw_with != before.about.draw_with:
        drawn += f" − {_drawn(before)}"
    return drawn if after.canvas == "own" else f"{drawn} on {after.canvas} canvas"


def _drawn(cell: CellView) -> str:
    """Name the mode and its condition: drawing by code and native history are conditions."""
    return f"{cell.mode} {condition(cell.about.draw_with)}" if cell.about.draw_with else cell.mode


__all__ = [
    "Breakdown",
    "CanvasScore",
    "CanvasTable",
    "Comparison",
    "DrawingSplit",
    "Group",
    "Plan",
    "PublishedRow",
    "PublishedTable",
    "Side",
    "TableRow",
    "as_json",
    "compare",
]
