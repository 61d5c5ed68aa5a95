"""The cells of a run, checked before the first call."""

from __future__ import annotations

from dataclasses import replace

from sketchmark.canvas import NEEDS, OF_A_WORLD, can_have
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.models.base import Abilities, Model
from sketchmark.models.generation import refuse_misspelt
from sketchmark.picture import Picture
from sketchmark.request import Request
from sketchmark.runs.plan import ALL, Cell, cells_of, counted_out
from sketchmark.sounds import Sound
from sketchmark.worlds import world_of


def plan(request: Request, catalog: Catalog, model: Model) -> list[Cell]:
    """The cells of a run, each checked against what the model can do."""
    return plan_and_left_out(request, catalog, model)[0]


def plan_and_left_out(request: Request, catalog: Catalog, model: Model) -> tuple[list[Cell], list[str]]:
    """The cells, and of `--canvas all` those that cannot be played, with the reason."""
    refuse_misspelt(request.generation)
    cells, left_out, sizes = [], [], dict[str, int]()
    for cell in cells_of(request, catalog):
        try:
            cells.append(check(counted_out(cell, sizes), request.model, model.abilities))
        except CannotPlay as error:
            if request.canvases != (ALL,) or cell.canvas == "own":
                raise
            left_out.append(f"{cell.name} is left out: {error}")
    return cells, left_out


def check(cell: Cell, model_name: str, can: Abilities) -> Cell:
    """Refuse, by name, what cannot be played, before anything is asked or paid for. Gives the cell with what its
    first sample shows."""
    needs_say = f"mode {cell.mode.name!r} of task {cell.task.name!r}"
    if not can.say:
        raise CannotPlay(f"{needs_say} needs a model that speaks, and {model_name} only draws")
    in_one = cell.draws and can.combined_prompt and cell.mode.protocol.in_combined_prompt
    if in_one and cell.canvas != "own":
        raise CannotPlay(f"{model_name} looks at its drawings itself: canvas {cell.canvas!r} cannot be put before it")
    if cell.draws and not can.draw and not in_one:
        raise CannotPlay(
            f"{needs_say} needs a model that draws, and {model_name} does not",
            "let it draw by code with --draw svg, or use --mode direct or text_cot",
        )
    if cell.canvas == "source" and not can.draws_code:
        raise CannotPlay(
            f"the canvas `source` shows the code of a drawing, and {model_name} draws pixels", "add --draw svg"
        )
    if can.native and cell.canvas != "own":
        raise CannotPlay(
            f"{model_name} is sent its own turns back (history=native), which remember the drawing that canvas "
            f"{cell.canvas!r} takes away",
            "history=native is a condition of its own: play the controls without it",
        )
    draft = next(cell.drafts(), None)
    if draft is None:
        raise BadInput(f"task {cell.task.name!r} has no samples")
    generated, first = not draft.is_made, draft.sample
    world = world_of(first.target) if cell.canvas in OF_A_WORLD else None
    if not can_have(cell.canvas, first, world):
        raise CannotPlay(
            f"task {cell.task.name!r} has no {NEEDS[cell.canvas]} for the {cell.canvas} canvas",
            "use own, blank or other",
        )
    if cell.canvas == "other" and cell.limit == 1:
        raise CannotPlay("the canvas `other` needs a second sample to take drawings from", "use a larger --limit")
    prompts = cell.mode.fill(first, cell.steps)
    parts = prompts.parts()
    if any(isinstance(part, Sound) for part in parts) and not can.hear:
        raise CannotPlay(
            f"{needs_say} is to be listened to (sample {first.id}), and {model_name} takes no sounds",
            "openai/, azure/ and gemini/ send them to models that do",
        )
    shown = sum(isinstance(part, Picture) for part in parts)
    if not cell.mode.in_words and can.draw:
        shown += cell.mode.protocol.draws(prompts)
    if can.max_pictures is not None and shown > can.max_pictures:
        raise CannotPlay(
            f"{needs_say} shows up to {shown} pictures in one call (sample {first.id}), and {model_name} takes "
            f"{can.max_pictures}",
            "use another model, or a mode that shows fewer",
        )
    return replace(cell, weight=cell.length(first) or 0, generated=generated)
