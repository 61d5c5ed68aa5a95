"""Running: `prepare` makes a checked run of settings, `PreparedRun.play` executes it.

All that a run needs (the catalogue, the model, its cache, the judge, the budget) is put together here and nowhere
else. A run may grow: `grow` decides after the samples asked for whether there are to be more.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from sketchmark.catalog import Catalog
from sketchmark.engines import finish
from sketchmark.episode import EXTRACTED, UNASKED, check_extractor
from sketchmark.episode.model import Model
from sketchmark.errors import BadInput, MissingExtra, RunStopped, UnknownName
from sketchmark.files import own_data
from sketchmark.folder import RunFolder
from sketchmark.models import paired
from sketchmark.models.cache import default_cache, open_cache, with_cache
from sketchmark.models.code_drawing import SVG, ByCode, DrawsByCode
from sketchmark.models.wrappers import Metered
from sketchmark.progress import watcher
from sketchmark.runs.checks import plan_and_left_out, warnings_of
from sketchmark.runs.engine import ENGINES, Workplace, key_variables, resolve_engine
from sketchmark.runs.plan import Cell, drawer_arguments, model_arguments
from sketchmark.runs.runner import Budget, Price, Resources, run_plan, stopped_by_cost
from sketchmark.settings import Names, Settings, default_folder
from sketchmark.terminal import notice
from sketchmark.terminal.console import in_notebook


class More(NamedTuple):
    """Number of samples to reach, and the tasks to extend."""

    limit: int
    tasks: frozenset[str]


Report = Callable[[RunFolder], object]
"""Function that writes the report of a run."""

Grow = Callable[[RunFolder], More | None]
"""Returns None when there are enough samples."""


@dataclass(frozen=True)
class PreparedRun:
    """A run that was checked and has not begun."""

    settings: Settings
    cells: list[Cell]
    model: Model
    path: Path
    resources: Resources
    quiet: bool = True
    _owned: tuple[Model, ...] = ()
    """Models made here by name. The caller closes its own instances."""

    @property
    def budget(self) -> Budget:
        return self.resources.budget

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.resources.warnings

    def servers_told(self) -> list[str]:
        """Report each server's calls, if several servers answer for the model."""
        from sketchmark.models.replicas import Several

        asked = [model.inside if isinstance(model, DrawsByCode) else model for model in self._owned]
        return [line for model in asked if isinstance(model, Several) for line in model.told()]

    def is_stopped_by_cost(self) -> bool:
        return stopped_by_cost(RunFolder(self.path), self.cells, self.settings, self.budget)

    def play(self, report: Report | None = None, grow: Grow | None = None) -> RunFolder:
        """Run the missing episodes, score them and write results.json. `grow` then decides whether to add samples.
        The `report` is written last, also if further episodes would fail the same way (RunStopped)."""

        async def play() -> RunFolder:
            now: PreparedRun | None = self
            try:
                while now:
                    with watcher(self.quiet) as looking:
                        folder = await run_plan(now.settings, now.cells, now.model, now.path, now.resources, looking)
                    more = grow(folder) if grow else None
                    now = self._grown(more) if more else None
                return folder
            finally:
                for model in self._owned:
                    await model.close()

        try:
            folder = finish(play())
        except RunStopped:
            if report:
                report(RunFolder(self.path))
            raise
        if report:
            report(folder)
        return folder

    def _grown(self, more: More) -> PreparedRun:
        settings = structs.replace(self.settings, limit=more.limit, fresh=False, retry_failed=False)
        cells = [replace(cell, settings=settings) for cell in self.cells if cell.task.name in more.tasks]
        return replace(self, settings=settings, cells=cells)


def prepare(model: str | Model, tasks: Names, **given: Any) -> PreparedRun:
    """Check a run. Everything that can be refused is refused here, before the first call.

    `given` are `Settings`, spelled as `sketchmark.run` takes them. `model`, `drawer`, `judge` and `extractor` are
    names, or instances of your own (see `run`).
    """
    _refuse_what_is_no_model(model)
    drawer, judge, extractor = (given.get(name) or "" for name in ("drawer", "judge", "extractor"))
    if drawer:
        _refuse_what_is_no_model(drawer)
    settings = _settings(model, {"drawer": drawer, "judge": judge, "extractor": extractor}, {**given, "tasks": tasks})
    unasked = bool(extractor) and EXTRACTED not in settings.scorings  # in a run file, another task may need it
    extractor = "" if unasked else extractor
    check_extractor(settings.scorings, given=bool(extractor))
    if settings.draw and not isinstance(model, str):
        model = DrawsByCode(model, ByCode())
        settings = structs.replace(settings, model_args=dict(model.arguments))
    catalog = Catalog(settings.included, settings.trust_code, notice)
    if isinstance(model, str):
        known = catalog.understood(settings.model, settings.model_args, settings.drawer, settings.drawer_args)
        model, drawer = known.model, drawer or known.drawer
        settings = structs.replace(
            settings,
            model=known.model,
            model_args=known.model_args,
            drawer=known.drawer,
            drawer_args=known.drawer_args,
        )
    kept = None if settings.no_cache else Path(settings.cache) if settings.cache else default_cache()
    by_workers = isinstance(model, str) and isinstance(drawer, str)
    cached = [bool(settings.cache) or isinstance(one, str) for one in (model, drawer)]
    owned: tuple[Model, ...] = ()
    if isinstance(model, str):
        model = catalog.model(settings.model, model_arguments(settings))
        owned = (model,)
    if isinstance(drawer, str) and drawer:
        drawer = catalog.model(settings.drawer, drawer_arguments(settings))
        owned += (drawer,)
    whole = paired(model, drawer or None)
    cache = None if kept is None else "" if kept == default_cache() else str(kept.resolve())
    workplace = Workplace(cache, key_variables(whole)) if by_workers else Workplace()
    cells, left_out = plan_and_left_out(settings, catalog, whole)
    settings = structs.replace(settings, engine=resolve_engine(settings, cells))
    for cell in cells:
        for scoring in settings.scorings:
            cell.task.check_scoring(scoring, with_judge=bool(judge))
    budget = _budget(settings, _name(judge), _name(extractor))
    by_name = [one for one in (judge, extractor) if isinstance(one, str) and one]
    shared = open_cache(kept) if by_name or any(cached) else None
    others: list[Model | None] = []
    for one, arguments, price, charge in (
        (judge, settings.judge_args, budget.judge_price, budget.charge_judge),
        (extractor, settings.extractor_args, budget.extractor_price, budget.charge_extractor),
    ):
        if not one:
            others.append(None)
            continue
        asked = catalog.model(one, arguments) if isinstance(one, str) else one
        if price:  # charged to the same budget as the model's calls
            asked = Metered(asked, charge, lambda: budget.used_up)
        if isinstance(one, str):
            asked = with_cache(asked, shared)
            owned += (asked,)
        others.append(asked)
    warnings = (*warnings_of(cells, settings, whole, with_judge=bool(judge)), *left_out)
    warnings += (": ".join(UNASKED),) * unasked
    resources = Resources(others[0], others[1], budget, workplace, warnings)
    path = _folder(
        Path(settings.output_path)
        if settings.output_path
        else default_folder(settings.model_and_drawer, settings.part)
    )
    silent = not in_notebook() if settings.quiet is None else settings.quiet
    both = zip((model, drawer), cached, strict=True)
    parts = [with_cache(one, shared if by_cache else None) for one, by_cache in both if isinstance(one, Model)]
    return PreparedRun(settings, cells, paired(*parts), path, resources, silent, owned)


def _name(model: str | Model) -> str:
    return model if isinstance(model, str) else model.name or type(model).__name__.lower()


def _settings(model: str | Model, others: Mapping[str, str | Model], given: Mapping[str, Any]) -> Settings:
    """Read the settings and refuse those that do not go together. `others` are the models besides the first."""
    by_name, drawer = isinstance(model, str), others["drawer"]
    names = {key: one if isinstance(one, str) else one.name for key, one in others.items()}
    settings = Settings.of({**given, "model": _name(model), **names})
    if not by_name and (settings.model_args or settings.batch_size or settings.max_requests_per_minute):
        raise BadInput(
            "model_args, batch_size and max_requests_per_minute are for a model given by name",
            "give them to your instance when you make it",
        )
    if settings.drawer_args and not (isinstance(drawer, str) and drawer):
        raise BadInput("drawer_args are for a drawer given by name", "add --drawer MODEL")
    if settings.drawer and settings.draw:
        raise BadInput(
            f"--draw {settings.draw}, and --drawer {settings.drawer}",
            f"leave out one of them; draw_with={settings.draw} in --drawer-args lets the drawer write code",
        )
    arguments = _with_drawing(settings)
    return structs.replace(
        settings,
        named=by_name and all(isinstance(one, str) for one in others.values()),
        data=own_data(settings.data),
        model_args=arguments if isinstance(model, str) else dict(model.arguments),
        drawer_args=settings.drawer_args if isinstance(drawer, str) else dict(drawer.arguments),
        engine=_engine(settings, by_name=by_name and isinstance(drawer, str)),
    )


def _refuse_what_is_no_model(model: object) -> None:
    if isinstance(model, (list, tuple)) or (isinstance(model, str) and "," in model):
        raise BadInput(
            f"one call runs one model, and {model!r} names several",
            "call it for each in a loop, or use a run file: sketchmark.suites.run_suite(FILE)",
        )
    if not isinstance(model, (str, Model)):
        raise BadInput(
            f"{model!r} is not a model", "give a name (player/solver), or an instance of a sketchmark.Model"
        )


def _folder(path: Path) -> Path:
    for part in (path, *path.parents):
        if part.is_file():
            raise BadInput(f"{part} is a file, and a run is a folder", "choose another output_path")
    return path


def _with_drawing(settings: Settings) -> dict[str, Any]:
    """`--draw svg` is the model argument `draw_with=svg`."""
    draw, arguments = settings.draw, settings.model_args
    if not draw:
        return arguments
    if draw != SVG:
        raise UnknownName(f"no way to draw named {draw!r}", f"there is: {SVG}")
    if arguments.get("draw_with", draw) != draw:
        raise BadInput(
            f"--draw {draw}, and draw_with={arguments['draw_with']} in --model-args", "leave out one of them"
        )
    return {**arguments, "draw_with": draw}


def _engine(settings: Settings, *, by_name: bool) -> str:
    """Return the engine. A worker makes its model by name; an instance runs in this process."""
    engine = settings.engine
    if engine not in ENGINES:
        raise UnknownName(f"no engine named {engine!r}", f"there are: {', '.join(ENGINES)}")
    if not by_name and engine in ("processes", "ray"):
        raise BadInput(f"engine {engine} makes the model again in every worker", "give the model by its name")
    if engine != "ray" and (settings.ray_address or settings.num_gpus):
        raise BadInput("--ray-address and --num-gpus are for a Ray cluster", "add --engine ray")
    if engine == "ray" and importlib.util.find_spec("ray") is None:
        raise MissingExtra("--engine ray", "ray")
    return engine if by_name else "local"


def _budget(settings: Settings, judge: str, extractor: str) -> Budget:
    prices = settings.prices
    if settings.max_cost is not None and not prices:
        raise BadInput("--max-cost needs to know prices", "add --prices FILE")
    return Budget(
        settings.max_cost,
        _price(prices, settings.model_and_drawer),
        judge_price=_price(prices, judge) if judge else None,
        extractor_price=_price(prices, extractor) if extractor else None,
    )


def _price(prices: str | Mapping[str, Any], model: str) -> Price | None:
    if not prices:
        return None
    from sketchmark.models.wrappers import price_of

    return price_of(prices if isinstance(prices, Mapping) else Path(prices), model)
