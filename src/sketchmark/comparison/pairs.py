"""Pairs of scores to compare: two cells on the same samples, or a cell and a published score.

Published scores enter no statistic except the test of whether the two agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sketchmark.comparison.findings import PublishedRow, PublishedTable
from sketchmark.files.jsonl import plain
from sketchmark.folder import differences
from sketchmark.folder.columns import Rows
from sketchmark.folder.format import CellRecord, condition
from sketchmark.folder.index import CellView
from sketchmark.folder.results_format import Results
from sketchmark.models.layout import NATIVE_HISTORY
from sketchmark.results.gains import MODE_PAIRS
from sketchmark.results.summary import mean_of, withheld
from sketchmark.stats.differences import apart, share_of
from sketchmark.stats.intervals import Interval, interval
from sketchmark.tasks.files import BLIND, TEXT_INPUT
from sketchmark.tasks.published import Published

_STEPS = "the published runs were told the number of steps by the truth, yours ended by itself"
_STEPWISE = "steps_then_answer"


def beside(cell: CellView, rows: Rows, results: Results) -> PublishedTable | None:
    """Pair each published score of a cell in results.json with the cell's own; None without any."""
    summary = results.tasks.get(cell.name)
    if summary is None or not summary.published:
        return None
    by_scoring = {cell.scoring or "strict": rows}
    for name in summary.scorings:
        by_scoring[name] = cell.folder.scored(cell.name, name)
    made = [_row(figure, by_scoring, cell) for figure in summary.published]
    sources = dict.fromkeys(f"{figure.source}: {figure.protocol}." for figure in summary.published)
    both = zip(made, summary.published, strict=True)
    notes = dict.fromkeys(note for row, figure in both for note in _notes(row, figure, cell))
    return PublishedTable(cell.task, cell.mode, cell.run, cell.model, tuple(made), tuple(sources), tuple(notes))


def beside_totals(results: Results, run: str) -> Iterator[PublishedTable]:
    """Yield the same for the overall scores of benchmarks of several tasks, if all tasks of one were run."""
    whole = [total for total in results.totals if total.overall and total.published]
    for place in dict.fromkeys((total.benchmark, total.mode) for total in whole):
        by_scoring = {total.scoring: total for total in whole if (total.benchmark, total.mode) == place}
        figures = next(iter(by_scoring.values())).published
        rows, notes = [], dict[str, None]()
        for figure in figures:
            total = by_scoring.get(figure.scoring) or next(iter(by_scoring.values()))
            mean = {"overall": total.overall, **total.categories}.get(figure.score)
            yours = Interval(mean.mean, *mean.ci95, mean.n, "") if mean else interval([])
            rows.append(_held_against(figure, yours, total.scoring))
            if total.scoring != figure.scoring:
                notes[_otherwise_read(total.scoring, figure.scoring)] = None
        sources = dict.fromkeys(f"{figure.source}: {figure.protocol}." for figure in figures)
        yield PublishedTable(*place, run, results.model, tuple(rows), tuple(sources), tuple(notes))


def _row(figure: Published, by_scoring: dict[str, Rows], cell: CellView) -> PublishedRow:
    """Compare with the scoring that parses as the source did, if the run has it; else with the run's own."""
    own = cell.scoring or "strict"
    scoring = figure.scoring if figure.scoring in by_scoring else own
    return _held_against(figure, _mean(by_scoring[scoring], figure.score), scoring)


def _held_against(figure: Published, yours: Interval, scoring: str) -> PublishedRow:
    theirs = share_of(figure.value, figure.n) if figure.n else None
    found = apart(yours, theirs) if theirs else None
    return PublishedRow(
        figure.model, figure.score, figure.channel, figure.value, figure.n, yours, scoring, found,
        _told(yours, figure, found is not None),
    )  # fmt: skip


def _mean(rows: Rows, metric: str) -> Interval:
    return mean_of(metric, () if withheld(rows.values()) else rows.values())


def _told(yours: Interval, figure: Published, tested: bool) -> str:
    """Say why a row has no verdict."""
    if tested:
        return ""
    return "not scored here" if yours.mean is None else "n not published" if figure.n is None else "no interval"


def _notes(row: PublishedRow, figure: Published, cell: CellView) -> Iterator[str]:
    """Name what differs between the two besides the model."""
    if figure.note:
        yield f"{figure.channel}: {figure.note}."
    if figure.steps == "truth" and cell.about.steps == "model" and cell.about.play.protocol == _STEPWISE:
        yield f"{_STEPS}: not the same task."
    if row.yours.mean is not None and figure.scoring and row.scoring != figure.scoring:
        yield _otherwise_read(row.scoring, figure.scoring)


def _otherwise_read(own: str, theirs: str) -> str:
    return (
        f"Yours is read by {own}, theirs by their own program: "
        f"sketchmark score RUN --scoring {own},{theirs} shows both."
    )


_MUST_AGREE = ("protocol", "prompts", "settings", "in_words", "blind")
"""Keys of `play` in which two cells of one mode must agree. Temperatures and token limits may differ on purpose:
they make a note."""


def why_no_gain(cell: CellRecord, metric: str) -> str:
    """Say why a task's cells can't be compared in a score; empty if they can."""
    if metric in cell.less_is_better or (not metric and cell.less_is_better):
        return f"{cell.task}: in {metric or cell.less_is_better[0]} less is better, and no gain is measured in it"
    return "" if metric else f"{cell.task} names no headline score: choose one with --metric"


def how_asked(before: CellView, after: CellView) -> list[str]:
    """List differences that make two cells of the same mode incomparable."""
    return differences(_asked(before), _asked(after))


def how_generated(before: CellView, after: CellView) -> list[str]:
    """List differences that make a note only."""
    settings = ("saying", "drawing")
    return [
        *_drawn_differently(before, after),
        *differences(_part(before, settings), _part(after, settings)),
        *differences(
            {"on_draw_failure": before.about.on_draw_failure}, {"on_draw_failure": after.about.on_draw_failure}
        ),
    ]


def _drawn_differently(before: CellView, after: CellView) -> list[str]:
    """Name different ways of drawing or of sending history: the difference may come from these, not the model."""
    ways = [cell.about.draw_with for cell in (before, after)]
    if ways[0] == ways[1]:
        return []
    if NATIVE_HISTORY in ways:
        one, other = (condition(way) or "with plain history" for way in ways)
        return [f"one side runs {one}, the other {other}: two different conditions"]
    one, other = (condition(way) or "pixels" for way in ways)
    return [f"one side draws {one}, the other {other}: two different abilities"]


def how_sourced(before: CellView, after: CellView, rows_before: Rows, rows_after: Rows) -> list[str]:
    """Explain two runs without a sample in common. A smaller --limit does not matter."""
    if not rows_before or not rows_after or len(rows_before.align(rows_after)[0]):
        return []
    source = differences(before.about.source, after.about.source, "source")
    return ["data: no sample in common", *source]


def how_grouped(rows_before: Rows, rows_after: Rows) -> list[str]:
    """Name shared samples with different content."""
    mine, theirs = rows_before.align(rows_after)
    one, other = rows_before.fingerprints, rows_after.fingerprints
    if len(mine) == len(rows_before) == len(rows_after) and np.array_equal(mine, theirs) and one.same(other):
        return []
    prints = zip(one.take(mine), other.take(theirs), strict=True)
    changed = [place for place, (a, b) in zip(mine.tolist(), prints, strict=True) if a != b]
    if not changed:
        return []
    shown = ", ".join(rows_before.key(place) for place in changed[:3]) + (", …" if changed[3:] else "")
    return [f"data: {len(changed)} of the shared samples differ in what is asked or true ({shown})"]


def _asked(cell: CellView) -> dict[str, Any]:
    return {**_part(cell, _MUST_AGREE), "steps": cell.about.steps, "scoring": cell.scoring}


def _part(cell: CellView, keys: tuple[str, ...]) -> dict[str, Any]:
    play = plain(cell.about.play)
    return {key: play[key] for key in keys}


def across_runs(cells: Sequence[CellView], runs: Sequence[str]) -> Iterator[tuple[CellView, CellView]]:
    first = {(cell.mode, cell.canvas): cell for cell in cells if cell.run == runs[0]}
    for cell in cells:
        before = first.get((cell.mode, cell.canvas))
        if before is not None and cell.run != runs[0]:
            yield before, cell


def across_modes(cells: Sequence[CellView], runs: Sequence[str]) -> Iterator[tuple[CellView, CellView]]:
    seen: set[tuple[int, int]] = set()
    for pool in _pools([cell for cell in cells if cell.canvas == "own"], runs):
        for low, high in MODE_PAIRS:
            before, after = pool.get((low, "own")), pool.get((high, "own"))
            if before and after and (id(before), id(after)) not in seen:
                seen.add((id(before), id(after)))
                yield before, after


def across_canvases(cells: Sequence[CellView], runs: Sequence[str]) -> Iterator[dict[str, CellView]]:
    seen: set[frozenset[int]] = set()
    for pool in _pools(cells, runs):
        for mode in dict.fromkeys(mode for mode, _ in pool if mode not in ("direct", "text_cot", BLIND, TEXT_INPUT)):
            group = {canvas: cell for (of, canvas), cell in pool.items() if of == mode}
            key = frozenset(map(id, group.values()))
            if len(group) > 1 and key not in seen:
                seen.add(key)
                yield group


def _pools(cells: Sequence[CellView], runs: Sequence[str]) -> Iterator[dict[tuple[str, str], CellView]]:
    """Yield each run's cells by (mode, canvas), completed from other folders of the same model."""
    for run in runs:
        own = [cell for cell in cells if cell.run == run]
        players = {cell.player for cell in own}
        others = [cell for cell in cells if cell.run != run and cell.player in players]
        pool: dict[tuple[str, str], CellView] = {}
        for cell in own + others:
            pool.setdefault((cell.mode, cell.canvas), cell)
        yield pool
