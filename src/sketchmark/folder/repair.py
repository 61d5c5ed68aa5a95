"""Repair of a run folder: damaged lines and files are set aside, so that the run can be read and resumed.

Nothing is guessed: a line or image that is not as it was written goes to `RUN/set-aside`. The sample of a damaged
line is taken only from the intact score rows, since the line itself may say anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sketchmark.errors import BadInput
from sketchmark.files import is_picture_name, own_file, own_folder, replacing
from sketchmark.files.jsonl import LineReader, encode, seal, whole_lines
from sketchmark.folder import EPISODES, NUMBERS, Attempt, RunFolder, SampleId, is_cell_name
from sketchmark.folder.builders import EpisodeBuilder, RowBuilder
from sketchmark.folder.columns import Columns, Episodes, Rows
from sketchmark.folder.records import Seen, media_names

ASIDE = "set-aside"

Record = TypeVar("Record")


@dataclass
class Repair:
    """Damage that was found, and what has to be done again because of it."""

    faults: dict[str, list[str]] = field(default_factory=dict)
    """Path of a file in the run → its faults, one per line."""
    play: dict[str, list[str]] = field(default_factory=dict)
    """Cell → samples to rerun."""
    untold: dict[str, int] = field(default_factory=dict)
    """Cell → number of damaged episodes of unknown samples; a resumed run finds them missing."""
    retry: dict[str, list[str]] = field(default_factory=dict)
    """Cell → samples of which only an older, failed attempt is left."""
    score: dict[str, list[str]] = field(default_factory=dict)
    """Score file → samples to rescore."""


def repair(folder: RunFolder, *, dry_run: bool = False) -> Repair:
    """Check every line and media file of the run, and set the damaged ones aside unless it is a `dry_run`."""
    cells = _cells(folder)
    found = Repair()
    pictures = list(_damaged_pictures(folder))
    for name in pictures:
        found.faults[f"pictures/{name[:2]}/{name}"] = ["does not hold what its name says"]
    files: list[tuple[Path, dict[int, str]]] = []
    for cell in cells:
        attempts, incomplete, faults = _episodes(folder, cell, set(pictures))
        files.append((folder.episodes_file(cell), faults))
        rows = RowBuilder().columns()
        for path in _score_files(folder, cell):
            scored, unread = _scores(path)
            files.append((path, unread))
            if path == folder.scores_file(cell):
                rows = scored
            if unread:
                found.score[path.name] = _without(attempts, scored)
        _add_work(found, cell, attempts, incomplete, rows, sum(why != _TWICE for why in faults.values()))
    for path, faults in files:
        if faults:
            found.faults[path.relative_to(folder.path).as_posix()] = [f"line {n}: {faults[n]}" for n in faults]
    try:
        folder.results()
    except BadInput:
        found.faults["results.json"] = ["cannot be read"]
    if not dry_run:
        for name in found.faults:
            if not name.endswith(".jsonl"):
                target = _free(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                (folder.path / name).rename(target)
        for path, faults in files:
            if faults:
                _rewrite(path, faults, _free(folder, path.relative_to(folder.path).as_posix()))
    return found


_TWICE = "the same line once more"


def _cells(folder: RunFolder) -> list[str]:
    try:
        if folder.run_file.exists() or not (folder.path / "episodes").exists():
            return RunFolder.open(folder.path).cells
        why = "it is not there"
    except BadInput as error:
        why = str(error.args[0])
    raise BadInput(
        f"{folder.path / 'run.json'} cannot be repaired: {why}",
        "only this file says what was asked of which model: put a copy back; or, if you know the exact command of "
        "the run, move the file away and run it again: the file is made again and finished episodes are kept",
    )


def _damaged_pictures(folder: RunFolder) -> Iterator[str]:
    for inner in sorted(own_folder(folder.path, "pictures").glob("??")):
        for path in sorted(own_folder(folder.path, "pictures", inner.name).glob("*.*")):
            if is_picture_name(path.name) and not _is_intact(path):
                yield path.name


def _is_intact(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == path.name.partition(".")[0]


def _episodes(folder: RunFolder, cell: str, damaged: set[str]) -> tuple[Episodes, dict[str, None], dict[int, str]]:
    """Return the newest intact attempt of each sample, those that lack media, and the faults by line."""
    attempts, incomplete = EpisodeBuilder(), dict[str, None]()
    faults: dict[int, str] = {}
    twice = _twice(folder.episodes_file(cell))
    for number, record, why in _read(folder.episodes_file(cell), EPISODES):
        if record is None:
            faults[number] = why
        elif not all(map(is_picture_name, media_names(record))):
            faults[number] = "names a picture that cannot be one"
        elif number in twice:
            faults[number] = _TWICE
        else:
            light = Attempt(
                SampleId(record.sample.id), record.index, record.repeat, record.branch, record.started, record.failure
            )
            attempts.add(light, number)  # without its transcript, since the builder holds thousands
            incomplete.pop(record.key, None)
            if not all(name not in damaged and folder.pictures.holds(name) for name in media_names(record)):
                incomplete[record.key] = None
    return attempts.columns(), incomplete, faults


def _scores(path: Path) -> tuple[Rows, dict[int, str]]:
    rows = RowBuilder()
    faults: dict[int, str] = {}
    for number, record, why in _read(path, NUMBERS):
        if record is None:
            faults[number] = why
        else:
            rows.add(record, number)
    return rows.columns(), faults


def _twice(path: Path) -> set[int]:
    """Return the numbers of lines that are equal to an earlier one. Digests are kept only if there may be any."""
    seen = Seen()
    if all(seen.add(line) for _, line in whole_lines(path)):
        return set()
    digests, found = set[bytes](), set[int]()
    for number, (_, line) in enumerate(whole_lines(path), start=1):
        digest = hashlib.sha256(line).digest()
        if digest in digests:
            found.add(number)
        digests.add(digest)
    return found


def _read(path: Path, reader: LineReader[Record]) -> Iterator[tuple[int, Record | None, str]]:
    """Yield (number, record or None, fault). A truncated last line is left out: every run removes it."""
    for number, (_, line) in enumerate(whole_lines(path), start=1):
        try:
            yield number, reader.one(line, "line"), ""
        except BadInput as error:
            yield number, None, str(error.args[0]).removeprefix("line: ")


def _score_files(folder: RunFolder, cell: str) -> Iterator[Path]:
    yield folder.scores_file(cell)
    for path in sorted(own_folder(folder.path, "scores").glob(f"{cell}~*.jsonl")):
        if is_cell_name(path.stem):
            yield folder.scores_file(cell, path.stem.partition("~")[2])


def _without(some: Columns[Any], others: Columns[Any]) -> list[str]:
    """Return the keys that the others lack."""
    left = np.ones(len(some), bool)
    left[some.align(others)[0]] = False
    return [some.key(place) for place in np.flatnonzero(left).tolist()]


def _add_work(found: Repair, cell: str, attempts: Episodes, incomplete: Iterable[str], rows: Rows, lost: int) -> None:
    """Add what has to be done again in a cell. A score without an episode belongs to a lost episode."""
    gone = _without(rows, attempts) if lost else []
    if play := [*gone, *incomplete]:
        found.play[cell] = play
    mine, theirs = attempts.align(rows)
    later = rows.arrays["started"][theirs] > attempts.arrays["started"][mine]
    older = [attempts.key(place) for place in mine[attempts.failed[mine] & later].tolist()]
    if lost and older:
        found.retry[cell] = older
    if (untold := lost - len(gone) - len(older)) > 0:
        found.untold[cell] = untold


def _rewrite(path: Path, faults: dict[int, str], aside: Path) -> None:
    """Write the damaged lines to `aside` before they are removed from the file."""
    with replacing(path) as kept, replacing(aside) as taken:
        for number, (_, line) in enumerate(whole_lines(path), start=1):
            if number in faults:
                taken.write(seal(encode({"line": number, "why": faults[number], **_as_text(line)})))
            else:
                kept.write(line)


def _as_text(line: bytes) -> dict[str, Any]:
    try:
        return {"text": line.decode().removesuffix("\n")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(line).decode("ascii")}


def _free(folder: RunFolder, name: str) -> Path:
    """Return an unused name in `set-aside`: files of earlier repairs are kept."""
    place = Path(ASIDE, name)
    count = 1
    while own_file(folder.path, *place.parts).exists():
        count += 1
        place = Path(ASIDE, name).with_name(f"{Path(name).stem}.{count}{Path(name).suffix}")
    return folder.path / place
