"""The cells of a run by what they show the model: a mode without drawings, or a canvas of visual_cot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sketchmark.audit.contrasts import DRAWING_MODE, MODES
from sketchmark.canvas import CANVASES
from sketchmark.comparison import fairness
from sketchmark.errors import BadInput, RunConflict
from sketchmark.runs.gains import Rows
from sketchmark.runs.results import withheld
from sketchmark.runs.scored import ScoredCell, cells_of

PLACES = (*(mode for mode in MODES if mode != DRAWING_MODE), *CANVASES)


@dataclass(frozen=True, eq=False)
class PlayedTask:
    """`rows` by place, in the order of `PLACES`."""

    name: str
    metric: str
    scoring: str
    model: str
    rows: Mapping[str, Rows]


def played_tasks(run: Path | str) -> tuple[list[PlayedTask], list[str]]:
    """Those that can be audited, and in words why others cannot."""
    cells = cells_of(run, Path(run).resolve().name)
    notes: list[str] = []
    tasks = []
    for name in dict.fromkeys(cell.task for cell in cells):
        places = {_place(cell): cell for cell in cells if cell.task == name}
        played = {place: places[place] for place in PLACES if place in places}
        if found := _played(name, played, notes):
            tasks.append(found)
    if not tasks:
        raise BadInput(
            f"nothing to audit in {run}: {'; '.join(notes) or 'it holds no cell'}",
            "sketchmark audit --model MODEL --tasks maze plays all that an audit needs",
        )
    return tasks, notes


def _place(cell: ScoredCell) -> str:
    return cell.canvas if cell.mode == DRAWING_MODE else cell.mode


def _played(name: str, cells: Mapping[str, ScoredCell], notes: list[str]) -> PlayedTask | None:
    if "own" not in cells or len(cells) < 2:
        notes.append(f"{name} was not played in {DRAWING_MODE} and in another mode or on another canvas")
        return None
    own = cells["own"]
    if not own.about.headline:
        notes.append(f"{name} names no headline score")
        return None
    rows: dict[str, Rows] = {}
    empty = []  # a run that stopped early may not have come to it
    for place, cell in cells.items():
        found = cell.rows()
        if reason := withheld(found.values()):
            notes.append(f"{cell.name}: {reason}; `sketchmark score {cell.folder.path}` tries again")
        elif found:
            rows[place] = found
        else:
            empty.append(cell.name)
    if "own" not in rows or len(rows) < 2:
        notes += [f"nothing of {', '.join(empty)} is scored yet"] if empty else []
        return None
    for place in rows:
        _refuse_others(own, cells[place], rows["own"], rows[place])
    _tell_missing(name, rows, notes)
    return PlayedTask(name, own.about.headline, own.scoring, own.model, rows)


def _refuse_others(own: ScoredCell, cell: ScoredCell, own_rows: Rows, rows: Rows) -> None:
    """Cells of one folder may come from different commands: other data or other prompts cannot be held together."""
    found = fairness.how_grouped(own_rows, rows)
    if cell.mode == DRAWING_MODE:
        found = [*fairness.how_asked(own, cell), *found]
    if own.player != cell.player:
        found.append("the model's arguments")
    if found:
        raise RunConflict(
            f"{own.name} and {cell.name} cannot be held together; what differs: {'; '.join(found[:3])}",
            "audit in a folder of its own: --output-path",
        )


def _tell_missing(name: str, rows: Mapping[str, Rows], notes: list[str]) -> None:
    missing = [place for place in PLACES if place not in rows]
    if missing:
        notes.append(f"{name} was not played with: {', '.join(missing)}")
