"""The cells of runs as they are held against each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.runs.complete import refuse_partial_scores
from sketchmark.runs.format import CellAbout
from sketchmark.runs.rows import ScoredSample
from sketchmark.runs.store import NUMBERS, RunFolder


@dataclass(frozen=True)
class ScoredCell:
    """A cell of a run as run.json describes it; `rows` reads its scores."""

    folder: RunFolder
    run: str
    model: str
    name: str
    about: CellAbout
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
