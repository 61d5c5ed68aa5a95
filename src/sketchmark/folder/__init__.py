"""A run folder: everything needed to resume, rescore, compare and show a run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sketchmark.episode import Episode, Failure
from sketchmark.errors import BadInput
from sketchmark.files import PictureStore, from_home, own_file
from sketchmark.files.jsonl import LineReader, read_regular, whole_lines
from sketchmark.folder.builders import EpisodeBuilder, Made, RowBuilder, Source
from sketchmark.folder.columns import Episodes, Rows
from sketchmark.folder.format import FORMAT, EpisodeLine, RunRecord, Score, ScoreRow, episode_key
from sketchmark.folder.records import unpack_episode
from sketchmark.folder.results_format import Results


class SampleId(msgspec.Struct):
    id: str


class _Opening(msgspec.Struct):
    """An episode line without its transcript, which may be large."""

    sample: SampleId
    index: int = 0
    repeat: int = 0
    branch: int = 0

    @property
    def key(self) -> str:
        return episode_key(self.sample.id, self.repeat, self.branch)


class Attempt(_Opening):
    """The same with its start and its failure."""

    started: float = 0.0
    failure: Failure | None = None


class _Version(msgspec.Struct):
    """The format of a run.json, decoded first: the rest of another version's file may be anything."""

    format: Any = None


EPISODES = LineReader(EpisodeLine, "an episode line")
OPENINGS = LineReader(_Opening, "an episode line")
ATTEMPTS = LineReader(Attempt, "an episode line")
SCORES = LineReader(ScoreRow, "a score row")
NUMBERS = LineReader(Score, "a score row")
_RESULTS = LineReader(Results, "the results of a run")
_VERSION = msgspec.json.Decoder(_Version)
_RECORD = msgspec.json.Decoder(RunRecord)
_CELL = re.compile(r"[A-Za-z0-9_+\-]+(\.[A-Za-z0-9_+\-]+)+(~[a-z\-]+)?")
_DEPTH = 3


class RunFolder:
    """Paths and readers of a run. Reading needs only the folder; names in it are never trusted as paths."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pictures = PictureStore(path, "pictures")
        self._small: dict[tuple[Path, int | None], Source[Any, Any]] = {}
        """Small files that were read. The others have an index."""

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
        """Return the path of a file of the run, which need not exist; links and pipes are refused."""
        return own_file(self.path, *names)

    def about(self) -> RunRecord:
        try:
            data = read_regular(self.run_file)
            version = _VERSION.decode(data).format
            if version != FORMAT:
                raise BadInput(
                    f"{self.path} was written by another version (format {version!r}, not {FORMAT})",
                    "read it with the version of Sketchmark that wrote it, or run it again in a new folder",
                )
            return _RECORD.decode(data)
        except msgspec.ValidationError as error:
            raise BadInput(f"{self.run_file} does not describe a run: {error}") from error
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"cannot read {self.run_file}: {error}") from error

    @property
    def cells(self) -> list[str]:
        """`task.mode` (or `task.mode.canvas` if the run has several canvases), in the requested order."""
        return [name for name in self.about().cells if is_cell_name(name)]

    def episodes_file(self, cell: str) -> Path:
        return self.file("episodes", f"{_checked(cell)}.jsonl")

    def scores_file(self, cell: str, scoring: str = "") -> Path:
        return self.file("scores", f"{_checked(cell + (f'~{scoring}' if scoring else ''))}.jsonl")

    def limit(self, cell: str) -> int | None:
        """Return the number of samples of the last invocation; None: all."""
        return self.about().limits.get(cell) if self.run_file.exists() else None

    def episodes(self, cell: str) -> Iterator[EpisodeLine]:
        """Yield the newest line of each episode, also of samples beyond the last limit, in the order of the file."""
        wanted = iter(np.sort(self.attempts(cell, limited=False).arrays["begin"]))
        following, begin = next(wanted, None), 0
        for at, line in whole_lines(self.episodes_file(cell)) if following is not None else ():
            if begin == following:
                yield EPISODES.one(line, at)
                following = next(wanted, None)
            begin += len(line)

    def played(self, cell: str) -> Iterator[tuple[int, Episode]]:
        """Yield (number of the sample, its episode), in the order of the samples."""
        for line in EPISODES.some(self.episodes_file(cell), self.attempts(cell).arrays["begin"]):
            yield line.index, unpack_episode(line, self.pictures)

    def scores(self, cell: str, scoring: str = "") -> Iterator[ScoreRow]:
        """Yield one row per episode, in the order of the samples."""
        return SCORES.some(self.scores_file(cell, scoring), self.scored(cell, scoring).arrays["begin"])

    def scored(self, cell: str, scoring: str = "", *, limited: bool = True) -> Rows:
        """Return the same rows by key and without their notes, as columns for statistics over many of them. Unless
        `limited`, also those of samples beyond the last limit."""
        limit = self.limit(cell) if limited else None
        return self._columns(Source(self.scores_file(cell, scoring), NUMBERS, RowBuilder, limit), limit)

    def attempts(self, cell: str, *, limited: bool = True) -> Episodes:
        """Return the newest attempt of each episode, without transcripts."""
        limit = self.limit(cell) if limited else None
        return self._columns(Source(self.episodes_file(cell), ATTEMPTS, EpisodeBuilder, limit), limit)

    def _columns(self, source: Source[Any, Made], limit: int | None) -> Made:
        """Return the columns of a file. What was read of a small one is kept: a run asks for it a dozen times, also
        without a limit that none of its lines reaches."""
        whole: Source[Any, Made] | None = self._small.get((source.path, None))
        if whole and limit is not None and (whole.refresh().columns.arrays["index"] < limit).all():
            return whole.columns
        known = source.path, limit
        source = self._small.pop(known, source).refresh()
        if source.is_small:
            self._small[known] = source
        return source.columns

    def failed(self, cell: str) -> dict[str, Failure]:
        """Return the failures of the last attempts by key, within the limit of the last invocation."""
        episodes = self.attempts(cell)
        begins = sorted(episodes.arrays["begin"][episodes.failed].tolist())
        lines = ATTEMPTS.some(self.episodes_file(cell), begins)
        return {line.key: line.failure for line in lines if line.failure}

    def results(self) -> Results:
        """Return the aggregates; empty ones during the first invocation."""
        path = self.results_file
        if not path.exists():
            return Results(tasks={}, gains=[])
        try:
            return _RESULTS.one(read_regular(path), str(path))
        except (BadInput, OSError) as error:
            raise BadInput(f"cannot read {path}", f"sketchmark score {self.path} makes it again") from error


def is_cell_name(name: str) -> bool:
    """Check the name of a cell, which may end in `~scoring`."""
    return _CELL.fullmatch(name) is not None


def _checked(cell: str) -> str:
    if not is_cell_name(cell):
        raise BadInput(f"not a name of a run's cell: {cell[:80]!r}")
    return cell


def unscored(folder: RunFolder, *cells: str) -> dict[str, list[str]]:
    """Return cell → its episodes without a score, of the cells (all, by default) that have such episodes."""
    found = {}
    for cell in cells or folder.cells:
        if left := without_score(folder.attempts(cell), folder.scored(cell)):
            found[cell] = left
    return found


def without_score(episodes: Episodes, rows: Rows) -> list[str]:
    """List the episodes whose newest attempt has no score."""
    mine, theirs = episodes.align(rows)
    left = np.ones(len(episodes), bool)
    left[mine] = episodes.arrays["started"][mine] != rows.arrays["started"][theirs]
    return [episodes.key(place) for place in np.flatnonzero(left).tolist()]


def refuse_partial_scores(folder: RunFolder, *cells: str) -> None:
    """Refuse cells (all, by default) in which an episode has no score: partial results would pass for full ones."""
    for cell, episodes in unscored(folder, *cells).items():
        raise BadInput(
            f"{len(episodes)} episodes of {cell} in {folder.path} have no scores (one is {episodes[0]})",
            f"sketchmark score {folder.path}, or the same `sketchmark run` again, scores them",
        )


def run_folders(folder: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """Yield the run folders below a folder, by name. Links are not followed.

    Broken run folders are included, so that the caller reports what is wrong with them.
    """
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


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """List the changes between two descriptions, as `modes.direct.prompts.ask`-like paths with both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return [
            line
            for key in sorted({*before, *now}, key=str)
            for line in differences(before.get(key), now.get(key), f"{where}.{key}" if where else str(key))
        ]
    return [] if before == now else [f"{where}: {_short(before)} -> {_short(now)}"]


def in_short(changes: list[str]) -> str:
    """Join the first three differences, and count the rest."""
    return "; ".join(changes[:3]) + (f" and {len(changes) - 3} more" if len(changes) > 3 else "")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
