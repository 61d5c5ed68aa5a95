"""Play one episode. A failure is part of the record, never the end of a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from sketchmark import canvas as canvases
from sketchmark.desk import Desk
from sketchmark.episode import Episode, Failure
from sketchmark.errors import CallFailed, CannotPlay, MissingExtra, SketchmarkError
from sketchmark.models.base import Model
from sketchmark.parts import Picture, Sample
from sketchmark.runs.plan import Cell


async def play(
    model: Model, cell: Cell, sample: Sample, donor: Sample | None = None, time_limit: float | None = None
) -> Episode:
    return await _play(model, cell, sample, _canvas(model, cell, sample, donor, time_limit), time_limit, cell.canvas)


async def _play(
    model: Model, cell: Cell, sample: Sample, canvas: canvases.Canvas, time_limit: float | None, canvas_name: str
) -> Episode:
    desk = Desk(
        model,
        saying=cell.mode.saying,
        drawing=cell.mode.drawing,
        canvas=canvas,
        in_words=cell.mode.in_words,
        keep_going=cell.request.on_draw_failure == "continue",
    )
    failure: Failure | None = None
    started = time.perf_counter()
    try:
        async with asyncio.timeout(time_limit):
            await cell.mode.protocol.play(desk, cell.mode.fill(sample, cell.steps))
    except CallFailed as error:
        failure = Failure(error.kind, str(error), error.blames_model)
    except TimeoutError:
        failure = Failure("timeout", f"the episode took longer than {time_limit:g} s")
    except (MissingExtra, CannotPlay):
        raise  # nothing is wrong with this episode: no episode can be played
    except SketchmarkError as error:
        failure = Failure("error", str(error))
    except Exception as error:  # a plug-in's bug costs its episode, not the run
        failure = Failure("error", f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - started
    settings = {"mode": cell.mode.name, "canvas": canvas_name, "steps": cell.steps}
    return Episode(sample, tuple(desk.turns), failure, time.time() - seconds, seconds, settings)


def _canvas(
    model: Model, cell: Cell, sample: Sample, donor: Sample | None, time_limit: float | None
) -> canvases.Canvas:
    if cell.canvas == "blank":
        return canvases.blank
    if cell.canvas == "oracle" and sample.frames:
        return canvases.oracle(sample.frames())
    if cell.canvas == "other":
        return canvases.other(_drawings_of(model, cell, donor, time_limit))
    return canvases.own


class _drawings_of:
    """The donor's drawings, played once, when first needed."""

    def __init__(self, model: Model, cell: Cell, donor: Sample | None, time_limit: float | None) -> None:
        self._model, self._cell, self._donor, self._time_limit = model, cell, donor, time_limit
        self._drawings: Sequence[Picture] | None = None

    async def __call__(self) -> Sequence[Picture]:
        if self._drawings is None:
            if self._donor is None:
                raise CallFailed("no_donor", "there is no other sample to take a drawing from")
            episode = await _play(self._model, self._cell, self._donor, canvases.own, self._time_limit, "own")
            self._drawings = episode.drawings
        return self._drawings
