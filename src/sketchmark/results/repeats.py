"""Repeats of a cell: pass@k, votes, sources of variance, a task's own totals, and how often repeats are identical."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from sketchmark.episode import Totals
from sketchmark.files.jsonl import LineReader, plain
from sketchmark.folder import Attempt, RunFolder
from sketchmark.folder.columns import Codes, Columns, Floats, Places, Rows
from sketchmark.folder.format import ScoreRow
from sketchmark.folder.results_format import Headroom, Mean, Repeats, Variance
from sketchmark.stats.intervals import Whole, interval, numbered
from sketchmark.stats.repeats import (
    Components,
    Groups,
    Nested,
    Spread,
    agreements,
    best_by,
    chances,
    components,
    pass_all,
    pass_at,
    spread_of,
    votes,
)

Aggregate = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]


def rounds(rows: Sequence[ScoreRow]) -> list[list[ScoreRow]]:
    """Divide rows into rounds with one row per sample, as a task's own code expects: one for each repeat and answer.
    A drawing that failed has no further answers, so its row is in each of them."""
    by_place = {(row.repeat or 0, row.branch or 0, row.sample): row for row in rows}
    samples = dict.fromkeys(row.sample for row in rows)
    found = []
    for repeat, branch in sorted({place[:2] for place in by_place}):
        one = (by_place.get((repeat, branch, sample)) or by_place.get((repeat, 0, sample)) for sample in samples)
        found.append([row for row in one if row is not None])
    return found


def totals_over(rows: Sequence[ScoreRow], aggregate: Aggregate) -> Mapping[str, Any]:
    """Return a task's own totals; for repeated episodes, their mean over the rounds."""
    made = [aggregate([plain(row) for row in one]) for one in rounds(rows)] or [aggregate([])]
    if len(made) == 1:
        return made[0]
    first, mean = made[0], _mean(made)
    assert isinstance(mean, Mapping)
    if not isinstance(first, Totals):
        return mean
    total = Totals(mean)
    total.counts, total.remarks, total.proportions = first.counts, first.remarks, first.proportions
    return total


def _mean(found: Sequence[Any]) -> Any:
    """Return the mean of numbers at the same place in tables; other values are those of the first round."""
    if all(isinstance(one, Mapping) for one in found):
        names = dict.fromkeys(name for one in found for name in one)
        return {name: _mean([one[name] for one in found if name in one]) for name in names}
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in found)
    return fmean(found) if numbers and len(set(found)) > 1 else found[0]


def sample_codes(rows: Columns[Any]) -> Whole:
    """Return the number of each row's sample, in the order of their first appearance."""

    def made() -> Whole:
        return np.fromiter(map(Codes(), rows.samples), np.int64, len(rows))

    found: Whole = rows.kept("sample codes", made)
    return found


def sample_count(rows: Columns[Any]) -> int:
    return int(sample_codes(rows).max(initial=-1)) + 1 if rows.repeats else len(rows)


def averaged(rows: Rows, values: Floats) -> tuple[Places, Floats]:
    """Return the row and the value of each sample that has one: the mean over its repeats of the mean over the
    answers to a drawing. So a drawing counts once however many answers it has, and a sample once however many
    repeats. Rows without the value have NaN. The row is the first of the sample's."""
    having = np.flatnonzero(~np.isnan(values))
    if not rows.repeats:
        return having, values[having]
    found = Nested.by(sample_codes(rows)[having], rows.arrays["repeat"][having], values[having])
    return having[found.drawing.first[found.sample.first]], found.means


def nested(rows: Rows, metric: str) -> tuple[Places, Nested]:
    """Return a row of each sample that has scores, and the scores by drawing and answer. A drawing that failed has
    one row; any further answer would score the same."""
    samples, repeats = sample_codes(rows), rows.arrays["repeat"]
    drawings = Groups(numbered(samples.astype(np.int64) * (int(repeats.max(initial=0)) + 1) + repeats))
    answers = drawings.sizes[drawings.of]
    every = np.repeat(np.arange(len(rows)), np.where(answers == 1, answers.max(initial=1), 1))
    values = rows.metric(metric)[every]
    every, values = every[~np.isnan(values)], values[~np.isnan(values)]
    found = Nested.by(samples[every], repeats[every], values)
    return every[found.drawing.first[found.sample.first]], found


_IMAGE = ("_img_frame_acc", "_img_exact")
"""Ends of the names of image scores, the finer first."""


def summarise_repeats(rows: Rows, answers: Whole, metric: str) -> Repeats | None:
    """Return the results of repeated episodes; None without a second episode or answer, or without scores. `answers`
    are those of `answer_codes`."""
    at, scores = nested(rows, metric)
    if not rows.repeats or not len(at):
        return None
    labels = rows.labels()[0]
    values = rows.metric(metric)
    firsts = np.flatnonzero((rows.arrays["branch"] == 0) & ~np.isnan(values))
    samples = Groups(numbered(sample_codes(rows)[firsts]))
    found = Repeats(
        repeats=int(scores.sample.sizes.max()),
        answers=int(scores.drawing.sizes.max()),
        variance=_variance(scores, labels[at]),
        headroom=_headroom(scores, labels[at]),
    )
    right = samples.sum((values[firsts] >= 1).astype(float)).astype(np.int64)
    for k in _ks(found.repeats):
        enough = samples.sizes >= k
        clusters = labels[firsts[samples.first[enough]]]
        for made, chance in ((found.pass_at, pass_at), (found.pass_all, pass_all)) if enough.any() else ():
            made[str(k)] = Mean.of(interval(chances(chance, samples.sizes[enough], right[enough], k), clusters))
    if (samples.sizes > 1).any():
        _chosen(found, rows, firsts[(samples.sizes > 1)[samples.of]], answers, metric)
    return found


def _ks(repeats: int) -> list[int]:
    """Return the numbers k to report: all up to eight, then powers of two and the last."""
    return [k for k in range(1, repeats + 1) if k <= 8 or k == repeats or k & (k - 1) == 0]


def _chosen(found: Repeats, rows: Rows, several: Places, answers: Whole, metric: str) -> None:
    """Add the scores of the repeats that a vote or the image score chooses, and the agreement."""
    labels, scores = rows.labels()[0], rows.metric(metric)

    def grouped(places: Places) -> tuple[Groups, Whole]:
        made = Groups(numbered(sample_codes(rows)[places]))
        return made, labels[places[made.first]]

    samples, clusters = grouped(several)
    if (answers[several] > NO_ANSWER).any():
        given = np.where(answers[several] == NO_ANSWER, UNPARSED, answers[several])
        score, tied = votes(samples, given, scores[several])
        found.ties = int(tied.sum())
        found.majority = Mean.of(interval(score, clusters))
        found.agreement = Mean.of(interval(agreements(samples, given), clusters))
    names = rows.names("values", several)
    found.best_by = next((name for end in _IMAGE for name in names if name.endswith(end)), "")
    if found.best_by:
        guides = rows.metric(found.best_by)
        guided = several[~np.isnan(guides[several])]
        if len(guided):
            samples, clusters = grouped(guided)
            found.best_of = Mean.of(interval(best_by(samples, guides[guided], scores[guided]), clusters))


UNPARSED, NO_ANSWER = -1, -2


def answer_codes(rows: Iterable[ScoreRow]) -> Whole:
    """Return the number of each row's parsed answer: equal answers have equal numbers. `UNPARSED` is an answer
    without a vote, and `NO_ANSWER` a row whose scorer notes none."""
    codes = Codes()

    def code(row: ScoreRow) -> int:
        if "unparsed" in row.flags:
            return UNPARSED
        return codes(repr(row.notes["answer"])) if "answer" in row.notes else NO_ANSWER

    return np.fromiter(map(code, rows), np.int64)


def _variance(scores: Nested, clusters: Whole) -> Variance:
    found = components(scores, clusters)
    sources = {
        name: Mean.of(one)
        for name in ("samples", "episodes", "drawings", "answers")
        if (one := getattr(found, name)) is not None
    }
    return Variance(**sources, sentence=_sentence(found))


def _sentence(found: Components) -> str:
    drawn, read, within = map(found.share, (found.drawings, found.answers, found.episodes))
    if within is None:
        return ""
    if drawn is None or read is None:
        return f"{100 * within:.0f}% of the noise in a single episode comes from chance within a sample."
    return (
        f"{100 * drawn:.0f}% of the noise in a single episode comes from which drawing the model made, "
        f"{100 * read:.0f}% from how it read it."
    )


def _headroom(scores: Nested, clusters: Whole) -> Headroom:
    def mean(values: Floats) -> Mean:
        return Mean.of(interval(values, clusters))

    found = Headroom(random=mean(scores.means))
    if scores.sample.sizes.max() > 1:
        found.best_drawing = mean(scores.sample.max(scores.of_drawing))
    if scores.drawing.sizes.max() > 1:
        best = scores.drawing.max(scores.scores)
        found.best_answer, found.best = mean(scores.sample.mean(best)), mean(scores.sample.max(best))
    return found


def gain_spread(before: Rows, after: Rows, metric: str) -> Spread | None:
    """Return the spread of a paired gain between and within samples; None without repeats on both sides."""
    (mine, one), (theirs, other) = nested(before, metric), nested(after, metric)
    firsts, seconds = same_samples(before, mine, after, theirs)
    return spread_of(one.take(firsts), other.take(seconds), before.labels()[0][mine[firsts]])


def same_samples(before: Rows, mine: Places, after: Rows, theirs: Places) -> tuple[Places, Places]:
    """Return which of some rows are of the same samples, if each side has one row per sample: their places among the
    given ones, in the order of the first side."""
    one, other = (rows.samples.take(at) for rows, at in ((before, mine), (after, theirs)))
    places = {sample: place for place, sample in enumerate(other)}
    found = np.array([places.get(sample, -1) for sample in one], np.intp)
    having = np.flatnonzero(found >= 0)
    return having, found[having]


class _Said(Struct):
    text: str = ""
    picture: str | None = None


class _Turn(Struct):
    reply: _Said | None = None


class _Transcript(Attempt):
    """An episode line with the replies only."""

    turns: tuple[_Turn, ...] = ()


_TRANSCRIPTS = LineReader(_Transcript, "an episode line")


class Copies(Struct):
    """Repeats of a cell that are identical to an earlier repeat of the same sample."""

    identical: int = 0
    """Their number."""
    of: int = 0
    """Repeats after the first of each sample."""
    alike: int = 0
    """Samples whose repeats are all identical."""
    samples: int = 0
    """Samples with several repeats."""


def copies(folder: RunFolder, cell: str) -> Copies:
    """Count the repeats whose replies, texts and drawings, are all those of an earlier repeat."""
    episodes = folder.attempts(cell)
    firsts = episodes.arrays["begin"][(episodes.arrays["branch"] == 0) & ~episodes.failed]
    found = Copies()
    lines = _TRANSCRIPTS.some(folder.episodes_file(cell), firsts)
    for _, repeats in groupby(lines, lambda line: line.sample.id):
        transcripts = [
            msgspec.json.encode(said)
            for line in repeats
            if (said := [(turn.reply.text, turn.reply.picture) for turn in line.turns if turn.reply])
        ]
        different = len(set(transcripts))
        found.identical += len(transcripts) - different
        found.of += max(0, len(transcripts) - 1)
        found.alike += different == 1 < len(transcripts)
        found.samples += len(transcripts) > 1
    return found


def told_of_copies(folder: RunFolder, cells: Sequence[str]) -> list[str]:
    """Warn of repeated cells in which the repeats of most samples are all identical. Short answers are often equal by
    chance, so single equal repeats show nothing."""
    told = []
    why = "at temperature 0, or with a seed that the server keeps, a model repeats itself; short answers may be equal"
    for cell in cells:
        if 2 * (found := copies(folder, cell)).alike > found.samples:
            told.append(
                f"{cell}: {found.identical} of {found.of} repeats are identical to an earlier one, all repeats of "
                f"{found.alike} of {found.samples} samples ({why})"
            )
    return told
