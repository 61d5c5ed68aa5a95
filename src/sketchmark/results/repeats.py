"""Repeats of a cell: the totals of a task's own code over them, and how often they are identical."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec
from msgspec import Struct

from sketchmark.episode import Totals
from sketchmark.files.jsonl import LineReader, plain
from sketchmark.folder import Attempt, RunFolder
from sketchmark.folder.format import ScoreRow

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

    def __bool__(self) -> bool:
        return self.identical > 0


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


def told_of_copies(folder: RunFolder, cells: Mapping[str, int]) -> list[str]:
    """Warn of cells whose repeats are identical. `cells`: name → number of repeats."""
    told = []
    for cell, repeats in cells.items():
        if repeats > 1 and (found := copies(folder, cell)):
            why = "at temperature 0, or with a seed that the server keeps, a model repeats itself"
            told.append(f"{cell}: {found.identical} of {found.of} repeats are identical to an earlier one ({why})")
    return told
