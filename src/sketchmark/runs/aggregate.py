"""results.json of a run: every cell's summary, the gains and the benchmarks' totals, from the scores on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sketchmark.errors import SketchmarkError
from sketchmark.files.atomic import write_json
from sketchmark.runs.baselines import baselines
from sketchmark.runs.failed import failed, first_of_each_kind
from sketchmark.runs.format import CellAbout
from sketchmark.runs.gains import gains
from sketchmark.runs.readings import of_cell
from sketchmark.runs.results import NO_VERDICT, summarise, summed_up
from sketchmark.runs.results_format import BenchmarkTotal, CellSummary, Results
from sketchmark.runs.settling import settle_file
from sketchmark.runs.shards import part_in_words
from sketchmark.runs.store import RunFolder
from sketchmark.runs.totals import totals
from sketchmark.task import RA_AL, Task


def aggregate(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    seed: int,
    scorings: list[str] | None = None,
    warnings: Sequence[str] | None = None,
) -> None:
    """Write results.json for every cell of the run, also those that this command did not play.

    `warnings` is what the checks before the run found; None keeps those that stand there already.
    """
    about = folder.about()
    before = results_before(folder)
    results: dict[str, CellSummary] = {}
    for name, cell in about.cells.items():
        if name in tasks:
            own, *others = _scorings(folder, name, scorings or ["strict"], before)
            summary = _summary(folder, name, "", tasks[name], seed, own)
            summary.scorings = {other: _summary(folder, name, other, tasks[name], seed, other) for other in others}
            summary.baselines = baselines(folder, name, tasks[name], cell.mode, own)
            summary.published = tasks[name].published(cell.mode) if cell.canvas == "own" else []
            for other, beside in summary.scorings.items():
                if summary.metrics and beside.metrics and other != RA_AL:
                    beside.against = of_cell(folder, name, other, cell.headline)
                    beside.against.replies = []
        elif before is None:  # nothing is known of it but its scores
            rows = folder.scored(name)
            summary = summarise(rows.values(), None, seed)
            summary.scoring = next((row.scoring for row in rows.values()), "")
        elif name in before.tasks:
            results[name] = before.tasks[name]
            continue
        else:
            continue
        summary.task, summary.mode, summary.canvas = cell.task, cell.mode, cell.canvas
        summary.draw_with, summary.steps, summary.headline = cell.draw_with, cell.steps, cell.headline
        results[name] = summary
    present = {name: cell for name, cell in about.cells.items() if name in results}
    found = Results(
        model=about.model.name,
        tasks=results,
        gains=gains(present, folder.scored),
        totals=_totals(
            folder, tasks, present, [name for name in scorings or () if name != RA_AL] or ["strict"], before
        ),
        warnings=(before.warnings if before else []) if warnings is None else list(warnings),
        part=part_in_words(about, {name: cell.episodes for name, cell in results.items()}),
    )
    write_json(folder.results_file, found)


def _totals(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    cells: Mapping[str, CellAbout],
    scorings: Sequence[str],
    before: Results | None,
) -> list[BenchmarkTotal]:
    """Those of the benchmarks that this command's tasks belong to, made anew, and those that stand there already."""
    found = totals(tasks.values(), cells, folder.scored, [name for name in scorings if name != RA_AL] or ["strict"])
    made = {total.benchmark for total in found}
    return found + [total for total in (before.totals if before else []) if total.benchmark not in made]


def _scorings(folder: RunFolder, cell: str, asked: Sequence[str], before: Results | None) -> list[str]:
    """The cell's own scoring and those beside it. Who asked for `ra-al` alone keeps the others; and once it is there,
    which costs a judge's time, it stays."""
    kept = [name for name in asked if name != RA_AL]
    if not kept:
        own = next((row.scoring for row in folder.scored(cell).values()), "") or "strict"
        beside = before.tasks[cell].scorings if before and cell in before.tasks else {}
        kept = [own, *(name for name in beside if name != RA_AL)]
    return [*kept, *([RA_AL] if folder.scores_file(cell, RA_AL).exists() else [])]


def results_before(folder: RunFolder) -> Results | None:
    """What results.json holds; None where it cannot be read: it is made of the scores and can be made again."""
    try:
        return folder.results()
    except SketchmarkError:
        return None


def _summary(folder: RunFolder, cell: str, suffix: str, task: Task, seed: int, scoring: str) -> CellSummary:
    if scoring != RA_AL:
        settle_file(folder, cell, suffix, task, scoring)
    rows = folder.scored(cell, suffix).values()
    summary = summed_up(rows, lambda: folder.scores(cell, suffix), task, scoring, seed)
    if not suffix and summary.failures.keys() - NO_VERDICT - {"truncated", "unparsed"}:
        summary.reasons = {**first_of_each_kind(failed(folder, cell)), **summary.reasons}
    return summary
