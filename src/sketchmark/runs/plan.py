"""Cells of a run, found by the names of tasks, modes and canvases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any

from sketchmark.catalog import Catalog
from sketchmark.episode.desk import CANVASES
from sketchmark.episode.model import Model
from sketchmark.episode.sample import Draft, Sample
from sketchmark.errors import BadInput, UnknownName
from sketchmark.folder.format import CellRecord, ModeRecord
from sketchmark.folder.records import Seen
from sketchmark.models import takes_batches
from sketchmark.models.arguments import structured
from sketchmark.models.code_drawing import SVG
from sketchmark.models.layout import NATIVE_HISTORY
from sketchmark.secrets import to_write_down
from sketchmark.settings import WHOLE, Settings, Shard
from sketchmark.tasks import Mode, Task, TaskOptions


def model_arguments(settings: Settings) -> dict[str, Any]:
    """Return the arguments that the model is made with: its own, and settings that are arguments of it."""
    arguments = dict(settings.model_args)
    size, batches = settings.batch_size, takes_batches(settings.model)
    only_the_drawer = not batches and bool(settings.drawer) and takes_batches(settings.drawer)
    # `--batch_size 1` is a habit of lmms-eval's users: it changes nothing for a model without batches.
    if size and (str(size) != "1" or batches) and not only_the_drawer:
        arguments["batch_size"] = _batch_size(size)
    if settings.max_requests_per_minute:
        arguments["max_requests_per_minute"] = settings.max_requests_per_minute
    return arguments


def drawer_arguments(settings: Settings) -> dict[str, Any]:
    """Return the arguments that the drawer is made with. Its rate limit is one of them: --max-requests-per-minute is
    the model's."""
    arguments = dict(settings.drawer_args)
    if settings.batch_size and settings.drawer and takes_batches(settings.drawer):
        arguments.setdefault("batch_size", _batch_size(settings.batch_size))
    return arguments


def _batch_size(given: int | str) -> int | str:
    return int(given) if str(given).isdigit() else given


STEPS = ("truth", "model")
ALL = "all"


@dataclass(frozen=True)
class Cell:
    """One task in one mode on one canvas: a row of the table and a file of episodes."""

    name: str
    task: Task
    mode: Mode
    canvas: str
    steps: str
    settings: Settings
    weight: float = 0
    """Length of its first episode, relative to other cells. Heavier cells run first."""
    generated: bool = False
    """Its samples are made by their ids when they are needed."""
    pictured: bool = False
    """Its first sample shows images, or drawings."""
    counted: int | None = None
    """Number of samples in the fraction asked for, if the data are read."""
    in_one_call: bool = False
    """The model draws and answers in one call, so its answers cannot be asked for again."""

    @property
    def limit(self) -> int | None:
        """Number of samples asked for; None: all."""
        return self.counted or _count(self.settings.limit, self.task.declared.default_limit)

    @property
    def repeats(self) -> int:
        """Number of episodes of each sample: as asked for, or else as the task says."""
        return self.settings.repeats or self.task.declared.repeats or 1

    @property
    def answers(self) -> int:
        """Number of final answers to each drawing; one where nothing is drawn before the answer."""
        apart = self.mode.protocol.must_draw and not self.in_one_call
        return self.settings.answers if apart else 1

    @cached_property
    def shard(self) -> Shard:
        """The samples to run: all, unless a part was asked for."""
        return self.settings.part or WHOLE

    @property
    def draws(self) -> bool:
        return self.mode.protocol.must_draw and not self.mode.in_words

    @property
    def may_draw(self) -> bool:
        return (self.mode.protocol.must_draw or self.mode.protocol.skips_drawing) and not self.mode.in_words

    def samples(self) -> Iterator[Sample]:
        return (draft.sample for draft in self.drafts())

    def drafts(self) -> Iterator[Draft]:
        """Yield the cell's samples. Ids must be unique: two samples with one id would be one episode."""
        seen = Seen()
        for index, draft in enumerate(self._drafts()):
            if not isinstance(draft.id, str):  # a plug-in's: its lines could not be found again
                raise BadInput(f"task {self.task.name!r} has a sample whose id is not a text: {draft.id!r}")
            if not seen.add(draft.id) and any(other.id == draft.id for other in islice(self._drafts(), index)):
                raise BadInput(f"task {self.task.name!r} has two samples with the id {draft.id!r}")
            yield draft

    def _drafts(self) -> Iterator[Draft]:
        return self.task.drafts(seed=self.settings.seed, data=self.settings.data_path, limit=self.limit)

    def pairs(self) -> Iterator[tuple[Draft, Draft | None]]:
        """Yield each sample with its neighbour (0 with 1, 2 with 3, an odd last one with the one before it). So the
        donor of a drawing on the `other` canvas depends only on the data, which is read once."""
        if self.canvas != "other":
            yield from ((draft, None) for draft in self.drafts())
            return
        before: Draft | None = None
        drafts = self.drafts()
        for one in drafts:
            other = next(drafts, None)
            yield one, other or before
            if other:
                yield other, one
            before = other

    def length(self, sample: Sample) -> float | None:
        """Return the relative length of an episode in answers: a step counts one, a drawn step three."""
        try:
            steps = self.mode.protocol.draws(self.mode.fill(sample, self.steps))
        except Exception:  # a plug-in's: the episode will show it
            return None
        return 1 + steps * (1 if self.mode.in_words else 3)

    def describe(self, model: Model) -> CellRecord:
        by_code = SVG if self.may_draw and model.abilities.draws_code else ""
        return CellRecord(
            task=self.task.name,
            mode=self.mode.name,
            canvas=self.canvas,
            steps=self.steps,
            on_draw_failure=self.settings.on_draw_failure,
            source=self.task.describe_source(self.settings.seed),
            play=ModeRecord(**self.mode.describe()),
            model=to_write_down(model.identity()),
            draw_with=NATIVE_HISTORY if model.abilities.native else by_code,
            headline=self.task.headline,
            less_is_better=self.task.less_is_better,
            breakdown=self.task.breakdown,
        )


def counted_out(cell: Cell, sizes: dict[str, int]) -> Cell:
    """Turn a fraction of data that are read into a count, which is recorded, resumed and merged."""
    if cell.limit is not None or cell.settings.limit is None:
        return cell
    if cell.task.name not in sizes:
        sizes[cell.task.name] = sum(1 for _ in cell.drafts())
    return replace(cell, counted=_count(cell.settings.limit, sizes[cell.task.name]))


def _count(limit: int | float | None, of: int | None) -> int | None:
    """Return a limit as a count. None: there is no limit, or the number of samples is not known yet."""
    if limit is None or (isinstance(limit, int) and limit > 0):
        return limit
    if not 0 < limit < 1:
        raise BadInput(f"--limit {limit} is neither a count nor a share", "write 20 for 20 samples, 0.1 for a tenth")
    # 0.07 of 100 is 7, and 7.000000000000001 in binary
    return None if of is None else max(1, ceil(round(limit * of, 6)))


def cells_of(settings: Settings, catalog: Catalog) -> list[Cell]:
    """Find the cells by their names, without reading data."""
    _known("steps", settings.steps, STEPS)
    canvases = CANVASES if settings.canvases == (ALL,) else settings.canvases
    for canvas in canvases:
        _known("canvas", canvas, CANVASES)
    _known("on_draw_failure", settings.on_draw_failure, ("fail", "continue"))
    choices = TaskOptions(prompts=settings.prompts, model=settings.model, steps=settings.steps)
    cells: dict[str, Cell] = {}
    for pick in catalog.pick(settings.tasks):
        task = catalog.task(pick.task, choices, settings.task_args)
        for mode_name in [pick.mode] if pick.mode else settings.modes:
            mode = task.mode(mode_name)
            draws = mode.protocol.must_draw and not mode.in_words
            for canvas in (canvases if draws else ()) or ("own",):
                name = f"{task.name}.{mode_name}"
                if draws and len(canvases) > 1 and canvas != "own":
                    name += f".{canvas}"
                cell = Cell(name, task, _with_generation(mode, settings.gen_kwargs), canvas, settings.steps, settings)
                if not _same(cells.setdefault(name, cell).task, task):
                    raise BadInput(f"two tasks are called {task.name!r}", "rename the file, or run them one by one")
    return list(cells.values())


def _same(one: Task, other: Task) -> bool:
    """Compare two tasks. Files with one name in two folders have the same description but other samples."""
    return one.config == other.config and (one.folder or Path()).resolve() == (other.folder or Path()).resolve()


def _with_generation(mode: Mode, generation: dict[str, Any]) -> Mode:
    """Let the user's generation settings override the task's."""
    if not generation:
        return mode
    generation = structured(generation)
    known = {key: value for key, value in generation.items() if key in ("max_new_tokens", "temperature", "seed")}
    extra = {key: value for key, value in generation.items() if key not in known}
    for_drawing = {key: value for key, value in known.items() if key != "max_new_tokens"}
    return replace(
        mode,
        saying=replace(mode.saying, **known, extra={**mode.saying.extra, **extra}),
        drawing=replace(mode.drawing, **for_drawing, extra={**mode.drawing.extra, **extra}),
    )


def _known(what: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise UnknownName(f"no {what} named {value!r}", f"there are: {', '.join(allowed)}")
