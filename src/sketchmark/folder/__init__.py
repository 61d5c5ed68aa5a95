"""One run on disk: everything needed to resume, re-score, compare and look.

Whether every episode of a run has its score: numbers over a part of them would look like numbers over all.

The run folders below a folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sketchmark.episode import Episode
from sketchmark.errors import BadInput
from sketchmark.files import from_home, own_file
from sketchmark.files.jsonl import LineReader, whole_lines
from sketchmark.files.media_store import PictureStore
from sketchmark.folder.format import FORMAT, EpisodeLine, RunRecord, ScoreRow, episode_key
from sketchmark.folder.records import ScoredSample, Sharing, newest, unpack_episode
from sketchmark.folder.results_format import Results

Line = TypeVar("Line", EpisodeLine, ScoreRow, ScoredSample)


class SampleId(msgspec.Struct):
    id: str


class Opening(msgspec.Struct):
    """Whose line it is, without the transcript, which may be large."""

    sample: SampleId
    index: int = 0
    repeat: int = 0
    branch: int = 0

    @property
    def key(self) -> str:
        return episode_key(self.sample.id, self.repeat, self.branch)


class _Version(msgspec.Struct):
    """Looked at first: the rest of another version's run.json may be anything."""

    format: Any = None


EPISODES = LineReader(EpisodeLine, "an episode line")
OPENINGS = LineReader(Opening, "an episode line")
SCORES = LineReader(ScoreRow, "a score row")
NUMBERS = LineReader(ScoredSample, "a score row")
_RESULTS = LineReader(Results, "the results of a run")
_VERSION = msgspec.json.Decoder(_Version)
_ABOUT = msgspec.json.Decoder(RunRecord)
_CELL = re.compile(r"[A-Za-z0-9_+\-]+(\.[A-Za-z0-9_+\-]+)+(~[a-z\-]+)?")


class RunFolder:
    """Paths and readers of a run. Reading needs nothing but the folder; names in it are never trusted as paths."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pictures = PictureStore(path, "pictures")

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        folder = cls(from_home(path))
        if not folder.run_file.exists():
            raise BadInput(
                f"{path} is not a run folder (it has no run.json)", "sketchmark run --output_path makes one"
            )
        return folder

    @property
    def run_file(self) -> Path:
        return self.file("run.json")

    @property
    def results_file(self) -> Path:
        return self.file("results.json")

    @property
    def report_file(self) -> Path:
        return self.file("report.html")

    def file(self, *names: str) -> Path:
        """The path of any file of the run, whether it is there or not; a link, or a pipe, is refused."""
        return own_file(self.path, *names)

    def about(self) -> RunRecord:
        try:
            data = self.run_file.read_bytes()
            version = _VERSION.decode(data).format
            if version != FORMAT:
                raise BadInput(
                    f"{self.path} was written by another version (format {version!r}, not {FORMAT})",
                    "read it with the version of Sketchmark that wrote it, or run it again in a new folder",
                )
            return _ABOUT.decode(data)
        except msgspec.ValidationError as error:
            raise BadInput(f"{self.run_file} does not describe a run: {error}") from error
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"cannot read {self.run_file}: {error}") from error

    @property
    def cells(self) -> list[str]:
        """`task.mode` (or `task.mode.canvas` when a run plays several canvases), in the order they were asked for."""
        return [name for name in self.about().cells if is_cell_name(name)]

    def episodes_file(self, cell: str) -> Path:
        return self.file("episodes", f"{_checked(cell)}.jsonl")

    def scores_file(self, cell: str, scoring: str = "") -> Path:
        return self.file("scores", f"{_checked(cell + (f'~{scoring}' if scoring else ''))}.jsonl")

    def limit(self, cell: str) -> int | None:
        """How many samples were asked for last; None: all."""
        return self.about().limits.get(cell) if self.run_file.exists() else None

    def episodes(self, cell: str) -> Iterator[EpisodeLine]:
        """One line per episode: where a failure was retried, the newest. Also of samples beyond the last limit."""
        path = self.episodes_file(cell)
        last = {OPENINGS.one(line, at).key: number for number, (at, line) in enumerate(whole_lines(path))}
        counted = set(last.values())
        for number, (at, line) in enumerate(whole_lines(path)):
            if number in counted:
                yield EPISODES.one(line, at)

    def played(self, cell: str) -> Iterator[tuple[int, Episode]]:
        """(the sample's number, its episode), in the order of the samples."""
        for line in self._asked(cell, sorted(self.episodes(cell), key=lambda line: line.place)):
            yield line.index, unpack_episode(line, self.pictures)

    def scores(self, cell: str, scoring: str = "") -> Iterator[ScoreRow]:
        """One row per episode, in the order of the samples."""
        yield from self._asked(cell, newest(SCORES.all(self.scores_file(cell, scoring))).values())

    def scored(self, cell: str, scoring: str = "") -> dict[str, ScoredSample]:
        """The same rows by their keys and without their notes, for numbers over many of them."""
        return newest(map(Sharing(), self._asked(cell, NUMBERS.all(self.scores_file(cell, scoring)))))

    def _asked(self, cell: str, lines: Iterable[Line]) -> Iterator[Line]:
        limit = self.limit(cell)
        return (line for line in lines if limit is None or line.index < limit)

    def results(self) -> Results:
        """The aggregates; without any while the run is going for the first time."""
        path = self.results_file
        if not path.exists():
            return Results(tasks={}, gains=[])
        try:
            return _RESULTS.one(path.read_bytes(), str(path))
        except (BadInput, OSError) as error:
            raise BadInput(f"cannot read {path}", f"sketchmark score {self.path} makes it again") from error


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """What changed between two descriptions, as `modes.direct.prompts.ask`-like paths with both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return [
            line
            for key in sorted({*before, *now}, key=str)
            for line in differences(before.get(key), now.get(key), f"{where}.{key}" if where else str(key))
        ]
    return [] if before == now else [f"{where}: {_short(before)} -> {_short(now)}"]


def is_cell_name(name: str) -> bool:
    """Also with `~scoring` behind it."""
    return _CELL.fullmatch(name) is not None


def _checked(cell: str) -> str:
    if not is_cell_name(cell):
        raise BadInput(f"not a name of a run's cell: {cell[:80]!r}")
    return cell


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."


class _Try(Opening):
    """Which try at which sample a line is of, without the transcript."""

    started: float = 0.0


_TRIES = LineReader(_Try, "an episode line")


def refuse_partial_scores(folder: RunFolder, *cells: str) -> None:
    """Of these cells, or of all. Lines of samples beyond the last `--limit` do not matter."""
    for cell in cells or folder.cells:
        limit, lines = folder.limit(cell), _TRIES.all(folder.episodes_file(cell))
        tries = {line.key: line.started for line in lines if limit is None or line.index < limit}
        for row in NUMBERS.all(folder.scores_file(cell)):
            if tries.get(row.key) == row.started:
                del tries[row.key]
        if tries:
            raise BadInput(
                f"{len(tries)} episodes of {cell} in {folder.path} have no scores (one is {next(iter(tries))})",
                f"sketchmark score {folder.path}, or the same `sketchmark run` again, scores them",
            )


DEPTH = 3


def run_folders(folder: Path, depth: int = DEPTH) -> Iterator[Path]:
    """In the order of their names; links are not followed. What only looks like a run is given, too: whoever
    opens it is told what is wrong."""
    if os.path.lexists(folder / "run.json"):
        yield folder
        return
    if depth == 0:
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from run_folders(Path(entry.path), depth - 1)
