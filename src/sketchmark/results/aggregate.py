"""results.json: every cell's result, gains and the overall scores of benchmarks; also the files for submission.

A benchmark of several tasks has constant, published weights. Its overall score is shown only if all tasks ran
completely in one mode and every sample has a score; otherwise the missing parts are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sketchmark.episode import Share, Total, rules_of
from sketchmark.errors import SketchmarkError
from sketchmark.files import own_file, own_folder, write_json
from sketchmark.folder import RunFolder, unscored
from sketchmark.folder.format import CellRecord
from sketchmark.folder.lock import part_in_words
from sketchmark.folder.results_format import Baseline, BenchmarkTotal, CellResult, Gain, Mean, Results
from sketchmark.results.baselines import baselines
from sketchmark.results.rescore import failed, first_of_each_kind, score_jointly
from sketchmark.results.scorings import difference_in
from sketchmark.results.summary import (
    NO_VERDICT,
    SEEING,
    Rows,
    cell_result,
    correct,
    describe,
    gain_of,
    gains,
    summarise,
    withheld,
)
from sketchmark.stats.differences import paired_difference
from sketchmark.stats.intervals import as_percent, interval, normal_quantile, wilson
from sketchmark.tasks import RA_AL, Task
from sketchmark.tasks.published import published_beside

OVERALL = "overall"
Way = tuple[str, str]
"""Mode and canvas."""


@dataclass(frozen=True)
class _Part:
    """One task of a benchmark with its scores in one mode and canvas; `missing` says why it cannot count."""

    share: Share
    values: Mapping[str, float]
    clusters: Sequence[str]
    missing: str = ""


def totals(
    tasks: Iterable[Task], cells: Mapping[str, CellRecord], rows: Callable[[str, str], Rows], scorings: Sequence[str]
) -> list[BenchmarkTotal]:
    """Return the total of every benchmark that one of the tasks belongs to, for each mode, canvas and scoring.
    `rows(cell, suffix)` returns a cell's scores by the run's own scoring (no suffix) or by another."""
    found = []
    for task, total in {total.name: (task, total) for task in tasks if (total := task.total)}.values():
        names = {share.task for share in total.shares}
        ways = dict.fromkeys((cell.mode, cell.canvas) for cell in cells.values() if cell.task in names)
        for place, scoring in enumerate(scorings):
            played = {}
            for way in ways:
                here = {cell.task: name for name, cell in cells.items() if (cell.mode, cell.canvas) == way}
                played[way] = [
                    _part(share, cells[here[share.task]], rows(here[share.task], scoring if place else ""), scoring)
                    if share.task in here
                    else _Part(share, {}, (), "not run")
                    for share in total.shares
                ]
            direct = next((parts for (mode, _), parts in played.items() if mode == "direct"), None)
            for way, parts in played.items():
                made = _total(total, way, scoring, parts, direct if way[0] not in SEEING else None)
                if task.folder and way[1] == "own":
                    made.published = published_beside(task.folder, total.name, way[0])
                found.append(made)
    return found


def _part(share: Share, cell: CellRecord, rows: Rows, scoring: str) -> _Part:
    score = share.scores.get(rules_of(scoring), cell.headline)
    values, clusters = {}, []
    for name, row in rows.items():
        value = row.value(score)
        if row.scoring == scoring and value is not None:
            values[name] = value
            clusters.append(f"{share.source or share.task}/{row.sample if row.cluster is None else row.cluster}")
    part = f"{len(values)} of {share.items} samples scored" if len(values) != share.items else ""
    return _Part(share, values, clusters, withheld(rows.values()) or part)


def _total(
    total: Total, way: Way, scoring: str, parts: Sequence[_Part], direct: Sequence[_Part] | None
) -> BenchmarkTotal:
    missing = {part.share.task: part.missing for part in parts if part.missing}
    found = BenchmarkTotal(benchmark=total.name, mode=way[0], canvas=way[1], scoring=scoring, missing=missing)
    if missing:
        return found
    by = {name: [n for n, share in enumerate(total.shares) if share.category == name] for name in total.weights}
    found.categories = {name: _mean([parts[n] for n in places]) for name, places in by.items()}
    found.overall = _mean(parts)
    if direct is not None and _same_samples(direct, parts):
        everywhere = {**by, OVERALL: list(range(len(parts)))}
        found.gains = {
            name: _gain(total, way, name, [(direct[n], parts[n]) for n in places])
            for name, places in everywhere.items()
        }
        correct(list(found.gains.values()), f"gains of {total.name} and its categories")
    return found


def _mean(parts: Sequence[_Part]) -> Mean:
    """Return the mean over all items, which is the weighted mean of the parts since every part is complete."""
    values = [value for part in parts for value in part.values.values()]
    return Mean.of(interval(values, [label for part in parts for label in part.clusters]))


def _same_samples(direct: Sequence[_Part], parts: Sequence[_Part]) -> bool:
    return all(
        not one.missing and one.values.keys() == other.values.keys() for one, other in zip(direct, parts, strict=True)
    )


def _gain(total: Total, way: Way, name: str, pairs: Sequence[tuple[_Part, _Part]]) -> Gain:
    before = [value for direct, _ in pairs for value in direct.values.values()]
    after = [part.values[sample] for direct, part in pairs for sample in direct.values]
    clusters = [label for direct, _ in pairs for label in direct.clusters]
    about = CellRecord(task=total.name, mode=way[0], canvas=way[1], headline=name)
    return gain_of(about, paired_difference(before, after, clusters))


def aggregate(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    seed: int,
    scorings: list[str] | None = None,
    warnings: Sequence[str] | None = None,
) -> None:
    """Write results.json for every cell of the run, also for cells that this command did not run. `warnings` are
    those of the checks before the run; None keeps the existing ones."""
    about = folder.about()
    before = results_before(folder)
    results: dict[str, CellResult] = {}
    partial = unscored(folder)  # of another command that was killed before it had scored them
    for name, cell in about.cells.items():
        if name in tasks:
            own, *others = _scorings(folder, name, scorings or ["strict"], before)
            summary = _summary(folder, name, "", tasks[name], seed, own)
            summary.scorings = {other: _summary(folder, name, other, tasks[name], seed, other) for other in others}
            if tasks[name].declared.guesses != []:
                summary.baselines = baselines(folder, name, tasks[name], cell.mode, rules_of(own))
            summary.published = tasks[name].published(cell.mode) if cell.canvas == "own" else []
            for other, beside in summary.scorings.items():
                if summary.metrics and beside.metrics and other != RA_AL:
                    beside.against = difference_in(folder, name, other, cell.headline)
                    beside.against.replies = []
            results[name] = describe(summary, cell)
        elif before is None and name not in partial:  # only its scores are known
            rows = folder.scored(name)
            results[name] = describe(summarise(rows.values(), None, seed), cell)
            results[name].scoring = next((row.scoring for row in rows.values()), "")
        elif before and name in before.tasks:
            results[name] = before.tasks[name]
    present = {name: cell for name, cell in about.cells.items() if name in results and name not in partial}
    found = Results(
        model=about.model.name,
        tasks=results,
        gains=gains(present, folder.scored),
        totals=_totals(folder, tasks, present, scorings or (), before),
        warnings=(before.warnings if before else []) if warnings is None else list(warnings),
        part=part_in_words(about, {name: cell.episodes for name, cell in results.items()}),
    )
    write_json(folder.results_file, found)


def _totals(
    folder: RunFolder,
    tasks: Mapping[str, Task],
    cells: Mapping[str, CellRecord],
    scorings: Sequence[str],
    before: Results | None,
) -> list[BenchmarkTotal]:
    """Compute the totals of the benchmarks that this command's tasks belong to, and keep the other existing ones."""
    found = totals(tasks.values(), cells, folder.scored, [name for name in scorings if name != RA_AL] or ["strict"])
    made = {total.benchmark for total in found}
    return found + [total for total in (before.totals if before else []) if total.benchmark not in made]


def _scorings(folder: RunFolder, cell: str, asked: Sequence[str], before: Results | None) -> list[str]:
    """Return the cell's own scoring and the further ones. If only `ra-al` is requested the others are kept, and
    `ra-al`, which costs calls to a judge, is always kept."""
    kept = [name for name in asked if name != RA_AL]
    if not kept:
        own = next((row.scoring for row in folder.scored(cell).values()), "") or "strict"
        beside = before.tasks[cell].scorings if before and cell in before.tasks else {}
        kept = [own, *(name for name in beside if name != RA_AL)]
    return [*kept, *([RA_AL] if folder.scores_file(cell, RA_AL).exists() else [])]


def results_before(folder: RunFolder) -> Results | None:
    """Return the existing results; None if they cannot be read, since they can be computed again from the scores."""
    try:
        return folder.results()
    except SketchmarkError:
        return None


def _summary(folder: RunFolder, cell: str, suffix: str, task: Task, seed: int, scoring: str) -> CellResult:
    if scoring != RA_AL:
        score_jointly(folder, cell, suffix, task, scoring)
    rows = folder.scored(cell, suffix).values()
    summary = cell_result(rows, lambda: folder.scores(cell, suffix), task, scoring, seed)
    if not suffix and summary.failures.keys() - NO_VERDICT - {"truncated", "unparsed"}:
        summary.reasons = {**first_of_each_kind(failed(folder, cell)), **summary.reasons}
    return summary


def own_numbers(cell: CellResult, headline: str) -> dict[str, float]:
    """Return the numbers of a task's own aggregation that are not counts; all numbers if there is no headline score,
    and those of its tables if there are no others."""
    kinds = float if headline in cell.metrics else (int, float)
    found = {
        name: value for name, value in cell.aggregate.items() if isinstance(value, kinds) and name not in cell.metrics
    }
    return found if found or cell.metrics else dict(flat(cell.aggregate))


def flat(tables: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a dataset's tables, named like `open / acc`."""
    for key, inner in tables.items():
        label = f"{before} / {key}" if before else str(key)
        if isinstance(inner, Mapping):
            yield from flat(inner, label)
        elif isinstance(inner, (int, float)):
            yield label, inner


def why_none(cell: CellResult) -> str:
    """Return the text shown in place of a score."""
    return cell.problem or ("its own summary is not a number" if cell.aggregate else "nothing scored")


def write_submissions(folder: RunFolder, tasks: Mapping[str, Task]) -> list[Path]:
    """Write `RUN/submission/CELL/` for every cell whose task has a writer (`submission:` in its YAML)."""
    written: list[Path] = []
    for cell, task in tasks.items():
        if writer := task.submission:
            episodes = (episode for _, episode in folder.played(cell))
            written += writer(episodes, _target(folder, cell))
    return written


def _target(folder: RunFolder, cell: str) -> Path:
    """Return the folder of a submission; refused if it contains links, since writers open files by name."""
    target = own_folder(folder.path, "submission", cell)
    for old in target.iterdir() if target.exists() else ():
        own_file(target, old.name)
    return target


STRONG = 0.1
"""A constant reply that is significantly better than chance, by at least this, causes a warning."""


def warned(cells: Mapping[str, CellResult]) -> Iterator[str]:
    """Yield a warning for each cell in which a constant reply is far above chance; once for equal modes."""
    told: set[tuple[str, str, float]] = set()
    for name, cell in cells.items():
        found = cell.baselines.get(cell.headline)
        key = (cell.task, cell.headline, found.majority if found else 0.0)
        if found is None or key in told or not _strong(found):
            continue
        told.add(key)
        yield (
            f"{name}: always replying {found.reply!r} scores {as_percent(found.majority)}, "
            f"chance {as_percent(found.random)}: "
            f"{cell.headline} by itself says little here"
        )


def _strong(found: Baseline) -> bool:
    """Test the best constant, with Bonferroni's correction for the number of constants."""
    quantile = normal_quantile(1 - 0.025 / max(1, found.replies))
    return found.majority - found.random >= STRONG and wilson(found.majority, found.n, quantile)[0] > found.random
