"""Merge the shards of a run into one folder, as if it had run at once.

The folders must be parts of one run: everything that shaped an answer must agree. For each sample one episode is
chosen among the folders. Episodes and their scores are copied line by line, and results are computed from all of
them. The folder appears under its name when it is whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from heapq import merge as merged_by_key
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from msgspec import structs

from sketchmark import __version__
from sketchmark.episode import Grading
from sketchmark.errors import BadInput, RunConflict
from sketchmark.files import replacing, write_json
from sketchmark.files.jsonl import is_sealed, open_regular, plain, seal
from sketchmark.folder import EPISODES, NUMBERS, RunFolder, differences, in_short, refuse_partial_scores
from sketchmark.folder.format import FORMAT, CellRecord, EpisodeLine, RunRecord, episode_key
from sketchmark.folder.records import Seen, media_names
from sketchmark.models import address_arguments
from sketchmark.results.aggregate import aggregate, results_before, write_submissions
from sketchmark.results.rescore import fill_scores
from sketchmark.settings import Shard
from sketchmark.tasks import Task
from sketchmark.terminal import counted


def one_run(runs: Sequence[RunFolder]) -> tuple[RunRecord, list[str]]:
    """Return the run that these are parts of, and notices about it."""
    abouts = [run.about() for run in runs]
    first = abouts[0]
    cells: dict[str, CellRecord] = {}
    whose: dict[str, RunFolder] = {}
    limits: dict[str, int | None] = {}
    totals: dict[str, int] = {}
    for run, about in zip(runs, abouts, strict=True):
        _refuse(runs[0], run, "the run", _with_seed(first), _with_seed(about))
        for name in run.cells:
            kept = cells.setdefault(name, about.cells[name])
            other = whose.setdefault(name, run)
            _refuse(other, run, name, _comparable(kept), _comparable(about.cells[name]))
            limit = about.limits.get(name)
            if limits.setdefault(name, limit) != limit:
                _refuse(other, run, name, {"limit": limits[name]}, {"limit": limit})
            total = about.totals.get(name)
            if total is not None and totals.setdefault(name, total) != total:
                raise RunConflict(
                    f"{name} has {totals[name]} samples in {other.path} and {total} in {run.path}: the data differ",
                    "run both on the same data",
                )
    merged = RunRecord(
        format=FORMAT,
        sketchmark=__version__,
        model=first.model,
        seed=first.seed,
        started=min(about.started for about in abouts),
        machine=first.machine,
        cells=cells,
        limits={name: limit for name, limit in limits.items() if limit is not None},
        totals=totals,
        asked={
            name: structs.replace(asked, shard="")
            for name, run in whose.items()
            if (asked := run.about().asked.get(name)) is not None
        },
    )
    return merged, [*_said_of_addresses(abouts), *_said_of_versions(abouts)]


def _with_seed(about: RunRecord) -> dict[str, Any]:
    addresses = address_arguments(about.model.name)  # each machine of a cluster may have its own server
    args = {name: value for name, value in about.model.args.items() if name not in addresses}
    return {"model": about.model.name, "model_args": args, "seed": about.seed}


def _comparable(cell: CellRecord) -> dict[str, Any]:
    described: dict[str, Any] = plain(cell)
    addresses = address_arguments(str(described["model"].get("name", "")))
    model = {name: value for name, value in described["model"].items() if name not in addresses}
    if "drawer" in model:
        model["drawer"] = {key: value for key, value in model["drawer"].items() if f"drawer.{key}" not in addresses}
    return {**described, "model": model}


def _refuse(one: RunFolder, other: RunFolder, what: str, before: Any, now: Any) -> None:
    if changed := in_short(differences(before, now)):
        raise RunConflict(
            f"{what} was run differently in {one.path} and {other.path}: {changed}",
            "only runs of the same model, tasks and settings can be merged",
        )


def _said_of_addresses(abouts: Sequence[RunRecord]) -> list[str]:
    found = dict.fromkeys(
        str(about.model.args[name])
        for about in abouts
        for name in address_arguments(about.model.name)
        if about.model.args.get(name)
    )
    if len(found) < 2:
        return []
    return [f"run at different addresses, taken for the same model because all else agrees: {', '.join(found)}"]


def _said_of_versions(abouts: Sequence[RunRecord]) -> list[str]:
    found = dict.fromkeys(about.sketchmark for about in abouts)
    return [f"run by different versions of Sketchmark: {', '.join(found)}"] if len(found) > 1 else []


Tell = Callable[[str], None]


class NotWhole(BadInput):
    """Samples are missing; each line of `gaps` says which."""

    def __init__(self, gaps: Sequence[str]) -> None:
        super().__init__(
            f"{len(gaps)} gap{'s' * (len(gaps) > 1)}, and nothing was written",
            "run the missing samples and merge again, or use --partial",
        )
        self.gaps = gaps


@dataclass(frozen=True)
class Scorings:
    """Return the scorings of a cell: the run's own, then the others."""

    own: str
    beside: tuple[str, ...]
    judged: bool


TaskOf = Callable[[str, Mapping[str, Any], Path | None], Task]
"""(name, source, place of its data) of a cell -> its task."""


async def merge(
    runs: Sequence[RunFolder], folder: RunFolder, task_of: TaskOf, tell: Tell, *, partial: bool = False
) -> int:
    """Fill `folder` with what the runs hold, all of it: where samples are missing it is refused, unless `partial`.
    Numbers are made by the code of `run` and `score`. Returns the number of failed episodes, which need a rerun.
    """
    about, notes = one_run(runs)
    tasks = {name: task_of(cell.task, cell.source, about.data(name)) for name, cell in about.cells.items()}
    shards = [run.about().shard for run in runs]
    gaps, choices = list[str](), dict[str, Choice]()
    with counted(about.cells, len(about.cells), "comparing") as cells:
        for cell in cells:  # lines are read again when they are copied, so one episode at a time is in memory
            asked = [run.about().asked.get(cell) for run in runs]
            choice = choices[cell] = Choice(cell, max(one.repeats or 1 if one else 1 for one in asked))
            for one in choose(runs, choice):
                choice.add(one)
            choice.end_sample()
            gaps += gaps_in_words(choice, about.totals.get(cell), about.limits.get(cell), shards)
            notes += _said(choice)
    for note in notes:
        tell(note)
    if gaps and not partial:
        raise NotWhole(gaps)
    for gap in gaps:
        tell(gap)
    scorings = {cell: _scorings(runs, cell) for cell in about.cells}
    for cell, how in scorings.items():
        _copy(runs, folder, choices[cell], how)
        tell(f"{cell}: {choices[cell].episodes} episodes from {len(choices[cell].runs)} runs")
    write_json(folder.run_file, about)
    before = [results_before(run) for run in runs]
    warnings = list(dict.fromkeys([w for found in before if found for w in found.warnings] + gaps))
    for kind in dict.fromkeys(scorings.values()):
        of_kind = {cell: tasks[cell] for cell, how in scorings.items() if how == kind}
        if not kind.judged:  # a judge is not asked again
            await fill_scores(folder, of_kind, Grading(kind.own), kind.beside)
        aggregate(folder, of_kind, about.seed, [kind.own, *kind.beside], warnings)
    write_submissions(folder, tasks)
    return sum(choice.failed for choice in choices.values())


def _said(choice: Choice) -> Iterator[str]:
    if choice.alike:
        count = choice.alike.count
        yield f"{choice.cell}: {count} in several runs with the same answer, counted once: {choice.alike}"
    if choice.mended:
        yield f"{choice.cell}: failed in one run and not in another, the latter counts: {choice.mended}"


def _scorings(runs: Sequence[RunFolder], cell: str) -> Scorings:
    own: dict[str, Path] = {}
    beside: dict[str, None] = {}
    judged = False
    for run in runs:
        for row in NUMBERS.all(run.scores_file(cell)):
            own.setdefault(row.scoring, run.path)
            judged = judged or row.judge is not None or bool(row.extractor)
        found = results_before(run)
        if found and cell in found.tasks:
            beside |= dict.fromkeys(found.tasks[cell].scorings)
    if len(own) > 1:
        (one, here), (other, there), *_ = own.items()
        raise RunConflict(
            f"{cell} is scored by {one} in {here} and by {other} in {there}",
            f"sketchmark score {there} --scoring {one}",
        )
    if judged:
        for run in runs:
            refuse_partial_scores(run, *({cell} & set(run.cells)))
    return Scorings(next(iter(own), "strict"), tuple(beside), judged)


def _copy(runs: Sequence[RunFolder], folder: RunFolder, choice: Choice, how: Scorings) -> None:
    """Copy the lines of the episodes that count, and of their rows, in the order of the samples."""
    cell = choice.cell
    with ExitStack() as opened:
        episodes = opened.enter_context(replacing(folder.episodes_file(cell)))
        scores = []
        for suffix in ("", *how.beside):
            rows = [opened.enter_context(closing(_RowLines(run, cell, suffix))) for run in runs]
            scores.append((opened.enter_context(replacing(folder.scores_file(cell, suffix))), rows))
        again = choose(runs, Choice(cell))
        copying = opened.enter_context(counted(again, choice.episodes, cell))
        for one in copying:
            for name in one.media:
                _take_picture(runs[one.run], folder, name)
            episodes.write(_sealed(one.line))
            for file, rows in scores:
                if line := rows[one.run].of(one):
                    file.write(_sealed(line))


class _RowLines:
    """Lines of a run's score rows by episode."""

    def __init__(self, run: RunFolder, cell: str, suffix: str) -> None:
        self._path = run.scores_file(cell, suffix)
        self._file: BinaryIO | None = None
        episodes, rows = run.attempts(cell, limited=False), run.scored(cell, suffix, limited=False)
        mine, theirs = episodes.align(rows)
        same = episodes.arrays["started"][mine] == rows.arrays["started"][theirs]
        self._begins = np.full(len(episodes), -1, np.int64)
        self._begins[mine[same]] = rows.arrays["begin"][theirs[same]]

    def of(self, one: Try) -> bytes:
        """Return the row of an episode; empty if it has none."""
        begin = int(self._begins[one.at])
        if begin < 0:
            return b""
        self._file = self._file or open_regular(self._path)
        self._file.seek(begin)
        line = self._file.readline()
        row = NUMBERS.one(line, f"{self._path}, byte {begin}")
        return line if row.fingerprint in ("", one.fingerprint) else b""

    def close(self) -> None:
        if self._file:
            self._file.close()


def _sealed(line: bytes) -> bytes:
    """Lines of an older version have no checksum yet."""
    return line if is_sealed(line) else seal(line)


def _take_picture(run: RunFolder, folder: RunFolder, name: str) -> None:
    """A second name of the same file where the disk can do that: images never change, and there are
    millions. What it holds is checked by its digest whenever it is read."""
    source, target = run.pictures.path(name), folder.pictures.path(name)
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another disk, or one without such names
        with source.open("rb") as file, replacing(target, durable=False) as copy:
            shutil.copyfileobj(file, copy)


_NAMED = 5
"""Samples that are named before the rest is counted."""


class Try(msgspec.Struct, frozen=True):
    """One episode's last try in one of the folders."""

    run: int
    at: int
    """Number among the run's newest attempts."""
    line: bytes
    index: int
    sample: str
    repeat: int
    branch: int
    fingerprint: str
    started: float
    failed: bool
    finished: bool
    """It needs no rerun: it has an answer, or the model failed."""
    media: list[str]
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
class Names:
    """Names of samples, of which the first are kept."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        self.count += 1
        if self.count <= _NAMED:
            self.first.append(name)

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        return ", ".join(self.first) + (f" and {self.count - _NAMED} more" if self.count > _NAMED else "")


@dataclass
class Choice:
    """Sources of a cell of the merged run, in the order of the samples."""

    cell: str
    repeats: int = 1
    episodes: int = 0
    failed: int = 0
    """Episodes to rerun."""
    runs: set[int] = field(default_factory=set)
    last: int = -1
    """The largest number of a sample."""
    missing: array[int] = field(default_factory=lambda: array("q"))
    """Numbers below it without an episode."""
    lacking: array[int] = field(default_factory=lambda: array("q"))
    """Numbers of samples without some repeat."""
    answered: dict[int, array[int]] = field(default_factory=dict)
    """Number of answers to a drawing → numbers of the samples with so few, at least."""
    alike: Names = field(default_factory=Names)
    """Episodes that several folders hold with the same answer."""
    mended: Names = field(default_factory=Names)
    """Episodes that failed in one folder and did not in another."""
    lost: Names = field(default_factory=Names)
    """Episodes to rerun, since some of their images are missing."""
    _held: dict[int, int] = field(default_factory=dict)
    """Repeats of the last sample → the answers to their drawings; none after a failure."""

    def add(self, one: Try) -> None:
        """Count the next episode."""
        self.episodes += 1
        self.failed += not one.finished
        self.runs.add(one.run)
        if one.index != self.last:
            self.end_sample()
            self.missing.extend(range(self.last + 1, one.index))
            self.last = one.index
        self._held[one.repeat] = self._held.get(one.repeat, 0) + (not one.failed)

    def end_sample(self) -> None:
        """Note what the last sample lacks."""
        if self._held and not self._held.keys() >= set(range(self.repeats)):
            self.lacking.append(self.last)
        if fewest := min(filter(None, self._held.values()), default=0):
            self.answered.setdefault(fewest, array("q")).append(self.last)
        self._held = {}

    @property
    def unanswered(self) -> list[int]:
        """Numbers of samples with fewer answers to a drawing than others have."""
        most = max(self.answered, default=0)
        return sorted(number for answers, numbers in self.answered.items() if answers < most for number in numbers)


def choose(runs: Sequence[RunFolder], choice: Choice) -> Iterator[Try]:
    """Yield one try of each episode, in the order of the samples, and note what was chosen from. Refuses what cannot
    be one run: other data under the same name, or two different answers to one question."""
    cell = choice.cell
    differing, pair = Names(), (0, 0)
    ids, first = Seen(), None
    tries = merged_by_key(*(_last_tries(number, run, cell) for number, run in enumerate(runs)), key=_place)
    for _, together in groupby(tries, _place):
        best: Try | None = None
        for one in together:
            if first is None or first.index != one.index:
                first = one
                if not ids.add(one.sample):
                    _refuse_other_data(runs, cell, _under_another_number(runs, cell, one), one)
            _refuse_other_data(runs, cell, first, one)
            known, best = best, one
            if known is None:
                continue
            winner = _better(known, one)
            if known.finished and one.finished and known.content == one.content:
                choice.alike.add(one.key)
            elif known.failed != one.failed and winner:
                choice.mended.add(one.key)
            if winner is None:
                pair = pair if differing else (known.run, one.run)
                differing.add(one.key)
            best = winner or one
        if best and best.whole:
            yield best
        elif best:
            choice.lost.add(best.key)
    if differing:
        more = f" (and {differing.count - 1} more)" if differing.count > 1 else ""
        here, there = (runs[number].path for number in pair)
        raise RunConflict(
            f"{cell}: {differing.first[0]}{more} was answered differently in {here} and {there}",
            "leave one of the two out: which answer counts is not for a merge to choose",
        )


def _place(one: Try) -> tuple[int, int, int]:
    return one.place


def _under_another_number(runs: Sequence[RunFolder], cell: str, one: Try) -> Try | None:
    """Find the same sample under another number; there is none if only the hashes of two ids are equal."""
    tries = (known for number, run in enumerate(runs) for known in _last_tries(number, run, cell))
    return next((known for known in tries if known.sample == one.sample and known.index != one.index), None)


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
    here, there = runs[known.run].path, runs[one.run].path
    raise RunConflict(
        f"{what} of {cell} is not the same in {here} and {there}: the data differ",
        "run both on the same data, with the same --seed and --task_args",
    )


def _last_tries(number: int, run: RunFolder, cell: str) -> Iterator[Try]:
    """Yield the newest attempts of a run in the order of the samples. The file is opened for the first of them."""
    path = run.episodes_file(cell)
    begins = run.attempts(cell, limited=False).arrays["begin"]
    if not len(begins):
        return
    with open_regular(path) as file:
        for at, begin in enumerate(begins):
            file.seek(begin)
            line = file.readline()
            record = EPISODES.one(line, f"{path}, byte {begin}")
            failure, media = record.failure, list(media_names(record))
            yield Try(
                run=number,
                at=at,
                line=line,
                index=record.index,
                sample=record.sample.id,
                repeat=record.repeat,
                branch=record.branch,
                fingerprint=record.sample.fingerprint,
                started=record.started,
                failed=failure is not None,
                finished=failure is None or failure.blames_model,
                media=media,
                whole=all(map(run.pictures.holds, media)),
                content=_content(record),
            )


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


def gaps_in_words(choice: Choice, total: int | None, limit: int | None, shards: Sequence[str]) -> list[str]:
    """Describe the missing samples by the shard that should have them. Empty if none is missing."""
    told = []
    up_to = choice.missing[0] if choice.missing else choice.last + 1
    if total is None and not (limit and up_to >= limit):
        told.append(f"{choice.cell}: no run reached the end of the samples, so the number of missing ones is unknown")
    total = total if total is not None else choice.last + 1
    missing = [number for number in (*choice.missing, *range(choice.last + 1, total)) if number < total]
    if missing:
        told.append(
            f"{choice.cell}: {len(missing)} of {total} samples are missing: {_by_shard(missing, total, shards)}"
        )
    if choice.lacking:
        where = _by_shard(choice.lacking, total, shards)
        told.append(f"{choice.cell}: {len(choice.lacking)} samples lack some of {choice.repeats} repeats: {where}")
    if unanswered := choice.unanswered:
        where = _by_shard(unanswered, total, shards)
        answers = max(choice.answered)
        told.append(f"{choice.cell}: {len(unanswered)} samples lack some of {answers} answers: {where}")
    if choice.lost:
        told.append(f"{choice.cell}: pictures are lost of {choice.lost}")
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
    names = Names()
    for number in missing:
        names.add(str(number))
    return f"number {names}"
