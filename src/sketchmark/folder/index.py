"""Opened runs: the byte at which each episode's line begins, and the scores that lists and tables need.

A run of a million episodes has gigabytes of transcripts and a hundred megabytes of this. Transcripts are read from
disk one at a time; lines that a running run appends are taken in as they come.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.jsonl import Tail, line_at
from sketchmark.folder import ATTEMPTS, EPISODES, NUMBERS, SCORES, RunFolder, refuse_partial_scores
from sketchmark.folder.builders import EpisodeBuilder, RowBuilder, Source
from sketchmark.folder.columns import Episodes, Rows
from sketchmark.folder.format import EpisodeLine, RunRecord, ScoreRow
from sketchmark.folder.lock import holder_of
from sketchmark.folder.results_format import CellResult
from sketchmark.settings import WHOLE, Shard
from sketchmark.terminal import counted

Value = TypeVar("Value")


class Latest(Generic[Value]):
    """A value that is computed again when the version of its view has changed."""

    def __init__(self) -> None:
        self._known: tuple[int, Value] | None = None

    def at(self, version: int, compute: Callable[[], Value]) -> Value:
        if self._known is None or self._known[0] != version:
            self._known = (version, compute())
        return self._known[1]


class CellView:
    """An opened cell: its episodes and score rows by `episode_key`, which is the sample's id unless repeated.

    The last line of a retried episode counts. Samples beyond the `--limit` of the last invocation are ignored.
    """

    def __init__(self, run: RunView, name: str) -> None:
        self.folder, self.run, self.model, self.name = run.folder, run.key, run.model, name
        self.about, self.limit = run.about.cells[name], run.about.limits.get(name)
        self.task, self.mode = self.about.task or name, self.about.mode
        self.canvas, self.headline = self.about.canvas, self.about.headline
        self._lines = Source(self.folder.episodes_file(name), ATTEMPTS, EpisodeBuilder, self.limit)
        self._scores = Source(self.folder.scores_file(name), NUMBERS, RowBuilder, self.limit)
        self.result = Latest[CellResult]()

    def refresh(self) -> None:
        self._lines.refresh()
        self._scores.refresh()

    @property
    def version(self) -> int:
        """A number that changes whenever something was added."""
        return self._lines.version + self._scores.version

    @property
    def done(self) -> int:
        """Number of episodes without further answers to a drawing."""
        return int((self.episodes.arrays["branch"] == 0).sum())

    @property
    def episodes(self) -> Episodes:
        return self._lines.columns

    @property
    def rows(self) -> Rows:
        return self._scores.columns

    @property
    def player(self) -> str:
        """Equal for cells that the same model ran with the same arguments, in whatever folder."""
        return json.dumps(self.about.model, sort_keys=True)

    @property
    def scoring(self) -> str:
        """The scoring of the rows that were read, or else of the file's first."""
        if len(self.rows):
            return self.rows.at(0).scoring
        return next((row.scoring for row in NUMBERS.all(self._scores.path)), "")

    def scored(self) -> Rows:
        """Return the rows in the order of the samples."""
        return self.rows

    def complete_scores(self) -> Rows:
        """Return the rows that were read, else all of the file without keeping them; refused if an episode has
        none."""
        if self.version:
            return self.rows
        refuse_partial_scores(self.folder, self.name)
        return self.folder.scored(self.name)

    def order(self) -> list[str]:
        """List the samples in the order of the task; those without a score last."""
        mine, _ = self.rows.align(self.episodes)
        found = list(self.rows) if len(mine) == len(self.rows) else [self.rows.key(place) for place in mine.tolist()]
        if len(found) == len(self.episodes):
            return found
        return [*found, *(sample for sample in self.episodes if sample not in self.rows)]

    def value(self, sample: str) -> float | None:
        return self.rows.value(self.headline, sample)

    def values(self, samples: Sequence[str]) -> list[float | None]:
        """Return the headline score of each of the samples."""
        places = {key: place for place, key in enumerate(self.rows)}
        values = self.rows.metric(self.headline).tolist()
        found = (values[places[sample]] if sample in places else None for sample in samples)
        return [None if value is None or value != value else value for value in found]

    def episode(self, sample: str) -> EpisodeLine:
        if sample not in self.episodes:
            raise BadInput(f"{self.name} has no sample {sample[:80]!r}")
        return EPISODES.one(line_at(self._lines.path, self.episodes[sample]), str(self._lines.path))

    def score(self, sample: str) -> ScoreRow | None:
        """Read the whole score row with its notes; None if the episode is not scored yet."""
        if sample not in self.rows:
            return None
        return SCORES.one(line_at(self._scores.path, self.rows.begin(sample)), str(self._scores.path))

    def pairs(self) -> Iterator[tuple[EpisodeLine, ScoreRow | None]]:
        """Yield each episode with its score row, in the order of `order`. One pair at a time is read."""
        mine, theirs = self.rows.align(self.episodes)
        left = np.ones(len(self.episodes), bool)
        left[theirs] = False
        begins = self.episodes.arrays["begin"]
        scored = EPISODES.some(self._lines.path, begins[theirs])
        yield from zip(scored, SCORES.some(self._scores.path, self.rows.arrays["begin"][mine]), strict=True)
        yield from ((line, None) for line in EPISODES.some(self._lines.path, begins[left]))

    def raw_lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield each sample with its line, not decoded, in the order of the file."""
        by_begin = {begin: sample for sample, begin in self.episodes.items()}
        for begin, line in Tail(self._lines.path):
            if begin in by_begin:
                yield by_begin[begin], line


class RunView:
    """An opened run: run.json and a view of each cell."""

    def __init__(self, folder: RunFolder, key: str) -> None:
        self.folder = folder
        self.key = key
        self.about = RunRecord(0)
        self.cells: dict[str, CellView] = {}
        self._stamp: tuple[int, int] | None = None
        self._results_file = Path()
        self._results_time = 0.0
        self._replaced = 0
        self.stored = Latest[dict[str, CellResult]]()
        """The cells of results.json."""

    @classmethod
    def whole(cls, folder: RunFolder) -> RunView:
        """Read a run completely, for a report or an export, with a progress bar on a terminal."""
        run = cls(folder, folder.path.name)
        run._read_about()
        with counted(run.cells.values(), len(run.cells), "reading") as cells:
            for cell in cells:
                cell.refresh()
        return run

    def refresh(self) -> None:
        """Take in what is new. A folder that cannot be read is refused here."""
        self._read_about()
        for cell in self.cells.values():
            cell.refresh()

    def _read_about(self) -> None:
        self._results_file = self.folder.results_file
        if (changed := _changed(self._results_file)) != self._results_time:  # there may be a further scoring now
            self._results_time = changed
            self._replaced += 1
        file = self.folder.run_file.stat()
        stamp = (file.st_ino, file.st_mtime_ns)
        if stamp != self._stamp:
            self.about = self.folder.about()
            names = self.folder.cells
            for name in names:
                about, limit, known = self.about.cells[name], self.about.limits.get(name), self.cells.get(name)
                if known is None or (known.about, known.limit) != (about, limit):
                    self.cells[name] = CellView(self, name)
                    self._replaced += known.version + 1 if known else 0
            self.cells = {name: self.cells[name] for name in names}
            self._stamp = stamp

    @property
    def version(self) -> int:
        """A number that changes whenever something was added."""
        return self._replaced + sum(cell.version for cell in self.cells.values())

    @property
    def model(self) -> str:
        return self.about.model.name

    def cell(self, name: str) -> CellView:
        if name not in self.cells:
            raise BadInput(f"this run has no {name[:80]!r}", f"it has: {', '.join(self.cells)}")
        return self.cells[name]

    def wanted(self, cell: CellView) -> int | None:
        """Return the number of episodes that were asked for, without further answers to a drawing; None: unknown."""
        shard, asked = Shard.parse(self.about.shard) if self.about.shard else WHOLE, self.about.asked.get(cell.name)
        size = shard.size(self.about.totals.get(cell.name, cell.limit))
        return None if size is None else size * ((asked.repeats if asked else None) or 1)

    def baseline(self, cell: CellView) -> CellView | None:
        """Return the cell that a gain is measured against: the same task in direct mode."""
        base = self.cells.get(f"{cell.task}.direct")
        return None if base is cell else base

    def state(self, now: float) -> str:
        """Return `running`, `finished`, `stopped`, `failed` or `killed`, without touching the run's lock.

        A running process is named in the folder, and run.json says how a run ended. Without either (an old run, or a
        merged one) the times of the files decide: a finished run has aggregates newer than its last episode, or, if
        copying has mixed up the times, aggregates that count every episode.
        """
        holder = holder_of(self.folder.path)
        if holder and holder.lives is not None:
            return "running" if holder.lives else "killed"
        if self.about.ended and self.about.ended.how in ("finished", "stopped", "failed") and not holder:
            return self.about.ended.how
        newest = max((_changed(self.folder.episodes_file(name)) for name in self.cells), default=0.0)
        aggregated = _changed(self._results_file)
        idle = now - max(newest, _changed(self.folder.run_file)) >= 120
        copied = newest - aggregated < 5
        if newest and (aggregated >= newest or ((idle or copied) and self._counted())):
            return "finished"
        return "stopped" if idle else "running"

    def _counted(self) -> bool:
        try:
            tasks = self.folder.results().tasks
        except (SketchmarkError, OSError):
            return False
        return all(name in tasks and tasks[name].episodes == len(cell.episodes) for name, cell in self.cells.items())


def open_cells(run: RunView | Path | str, name: str) -> list[CellView]:
    """Return the cells of a run under this name. Lines of a run that is not open yet are not read."""
    if isinstance(run, RunView):
        view, cells = run, [copy(cell) for cell in run.cells.values()]
    else:
        view = RunView(RunFolder.open(run), name)
        view._read_about()
        cells = list(view.cells.values())
    for cell in cells:
        cell.run = name
        if not cell.about.task or not cell.mode:
            raise BadInput(f"{view.folder.run_file}: the cell {cell.name} has no task or mode")
    return cells


def change(before: float | None, after: float | None) -> str | None:
    if before is None or after is None:
        return None
    if math.isclose(before, after, rel_tol=1e-12, abs_tol=1e-12):  # means over different numbers of repeats
        return "same"
    return "helped" if after > before else "hurt"


def outcome(value: float | None) -> str:
    """Return `right`, `wrong`, `partly` for scores in between, or `unscored`."""
    if value is None:
        return "unscored"
    return "right" if value >= 1 else "wrong" if value <= 0 else "partly"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
