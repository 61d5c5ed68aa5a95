"""What `sketchmark run` prints, and its exit code."""

from __future__ import annotations

from typing import Any

from sketchmark.api import play
from sketchmark.commands._unscored import tell_unscored
from sketchmark.episode import Failure
from sketchmark.errors import RunStopped
from sketchmark.runs.cost_limit import cut_short
from sketchmark.runs.failed import failed
from sketchmark.runs.plan import Cell
from sketchmark.runs.prepare import PreparedRun, prepare
from sketchmark.runs.results_format import CellSummary
from sketchmark.runs.store import RunFolder
from sketchmark.terminal import show_progress, tell


def run_and_print(*, dry_run: bool, **options: Any) -> int:
    if options.get("quiet"):
        show_progress(False)
    prepared = prepare(**options)
    for line in prepared.options.warnings:
        tell(f"warning: {line}", err=True)
    if dry_run:
        from sketchmark.commands._estimate_table import print_estimate

        print_estimate(prepared.cells, prepared.options)
        return 0
    try:
        folder = play(prepared)
    except RunStopped:
        _print(RunFolder(prepared.path), prepared)
        raise
    _print(folder, prepared)
    return exit_code(folder, prepared, at_cost_limit=cut_short(folder, prepared.cells, prepared.options))


def _print(folder: RunFolder, run: PreparedRun) -> None:
    if run.quiet:
        return
    from sketchmark.commands._printed import print_all
    from sketchmark.runs.readings import with_replies

    results, budget = with_replies(folder, folder.results()), run.options.budget
    print_all(results, f"the viewer shows them (sketchmark view {folder.path})")
    tell(f"run folder: {folder.path}")
    tell(f"report:     {folder.path / 'report.html'}")
    for cell in run.cells:
        for file in sorted(folder.path.glob(f"submission/{cell.name}/*")):
            tell(f"submission: {file}")
    for line in run.options.engine.told:
        tell(f"workers:    {line}")
    for line in run.servers_told():
        tell(f"server:     {line}")
    if budget.price is not None:
        in_all = sum(budget.price(cell.usage) for cell in results.tasks.values())
        judge = f" ({budget.judge_spent:.4f} of it the judge's)" if budget.judge_price else ""
        without = ", the judge left out" if judge else ""
        tell(f"cost:       {budget.spent:.4f} now{judge}, {in_all:.4f} for the whole run{without}")


def exit_code(folder: RunFolder, run: PreparedRun, *, at_cost_limit: bool) -> int:
    """`at_cost_limit`: the limit is reached, and something is left to do."""
    tasks = folder.results().tasks
    asked = {cell.name: tasks[cell.name] for cell in run.cells if cell.name in tasks}
    failures = [failure for cell in run.cells for failure in _name_failures(folder, cell, asked.get(cell.name))]
    if at_cost_limit:
        spent = run.options.budget.spent
        tell(f"sketchmark: stopped at the cost limit ({spent:.4f} spent now); run again to resume", err=True)
        return 3
    broke = sum(not failure.blames_model for failure in failures)
    if broke:
        tell(f"sketchmark: {broke} episodes failed; run again to play them once more", err=True)
    unscored = tell_unscored(asked, "run again to try once more")
    return 1 if broke or unscored else 0


def _name_failures(folder: RunFolder, cell: Cell, summary: CellSummary | None) -> list[Failure]:
    """Those of the samples that were asked for; of each kind the first is named, with its reason. What the model
    itself failed is a result, and told as one."""
    kinds: dict[str, list[tuple[str, Failure]]] = {}
    for sample, failure in failed(folder, cell.name).items():
        kinds.setdefault(failure.kind, []).append((sample, failure))
    for kind, found in kinds.items():
        sample, first = found[0]
        what = f"{kind} {len(found)}{' (by the model itself, scored as wrong)' if first.blames_model else ''}"
        told = f"{cell.name}: {what}, the first: {sample}: {first.message}"
        tell(f"sketchmark: {told[:400]}", err=True)
    if summary and 0 < summary.episodes == len(kinds.get("no_picture", [])):
        asked = f"sketchmark doctor --model {cell.request.model}"
        tell(f"sketchmark: {cell.name}: not one drawing came; `{asked}` shows what the model can do", err=True)
    return [failure for found in kinds.values() for _, failure in found]
