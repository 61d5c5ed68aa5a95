"""The same as `sketchmark run`, from Python."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from sketchmark.catalog import Catalog
from sketchmark.models.base import Model
from sketchmark.models.cached import Cached, CallCache
from sketchmark.rows import data_path
from sketchmark.runs.leaks import warn_of_leaks
from sketchmark.runs.plan import Request, plan
from sketchmark.runs.progress import Silent
from sketchmark.runs.runner import Manner, run_plan
from sketchmark.runs.store import RunFolder


def run(
    model: str | Model,
    tasks: str | Sequence[str],
    *,
    mode: str | Sequence[str] = ("direct",),
    canvas: str | Sequence[str] = ("own",),
    output_path: str | Path = "",
    cache: str | Path | None = None,
    manner: Manner | None = None,
    **request: Any,
) -> RunFolder:
    """Play `tasks` with `model` and return the run folder: `run("player/solver", "maze", limit=20).results()`.

    `model` is a name or an instance of your own; `request` takes what `sketchmark.runs.plan.Request` has (limit,
    seed, steps, prompts, data, model_args, task_args…). `cache` is a folder for the call cache; None: no cache.
    """
    name = model if isinstance(model, str) else model.name or type(model).__name__.lower()
    asked = Request(
        model=name, tasks=_joined(tasks), modes=_listed(mode), canvases=_listed(canvas), **_paths(request)
    )
    catalog = Catalog(asked.include, asked.trust_code)
    player = catalog.model(name, asked.model_args) if isinstance(model, str) else model
    played = Cached(player, CallCache(Path(cache))) if cache else player
    folder = Path(output_path) if output_path else default_folder(name)
    cells = plan(asked, catalog, played)
    how = replace(manner or Manner(), warnings=tuple(warn_of_leaks(cells)))
    for cell in cells:
        cell.task.check_scoring(how.grading.scoring, with_judge=how.grading.judge is not None)

    async def play() -> RunFolder:
        try:
            return await run_plan(asked, cells, played, folder, how, Silent())
        finally:
            if isinstance(model, str):  # an instance is its maker's to close
                await played.close()

    return _finish(play())


def _finish(work: Coroutine[Any, Any, RunFolder]) -> RunFolder:
    """A notebook has an event loop of its own running; there the work goes to another thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as aside:
        return aside.submit(asyncio.run, work).result()


def default_folder(model: str) -> Path:
    """The same command finds the same folder again, which is what makes resuming a matter of repeating it."""
    return Path("runs") / "".join(c if c.isalnum() or c in "._-" else "-" for c in model)


def _joined(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for part in names.split(",")) if isinstance(names, str) else tuple(names)


def _paths(request: dict[str, Any]) -> dict[str, Any]:
    return {**request, "data": data_path(request.get("data"))}
