"""A compact picture of a run in memory: where every episode's line begins, and what lists and tables need of it.

A run of 20,000 episodes is gigabytes of transcripts and a few megabytes of this. Transcripts are read from disk one
at a time, by the byte where their line begins; lines appended by a run that is still going are taken in as they come.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.tail import Tail, line_at
from sketchmark.runs.scored import drawing_right
from sketchmark.runs.store import RunFolder

Row = dict[str, Any]
"""A score line without its notes, plus `drawing` (was all that was drawn right?) and `at` (the byte it begins at)."""

_KEPT = ("index", "sample", "scored", "values", "flags", "groups", "usage", "seconds")
_OPENING = re.compile(rb'\{"index":\d+,"sample":\{"id":("(?:[^"\\]|\\.)*")')


class CellIndex:
    """One task in one mode: its episodes by sample, its score rows by sample. A retried sample's last line counts."""

    def __init__(self, folder: RunFolder, name: str, about: Mapping[str, Any]) -> None:
        self.folder = folder
        self.name = name
        self.about = about
        self.task, self.mode = str(about.get("task", name)), str(about.get("mode", ""))
        self.canvas, self.headline = str(about.get("canvas", "own")), str(about.get("headline", ""))
        self.episodes: dict[str, int] = {}
        self.rows: dict[str, Row] = {}
        self.version = 0
        self._lines = Tail(_inside(folder, folder.episodes_file(name)))
        self._scores = Tail(_inside(folder, folder.scores_file(name)))
        self._kept: dict[tuple[Any, ...], Any] = {}
        self._order: tuple[int, list[str]] | None = None

    def refresh(self) -> None:
        for tail, known, take in (
            (self._lines, self.episodes, self._take_episode),
            (self._scores, self.rows, self._take_score),
        ):
            generation = tail.generation
            for begin, line in tail:
                if generation != tail.generation:
                    generation = tail.generation
                    known.clear()
                take(begin, line)
                self.version += 1
            if generation != tail.generation:
                known.clear()
                self.version += 1

    def _take_episode(self, begin: int, line: bytes) -> None:
        self.episodes[_sample_of(line, self._lines.path)] = begin

    def _take_score(self, begin: int, line: bytes) -> None:
        score = _parsed(line, self._scores.path)
        try:
            row = {key: score[key] for key in _KEPT}
        except KeyError as error:
            raise BadInput(f"{self._scores.path}: a score line has no {error}") from error
        for key in ("values", "groups"):
            row[key] = {sys.intern(str(name)): value for name, value in row[key].items()}
        row["flags"] = self._shared(("flags", *map(str, row["flags"])), row["flags"])
        row["usage"] = self._shared(("usage", *row["usage"].items()), row["usage"])
        row["drawing"] = drawing_right(score)
        row["at"] = begin
        self.rows[str(score["sample"])] = row

    def _shared(self, key: tuple[Any, ...], value: Any) -> Any:
        """Equal small values are kept once: most rows have the same flags and usage."""
        return self._kept.setdefault(key, value) if len(self._kept) < 10_000 else value

    def order(self) -> list[str]:
        """Samples in the order of the task, whatever order they finished in; those not scored yet at the end."""
        if self._order is None or self._order[0] != self.version:
            rows = self.rows
            last = sys.maxsize
            found = sorted(self.episodes, key=lambda sample: rows[sample]["index"] if sample in rows else last)
            self._order = (self.version, found)
        return self._order[1]

    def value(self, sample: str) -> float | None:
        row = self.rows.get(sample)
        return row["values"].get(self.headline) if row and row["scored"] else None

    def episode(self, sample: str) -> dict[str, Any]:
        if sample not in self.episodes:
            raise BadInput(f"{self.name} has no sample {sample[:80]!r}")
        return _parsed(line_at(self._lines.path, self.episodes[sample]), self._lines.path)

    def score(self, sample: str) -> dict[str, Any] | None:
        """The whole score line, notes included; None while the episode waits to be scored."""
        row = self.rows.get(sample)
        return _parsed(line_at(self._scores.path, row["at"]), self._scores.path) if row else None

    def raw_lines(self) -> Iterator[tuple[str, bytes]]:
        """The line of each sample, unparsed, in the order of the file."""
        by_begin = {begin: sample for sample, begin in self.episodes.items()}
        if not by_begin:
            return
        with self._lines.path.open("rb") as file:
            position = 0
            for line in file:
                if position in by_begin:
                    yield by_begin[position], line
                position += len(line)


class RunIndex:
    """Everything the viewer keeps of one run."""

    def __init__(self, folder: RunFolder, key: str) -> None:
        self.folder = folder
        self.key = key
        self.about: dict[str, Any] = {}
        self.cells: dict[str, CellIndex] = {}
        self._stamp: tuple[int, int] | None = None

    def refresh(self) -> None:
        file = _inside(self.folder, self.folder.run_file).stat()
        stamp = (file.st_ino, file.st_mtime_ns)
        if stamp != self._stamp:
            self.about = self.folder.about()
            described = self.about["cells"]
            for name in self.folder.cells:
                if name not in self.cells or self.cells[name].about != described[name]:
                    self.cells[name] = CellIndex(self.folder, name, described[name])
            self.cells = {name: self.cells[name] for name in self.folder.cells}
            self._stamp = stamp
        for cell in self.cells.values():
            cell.refresh()

    @property
    def version(self) -> int:
        """Changes whenever something was added: a browser that has seen this number has seen everything."""
        return sum(cell.version for cell in self.cells.values())

    @property
    def model(self) -> str:
        model = self.about.get("model")
        return str(model.get("name", "")) if isinstance(model, Mapping) else ""

    def cell(self, name: str) -> CellIndex:
        if name not in self.cells:
            raise BadInput(f"this run has no {name[:80]!r}", f"it has: {', '.join(self.cells)}")
        return self.cells[name]

    def baseline(self, cell: CellIndex) -> CellIndex | None:
        """What the drawing gain of a cell is measured against: the same task, answered directly."""
        base = self.cells.get(f"{cell.task}.direct")
        return None if base is cell else base

    def state(self, now: float) -> str:
        """`finished`, `running` or `stopped`, told from the files alone: looking must never touch a run's lock.

        A finished run has aggregates newer than its last episode, or, where a copy has mixed up the times, aggregates
        that count every episode.
        """
        newest = max((_changed(self.folder.episodes_file(name)) for name in self.cells), default=0.0)
        summed = _changed(self.folder.path / "results.json")
        idle = now - max(newest, _changed(self.folder.run_file)) >= 120
        copied = newest - summed < 5
        if newest and (summed >= newest or ((idle or copied) and self._counted())):
            return "finished"
        return "stopped" if idle else "running"

    def _counted(self) -> bool:
        try:
            tasks = json.loads(_inside(self.folder, self.folder.path / "results.json").read_bytes())["tasks"]
            return all(tasks[name]["episodes"] == len(cell.episodes) for name, cell in self.cells.items())
        except (SketchmarkError, OSError, ValueError, LookupError, TypeError, RecursionError):
            return False


def change(before: float | None, after: float | None) -> str | None:
    if before is None or after is None:
        return None
    return "same" if before == after else "helped" if after > before else "hurt"


def outcome(row: Row | None, value: float | None) -> str:
    """`unscored` where there is nothing to say about the model; `partly` for scores between none and all."""
    if row is None or value is None:
        return "unscored"
    return "right" if value >= 1 else "wrong" if value <= 0 else "partly"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _inside(folder: RunFolder, path: Path) -> Path:
    """A run folder may come from a stranger: a link that leads out of it is not followed."""
    if not path.resolve().is_relative_to(folder.path.resolve()):
        raise BadInput(f"{path} leads out of the run folder")
    return path


def _sample_of(line: bytes, path: Path) -> str:
    """The sample's id without parsing the transcript, which may be large."""
    opening = _OPENING.match(line)
    if opening and b"\\" not in opening[1]:
        return opening[1][1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(opening[1]) if opening else json.loads(line)["sample"]["id"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: not an episode line: {line[:60]!r}") from error


def _parsed(line: bytes, path: Path) -> dict[str, Any]:
    try:
        record = json.loads(line.decode())
    except ValueError as error:
        raise BadInput(f"{path}: not JSON", "the file was changed by hand") from error
    if not isinstance(record, dict):
        raise SketchmarkError(f"{path}: a line is not a record")
    return record
