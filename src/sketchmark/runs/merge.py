"""Merge the shards of a run into one folder, as if it had run at once.

The folders must be parts of one run: everything that shaped an answer must agree. Episodes and their scores are
copied line by line, and results are computed from all of them. The folder appears under its name when it is whole.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import structs

from sketchmark import __version__
from sketchmark.episode import Grading
from sketchmark.errors import BadInput, RunConflict
from sketchmark.files import replacing, write_json
from sketchmark.files.jsonl import is_sealed, plain, seal, whole_lines
from sketchmark.folder import EPISODES, NUMBERS, RunFolder, differences, in_short, refuse_partial_scores
from sketchmark.folder.format import FORMAT, CellRecord, RunRecord
from sketchmark.folder.records import media_names
from sketchmark.models import address_arguments
from sketchmark.results.aggregate import aggregate, results_before, write_submissions
from sketchmark.results.rescore import fill_scores
from sketchmark.runs.merge_choice import Choice, LineRef, choose, gaps_in_words, listed
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
    choices, gaps = list[Choice](), list[str]()
    with counted(about.cells, len(about.cells), "comparing") as cells:
        choices += [choose(runs, cell) for cell in cells]
    for choice in choices:
        cell = choice.cell
        gaps += gaps_in_words(choice, about.totals.get(cell), about.limits.get(cell), shards)
    for note in [*notes, *(note for choice in choices for note in _said(choice))]:
        tell(note)
    if gaps and not partial:
        raise NotWhole(gaps)
    for gap in gaps:
        tell(gap)
    scorings = {choice.cell: _scorings(runs, choice) for choice in choices}
    for choice in choices:
        _copy(runs, folder, choice, scorings[choice.cell])
        tell(f"{choice.cell}: {len(choice.tries)} episodes from {len({one.line.run for one in choice.tries})} runs")
    write_json(folder.run_file, about)
    before = [results_before(run) for run in runs]
    warnings = list(dict.fromkeys([w for found in before if found for w in found.warnings] + gaps))
    for kind in dict.fromkeys(scorings.values()):
        of_kind = {cell: tasks[cell] for cell, how in scorings.items() if how == kind}
        if not kind.judged:  # a judge is not asked again
            await fill_scores(folder, of_kind, Grading(kind.own), kind.beside)
        aggregate(folder, of_kind, about.seed, [kind.own, *kind.beside], warnings)
    write_submissions(folder, tasks)
    return sum(not one.finished for choice in choices for one in choice.tries)


def _said(choice: Choice) -> Iterator[str]:
    if choice.alike:
        count = len(choice.alike)
        yield f"{choice.cell}: {count} in several runs with the same answer, counted once: {listed(choice.alike)}"
    if choice.mended:
        yield f"{choice.cell}: failed in one run and not in another, the latter counts: {listed(choice.mended)}"


def _scorings(runs: Sequence[RunFolder], choice: Choice) -> Scorings:
    own: dict[str, Path] = {}
    beside: dict[str, None] = {}
    judged = False
    for run in runs:
        for row in NUMBERS.all(run.scores_file(choice.cell)):
            own.setdefault(row.scoring, run.path)
            judged = judged or row.judge is not None or bool(row.extractor)
        found = results_before(run)
        if found and choice.cell in found.tasks:
            beside |= dict.fromkeys(found.tasks[choice.cell].scorings)
    if len(own) > 1:
        (one, here), (other, there), *_ = own.items()
        raise RunConflict(
            f"{choice.cell} is scored by {one} in {here} and by {other} in {there}",
            f"sketchmark score {there} --scoring {one}",
        )
    if judged:
        for run in runs:
            refuse_partial_scores(run, *({choice.cell} & set(run.cells)))
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
