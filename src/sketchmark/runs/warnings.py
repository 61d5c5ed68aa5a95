"""What will not be as the user may think: said before the first call, and again in the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from sketchmark.models.base import Model
from sketchmark.runs.leaks import warn_of_leaks
from sketchmark.runs.plan import Cell, Request

_SOON = timedelta(days=90)


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
