"""What `sketchmark.run` returns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchmark.errors import SketchmarkError
from sketchmark.notebook.episodes import Episodes
from sketchmark.runs.index import CellIndex, RunIndex
from sketchmark.runs.results import withheld
from sketchmark.runs.results_format import Results
from sketchmark.runs.store import RunFolder

if TYPE_CHECKING:
    from pandas import DataFrame


class Run:
    """A run that was played, and shows itself: as a table in a notebook and with `print`.

        run = sketchmark.run("player/sketcher", "maze", mode="direct,visual_cot", limit=20)
        run.results.gains[0].gain
        run.episodes("maze.visual_cot")[0].drawings[-1]

    `Run(path)` opens one that was played before. It can be given wherever a run's path can, to `sketchmark.compare`
    for instance. `folder` reads everything else that is on disk.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.folder = RunFolder.open(os.fspath(path))

    @property
    def path(self) -> Path:
        return self.folder.path

    @property
    def results(self) -> Results:
        """Scores with intervals (`tasks`, by cell), what drawing changed (`gains`), totals of benchmarks: as they are
        on disk now."""
        return self.folder.results()

    def episodes(self, cell: str = "") -> Episodes:
        """The episodes of one cell (`"maze.visual_cot"`), or of all: transcripts, pictures and scores."""
        run = self._index()
        cells = [run.cell(cell)] if cell else run.cells.values()
        return Episodes(run, [(one, sample) for one in cells for sample in one.order()])

    def to_pandas(self) -> DataFrame:
        """One row an episode, with a column for each score. What was not scored, or whose scores are withheld because
        a scorer broke, has none there."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise SketchmarkError("to_pandas() needs pandas", "pip install pandas") from error

        return DataFrame([row for cell in self._index().cells.values() for row in _rows(cell)])

    def _index(self) -> RunIndex:
        run = RunIndex(self.folder, self.path.name)
        run.refresh()
        return run

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Run({os.fspath(self.path)!r})"

    def __str__(self) -> str:
        from sketchmark.notebook.tables import as_text

        return as_text(self.folder)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from sketchmark.notebook.tables import as_html

        return as_html(self.folder)


def _rows(cell: CellIndex) -> list[dict[str, Any]]:
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
