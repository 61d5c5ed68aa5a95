"""What `sketchmark run` prints, and its exit code."""

from __future__ import annotations

from typing import Any

from sketchmark.api import PreparedRun, prepare
from sketchmark.runs.store import RunFolder
from sketchmark.terminal import tell


def run_and_print(*, dry_run: bool, **options: Any) -> int:
    prepared = prepare(**options)
    for line in prepared.options.warnings:
        tell(f"warning: {line}", err=True)
    if dry_run:
        from sketchmark.commands._estimate_table import print_estimate

        print_estimate(prepared.cells, prepared.options.budget.price)
        return 0
    return _finish(prepared.play(), prepared)


def _finish(folder: RunFolder, run: PreparedRun) -> int:
    results, budget = folder.results(), run.options.budget
    if not run.quiet:
        from sketchmark.commands._results_table import print_results

        print_results(results)
        tell(f"run folder: {folder.path}")
        tell(f"report:     {folder.path / 'report.html'}")
        for cell in run.cells:
            for file in sorted(folder.path.glob(f"submission/{cell.name}/*")):
                tell(f"submission: {file}")
        if budget.price is not None:
            in_all = sum(budget.price(cell.usage) for cell in results.tasks.values())
            tell(f"cost:       {budget.spent:.4f} now, {in_all:.4f} for the whole run")
    failed = sum(_name_failures(folder, cell.name) for cell in run.cells)
    if budget.used_up:
        tell(f"sketchmark: stopped at the cost limit ({budget.spent:.4f} spent); run again to resume", err=True)
        return 3
    if failed:
        tell(f"sketchmark: {failed} episodes failed; `--retry-failed` plays them again", err=True)
    unscored = sum(_without_verdict(folder, cell.name) for cell in run.cells)
    if unscored:
        tell(f"sketchmark: {unscored} episodes could not be scored; run again to try once more", err=True)
    return 1 if failed or unscored else 0


def _name_failures(folder: RunFolder, cell: str) -> int:
    """How many episodes failed; of each kind of failure the first is named, with its reason."""
    kinds: dict[str, list[str]] = {}
    for line in folder.episodes(cell):
        if failure := line.failure:
            kinds.setdefault(failure.kind, []).append(f"{line.sample.id}: {failure.message}")
    for kind, found in kinds.items():
        tell(f"sketchmark: {cell}: {kind} {len(found)}, the first: {found[0][:300]}", err=True)
    return sum(map(len, kinds.values()))


def _without_verdict(folder: RunFolder, cell: str) -> int:
    """Played to the end, but the judge or the scorer failed."""
    return sum(1 for row in folder.scored(cell).values() if {"judge_failed", "scorer_failed"} & set(row.flags))
