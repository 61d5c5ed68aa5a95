"""Repeats of a cell: pass@k, votes, sources of variance, a task's own totals, and how often repeats are identical."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec
from msgspec import Struct

from sketchmark.episode import Totals
from sketchmark.files.jsonl import LineReader, plain
from sketchmark.folder import Attempt, RunFolder
from sketchmark.folder.format import Score, ScoreRow
from sketchmark.folder.results_format import Headroom, Mean, Repeats, Variance
from sketchmark.stats.intervals import interval
from sketchmark.stats.repeats import (
    Components,
    Spread,
    agreement,
    best_by,
    components,
    pass_all,
    pass_at,
    spread_of,
    vote,
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
    """Return a task's own totals: of repeated episodes, the mean over the rounds."""
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


def nested(rows: Iterable[Score], metric: str) -> dict[str, tuple[Score, list[list[float]]]]:
    """Return sample → one of its rows, and its scores by drawing and answer. A drawing that failed has one row; any
    further answer would score the same."""
    by: dict[str, tuple[Score, dict[int, list[float | None]]]] = {}
    most = 1
    for row in rows:
        answers = by.setdefault(row.sample, (row, {}))[1].setdefault(row.repeat or 0, [])
        answers.append(row.value(metric))
        most = max(most, len(answers))
    found = {}
    for sample, (row, repeats) in by.items():
        drawings = [answers * most if len(answers) == 1 else answers for answers in repeats.values()]
        scored = [[one for one in answers if one is not None] for answers in drawings]
        if any(scored):
            found[sample] = row, [answers for answers in scored if answers]
    return found


_IMAGE = ("_img_frame_acc", "_img_exact")
"""Ends of the names of image scores, the finer first."""


def summarise_repeats(rows: Sequence[ScoreRow], metric: str) -> Repeats | None:
    """Return the results of repeated episodes; None without a second episode or answer, or without scores."""
    if not any(row.repeat or row.branch for row in rows):
        return None
    scores = nested(rows, metric)
    if not scores:
        return None
    found = Repeats(
        repeats=max(len(drawings) for _, drawings in scores.values()),
        answers=max(len(answers) for _, drawings in scores.values() for answers in drawings),
        variance=_variance(list(scores.values())),
        headroom=_headroom(list(scores.values())),
    )
    firsts: dict[str, list[ScoreRow]] = {}
    for row in rows:
        if not row.branch and row.value(metric) is not None:
            firsts.setdefault(row.sample, []).append(row)
    several = [same for same in firsts.values() if len(same) > 1]
    for k in _ks(found.repeats):
        enough = [same for same in firsts.values() if len(same) >= k]
        counts = [(len(same), sum((row.value(metric) or 0) >= 1 for row in same)) for same in enough]
        for made, chance in ((found.pass_at, pass_at), (found.pass_all, pass_all)):
            made[str(k)] = _mean_of([(same[0], chance(*n, k)) for same, n in zip(enough, counts, strict=True)])
    if not several:
        return found
    if any("answer" in row.notes for same in several for row in same):
        _vote(found, several, metric)
    names = list(dict.fromkeys(name for same in several for row in same for name in row.values))
    found.best_by = next((name for end in _IMAGE for name in names if name.endswith(end)), "")
    if found.best_by:
        guided = ([row for row in same if row.value(found.best_by) is not None] for same in several)
        best = [(same[0], _guided(same, found.best_by, metric)) for same in guided if same]
        found.best_of = _mean_of(best) if best else None
    return found


def _guided(same: Sequence[ScoreRow], guide: str, metric: str) -> float:
    return best_by(*([row.value(name) or 0.0 for row in same] for name in (guide, metric)))


def _ks(repeats: int) -> list[int]:
    """Return the numbers k to report: all up to eight, then powers of two and the last."""
    return [k for k in range(1, repeats + 1) if k <= 8 or k == repeats or k & (k - 1) == 0]


def _vote(found: Repeats, several: Sequence[Sequence[ScoreRow]], metric: str) -> None:
    voted, agreed = [], []
    for same in several:
        answers = [None if "unparsed" in row.flags else repr(row.notes.get("answer")) for row in same]
        given = [(answer, row.value(metric) or 0) for answer, row in zip(answers, same, strict=True) if answer]
        score, tied = vote(*zip(*given, strict=True)) if given else (0.0, False)
        found.ties += tied
        voted.append((same[0], score))
        agreed.append((same[0], agreement(answers)))
    found.majority, found.agreement = _mean_of(voted), _mean_of(agreed)


Scored = Sequence[tuple[Score, list[list[float]]]]


def _mean_of(having: Sequence[tuple[Score, float]]) -> Mean:
    clusters = [row.sample if row.cluster is None else row.cluster for row, _ in having]
    return Mean.of(interval([value for _, value in having], clusters))


def _variance(scores: Scored) -> Variance:
    clusters = [row.sample if row.cluster is None else row.cluster for row, _ in scores]
    found = components([drawings for _, drawings in scores], clusters)
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


def _headroom(scores: Scored) -> Headroom:
    found = Headroom(random=_mean_of([(row, fmean(map(fmean, drawings))) for row, drawings in scores]))
    if any(len(drawings) > 1 for _, drawings in scores):
        found.best_drawing = _mean_of([(row, max(map(fmean, drawings))) for row, drawings in scores])
    if any(len(answers) > 1 for _, drawings in scores for answers in drawings):
        found.best_answer = _mean_of([(row, fmean(map(max, drawings))) for row, drawings in scores])
        found.best = _mean_of([(row, max(map(max, drawings))) for row, drawings in scores])
    return found


def gain_spread(before: Iterable[Score], after: Iterable[Score], metric: str) -> Spread | None:
    """Return the spread of a paired gain between and within samples; None without repeats on both sides."""
    one, other = nested(before, metric), nested(after, metric)
    shared = [sample for sample in one if sample in other]
    return spread_of([one[sample][1] for sample in shared], [other[sample][1] for sample in shared])


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

    identical: int
    """Their number."""
    of: int
    """Repeats after the first of each sample."""


def copies(folder: RunFolder, cell: str) -> Copies:
    """Count the repeats whose replies, texts and drawings, are all those of an earlier repeat."""
    limit = folder.limit(cell)
    newest: dict[tuple[str, int], bytes] = {}
    for line in _TRANSCRIPTS.all(folder.episodes_file(cell)):
        if not line.branch and (limit is None or line.index < limit):
            said = [(turn.reply.text, turn.reply.picture) for turn in line.turns if turn.reply]
            digest = hashlib.blake2b(msgspec.json.encode(said), digest_size=12).digest() if said else b""
            newest[line.sample.id, line.repeat] = b"" if line.failure else digest
    seen: dict[str, set[bytes]] = {}
    found = Copies(0, 0)
    for (sample, _), digest in sorted(newest.items()):
        if digest:
            before = seen.setdefault(sample, set())
            found.of += bool(before)
            found.identical += digest in before
            before.add(digest)
    return found


def told_of_copies(folder: RunFolder, cells: Sequence[str]) -> list[str]:
    """Warn of repeated cells in which most repeats are identical."""
    told = []
    for cell in cells:
        if 2 * (found := copies(folder, cell)).identical > found.of:
            why = "at temperature 0, or with a seed that the server keeps, a model repeats itself"
            told.append(f"{cell}: {found.identical} of {found.of} repeats are identical to an earlier one ({why})")
    return told
