"""What will not be as the user may think: said before the first call, and again in the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from sketchmark.models.base import Model
from sketchmark.models.generation import unknown
from sketchmark.request import Request
from sketchmark.runs.format import CellAbout
from sketchmark.runs.leaks import warn_of_leaks
from sketchmark.runs.plan import Cell
from sketchmark.runs.store import differences
from sketchmark.tasks.questions.files import SOURCE

_OF_DRAWING = ("draw", "svg")

_SOON = timedelta(days=90)

_LOOKED_AT = 1000
"""Samples of a cell."""


def warnings_of(
    cells: Sequence[Cell], request: Request, model: Model, *, with_judge: bool, strict_leaks: bool = False
) -> list[str]:
    found = warn_of_leaks(cells, strict=strict_leaks)
    if own := unknown(request.generation):
        found.append(f"--gen_kwargs {', '.join(own)}: only a model of your own is told, no other knows it")
    if not with_judge:
        judged = [cell.name for cell in cells if cell.task.declared.needs_judge]
        found += [f"{name} is scored by a judge only: add --judge MODEL" for name in judged]
        found += [f"{name}: its `judged` questions get no score: add --judge MODEL" for name in _partly_judged(cells)]
    drawing_last = [cell.name for cell in cells if cell.mode.protocol.skips_drawing and not cell.mode.in_words]
    if not model.abilities.draw:
        skipped = f"{request.model} does not draw, so its drawing step is skipped; --draw svg lets it draw by code"
        found += [f"{name}: {skipped}" for name in drawing_last]
    elif set(request.canvases) - {"own"}:
        found += [f"{name}: the drawing comes last, so --canvas changes nothing" for name in drawing_last]
    return found


def _partly_judged(cells: Sequence[Cell]) -> list[str]:
    """Files of questions may hold some; their first samples are looked at."""
    files = [cell for cell in cells if cell.task.declared.source.get("use") == SOURCE]
    return [
        cell.name
        for cell in files
        if any(sample.target["type"] == "judged" for sample in islice(cell.samples(), _LOOKED_AT))
    ]


def retiring(retires: Mapping[str, str]) -> list[str]:
    """Models that will soon be gone: nobody could repeat the run."""
    found = []
    for name, day in retires.items():
        try:
            soon = date.fromisoformat(day) - datetime.now(UTC).date() <= _SOON
        except ValueError:  # a server's word, and no day
            continue
        if soon:
            found.append(f"{name} is shut down on {day}, says its provider: plan to repeat this with another model")
    return found


def played_otherwise(cells: Mapping[str, CellAbout]) -> list[str]:
    """Cells that were added to a folder with other arguments: a gain between them may come from these. How a model is
    to draw changes nothing for a mode without drawing."""
    found, first = [], dict[str, str]()
    for name, cell in cells.items():
        before = first.setdefault(cell.task, name)
        one, other = (
            {key: value for key, value in about.model.items() if not key.startswith(_OF_DRAWING)}
            for about in (cells[before], cell)
        )
        if changed := differences(one, other):
            told = "; ".join(changed[:3])
            found.append(f"{name} was played with other arguments of the model than {before}: {told}")
    return found
