"""results.json: every cell's result, gains, guessing baselines and the overall scores of benchmarks; submissions.

A benchmark of several tasks has constant, published weights. Its overall score is shown only if all tasks ran
completely in one mode and every sample has a score; otherwise the missing parts are listed.

Guessing baselines are constant, random and best constant replies, scored by the task's own scorer. With a generous
scorer or uneven answers, guessing gets more than its share of the options: always "A" can be 40%, and on VSP's
collision maps one pair of seconds is right two times out of three. Possible replies come from the task (`guesses`) or
from each sample's options.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from sketchmark.answers.choices import offered
from sketchmark.engines import allowed, within
from sketchmark.episode import Episode, Grading, Scorer, Scores, Share, Total, Turn, rules_of
from sketchmark.episode.model import Reply
from sketchmark.episode.sample import Part, Sample
from sketchmark.errors import SketchmarkError
from sketchmark.files import own_file, own_folder, write_json
from sketchmark.files.jsonl import LineReader
from sketchmark.folder import RunFolder, unscored
from sketchmark.folder.builders import as_rows
from sketchmark.folder.columns import Array
from sketchmark.folder.format import CellRecord, SampleLine, Score
from sketchmark.folder.lock import part_in_words
from sketchmark.folder.results_format import Baseline, BenchmarkTotal, CellResult, Gain, Mean, Results
from sketchmark.results import NO_VERDICT
from sketchmark.results.gains import SEEING, correct, gain_of, gains
from sketchmark.results.repeats import answer_codes, averaged, sample_count, summarise_repeats
from sketchmark.results.rescore import first_of_each_kind, score_jointly
from sketchmark.results.scorings import difference_in
from sketchmark.results.summary import cell_result, describe, summarise, withheld
from sketchmark.stats.differences import paired_difference
from sketchmark.stats.intervals import as_percent, interval, normal_quantile, wilson
from sketchmark.tasks import RA_AL, Task
from sketchmark.tasks.published import published_beside

Rows = Mapping[str, Score]
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
    columns = as_rows(rows)
    known = np.array([kind[0] == scoring for kind in columns.lists["kinds"]], bool)
    mine = known[columns.arrays["kind"]] if len(columns) else np.zeros(0, bool)
    for place, value in zip(*averaged(columns, np.where(mine, columns.metric(score), np.nan)), strict=True):
        row = columns.at(int(place))
        values[row.sample] = float(value)
        clusters.append(f"{share.source or share.task}/{row.sample if row.cluster is None else row.cluster}")
    part = f"{len(values)} of {share.items} samples scored" if len(values) != share.items else ""
    return _Part(share, values, clusters, withheld(columns) or part)


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
        gains=gains(present, folder.scored) if len(present) > 1 else [],
        totals=_totals(folder, tasks, present, scorings or (), before),
        warnings=(before.warnings if before else []) if warnings is None else list(warnings),
        part=part_in_words(about, {name: sample_count(folder.attempts(name)) for name in results if about.shard}),
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
    if scoring != RA_AL and (task.settle or task.combine):
        score_jointly(folder, cell, suffix, task, scoring)
    rows = folder.scored(cell, suffix)
    summary = cell_result(rows.values(), lambda: folder.scores(cell, suffix), task, scoring, seed)
    if task.headline in summary.metrics and rows.repeats:
        summary.repeats = summarise_repeats(rows, answer_codes(folder.scores(cell, suffix)), task.headline)
    if not suffix and summary.failures.keys() - NO_VERDICT - {"truncated", "unparsed"}:
        summary.reasons = {**first_of_each_kind(folder.failed(cell)), **summary.reasons}
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
            # A benchmark scores one answer per sample, so the first repeat is submitted.
            episodes = (episode for _, episode in folder.played(cell) if not episode.repeat and not episode.branch)
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


MOST_SCORED = 10_000
"""Replies scored per cell. Beyond that only every second, third… sample is used."""


class _Asked(Struct):
    """An episode's line without its transcript."""

    index: int
    sample: SampleLine


_WORTH_A_DEADLINE = 0.05
"""Seconds of scoring under one deadline: setting one takes longer than a parser."""
_ASKED = LineReader(_Asked, "an episode line")


def baselines(folder: RunFolder, cell: str, task: Task, mode: str, scoring: str) -> dict[str, Baseline]:
    """Return the baseline of each score on the samples of a cell. Empty without options to choose from, or if scoring
    needs a judge or the images."""
    guesses = task.guesses or (offered if all(map(_is_ours, task.scorers)) else None)
    if guesses is None:
        return {}
    begins = _scored_samples(folder, cell)
    path = folder.episodes_file(cell)
    first = (guesses(_unseen(line.sample)) for line in _ASKED.some(path, begins[:50]))
    if not any(first):
        return {}
    constants = list(
        dict.fromkeys(reply for line in _ASKED.some(path, begins) for reply in guesses(_unseen(line.sample)))
    )
    every = -(-len(begins) * len(constants) // MOST_SCORED)
    said = {reply: (Turn("say", (Part(reply, "model"),), reply=Reply(reply)),) for reply in constants}
    grading, guessed, seconds = Grading(scoring), [], len(said) * sum(map(allowed, task.scorers))

    def some(lines: Iterator[_Asked]) -> bool:
        """Score the next samples. Returns whether there may be more."""
        until = time.monotonic() + _WORTH_A_DEADLINE
        for line in lines:
            sample = _unseen(line.sample)
            episodes = {reply: Episode(sample, turns, settings={"mode": mode}) for reply, turns in said.items()}
            scores = {reply: _scored(task, episode, grading) for reply, episode in episodes.items()}
            guessed.append(_Guessed(list(guesses(sample)), scores))
            if time.monotonic() > until:
                return True
        return False

    lines = _ASKED.some(path, begins[::every])
    try:
        while within(seconds, some, lines):
            pass
    except Exception:  # the task's code, on a made-up reply: a missing baseline does no harm
        return {}
    names = dict.fromkeys(name for one in guessed for values in one.scores.values() for name in values)
    return {name: _baseline(name, guessed, constants) for name in names}


def _is_ours(scorer: Scorer) -> bool:
    """Check that a scorer is built in. Others may call a judge or write files: without `guesses` they score only real
    replies."""
    function = scorer.func if isinstance(scorer, partial) else scorer
    return str(getattr(function, "__module__", "")).startswith("sketchmark.")


@dataclass(frozen=True)
class _Guessed:
    """One sample: its options, and the scores of each constant reply."""

    offers: Sequence[str]
    scores: Mapping[str, Mapping[str, float]]

    def score(self, reply: str, name: str) -> float:
        return self.scores[reply].get(name, 0.0)

    def by_lot(self, name: str) -> float:
        return sum(self.score(reply, name) for reply in self.offers) / len(self.offers) if self.offers else 0.0


def _baseline(name: str, guessed: Sequence[_Guessed], constants: Sequence[str]) -> Baseline:
    rows = [one for one in guessed if any(name in values for values in one.scores.values())]
    means = {reply: sum(one.score(reply, name) for one in rows) / len(rows) for reply in constants}
    best = max(means, key=lambda reply: means[reply])
    return Baseline(
        constant=means[constants[0]],
        random=sum(one.by_lot(name) for one in rows) / len(rows),
        majority=means[best],
        reply=best[:200],
        replies=len(constants),
        n=len(rows),
    )


def _scored_samples(folder: RunFolder, cell: str) -> Array:
    """Return where the line of each scored sample's first repeat begins, in the order of the samples."""
    episodes, rows = folder.attempts(cell), folder.scored(cell)
    mine, theirs = episodes.align(rows)
    first = (rows.arrays["repeat"][theirs] == 0) & (rows.arrays["branch"][theirs] == 0)
    found: Array = episodes.arrays["begin"][mine[rows.scored[theirs] & first]]
    return found


def _unseen(line: SampleLine) -> Sample:
    """Return the sample without its images, which guessing ignores."""
    return Sample(id=line.id, pictures={}, fields=line.fields, target=line.target, groups=line.groups)


def _scored(task: Task, episode: Episode, grading: Grading) -> dict[str, float]:
    values: dict[str, float] = {}
    for scorer in task.scorers:
        scores: Scores = _at_once(scorer(episode.sample, episode, grading))
        values |= {name: float(value) for name, value in scores.values.items() if value is not None}
    return values


def _at_once(found: Any) -> Any:
    """Return a scorer's result if it needs no waiting."""
    if isinstance(found, Scores) or not inspect.isawaitable(found):
        return found
    steps = found.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    steps.close()
    raise RuntimeError("it waits for a judge")
