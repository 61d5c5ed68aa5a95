"""A run as a person starts it: options in, folder, table and exit code out."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import click

from sketchmark.api import default_folder
from sketchmark.catalog import ALIASES, Alias, Catalog, parse_arguments
from sketchmark.errors import BadInput
from sketchmark.models.base import Model
from sketchmark.models.cached import Cached, CallCache
from sketchmark.rows import data_path
from sketchmark.runs.leaks import warn_of_leaks
from sketchmark.runs.plan import Cell, Request, plan
from sketchmark.runs.progress import watcher
from sketchmark.runs.runner import Budget, Manner, run_plan
from sketchmark.runs.store import RunFolder
from sketchmark.task import Grading


def run_session(**options: Any) -> int:
    request = _request(options)
    catalog = Catalog(request.include, request.trust_code)
    model = catalog.model(request.model, _model_arguments(options, request))
    cells = plan(request, catalog, model)
    scorings = [name.strip() for name in options["scoring"].split(",") if name.strip()] or ["strict"]
    for cell in cells:
        for scoring in scorings:
            cell.task.check_scoring(scoring, with_judge=bool(options["judge"]))
    warnings = [*warn_of_leaks(cells, strict=options["strict_leaks"]), *_warnings(cells, request, model, options)]
    for line in warnings:
        click.echo(f"warning: {line}", err=True)
    if options["dry_run"]:
        from sketchmark.runs.estimate import print_estimate

        print_estimate(cells, _price(options, request.model))
        return 0
    path = options["output_path"] or default_folder(request.model)
    played = model if options["no_cache"] else Cached(model, CallCache(options["cache"] or default_cache()))
    manner = Manner(
        concurrency=options["concurrency"],
        time_limit=options["time_limit"],
        retry_failed=options["retry_failed"],
        fresh=options["fresh"],
        grading=Grading(scorings[0], _judge(catalog, options)),
        scored_beside=tuple(scorings[1:]),
        budget=_budget(options, request.model),
        warnings=tuple(warnings),
    )
    folder = asyncio.run(_play(request, cells, played, path, manner, quiet=options["quiet"]))
    return _finish(folder, cells, manner, quiet=options["quiet"])


def _warnings(cells: list[Cell], request: Request, model: Model, options: dict[str, Any]) -> list[str]:
    """What will not be as the user may think, said before the first call and again in the summary."""
    found = []
    if not options["judge"]:
        judged = [cell.name for cell in cells if cell.task.config.get("needs_judge")]
        found += [f"{name} is scored by a judge only: add --judge MODEL" for name in judged]
    drawing_last = [cell.name for cell in cells if cell.mode.protocol.skips_drawing and not cell.mode.in_words]
    if not model.abilities.draw:
        found += [f"{name}: {request.model} does not draw, so its drawing step is skipped" for name in drawing_last]
    elif set(request.canvases) - {"own"}:
        found += [f"{name}: the drawing comes last, so --canvas changes nothing" for name in drawing_last]
    return found


async def _play(
    request: Request, cells: list[Cell], model: Model, path: Path, manner: Manner, *, quiet: bool
) -> RunFolder:
    try:
        with watcher(quiet) as looking:
            return await run_plan(request, cells, model, path, manner, looking)
    finally:
        await model.close()
        if manner.grading.judge:
            await manner.grading.judge.close()


def _finish(folder: RunFolder, cells: list[Cell], manner: Manner, *, quiet: bool) -> int:
    from sketchmark.report import write_report
    from sketchmark.runs.table import print_results

    results = folder.results()
    report = write_report(folder)
    if not quiet:
        print_results(results)
        click.echo(f"run folder: {folder.path}")
        click.echo(f"report:     {report}")
        for cell in cells:
            for file in sorted(folder.path.glob(f"submission/{cell.name}/*")):
                click.echo(f"submission: {file}")
        if manner.budget.price is not None:
            in_all = sum(manner.budget.price(cell["usage"]) for cell in results["tasks"].values())
            click.echo(f"cost:       {manner.budget.spent:.4f} now, {in_all:.4f} for the whole run")
    failed = sum(_name_failures(folder, cell.name) for cell in cells)
    if manner.budget.used_up:
        click.echo(
            f"sketchmark: stopped at the cost limit ({manner.budget.spent:.4f} spent); run again to go on", err=True
        )
        return 3
    if failed:
        click.echo(f"sketchmark: {failed} episodes failed; `--retry-failed` plays them again", err=True)
    unscored = sum(_without_verdict(folder, cell.name) for cell in cells)
    if unscored:
        click.echo(f"sketchmark: {unscored} episodes could not be scored; run again to try once more", err=True)
    return 1 if failed or unscored else 0


def _name_failures(folder: RunFolder, cell: str) -> int:
    """How many episodes failed; of each kind of failure the first is named, with its reason."""
    kinds: dict[str, list[str]] = {}
    for record in folder.episodes(cell):
        if failure := record["failure"]:
            kinds.setdefault(failure["kind"], []).append(f"{record['sample']['id']}: {failure['message']}")
    for kind, found in kinds.items():
        click.echo(f"sketchmark: {cell}: {kind} {len(found)}, the first: {found[0][:300]}", err=True)
    return sum(map(len, kinds.values()))


def _without_verdict(folder: RunFolder, cell: str) -> int:
    """Played to the end, but the judge or the scorer failed."""
    return sum(1 for row in folder.scores(cell) if {"judge_failed", "scorer_failed"} & set(row["flags"]))


def _request(options: dict[str, Any]) -> Request:
    return Request(
        model=options["model"],
        tasks=options["tasks"],
        modes=_names(options["mode"]),
        canvases=_names(options["canvas"]),
        steps=options["steps"],
        prompts=options["prompts"],
        limit=options["limit"],
        seed=options["seed"],
        data=data_path(options["data"]),
        model_args=parse_arguments(options["model_args"]),
        task_args=parse_arguments(options["task_args"]),
        generation=parse_arguments(options["gen_kwargs"]),
        on_draw_failure=options["on_draw_failure"],
        include=tuple(options["include"]),
        trust_code=options["trust_code"],
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip().replace("-", "_") for part in text.split(",") if part.strip())


def _model_arguments(options: dict[str, Any], request: Request) -> dict[str, Any]:
    arguments = dict(request.model_args)
    size = options["batch_size"]
    provider = request.model.partition("/")[0]
    # `--batch_size 1` is a habit of lmms-eval's users: for a model without batches it says what is so anyway.
    if size and (size != "1" or ALIASES.get(provider, Alias(provider)).provider in ("hf", "janus")):
        arguments["batch_size"] = int(size) if size.isdigit() else size
    if options["max_requests_per_minute"]:
        arguments["max_requests_per_minute"] = options["max_requests_per_minute"]
    return arguments


def _judge(catalog: Catalog, options: dict[str, Any]) -> Model | None:
    if not options["judge"]:
        return None
    cache = None if options["no_cache"] else options["cache"] or default_cache()
    return judge_named(catalog, options["judge"], parse_arguments(options["judge_args"]), cache)


def judge_named(catalog: Catalog, name: str, arguments: dict[str, Any], cache: Path | None = None) -> Model:
    """Any model may judge; its verdicts are cached like any other call."""
    judge = catalog.model(name, arguments)
    return Cached(judge, CallCache(cache)) if cache else judge


def _price(options: dict[str, Any], model: str) -> Any:
    if not options["prices"]:
        return None
    from sketchmark.models.prices import price_of

    return price_of(options["prices"], model)


def _budget(options: dict[str, Any], model: str) -> Budget:
    if options["max_cost"] is not None and not options["prices"]:
        raise BadInput("--max-cost needs to know prices", "add --prices FILE")
    return Budget(options["max_cost"], _price(options, model))


def default_cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "sketchmark"
