"""What will not be as the user may think: said before the first call, and again in the summary."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.models.base import Model
from sketchmark.runs.leaks import warn_of_leaks
from sketchmark.runs.plan import Cell, Request


def warnings_of(
    cells: Sequence[Cell], request: Request, model: Model, *, with_judge: bool, strict_leaks: bool = False
) -> list[str]:
    found = warn_of_leaks(cells, strict=strict_leaks)
    if not with_judge:
        judged = [cell.name for cell in cells if cell.task.declared.needs_judge]
        found += [f"{name} is scored by a judge only: add --judge MODEL" for name in judged]
    drawing_last = [cell.name for cell in cells if cell.mode.protocol.skips_drawing and not cell.mode.in_words]
    if not model.abilities.draw:
        found += [f"{name}: {request.model} does not draw, so its drawing step is skipped" for name in drawing_last]
    elif set(request.canvases) - {"own"}:
        found += [f"{name}: the drawing comes last, so --canvas changes nothing" for name in drawing_last]
    return found
