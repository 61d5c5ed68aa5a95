"""A run that grows: whether there shall be more samples is asked when those asked for are played and scored.

A run before its first call: `prepare` turns what was asked for into a checked run, `PreparedRun.play` plays it.

Whatever a run needs (the catalogue, the model, its cache, the judge, the budget) is put together here and nowhere
else.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from msgspec import structs

from sketchmark.catalog import Catalog
from sketchmark.engines import finish
from sketchmark.episode import Grading
from sketchmark.episode.model import Model
from sketchmark.errors import BadInput, MissingExtra, UnknownName
from sketchmark.files import from_home
from sketchmark.files.tables import data_path
from sketchmark.folder import RunFolder
from sketchmark.models import takes_batches
from sketchmark.models.cache import CallCache, default_cache, open_cache, with_cache
from sketchmark.models.code_drawing import SVG, ByCode, DrawsByCode
from sketchmark.models.wrappers import Metered
from sketchmark.progress import watcher
from sketchmark.runs.checks import plan_and_left_out, warnings_of
from sketchmark.runs.engine import ENGINES, Engine, key_variables, resolve_engine
from sketchmark.runs.plan import Cell
from sketchmark.runs.runner import Budget, Price, RunOptions, run_plan
from sketchmark.secrets import to_write_down
from sketchmark.settings import (
    Arguments,
    Asked,
    Folder,
    Limit,
    Name,
    Names,
    Prices,
    Request,
    Shard,
    default_folder,
    parse_arguments,
    plain_number,
    refuse_out_of_range,
)
from sketchmark.terminal import notice
from sketchmark.terminal.console import in_notebook


class More(NamedTuple):
    """How many samples there shall be in all, and of which tasks."""

    limit: int
    tasks: frozenset[str]


Grow = Callable[[RunFolder], More | None]
"""None: that is enough."""


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class PreparedRun:
    """A run that was checked and has not begun."""

    request: Request
    cells: list[Cell]
    model: Model
    path: Path
    options: RunOptions
    quiet: bool = True
    _owned: tuple[Model, ...] = ()
    """Models made by name here; an instance is its maker's to close."""

    def servers_told(self) -> list[str]:
        """How each server did, where several answer for the model."""
        from sketchmark.models.replicas import Several

        asked = [model.inside if isinstance(model, DrawsByCode) else model for model in self._owned]
        return [line for model in asked if isinstance(model, Several) for line in model.told()]

    def play(self, grow: Grow | None = None) -> RunFolder:
        """Play what is missing, score it and sum it up; raises RunStopped after that, if no further episode would
        have fared better. `grow` is asked after that whether there shall be more samples. The report is not of this:
        `sketchmark.api.play` writes it."""

        async def play() -> RunFolder:
            now: PreparedRun | None = self
            try:
                while now:
                    with watcher(self.quiet) as looking:
                        folder = await run_plan(now.request, now.cells, now.model, now.path, now.options, looking)
                    more = grow(folder) if grow else None
                    now = self._grown(more) if more else None
                return folder
            finally:
                for model in self._owned:
                    await model.close()

        return finish(play())

    def _grown(self, more: More) -> PreparedRun:
        asked = self.request.asked and structs.replace(self.request.asked, limit=more.limit)
        request = replace(self.request, limit=more.limit, asked=asked)
        cells = [replace(cell, request=request) for cell in self.cells if cell.task.name in more.tasks]
        return replace(
            self, request=request, cells=cells, options=replace(self.options, fresh=False, retry_failed=False)
        )


def _as_python_says(asked: Callable[P, T]) -> Callable[P, T]:
    """None is what was not given, and a number of NumPy's is a number."""

    @wraps(asked)
    def plainly(*args: P.args, **kwargs: P.kwargs) -> T:
        for name, value in list(kwargs.items()):
            if value is None:
                del kwargs[name]
            else:
                kwargs[name] = plain_number(value)
        return asked(*args, **kwargs)

    return plainly


@_as_python_says
def prepare(
    model: str | Model,
    tasks: Names,
    *,
    mode: Names = "direct",
    canvas: Names = "own",
    draw: str | None = None,
    steps: str = "truth",
    limit: Limit | None = None,
    seed: int = 0,
    output_path: Folder = None,
    model_args: Arguments = "",
    task_args: Arguments = "",
    gen_kwargs: Arguments = "",
    prompts: str = "",
    data: Folder = None,
    scoring: Names = "strict",
    judge: str | Model = "",
    judge_args: Arguments = "",
    concurrency: int = 100,
    batch_size: int | str = "",
    time_limit: float | None = None,
    max_requests_per_minute: int | None = None,
    on_draw_failure: str = "fail",
    retry_failed: bool = False,
    fresh: bool = False,
    cache: Folder = None,
    no_cache: bool = False,
    include: Name | Sequence[Name] = (),
    trust_code: bool = False,
    strict_leaks: bool = False,
    prices: Prices = None,
    max_cost: float | None = None,
    engine: str = "auto",
    ray_address: str | None = None,
    replicas: int | None = None,
    num_gpus: float = 0,
    shard: str = "",
    quiet: bool | None = None,
) -> PreparedRun:
    """A checked run, not begun: everything that can be refused is refused here, before the first call.

    The parameters are the options of `sketchmark run`, with the same names, spellings and defaults; only the progress
    is shown in a notebook alone, unless `quiet` says otherwise. `model` and `judge` are names, or instances of your
    own (see `run`).
    """
    _refuse_what_is_no_model(model)
    refuse_out_of_range(
        limit=limit,
        seed=seed,
        concurrency=concurrency,
        time_limit=time_limit,
        max_requests_per_minute=max_requests_per_minute,
        max_cost=max_cost,
        replicas=replicas,
        num_gpus=num_gpus,
    )
    name = model if isinstance(model, str) else model.name or type(model).__name__.lower()
    if not isinstance(model, str) and (model_args or batch_size or max_requests_per_minute):
        raise BadInput(
            "model_args, batch_size and max_requests_per_minute are for a model given by name",
            "give them to your instance when you make it",
        )
    given = _with_drawing(draw, _arguments(model_args))
    if draw and not isinstance(model, str):
        model = DrawsByCode(model, ByCode())
    request = Request(
        model=name,
        tasks=",".join(str(from_home(one)) if one.startswith("~") else one for one in _names(tasks)),
        modes=_words(mode),
        canvases=_words(canvas),
        steps=steps,
        prompts=prompts,
        limit=limit,
        seed=seed,
        data=data_path(from_home(data) if data else None),
        model_args=given if isinstance(model, str) else dict(model.arguments),
        task_args=_arguments(task_args),
        generation=_arguments(gen_kwargs),
        on_draw_failure=on_draw_failure,
        include=tuple(map(from_home, [include] if isinstance(include, (str, os.PathLike)) else include)),
        trust_code=trust_code,
        shard=Shard.parse(shard) if shard else None,
    )
    scorings = list(_names(scoring)) or ["strict"]
    asked = Asked(
        model=name,
        named=isinstance(model, str) and isinstance(judge, str),
        tasks=request.tasks,
        mode=",".join(request.modes) or "direct",
        canvas=",".join(request.canvases),
        steps=steps,
        prompts=prompts,
        limit=limit,
        seed=seed,
        data=str(request.data or ""),
        model_args=to_write_down(_model_arguments(request, batch_size, max_requests_per_minute)),
        task_args=request.task_args,
        gen_kwargs=request.generation,
        on_draw_failure=on_draw_failure,
        scoring=",".join(scorings),
        judge=judge if isinstance(judge, str) else judge.name,
        judge_args=to_write_down(_arguments(judge_args)),
        time_limit=time_limit,
        include=[str(path) for path in request.include],
        trust_code=trust_code,
        shard=shard,
    )
    request = replace(request, asked=asked)
    catalog = Catalog(request.include, request.trust_code, notice)
    kept = None if no_cache else from_home(cache) if cache else default_cache()
    calls: CallCache | Path | None = kept if cache or isinstance(model, str) else None
    playing = _checked(Engine(engine, ray_address, replicas, num_gpus), by_name=isinstance(model, str))
    if isinstance(model, str):
        playing.model_args = _model_arguments(request, batch_size, max_requests_per_minute)
        playing.cache = None if kept is None else "" if kept == default_cache() else str(kept.resolve())
        model = catalog.model(name, playing.model_args)
        playing.key_variables = key_variables(model)
        owned: tuple[Model, ...] = (model,)
    else:
        owned = ()
    cells, left_out = plan_and_left_out(request, catalog, model)
    playing.name = resolve_engine(playing.name, name, cells)
    for cell in cells:
        for how in scorings:
            cell.task.check_scoring(how, with_judge=bool(judge))
    judge_name = judge if isinstance(judge, str) else judge.name or type(judge).__name__.lower()
    budget = _budget(prices, max_cost, name, judge_name)
    if isinstance(judge, str) and judge:
        metered = _metered(catalog.model(judge, _arguments(judge_args)), budget)
        shared = open_cache(kept)
        calls = shared if calls is not None else None
        judge = with_cache(metered, shared)
        owned += (judge,)
    elif isinstance(judge, Model):
        judge = _metered(judge, budget)
    options = RunOptions(
        concurrency=concurrency,
        time_limit=time_limit,
        retry_failed=retry_failed,
        fresh=fresh,
        grading=Grading(scorings[0], judge or None),
        scored_beside=tuple(scorings[1:]),
        budget=budget,
        engine=playing,
        warnings=(
            *warnings_of(cells, request, model, with_judge=bool(judge), strict_leaks=strict_leaks),
            *left_out,
        ),
    )
    path = _folder(output_path or default_folder(name, request.shard))
    silent = not in_notebook() if quiet is None else quiet
    return PreparedRun(request, cells, with_cache(model, calls), path, options, silent, owned)


def _names(names: Names) -> tuple[str, ...]:
    listed = names.split(",") if isinstance(names, str) else [names] if isinstance(names, os.PathLike) else names
    return tuple(name for part in listed if (name := os.fspath(part).strip()))


def _refuse_what_is_no_model(model: object) -> None:
    if isinstance(model, (list, tuple)) or (isinstance(model, str) and "," in model):
        raise BadInput(
            f"one call plays one model, and {model!r} names several",
            "call it for each in a loop, or play a run file: sketchmark.suites.run_suite(FILE)",
        )
    if not isinstance(model, (str, Model)):
        raise BadInput(f"{model!r} is no model", "give a name (player/solver), or an instance of a sketchmark.Model")


def _folder(output_path: str | Path) -> Path:
    path = from_home(output_path)
    for part in (path, *path.parents):
        if part.is_file():
            raise BadInput(f"{part} is a file, and a run is a folder", "choose another output_path")
    return path


def _words(names: Names) -> tuple[str, ...]:
    """Modes and canvases may be spelled with dashes."""
    return tuple(name.replace("-", "_") for name in _names(names))


def _arguments(given: Arguments) -> dict[str, Any]:
    return parse_arguments(given) if isinstance(given, str) else dict(given)


def _with_drawing(draw: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
    """`--draw svg` is the model argument `draw_with=svg`."""
    if not draw:
        return arguments
    if draw != SVG:
        raise UnknownName(f"no way to draw named {draw!r}", f"there is: {SVG}")
    if arguments.get("draw_with", draw) != draw:
        raise BadInput(
            f"--draw {draw}, and draw_with={arguments['draw_with']} in --model-args", "leave out one of them"
        )
    return {**arguments, "draw_with": draw}


def _model_arguments(request: Request, batch_size: int | str, max_requests_per_minute: int | None) -> dict[str, Any]:
    arguments = dict(request.model_args)
    size = str(batch_size)
    # `--batch_size 1` is a habit of lmms-eval's users: for a model without batches it says what is so anyway.
    if size and (size != "1" or takes_batches(request.model)):
        arguments["batch_size"] = int(size) if size.isdigit() else size
    if max_requests_per_minute:
        arguments["max_requests_per_minute"] = max_requests_per_minute
    return arguments


def _checked(engine: Engine, *, by_name: bool) -> Engine:
    """A worker makes the model for itself, by its name; an instance plays here."""
    if engine.name not in ENGINES:
        raise UnknownName(f"no engine named {engine.name!r}", f"there are: {', '.join(ENGINES)}")
    if not by_name and engine.name in ("processes", "ray"):
        raise BadInput(f"engine {engine.name} makes the model anew in every worker", "give the model by its name")
    if engine.name != "ray" and (engine.ray_address or engine.num_gpus):
        raise BadInput("--ray-address and --num-gpus are for a Ray cluster", "add --engine ray")
    if engine.name == "ray" and importlib.util.find_spec("ray") is None:
        raise MissingExtra("--engine ray", "ray")
    return engine if by_name else replace(engine, name="local")


def _budget(prices: Prices, max_cost: float | None, model: str, judge: str) -> Budget:
    if max_cost is not None and not prices:
        raise BadInput("--max-cost needs to know prices", "add --prices FILE")
    return Budget(max_cost, _price(prices, model), judge_price=_price(prices, judge) if judge else None)


def _metered(judge: Model, budget: Budget) -> Model:
    """What a judge costs counts like what the model costs, wherever it is asked."""
    return Metered(judge, budget.charge_judge, lambda: budget.used_up) if budget.judge_price else judge


def _price(prices: Prices, model: str) -> Price | None:
    if not prices:
        return None
    from sketchmark.models.wrappers import price_of

    return price_of(prices if isinstance(prices, Mapping) else from_home(prices), model)
