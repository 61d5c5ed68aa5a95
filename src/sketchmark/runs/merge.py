"""Merge the shards of a run into one folder, as if it had run at once.

The folders must be parts of one run: everything that shaped an answer must agree. For each sample one episode is
chosen among the folders. Episodes and their scores are copied line by line, and results are computed from all of
them. The folder appears under its name when it is whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
from msgspec import structs

from sketchmark import __version__
from sketchmark.episode import Grading
from sketchmark.errors import BadInput, RunConflict
from sketchmark.files import replacing, write_json
from sketchmark.files.jsonl import is_sealed, plain, seal, whole_lines
from sketchmark.folder import EPISODES, NUMBERS, RunFolder, differences, in_short, refuse_partial_scores
from sketchmark.folder.format import FORMAT, CellRecord, EpisodeLine, RunRecord, episode_key
from sketchmark.folder.records import media_names
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
    gaps, failures = list[str](), 0
    with counted(about.cells, len(about.cells), "comparing") as cells:
        for cell in cells:  # one at a time is in memory, and chosen again when it is copied
            choice = choose(runs, cell)
            asked = [run.about().asked.get(cell) for run in runs]
            repeats = max(one.repeats or 1 if one else 1 for one in asked)
            gaps += gaps_in_words(choice, about.totals.get(cell), about.limits.get(cell), shards, repeats)
            notes += _said(choice)
            failures += sum(not one.finished for one in choice.tries)
    for note in notes:
        tell(note)
    if gaps and not partial:
        raise NotWhole(gaps)
    for gap in gaps:
        tell(gap)
    scorings = {cell: _scorings(runs, cell) for cell in about.cells}
    for cell, how in scorings.items():
        choice = choose(runs, cell)
        _copy(runs, folder, choice, how)
        tell(f"{cell}: {len(choice.tries)} episodes from {len({one.line.run for one in choice.tries})} runs")
    write_json(folder.run_file, about)
    before = [results_before(run) for run in runs]
    warnings = list(dict.fromkeys([w for found in before if found for w in found.warnings] + gaps))
    for kind in dict.fromkeys(scorings.values()):
        of_kind = {cell: tasks[cell] for cell, how in scorings.items() if how == kind}
        if not kind.judged:  # a judge is not asked again
            await fill_scores(folder, of_kind, Grading(kind.own), kind.beside)
        aggregate(folder, of_kind, about.seed, [kind.own, *kind.beside], warnings)
    write_submissions(folder, tasks)
    return failures


def _said(choice: Choice) -> Iterator[str]:
    if choice.alike:
        count = len(choice.alike)
        yield f"{choice.cell}: {count} in several runs with the same answer, counted once: {listed(choice.alike)}"
    if choice.mended:
        yield f"{choice.cell}: failed in one run and not in another, the latter counts: {listed(choice.mended)}"


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
    paths = [run.episodes_file(choice.cell) for run in runs]
    with replacing(folder.episodes_file(choice.cell)) as episodes:
        places = [one.line for one in choice.tries]
        lines = zip(places, _lines_at(paths, places), strict=True)
        with counted(lines, len(places), choice.cell) as copying:
            for place, line in copying:
                record = EPISODES.one(line, f"{paths[place.run]}, byte {place.begin}")
                for name in media_names(record):
                    _take_picture(runs[place.run], folder, name)
                episodes.write(_sealed(line))
    for suffix in ("", *how.beside):
        paths = [run.scores_file(choice.cell, suffix) for run in runs]
        with replacing(folder.scores_file(choice.cell, suffix)) as scores:
            for line in _lines_at(paths, _scores_of(paths, choice)):
                scores.write(_sealed(line))


def _lines_at(paths: Sequence[Path], places: Iterable[LineRef]) -> Iterator[bytes]:
    with ExitStack() as opened:
        files: dict[int, BinaryIO] = {}
        for place in places:
            if place.run not in files:
                files[place.run] = opened.enter_context(paths[place.run].open("rb"))
            files[place.run].seek(place.begin)
            yield files[place.run].read(place.length)


def _scores_of(paths: Sequence[Path], choice: Choice) -> list[LineRef]:
    """The rows of the tries that count, in the order of the samples."""
    rows: dict[tuple[int, ...], LineRef] = {}
    for number, path in enumerate(paths):
        tries = {one.key: one for one in choice.tries if one.line.run == number}
        begin = 0
        for where, line in whole_lines(path):
            row = NUMBERS.one(line, where)
            one = tries.get(row.key)
            if one and row.started == one.started and row.fingerprint in ("", one.fingerprint):
                rows[one.place] = LineRef(number, begin, len(line))
            begin += len(line)
    return [rows[place] for place in sorted(rows)]


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
