"""Published scores next to a cell's own. They enter no statistic except the test of whether the two agree."""

from __future__ import annotations

from collections.abc import Iterator

from sketchmark.comparison.findings import PublishedRow, PublishedTable
from sketchmark.folder.index import CellView
from sketchmark.folder.results_format import Results
from sketchmark.results.summary import Rows, mean_of, withheld
from sketchmark.stats.differences import apart, share_of
from sketchmark.stats.intervals import Interval, interval
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
