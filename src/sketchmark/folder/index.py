"""A compact picture of a run in memory: where every episode's line begins, and what lists and tables need of it.

A run of 20,000 episodes is gigabytes of transcripts and a few megabytes of this. Transcripts are read from disk one
at a time, by the byte where their line begins; lines appended by a run that is still going are taken in as they come.

The cells of runs as they are held against each other.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.jsonl import Tail, line_at
from sketchmark.folder import EPISODES, NUMBERS, OPENINGS, SCORES, RunFolder, refuse_partial_scores
from sketchmark.folder.format import CellRecord, EpisodeLine, RunRecord, ScoreRow
from sketchmark.folder.lock import holder_of
from sketchmark.folder.records import ScoredSample, Sharing, newest
from sketchmark.folder.results_format import CellResult
from sketchmark.terminal import counted


class CellView:
    """One task in one mode: its episodes and its score rows, by `episode_key`: the sample's id, unless repeated.
    The last line of a retried episode counts; samples beyond the `--limit` of the last start are ignored."""

    def __init__(self, folder: RunFolder, name: str, about: CellRecord, limit: int | None = None) -> None:
        self.folder = folder
        self.name = name
        self.about, self.limit = about, limit
        self.task, self.mode = about.task or name, about.mode
        self.canvas, self.headline = about.canvas, about.headline
        self.episodes: dict[str, int] = {}
        self.rows: dict[str, ScoredSample] = {}
        self.version = 0
        self._lines = Tail(folder.episodes_file(name))
        self._scores = Tail(folder.scores_file(name))
        self._scored_at: dict[str, int] = {}
        self._sharing = Sharing()
        self._ordered: tuple[int, dict[str, ScoredSample]] | None = None
        self.result: tuple[int, CellResult] | None = None
        """Version of this index → its result, kept by `runs.summary`."""

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
        opening = OPENINGS.one(line, self._lines.where)
        if self.limit is None or opening.index < self.limit:
            self.episodes[opening.key] = begin

    def _take_score(self, begin: int, line: bytes) -> None:
        row = self._sharing(NUMBERS.one(line, self._scores.where))
        if self.limit is None or row.index < self.limit:
            self.rows[row.key] = row
            self._scored_at[row.key] = begin

    def scored(self) -> dict[str, ScoredSample]:
        """The rows in the order of the task, whatever order they finished in."""
        if self._ordered is None or self._ordered[0] != self.version:
            self._ordered = (self.version, newest(self.rows.values()))
        return self._ordered[1]

    def order(self) -> list[str]:
        """Samples in the order of the task; those not scored yet at the end."""
        scored = self.scored()
        return [*(s for s in scored if s in self.episodes), *(s for s in self.episodes if s not in scored)]

    def value(self, sample: str) -> float | None:
        row = self.rows.get(sample)
        return row.value(self.headline) if row else None

    def episode(self, sample: str) -> EpisodeLine:
        if sample not in self.episodes:
            raise BadInput(f"{self.name} has no sample {sample[:80]!r}")
        return EPISODES.one(line_at(self._lines.path, self.episodes[sample]), str(self._lines.path))

    def score(self, sample: str) -> ScoreRow | None:
        """The whole score line, notes included; None while the episode waits to be scored."""
        if sample not in self.rows:
            return None
        return SCORES.one(line_at(self._scores.path, self._scored_at[sample]), str(self._scores.path))

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


class RunView:
    """Everything the viewer keeps of one run."""

    def __init__(self, folder: RunFolder, key: str) -> None:
        self.folder = folder
        self.key = key
        self.about = RunRecord(0)
        self.cells: dict[str, CellView] = {}
        self._stamp: tuple[int, int] | None = None
        self._summed = Path()
        self._summed_at = 0.0
        self._replaced = 0
        self.stored: tuple[int, dict[str, CellResult]] | None = None
        """Version of this index → the cells of results.json, kept by `runs.summary`."""

    @classmethod
    def whole(cls, folder: RunFolder) -> RunView:
        """All of a run at once, for a report or an export, with a bar where someone looks on."""
        run = cls(folder, folder.path.name)
        run._read_about()
        with counted(run.cells.values(), len(run.cells), "reading") as cells:
            for cell in cells:
                cell.refresh()
        return run

    def refresh(self) -> None:
        """What can be refused about the folder is refused here, where whoever shows many runs expects it."""
        self._read_about()
        for cell in self.cells.values():
            cell.refresh()

    def _read_about(self) -> None:
        self._summed = self.folder.results_file
        if (summed := _changed(self._summed)) != self._summed_at:  # another scoring may stand beside now
            self._summed_at = summed
            self._replaced += 1
        file = self.folder.run_file.stat()
        stamp = (file.st_ino, file.st_mtime_ns)
        if stamp != self._stamp:
            self.about = self.folder.about()
            names = self.folder.cells
            for name in names:
                about, limit, known = self.about.cells[name], self.about.limits.get(name), self.cells.get(name)
                if known is None or (known.about, known.limit) != (about, limit):
                    self.cells[name] = CellView(self.folder, name, about, limit)
                    self._replaced += known.version + 1 if known else 0
            self.cells = {name: self.cells[name] for name in names}
            self._stamp = stamp

    @property
    def version(self) -> int:
        """Changes whenever something was added: a browser that has seen this number has seen everything."""
        return self._replaced + sum(cell.version for cell in self.cells.values())

    @property
    def model(self) -> str:
        return self.about.model.name

    def cell(self, name: str) -> CellView:
        if name not in self.cells:
            raise BadInput(f"this run has no {name[:80]!r}", f"it has: {', '.join(self.cells)}")
        return self.cells[name]

    def baseline(self, cell: CellView) -> CellView | None:
        """What the drawing gain of a cell is measured against: the same task, answered directly."""
        base = self.cells.get(f"{cell.task}.direct")
        return None if base is cell else base

    def state(self, now: float) -> str:
        """`running`, `finished`, `stopped`, `failed` or `killed`, told without touching the run's lock.

        A run that has the folder names its process; one that ended in order says how, in run.json. What says neither
        (it is older, or was made by merging) is told from the times of its files: a finished run has aggregates newer
        than its last episode, or, where a copy has mixed up the times, aggregates that count every episode.
        """
        holder = holder_of(self.folder.path)
        if holder and holder.lives is not None:
            return "running" if holder.lives else "killed"
        if self.about.ended and self.about.ended.how in ("finished", "stopped", "failed") and not holder:
            return self.about.ended.how
        newest = max((_changed(self.folder.episodes_file(name)) for name in self.cells), default=0.0)
        summed = _changed(self._summed)
        idle = now - max(newest, _changed(self.folder.run_file)) >= 120
        copied = newest - summed < 5
        if newest and (summed >= newest or ((idle or copied) and self._counted())):
            return "finished"
        return "stopped" if idle else "running"

    def _counted(self) -> bool:
        try:
            tasks = self.folder.results().tasks
        except (SketchmarkError, OSError):
            return False
        return all(name in tasks and tasks[name].episodes == len(cell.episodes) for name, cell in self.cells.items())


def change(before: float | None, after: float | None) -> str | None:
    if before is None or after is None:
        return None
    return "same" if before == after else "helped" if after > before else "hurt"


def outcome(row: ScoredSample | None, value: float | None) -> str:
    """`unscored` where there is nothing to say about the model; `partly` for scores between none and all."""
    if row is None or value is None:
        return "unscored"
    return "right" if value >= 1 else "wrong" if value <= 0 else "partly"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@dataclass(frozen=True)
class ScoredCell:
    """A cell of a run as run.json describes it; `rows` reads its scores."""

    folder: RunFolder
    run: str
    model: str
    name: str
    about: CellRecord
    scoring: str

    @property
    def task(self) -> str:
        return self.about.task

    @property
    def mode(self) -> str:
        return self.about.mode

    @property
    def canvas(self) -> str:
        return self.about.canvas

    @property
    def player(self) -> str:
        """Equal for cells that the same model played with the same arguments, in whatever folder."""
        return json.dumps(self.about.model, sort_keys=True)

    def rows(self) -> dict[str, ScoredSample]:
        refuse_partial_scores(self.folder, self.name)
        return self.folder.scored(self.name)


def cells_of(path: Path | str, run: str) -> list[ScoredCell]:
    folder = RunFolder.open(path)
    about = folder.about()
    cells = []
    for name in folder.cells:
        cell = about.cells[name]
        if not cell.task or not cell.mode:
            raise BadInput(f"{folder.run_file}: the cell {name} has no task or mode")
        scoring = next((row.scoring for row in NUMBERS.all(folder.scores_file(name))), "")
        cells.append(ScoredCell(folder, run, about.model.name, name, cell, scoring))
    return cells


def trouble(rows: Mapping[str, ScoredSample]) -> dict[str, int]:
    return dict(sorted(Counter(flag for row in rows.values() for flag in row.flags).items()))
