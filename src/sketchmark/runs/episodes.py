"""Episodes: run one sample. A failure is part of the record, never the end of a run."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sketchmark.episode import Episode, Failure
from sketchmark.episode import desk as canvases
from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context, Part, Sample
from sketchmark.errors import BadInput, CallFailed, CannotPlay, MissingExtra, SketchmarkError
from sketchmark.media import Picture
from sketchmark.models.wrappers import Wrapped
from sketchmark.runs.plan import Cell


async def play(
    model: Model,
    cell: Cell,
    sample: Sample,
    donor: Sample | None = None,
    time_limit: float | None = None,
    repeat: int = 0,
) -> Episode:
    cell = _nth(cell, repeat)  # the donor's drawings are then from its repeat of the same number
    clock = _Clock(time_limit)
    donated = _drawings_of(model, cell, donor, clock)
    return await _play(model, cell, sample, _canvas(cell, sample, donated), clock, cell.canvas)


@dataclass(frozen=True)
class Wanted:
    """Episodes of one sample to run: a repeat, and which answers to its drawings. `begun` is the episode with the
    first answer, if it ran before."""

    repeat: int = 0
    branches: tuple[int, ...] = (0,)
    begun: Episode | None = None


FIRST = Wanted()


async def play_wanted(
    model: Model, cell: Cell, sample: Sample, donor: Sample | None, time_limit: float | None, wanted: Wanted
) -> list[Episode]:
    """Run an episode and the further answers to its drawings. An episode that failed has no further answers."""
    first = wanted.begun or await play(model, cell, sample, donor, time_limit, wanted.repeat)
    episodes = [] if wanted.begun else [first]
    if first.failure is None:
        further = [branch for branch in wanted.branches if branch]
        episodes += [await answer(model, cell, first, branch, time_limit) for branch in further]
    return episodes


async def answer(model: Model, cell: Cell, first: Episode, branch: int, time_limit: float | None = None) -> Episode:
    """Continue an episode from the context of its final answer. The protocol runs again on the recorded replies, so
    the context and the options of the last call are those of the first answer."""
    calls = [turn for turn in first.turns if turn.reply]
    drawn = [turn.added[-1:] for turn in calls if turn.act == "draw"]

    async def shown(drawing: Picture, index: int) -> Picture | Part:
        return drawn[index][0]

    cell = _nth(cell, first.repeat)
    recorded = _Recorded(model, [turn.reply for turn in calls[:-1] if turn.reply], branch)
    return await _play(recorded, cell, first.sample, shown, _Clock(time_limit), cell.canvas, branch)


class _Recorded(Wrapped):
    """A model that gives recorded replies, which cost nothing again, and then asks for another final answer."""

    def __init__(self, model: Model, replies: Sequence[Reply], branch: int) -> None:
        super().__init__(model)
        self._replies = iter(replies)
        self._branch = branch

    async def say(self, context: Context, options: Options) -> Reply:
        return self._next() or await self._model.say(context, options.nth(options.repeat, self._branch))

    async def draw(self, context: Context, options: Options) -> Reply:
        return self._next() or await self._model.draw(context, options.nth(options.repeat, self._branch))

    def _next(self) -> Reply | None:
        reply = next(self._replies, None)
        return reply and replace(reply, usage=Usage(calls=0))


def _nth(cell: Cell, repeat: int) -> Cell:
    saying, drawing = (options.nth(repeat) for options in (cell.mode.saying, cell.mode.drawing))
    return replace(cell, mode=replace(cell.mode, saying=saying, drawing=drawing)) if repeat else cell


async def _play(
    model: Model,
    cell: Cell,
    sample: Sample,
    canvas: canvases.Canvas,
    clock: _Clock,
    canvas_name: str,
    branch: int = 0,
) -> Episode:
    desk = Desk(
        model,
        saying=cell.mode.saying,
        drawing=cell.mode.drawing,
        canvas=canvas,
        shows_code=canvas_name == "source",
        in_words=cell.mode.in_words,
        keep_going=cell.settings.on_draw_failure == "continue",
        blind=cell.mode.blind,
    )
    failure: Failure | None = None
    stops_run = False
    started = time.perf_counter()
    try:
        async with clock.timeout:
            await cell.mode.protocol.play(desk, cell.mode.fill(sample, cell.steps))
    except CallFailed as error:
        failure, stops_run = Failure(error.kind, str(error), error.blames_model), error.stops_run
    except TimeoutError as error:
        ours = f"the episode took longer than {clock.limit or 0:g} s"
        failure = Failure("timeout", ours if clock.timeout.expired() else f"TimeoutError: {error}")
    except (MissingExtra, CannotPlay):
        raise  # no episode can run, not only this one
    except SketchmarkError as error:
        failure = Failure("error", str(error))
    except Exception as error:  # a plug-in's bug costs its episode, not the run
        failure = Failure("error", f"{type(error).__name__}: {error}", traceback=_last_frames(error))
    seconds = time.perf_counter() - started
    settings = {"mode": cell.mode.name, "canvas": canvas_name, "steps": cell.steps}
    began = time.time() - seconds
    repeat = cell.mode.saying.repeat
    seeds = _seeds(cell, repeat, branch)
    return Episode(sample, tuple(desk.turns), failure, began, seconds, settings, stops_run, repeat, branch, seeds)


def _seeds(cell: Cell, repeat: int, branch: int) -> dict[str, int]:
    if not repeat and not branch:  # as run.json says
        return {}
    saying, drawing = cell.mode.saying.nth(repeat, branch) if branch else cell.mode.saying, cell.mode.drawing
    return {act: one.seed for act, one in (("say", saying), ("draw", drawing)) if one.seed is not None}


_FRAMES = 4


def _last_frames(error: BaseException) -> str:
    """Return the frames where an exception came from, without folders: a run folder is passed on to others."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return "\n".join(f"{Path(one.filename).name}, line {one.lineno}, in {one.name}: {one.line}" for one in frames)


def unwritable(episode: Episode, error: BadInput) -> Episode:
    """Return the episode without its turns: a model or a plug-in put a value there that no reader would accept."""
    failure = Failure("error", f"the episode cannot be written: {error.args[0]}")
    return replace(episode, turns=(), failure=failure)


def _canvas(cell: Cell, sample: Sample, donated: _drawings_of) -> canvases.Canvas:
    if cell.canvas == "blank":
        return canvases.blank
    if cell.canvas == "oracle" and sample.frames:
        return canvases.instead(sample.frames())
    world = cell.task.world_of(sample) if cell.canvas in canvases.OF_A_WORLD else None
    if cell.canvas == "corrupt" and world and world.corrupt and (frames := world.corrupt(sample)):
        return canvases.instead(frames)
    if cell.canvas == "caption" and world and world.caption:
        return canvases.caption(partial(world.caption, sample))
    if cell.canvas == "other":
        return canvases.other(donated)
    return canvases.missing(cell.canvas) if cell.canvas in canvases.NEEDS else canvases.own


class _Clock:
    """The time limit of one episode."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.timeout = asyncio.timeout(limit)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        now, due = asyncio.get_running_loop().time, self.timeout.when()
        began = now()
        self.timeout.reschedule(None)
        try:
            yield
        finally:
            self.timeout.reschedule(None if due is None else due + now() - began)


class _drawings_of:
    """The donor's drawings, made once, when first needed, in a separate episode with a separate time limit. Meanwhile
    the clock of the waiting episode stops."""

    def __init__(self, model: Model, cell: Cell, donor: Sample | None, clock: _Clock) -> None:
        self._model, self._cell, self._donor, self._clock = model, cell, donor, clock
        self._drawings: Sequence[Picture] | None = None

    async def __call__(self) -> Sequence[Picture]:
        if self._drawings is None:
            if self._donor is None:
                raise CallFailed("no_donor", "there is no other sample to take a drawing from")
            with self._clock.standing_still():
                own_clock = _Clock(self._clock.limit)
                episode = await _play(self._model, self._cell, self._donor, canvases.own, own_clock, "own")
            if episode.failure and not episode.failure.blames_model:  # half its drawings are not what it draws
                raise CallFailed(
                    episode.failure.kind,
                    f"sample {self._donor.id}, whose drawings were to be shown: {episode.failure.message}",
                    stops_run=episode.stops_run,
                )
            self._drawings = episode.drawings
        return self._drawings
