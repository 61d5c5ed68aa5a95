"""Runs in Python and notebooks, as `sketchmark.run` returns them: tables, episodes, data frames.

Episodes are read from disk one by one: the images of a run may not fit into memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from sketchmark.comparison import controls_of
from sketchmark.comparison.headlines import summary_tables, trouble_lines
from sketchmark.comparison.tables import conditions, gains_table, labelled, printed, scores_table
from sketchmark.episode import Episode
from sketchmark.errors import SketchmarkError
from sketchmark.folder import RunFolder
from sketchmark.folder.format import ScoreRow, episode_key
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import unpack_episode
from sketchmark.folder.results_format import Results
from sketchmark.markup import as_table, join, tag
from sketchmark.media import Picture
from sketchmark.plots.figures import Figure, figure
from sketchmark.report.gallery import Frames, film_strip
from sketchmark.results.aggregate import warned
from sketchmark.results.summary import withheld
from sketchmark.terminal import one_line
from sketchmark.terminal.tables import Table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Episodes", "PlayedEpisode", "Run"]

_IN_A_ROW = (
    ".sketchmark ol { display: flex; gap: 1em; overflow-x: auto; list-style: none; padding: 0 } "
    ".sketchmark li { min-width: 8em } .sketchmark .mark { margin-left: 1em }"
)


@dataclass(frozen=True)
class PlayedEpisode:
    """One episode and its scores. `score` is None if it is not scored yet."""

    cell: str
    """`task.mode`, or `task.mode.canvas`."""

    episode: Episode
    score: ScoreRow | None
    _place: tuple[RunView, CellView] = field(repr=False, compare=False)

    @property
    def sample(self) -> str:
        """The sample's id."""
        return self.episode.sample.id

    @property
    def _key(self) -> str:
        return episode_key(self.sample, self.episode.repeat, self.episode.branch)

    @property
    def answer(self) -> str:
        """The model's last text; empty if the episode ended before."""
        return self.episode.answer

    @property
    def drawings(self) -> list[Picture]:
        """The model's drawings, in order."""
        return self.episode.drawings

    @property
    def values(self) -> dict[str, float | None]:
        """Score → number; None if it does not apply or was not given."""
        return {name: self.score.value(name) for name in self.score.values} if self.score else {}

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {value:g}" for name, value in self.values.items() if value is not None)
        failed = f"failed: {self.episode.failure.kind}" if self.episode.failure else ""
        told = ", ".join(filter(None, (scores, failed))) or "not scored"
        return one_line(f"PlayedEpisode({self.cell}, {self._key}: {told})")

    def _repr_html_(self) -> str | None:
        run, cell = self._place
        if self.score is None:
            return None
        strip = film_strip(run, cell, self._key, Frames(run.folder))
        return tag("div", tag("style", _IN_A_ROW), strip, class_="sketchmark")


class Episodes(Sequence[PlayedEpisode]):
    """Episodes in the order of the samples, one cell after the other."""

    def __init__(self, run: RunView, places: Sequence[tuple[CellView, str]]) -> None:
        self._run, self._places = run, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> PlayedEpisode: ...

    @overload
    def __getitem__(self, at: slice) -> Episodes: ...

    def __getitem__(self, at: int | slice) -> PlayedEpisode | Episodes:
        if isinstance(at, slice):
            return Episodes(self._run, self._places[at])
        cell, sample = self._places[at]
        episode = unpack_episode(cell.episode(sample), self._run.folder.pictures)
        return PlayedEpisode(cell.name, episode, cell.score(sample), (self._run, cell))

    def __repr__(self) -> str:
        return f"Episodes({len(self)} in {self._run.folder.path})"


class Run:
    """A run, shown as a table in a notebook and by `print`.

        run = sketchmark.run("player/sketcher", "maze", mode="direct,visual_cot", limit=20)
        run.results.gains[0].gain
        run.episodes("maze.visual_cot")[0].drawings[-1]

    `Run(path)` opens an existing run. It can be given in place of a run's path, for example to `sketchmark.compare`.
    `folder` reads everything else on disk.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.folder = RunFolder.open(os.fspath(path))

    @property
    def path(self) -> Path:
        return self.folder.path

    @property
    def results(self) -> Results:
        """Scores with intervals (`tasks`, by cell), `gains` and benchmarks' totals, as they are on disk now."""
        return self.folder.results()

    def episodes(self, cell: str = "") -> Episodes:
        """Return the episodes of one cell (`"maze.visual_cot"`) or of all: transcripts, images and scores."""
        run = _view(self.folder)
        cells = [run.cell(cell)] if cell else run.cells.values()
        return Episodes(run, [(one, sample) for one in cells for sample in one.order()])

    def to_pandas(self) -> DataFrame:
        """Return one row per episode, with one column per score. Scores are empty if the episode is not scored, or if
        the cell's scores are withheld after an error in a scorer."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise SketchmarkError("to_pandas() needs pandas", "pip install pandas") from error

        return DataFrame([row for cell in _view(self.folder).cells.values() for row in _rows(cell)])

    def plot(self, kind: str = "scores", *, task: str = "", sample: str = "", width: str | float = "") -> Figure:
        """Draw a figure, shown as SVG in a notebook: `gain`, `scores`, `difficulty`, `strip` or `leaderboard`.

        `run.plot("gain").save("gain.pdf")` writes it with its numbers; `width` is `column`, `page` or inches.
        """
        return figure([_view(self.folder)], kind, task=task, sample=sample, width=width)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Run({os.fspath(self.path)!r})"

    def __str__(self) -> str:
        tables, notes = _tables_and_notes(self.folder)
        below = {sentence for table in tables for sentence in table.below}
        return printed(tables, (note for note in notes if note not in below)).rstrip()

    def details(self) -> str:
        """Return every score of every cell, and all gains, as text."""
        results = self.results
        return printed([scores_table(results), *[gains_table(results.gains)] * bool(results.gains)], ()).rstrip()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        tables, notes = _tables_and_notes(self.folder)
        sentences = dict.fromkeys([*(sentence for table in tables for sentence in table.below), *notes])
        shown = [as_table(table.title, table.columns, table.rows) for table in tables]
        return tag("div", *shown, join(*(tag("p", sentence) for sentence in sentences)), class_="sketchmark")


def _view(folder: RunFolder) -> RunView:
    run = RunView(folder, folder.path.name)
    run.refresh()
    return run


def _rows(cell: CellView) -> list[dict[str, Any]]:
    shown = not withheld(cell.rows.values())
    made = []
    for sample in cell.order():
        row = cell.rows.get(sample)
        found: dict[str, Any] = {
            "cell": cell.name,
            "task": cell.task,
            "mode": cell.mode,
            "canvas": cell.canvas,
            "sample": sample,
            "scored": bool(row and row.scored),
            "flags": ", ".join(row.flags) if row else "",
            "seconds": row.seconds if row else None,
        }
        if row:
            scores = {name: row.value(name) if shown else None for name in row.values}
            found |= {f"score.{name}" if name in found else name: value for name, value in scores.items()}
            found |= {f"group.{name}": value for name, value in row.groups.items()}
            found |= {f"usage.{name}": value for name, value in row.usage.items()}
        made.append(found)
    return made


def _tables_and_notes(folder: RunFolder) -> tuple[list[Table], list[str]]:
    results = folder.results()
    return summary_tables(results, controls_of(folder, results), {}), [*_ending(folder, results), *_notes(results)]


def _ending(folder: RunFolder, results: Results) -> Iterator[str]:
    """Yield that a run is not finished, and its progress."""
    about = folder.about()
    if not results.tasks:
        yield f"{about.model.name}: no scores yet"
    if about.ended and about.ended.how == "finished":
        return
    run = _view(folder)
    state = run.state(time.time())
    if state == "finished":
        return
    why = f": {about.ended.why}" if about.ended and about.ended.how == state else ""
    played = []
    for name, cell in run.cells.items():
        wanted = run.wanted(cell)
        if wanted is None or cell.done < wanted:
            played.append(f"{name} {cell.done}{'' if wanted is None else f' of {wanted}'} episodes")
    rest = "; the same call resumes it" if state in ("stopped", "killed") else ""
    told = f" ({', '.join(played)})" if played else ""
    yield f"{state}{why}{told}{rest}"


def _notes(results: Results) -> Iterator[str]:
    if results.part:
        yield results.part
    yield from trouble_lines(results.tasks)
    for label, one in labelled(results.tasks):
        yield from (f"{label}: {kind}, the first: {reason}" for kind, reason in one.reasons.items())
        if one.problem:
            yield f"{label}: {one.problem}"
    yield from conditions(results)
    yield from (f"warning: {line}" for line in (*results.warnings, *warned(results.tasks)))
