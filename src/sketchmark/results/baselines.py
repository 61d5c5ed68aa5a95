"""What a score is worth without looking: constant, random and best constant replies, scored by the task's own scorer.

A scorer that is generous, or answers that are not spread evenly, give a guesser more than one share of the options:
always "A" can be 40 %, and on VSP's collision maps one pair of seconds is right two times out of three. The replies
that can be given come from the task (`guesses`) or from each sample's options.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec import Struct

from sketchmark.answers.choices import offered
from sketchmark.episode import Episode, Grading, Scorer, Scores, Turn
from sketchmark.episode.model import Reply
from sketchmark.episode.sample import Part, Sample
from sketchmark.files.jsonl import LineReader
from sketchmark.folder import RunFolder
from sketchmark.folder.format import SampleLine
from sketchmark.folder.results_format import Baseline, CellResult
from sketchmark.stats.intervals import normal_quantile, wilson
from sketchmark.tasks import Task

MOST_SCORED = 10_000
"""Replies that are scored for one cell. Where there would be more, every second, third… sample is taken."""

STRONG = 0.1
"""A constant reply that is this much better than chance, and surely better, is worth a warning."""


class _Asked(Struct):
    """An episode's line without its transcript."""

    index: int
    sample: SampleLine


_ASKED = LineReader(_Asked, "an episode line")


def baselines(folder: RunFolder, cell: str, task: Task, mode: str, scoring: str) -> dict[str, Baseline]:
    """Score -> what guessing gets on the samples of a cell. Nothing where there is nothing to choose among, where a
    judge would have to be asked, or where the scorer cannot do without the pictures."""
    guesses = task.guesses or (offered if all(map(_is_ours, task.scorers)) else None)
    if guesses is None:
        return {}
    scored = folder.scored(cell)
    lines = [line for line in _samples(folder, cell) if line.id in scored and scored[line.id].scored]
    if not lines or not any(guesses(_unseen(line)) for line in lines[:50]):
        return {}
    choices = {line.id: list(guesses(_unseen(line))) for line in lines}
    constants = list(dict.fromkeys(reply for each in choices.values() for reply in each))
    every = -(-len(lines) * len(constants) // MOST_SCORED)
    guessed = []
    try:
        for line in lines[::every]:
            scores = {reply: _scored(task, _unseen(line), reply, mode, scoring) for reply in constants}
            guessed.append(_Guessed(choices[line.id], scores))
    except Exception:  # the task's code, on a reply that nobody gave: no baseline is no harm
        return {}
    names = dict.fromkeys(name for one in guessed for values in one.scores.values() for name in values)
    return {name: _baseline(name, guessed, constants) for name in names}


def _is_ours(scorer: Scorer) -> bool:
    """Somebody else's may ask a judge or write something down: without `guesses` it sees real replies only."""
    function = scorer.func if isinstance(scorer, partial) else scorer
    return str(getattr(function, "__module__", "")).startswith("sketchmark.")


@dataclass(frozen=True)
class _Guessed:
    """One sample: what it offers, and what each constant reply scores on it."""

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


def _samples(folder: RunFolder, cell: str) -> list[SampleLine]:
    """The samples that the cell's numbers are of, in their order, whatever order they finished in."""
    limit = folder.limit(cell)
    found = {line.index: line.sample for line in _ASKED.all(folder.episodes_file(cell))}
    return [found[index] for index in sorted(found) if limit is None or index < limit]


def _unseen(line: SampleLine) -> Sample:
    """The sample without its pictures: who guesses does not look."""
    return Sample(id=line.id, pictures={}, fields=line.fields, target=line.target, groups=line.groups)


def _scored(task: Task, sample: Sample, reply: str, mode: str, scoring: str) -> dict[str, float]:
    said = Turn("say", (Part(reply, "model"),), reply=Reply(reply))
    episode = Episode(sample, (said,), settings={"mode": mode})
    values: dict[str, float] = {}
    for scorer in task.scorers:
        scores: Scores = _at_once(scorer(sample, episode, Grading(scoring)))
        values |= {name: float(value) for name, value in scores.values.items() if value is not None}
    return values


def _at_once(found: Any) -> Any:
    """What a scorer says that need not wait for anyone."""
    if not inspect.isawaitable(found):
        return found
    steps = found.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    steps.close()
    raise RuntimeError("it waits for a judge")


def warned(cells: Mapping[str, CellResult]) -> Iterator[str]:
    """A line for each cell on whose headline score a constant reply beats chance by far; once for modes alike."""
    told: set[tuple[str, str, float]] = set()
    for name, cell in cells.items():
        found = cell.baselines.get(cell.headline)
        key = (cell.task, cell.headline, found.majority if found else 0.0)
        if found is None or key in told or not _strong(found):
            continue
        told.add(key)
        yield (
            f"{name}: always replying {found.reply!r} scores {found.majority:.3f}, chance {found.random:.3f}: "
            f"{cell.headline} alone says little here"
        )


def _strong(found: Baseline) -> bool:
    """The best of several constants can be so by luck: its lower limit is Bonferroni's for as many."""
    quantile = normal_quantile(1 - 0.025 / max(1, found.replies))
    return found.majority - found.random >= STRONG and wilson(found.majority, found.n, quantile)[0] > found.random
