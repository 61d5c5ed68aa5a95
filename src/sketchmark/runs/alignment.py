"""`ra-al`, the scoring that every task has: which cells it applies to, and by whom it is given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sketchmark.errors import BadInput
from sketchmark.runs.store import RunFolder
from sketchmark.scores import Scorer
from sketchmark.scoring.alignment import judged
from sketchmark.task import RA_AL, Task

MEANING = {
    "ra": "RA: the drawing follows what was asked, judged 1 to 5",
    "drawing_right": "the drawing is right, as read",
    "ra_judge_wrong": "the judge's RA is wrong by that",
    "al": "AL: the answer follows the drawing, judged 1 to 5",
    "answer_as_drawn": "the answer is what is drawn, as read",
    "al_judge_wrong": "the judge's AL is wrong by that",
}
"""The scores of `ra-al` in words, in the order in which they are shown."""


def scorers_of(task: Task, scoring: str) -> list[Scorer]:
    """Those who give a scoring: the task's own, or for `ra-al` the judge and whoever can read the drawings."""
    if scoring != RA_AL:
        return task.scorers
    reader = task.drawn
    return [*([reader] if reader else []), partial(judged, task=task.name, read=reader)]


def drawn_cells(folder: RunFolder, tasks: Mapping[str, Task], *, with_judge: bool) -> dict[str, Task]:
    """The cells in which something was drawn and which somebody can look at; refused where there is none."""
    drawn = {name: task for name, task in tasks.items() if _draws(folder, name)}
    if not drawn:
        raise BadInput(f"nothing was drawn in {folder.path}: {RA_AL} looks at drawings", "play --mode visual_cot")
    seen = {name: task for name, task in drawn.items() if with_judge or task.drawn}
    if not seen:
        raise BadInput(f"the drawings of {', '.join(drawn)} can be read by a judge only", "add --judge MODEL")
    return seen


def _draws(folder: RunFolder, cell: str) -> bool:
    return any(turn.act == "draw" for line in folder.episodes(cell) for turn in line.turns)
