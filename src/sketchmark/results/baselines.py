"""Guessing baselines: constant, random and best constant replies, scored by the task's own scorer.

With a generous scorer or uneven answers, guessing gets more than its share of the options: always "A" can be 40%, and
on VSP's collision maps one pair of seconds is right two times out of three. Possible replies come from the task
(`guesses`) or from each sample's options.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec import Struct

from sketchmark.answers.choices import offered
from sketchmark.engines import allowed, within
from sketchmark.episode import Episode, Grading, Scorer, Scores, Turn
from sketchmark.episode.model import Reply
from sketchmark.episode.sample import Part, Sample
from sketchmark.files.jsonl import LineReader
from sketchmark.folder import RunFolder
from sketchmark.folder.format import SampleLine
from sketchmark.folder.results_format import Baseline
from sketchmark.tasks import Task

MOST_SCORED = 10_000
"""Replies scored per cell. Beyond that only every second, third… sample is used."""


class _Asked(Struct):
    """An episode's line without its transcript."""

    index: int
    sample: SampleLine


_ASKED = LineReader(_Asked, "an episode line")


def baselines(folder: RunFolder, cell: str, task: Task, mode: str, scoring: str) -> dict[str, Baseline]:
    """Return the baseline of each score on the samples of a cell. Empty without options to choose from, or if scoring
    needs a judge or the images."""
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


def _samples(folder: RunFolder, cell: str) -> list[SampleLine]:
    """Return the samples within the cell's limit, in order."""
    limit = folder.limit(cell)
    found = {line.index: line.sample for line in _ASKED.all(folder.episodes_file(cell))}
    return [found[index] for index in sorted(found) if limit is None or index < limit]


def _unseen(line: SampleLine) -> Sample:
    """Return the sample without its images, which guessing ignores."""
    return Sample(id=line.id, pictures={}, fields=line.fields, target=line.target, groups=line.groups)


def _scored(task: Task, sample: Sample, reply: str, mode: str, scoring: str) -> dict[str, float]:
    said = Turn("say", (Part(reply, "model"),), reply=Reply(reply))
    episode = Episode(sample, (said,), settings={"mode": mode})
    values: dict[str, float] = {}
    for scorer in task.scorers:
        scores: Scores = _at_once(within(allowed(scorer), scorer, sample, episode, Grading(scoring)))
        values |= {name: float(value) for name, value in scores.values.items() if value is not None}
    return values


def _at_once(found: Any) -> Any:
    """Return a scorer's result if it needs no waiting."""
    if not inspect.isawaitable(found):
        return found
    steps = found.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return done.value
    steps.close()
    raise RuntimeError("it waits for a judge")
