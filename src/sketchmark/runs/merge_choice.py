"""Choice of the episode that counts for each sample, among several folders, and the missing samples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from sketchmark.errors import RunConflict
from sketchmark.files.jsonl import whole_lines
from sketchmark.folder import EPISODES, RunFolder
from sketchmark.folder.format import EpisodeLine, episode_key
from sketchmark.folder.records import media_names
from sketchmark.settings import Shard

_NAMED = 5
"""Samples that are named before the rest is counted."""


class LineRef(NamedTuple):
    """Position of a line. Lines are read again when they are copied: all of them would not fit into memory."""

    run: int
    begin: int
    length: int


class Try(msgspec.Struct, frozen=True):
    """One episode's last try in one of the folders: where its line is, and what matters of it."""

    line: LineRef
    index: int
    sample: str
    repeat: int
    branch: int
    fingerprint: str
    started: float
    failed: bool
    finished: bool
    """It needs no rerun: it has an answer, or the model failed."""
    whole: bool
    """All its pictures are there."""
    content: bytes
    """A digest of all that was said and drawn."""

    @property
    def key(self) -> str:
        return episode_key(self.sample, self.repeat, self.branch)

    @property
    def place(self) -> tuple[int, int, int]:
        return self.index, self.repeat, self.branch


@dataclass
class Choice:
    """Lines that make up a cell of the merged run."""

    cell: str
    tries: list[Try] = field(default_factory=list)
    """One for each sample, repeat and branch, in the order of the samples."""
    alike: list[str] = field(default_factory=list)
    """Samples that several folders hold with the same answer."""
    mended: list[str] = field(default_factory=list)
    """Samples that failed in one folder and did not in another."""
    lost: list[str] = field(default_factory=list)
    """Samples to rerun, since some of their images are missing."""


def choose(runs: Sequence[RunFolder], cell: str) -> Choice:
    """Refuses what cannot be one run: other data under the same name, or two different answers to one question."""
    best: dict[str, Try] = {}
    numbers: dict[int, Try] = {}
    found = Choice(cell)
    differing: list[tuple[str, int, int]] = []
    for number, run in enumerate(runs):
        for one in _last_tries(number, run, cell):
            known = best.get(one.key)
            _refuse_other_data(runs, cell, known or numbers.get(one.index), one)
            numbers.setdefault(one.index, one)
            winner = _better(known, one) if known else one
            if known and known.finished and one.finished and known.content == one.content:
                found.alike.append(one.key)
            elif known and known.failed != one.failed and winner:
                found.mended.append(one.key)
            if winner is None and known:
                differing.append((one.key, known.line.run, one.line.run))
            best[one.key] = winner or one
    if differing:
        sample, one_run, other_run = differing[0]
        more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
        raise RunConflict(
            f"{cell}: {sample}{more} was answered differently in {runs[one_run].path} and {runs[other_run].path}",
            "leave one of the two out: which answer counts is not for a merge to choose",
        )
    ordered = sorted(best.values(), key=lambda one: one.place)
    found.lost = [one.key for one in ordered if not one.whole]
    found.tries = [one for one in ordered if one.whole]
    return found


def _better(known: Try, one: Try) -> Try | None:
    """None: both are answers, and they differ. A failure of the network gives way to any answer; one of the model's
    own is an answer, and gives way to a later success, as with --retry-failed."""
    if (known.finished and known.whole) != (one.finished and one.whole):
        return known if known.finished and known.whole else one
    if not known.finished:
        return max(known, one, key=lambda tried: tried.started)
    if known.content == one.content:
        return known
    later = max(known, one, key=lambda tried: tried.started)
    return later if known.failed != one.failed and not later.failed else None


def _refuse_other_data(runs: Sequence[RunFolder], cell: str, known: Try | None, one: Try) -> None:
    if known is None or (known.sample, known.index, known.fingerprint) == (one.sample, one.index, one.fingerprint):
        return
    what = f"sample {one.sample}" if known.sample == one.sample else f"sample number {one.index}"
    here, there = runs[known.line.run].path, runs[one.line.run].path
    raise RunConflict(
        f"{what} of {cell} is not the same in {here} and {there}: the data differ",
        "run both on the same data, with the same --seed and --task_args",
    )


def _last_tries(number: int, run: RunFolder, cell: str) -> Iterator[Try]:
    begin = 0
    found: dict[str, Try] = {}
    for where, line in whole_lines(run.episodes_file(cell)):
        record = EPISODES.one(line, where)
        failure = record.failure
        found[record.key] = Try(
            LineRef(number, begin, len(line)),
            index=record.index,
            sample=record.sample.id,
            repeat=record.repeat,
            branch=record.branch,
            fingerprint=record.sample.fingerprint,
            started=record.started,
            failed=failure is not None,
            finished=failure is None or failure.blames_model,
            whole=all(map(run.pictures.holds, media_names(record))),
            content=_content(record),
        )
        begin += len(line)
    yield from found.values()


def _content(line: EpisodeLine) -> bytes:
    """Without times, usage and the provider's own words, in which the same answer asked twice differs."""
    turns = [
        (turn.act, turn.added, turn.suffix, turn.note, reply and (reply.text, reply.finish, reply.picture))
        for turn in line.turns
        for reply in [turn.reply]
    ]
    failure = line.failure and line.failure.kind
    body = [line.sample.fingerprint, line.mode, line.canvas, line.steps, turns, failure]
    return hashlib.blake2b(msgspec.json.encode(body), digest_size=16).digest()


def gaps_in_words(
    choice: Choice, total: int | None, limit: int | None, shards: Sequence[str], repeats: int = 1
) -> list[str]:
    """Describe the missing samples by the shard that should have them. Empty if none is missing."""
    there = {one.index for one in choice.tries}
    told = []
    if total is None and not (limit and there.issuperset(range(limit))):
        told.append(f"{choice.cell}: no run reached the end of the samples, so the number of missing ones is unknown")
    total = total if total is not None else max(there, default=-1) + 1
    missing = [number for number in range(total) if number not in there]
    if missing:
        told.append(
            f"{choice.cell}: {len(missing)} of {total} samples are missing: {_by_shard(missing, total, shards)}"
        )
    held = {(one.index, one.repeat) for one in choice.tries}
    lacking = [index for index in sorted(there) if any((index, nth) not in held for nth in range(repeats))]
    if lacking:
        where = _by_shard(lacking, total, shards)
        told.append(f"{choice.cell}: {len(lacking)} samples lack some of {repeats} repeats: {where}")
    if choice.lost:
        told.append(f"{choice.cell}: pictures are lost of {listed(choice.lost)}")
    return told


def _by_shard(missing: Sequence[int], total: int, shards: Sequence[str]) -> str:
    """Group by shard if all folders are shards of one division, else only by number."""
    kinds = {Shard.parse(text).of for text in shards if text}
    if len(kinds) != 1 or "" in shards:
        return _numbers(missing)
    of = kinds.pop()
    told = []
    for index in range(of):
        shard = Shard(index, of)
        mine = [number for number in missing if shard.plays(number)]
        if mine and len(mine) == shard.size(total):
            told.append(f"all {len(mine)} of shard {shard}")
        elif mine:
            told.append(f"{len(mine)} of shard {shard}, {_numbers(mine)}")
        if len(told) > _NAMED:
            return "; ".join([*told[:_NAMED], "and of further shards"])
    return "; ".join(told)


def _numbers(missing: Sequence[int]) -> str:
    return f"number {listed([str(number) for number in missing])}"


def listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
