"""Output and exit code of `sketchmark run`, for one model and for several, and the table of `--dry-run`."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from sketchmark.commands.tables import tell_unscored
from sketchmark.episode import Failure
from sketchmark.errors import RunStopped
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import CellResult
from sketchmark.models import pair_arguments
from sketchmark.models.wrappers import PairPrice, parts_of
from sketchmark.report import report_run
from sketchmark.runs import PreparedRun, prepare
from sketchmark.runs.checks import Estimate, estimate
from sketchmark.runs.plan import Cell
from sketchmark.runs.runner import Budget, Price
from sketchmark.secrets import keys_not_needed, to_write_down
from sketchmark.settings.run_file import Suite
from sketchmark.suites import ModelOutcome, play_suite, prepare_all
from sketchmark.terminal import show_progress, tell, tell_all
from sketchmark.terminal.tables import Table, print_table

_COLUMNS = ("episodes", "calls", "pictures_in", "pictures_out", "tokens_in", "tokens_out")


def print_estimate(run: PreparedRun) -> None:
    """Print a row for each cell, and one for the calls of the judge and of the extractor if there are such."""
    budget, judge, extractor = run.budget, run.resources.judge, run.resources.extractor
    drawer = run.settings.drawer
    several = bool(drawer or judge or extractor)
    names = ("task.mode", *["asked"] * several)
    columns = (*names, *(name.replace("_", " ") for name in _COLUMNS), *["cost"] * bool(budget.price))
    table = Table("Dry run, no calls made. Upper bounds:", columns, texts=len(names))
    total: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    cost = 0.0
    for name, found in _estimates(run).items():
        repeated.update(found.repeated)
        drawn.update({key: count for key, count in found.usage.items() if key.endswith("pictures_out")})
        own, drawers = parts_of(found.usage)
        own_price, drawer_price = _prices_of(budget.price)
        for asked, usage, price in (
            ("the model", own, own_price),
            (f"drawer {drawer}", drawers, drawer_price),
            (f"judge {judge.name}" if judge else "", found.judge, budget.judge_price),
            (f"extractor {extractor.name}" if extractor else "", found.extractor, budget.extractor_price),
        ):
            if usage:
                total.update(usage)
                cost += price(usage) if price else 0.0
                table.add(name, *[asked] * several, *_row(usage), *_cost(price, usage))
    table.add("total", *[""] * several, *_row(total), *([f"{cost:.2f}"] if budget.price else []), style="bold")
    if budget.price and cost:
        table.below += (_explained(cost, budget.price(drawn)),)
    if repeated and not run.settings.no_cache:
        free = f", {budget.price(repeated):.2f} of the cost," if budget.price else ""
        table.below += (f"{repeated['calls']:,} of the calls{free} repeat others; the cache answers them for free.",)
    print_table(table)


def _estimates(run: PreparedRun) -> dict[str, Estimate]:
    judge, extractor = run.resources.judge, run.resources.extractor
    return estimate(run.cells, run.settings.scorings if judge else (), extracts=extractor is not None)


def _explained(cost: float, images: float) -> str:
    """Say which part of an upper bound is exact: a run with short replies costs much less than its tokens may."""
    return (
        f"Of {cost:.2f}, {images:.2f} is for images returned. The other {cost - images:.2f} is for tokens, if every "
        "reply is as long as its limit; a run usually costs less."
    )


def _prices_of(price: Price | None) -> tuple[Price | None, Price | None]:
    """Return the prices of a model and of its drawer."""
    return (price.thinker, price.drawer) if isinstance(price, PairPrice) else (price, price)


def _row(usage: Mapping[str, int]) -> list[str]:
    return [f"{usage.get(name, 0):,}" for name in _COLUMNS]


def _cost(price: Price | None, usage: Mapping[str, int]) -> list[str]:
    return [f"{price(usage):.2f}"] if price else []


_OBJECTS = 20_000
"""New objects after which Python looks for circles of them."""


def run_and_print(*, dry_run: bool, details: bool = False, verbose: bool = False, **options: Any) -> int:
    if options.get("quiet"):
        show_progress(False)
    with keys_not_needed() if dry_run else nullcontext():
        prepared = prepare(**options)
    for line in prepared.warnings:
        tell(f"warning: {line}", err=True)
    if dry_run:
        print_estimate(prepared)
        return 0
    try:
        with _few_collections():
            folder = prepared.play(report_run)
    except RunStopped:
        _print(RunFolder(prepared.path), prepared, details)
        raise
    _print(folder, prepared, details)
    return exit_code(folder, prepared, at_cost_limit=prepared.is_stopped_by_cost(), verbose=verbose)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Look seldom for circles of objects: an episode leaves none behind."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _print(folder: RunFolder, run: PreparedRun, details: bool) -> None:
    if run.quiet:
        return
    from sketchmark.commands.tables import print_all
    from sketchmark.results.scorings import with_replies

    results, budget = with_replies(folder, folder.results()), run.budget
    price = budget.price
    costs = {name: price(cell.usage) for name, cell in results.tasks.items()} if price else {}
    more = f"the viewer shows them (sketchmark view {folder.path})"
    print_all(results, more, folder, details=details, costs=costs)
    tell(f"run folder: {folder.path}")
    tell(f"report:     {folder.path / 'report.html'}")
    for cell in run.cells:
        for file in sorted(folder.path.glob(f"submission/{cell.name}/*")):
            tell(f"submission: {file}")
    for line in run.resources.workplace.notices:
        tell(f"workers:    {line}")
    for line in run.servers_told():
        tell(f"server:     {line}")
    _tell_calls("calls:      ", results.tasks.values(), budget.calls)
    if budget.price is not None:
        in_all = sum(costs.values())
        part = _part_of_others(budget.judge_spent, budget.extractor_spent)
        others = [who for who, price in _others(budget) if price]
        without = f", {' and '.join(others)} left out" if others else ""
        tell(f"cost:       {budget.spent:.4f} now{part}, {in_all:.4f} for the whole run{without}")


def _others(budget: Budget) -> list[tuple[str, Price | None]]:
    return [("the judge", budget.judge_price), ("the extractor", budget.extractor_price)]


def _part_of_others(judge: float, extractor: float) -> str:
    parts = [f"{cost:.4f} of it the {who}'s" for who, cost in (("judge", judge), ("extractor", extractor)) if cost]
    return f" ({', '.join(parts)})" if parts else ""


def _tell_calls(label: str, cells: Iterable[CellResult], now: int) -> None:
    """Print what the episodes used and what was paid for now, unless that is all of it."""
    used, paid = Counter[str](), Counter[str]()
    for cell in cells:
        used.update(cell.usage)
        paid.update(cell.spent)
    if (calls := used["calls"]) > now:
        kept = calls - paid["calls"]
        tell(f"{label}{calls:,} for all episodes, {kept:,} of them from the cache; {now:,} paid for now")


def exit_code(folder: RunFolder, run: PreparedRun, *, at_cost_limit: bool, verbose: bool = False) -> int:
    """Print failures and return the exit code. `at_cost_limit`: the limit was reached and episodes are missing.
    `verbose`: also print where exceptions in the user's own code came from."""
    tasks = folder.results().tasks
    asked = {cell.name: tasks[cell.name] for cell in run.cells if cell.name in tasks}
    failures = [one for cell in run.cells for one in _name_failures(folder, cell, asked.get(cell.name), verbose)]
    if at_cost_limit:
        spent = run.budget.spent
        tell(f"sketchmark: stopped at the cost limit ({spent:.4f} spent now); run again to resume", err=True)
        return 3
    broke = sum(not failure.blames_model for failure in failures)
    raised = sum(bool(failure.traceback) for failure in failures)
    if raised:
        where = "" if verbose else " (-v prints where)"
        again = "fix the adapter, then run the same command: it reruns only these"
        tell(f"sketchmark: {raised} episodes failed by an exception in code{where}; {again}", err=True)
    if broke > raised:
        # The same request would be refused again.
        refused = sum(failure.kind == "bad_request" for failure in failures) == broke - raised
        again = "change what the server refuses, then run again" if refused else "run again to retry them"
        tell(f"sketchmark: {broke - raised} episodes failed; {again}", err=True)
    parts = (one for cell in asked.values() for one in (cell, *cell.scorings.values()))
    lacking = any(one.failures or one.problem for one in parts)
    unscored = tell_unscored(asked, "run again to try once more") if lacking else 0
    return 1 if broke or unscored else 0


def _name_failures(folder: RunFolder, cell: Cell, summary: CellResult | None, verbose: bool) -> list[Failure]:
    """Print the first failure of each kind, with its reason, and return all. A model failure is a result and is
    marked as one."""
    kinds: dict[str, list[tuple[str, Failure]]] = {}
    for sample, failure in folder.failed(cell.name).items():
        kinds.setdefault(failure.kind, []).append((sample, failure))
    for kind, found in kinds.items():
        sample, first = found[0]
        what = f"{kind} {len(found)}{' (by the model itself, scored as wrong)' if first.blames_model else ''}"
        told = f"{cell.name}: {what}, the first: {sample}: {first.message}"
        tell(f"sketchmark: {told[:400]}", err=True)
        for line in first.traceback.splitlines() if verbose else ():
            tell(f"    {line}", err=True)
    if summary and 0 < summary.episodes == len(kinds.get("no_picture", [])):
        drawer = f" --drawer {cell.settings.drawer}" if cell.settings.drawer else ""
        asked = f"sketchmark doctor --model {cell.settings.model}{drawer}"
        tell(f"sketchmark: {cell.name}: not one drawing came; `{asked}` shows what the model can do", err=True)
    return [failure for found in kinds.values() for _, failure in found]


def run_suite_and_print(
    suite: Suite, *, dry_run: bool, quiet: bool, details: bool = False, verbose: bool = False
) -> int:
    with keys_not_needed() if dry_run else nullcontext():
        outcomes = prepare_all(suite, quiet=quiet)
    _refuse_if_all_fail_alike(outcomes)
    _tell_warnings(outcomes)
    playable = sum(bool(outcome.runs) for outcome in outcomes)
    for outcome in outcomes:
        _tell_errors(outcome, others=playable > bool(outcome.runs))
    if not playable:
        return 2
    if dry_run:
        _print_plan(suite, outcomes)
        return 2 if any(outcome.errors for outcome in outcomes) else 0
    if not quiet:
        tell(f"{len(outcomes)} models, each in a separate folder in {suite.parent}:", err=True)

    def begin(outcome: ModelOutcome) -> None:
        if not quiet:
            at = outcomes.index(outcome) + 1
            tell(f"[{at}/{len(outcomes)}] {outcome.entry.shown} → {outcome.path}", err=True)

    known = {outcome.entry.name: len(outcome.errors) for outcome in outcomes}
    codes = []
    for outcome in play_suite(suite, outcomes, begin):
        if outcome is not outcomes[-1]:
            _tell_errors(outcome, known[outcome.entry.name])
        codes.append(_code(outcome, verbose))
    if not quiet:
        _print_board(suite, outcomes, details)
    return _told_at_the_end(outcomes, codes)


def _tell_errors(outcome: ModelOutcome, since: int = 0, *, others: bool = True) -> None:
    for error in outcome.errors[since:]:
        tell(f"sketchmark: {outcome.entry.name}: {error}{'; the others go on' if others else ''}", err=True)


def _refuse_if_all_fail_alike(outcomes: Sequence[ModelOutcome]) -> None:
    """Print an error once if it is the same for all models, such as a misspelt task."""
    errors = {str(error): error for outcome in outcomes for error in outcome.errors}
    if len(errors) == 1 and not any(outcome.runs for outcome in outcomes):
        raise next(iter(errors.values()))


def _tell_warnings(outcomes: Sequence[ModelOutcome]) -> None:
    whose: dict[str, list[str]] = {}
    for outcome in outcomes:
        for line in dict.fromkeys(line for run in outcome.runs for line in run.warnings):
            whose.setdefault(line, []).append(outcome.entry.name)
    for line, names in whose.items():
        some = f" ({', '.join(names)})" if len(names) < len(outcomes) else ""
        tell(f"warning: {line}{some}", err=True)


def _code(outcome: ModelOutcome, verbose: bool) -> int:
    """Return the exit code of one model, as in a single run."""
    if outcome.errors:
        return 2
    if outcome.left_out:
        return 3
    folder = outcome.folder
    codes = (exit_code(folder, run, at_cost_limit=False, verbose=verbose) for run in outcome.runs if folder)
    return max(codes, default=0)


def _told_at_the_end(outcomes: Sequence[ModelOutcome], codes: Sequence[int]) -> int:
    """Repeat errors at the end of the output and return the exit code."""
    for outcome in outcomes:
        for error in outcome.errors:
            tell(f"sketchmark: {outcome.entry.name} did not finish: {error}", err=True)
    if any(outcome.left_out for outcome in outcomes):
        spent = sum(outcome.spent for outcome in outcomes)
        waiting = ", ".join(outcome.entry.name for outcome in outcomes if outcome.left_out)
        tell(f"sketchmark: stopped at the cost limit ({spent:.4f} spent now); to be resumed: {waiting}", err=True)
        return 3
    return max(codes)


def _print_plan(suite: Suite, outcomes: Sequence[ModelOutcome]) -> None:
    """Print models, addresses, cells and upper bounds of calls, before anything is paid for."""
    for outcome in outcomes:
        tell(f"{outcome.entry.shown} → {outcome.path}", bold=True)
        for run in outcome.runs:
            given = pair_arguments(to_write_down(run.settings.model_args), to_write_down(run.settings.drawer_args))
            arguments = ", ".join(f"{name}={value}" for name, value in given.items())
            tell(f"  {', '.join(map(_cell, run.cells))}{f'; {arguments}' if arguments else ''}")
    tell()
    priced = suite.prices is not None
    table = Table(
        "Dry run, no calls made. Upper bounds:",
        ("model", *(name.replace("_", " ") for name in _COLUMNS), *(["cost"] if priced else [])),
        texts=1,
    )
    total: Counter[str] = Counter()
    total_cost = images = 0.0
    for outcome in outcomes:
        usage, cost, drawn = _estimated(outcome)
        total.update(usage)
        total_cost += cost
        images += drawn
        table.add(outcome.entry.name, *_figures(usage), *([f"{cost:.2f}"] if priced else []))
    table.add("all models", *_figures(total), *([f"{total_cost:.2f}"] if priced else []), style="bold")
    if priced and total_cost:
        table.below = (_explained(total_cost, images),)
    print_table(table)
    if suite.max_cost is not None:
        tell(f"A start of this suite stops once it has cost {suite.max_cost:g}, all models together.")


def _cell(cell: Cell) -> str:
    most = cell.limit or cell.task.declared.default_limit
    return f"{cell.name} ({most if most is not None else 'all'})"


def _estimated(outcome: ModelOutcome) -> tuple[Counter[str], float, float]:
    """Return the usage, the cost, and the part of the cost that images have."""
    usage: Counter[str] = Counter()
    cost = images = 0.0
    for run in outcome.runs:
        budget = run.budget
        for found in _estimates(run).values():
            for asked, price in (
                (found.usage, budget.price),
                (found.judge, budget.judge_price),
                (found.extractor, budget.extractor_price),
            ):
                usage.update(asked)
                cost += price(asked) if price else 0.0
            drawn = {key: count for key, count in found.usage.items() if key.endswith("pictures_out")}
            images += budget.price(drawn) if budget.price else 0.0
    return usage, cost, images


def _figures(usage: Counter[str]) -> list[str]:
    return [f"{usage[name]:,}" for name in _COLUMNS]


def _print_board(suite: Suite, outcomes: Sequence[ModelOutcome], details: bool) -> None:
    """Print the leaderboard of this suite's models only."""
    from sketchmark.comparison.formats import BOARD_FORMATS
    from sketchmark.comparison.leaderboard import leaderboard
    from sketchmark.models.wrappers import price_of

    without = [outcome for outcome in outcomes if not outcome.folder and (outcome.path / "run.json").exists()]
    if without:
        names = ", ".join(outcome.entry.name for outcome in without)
        tell(f"not in the leaderboard, since run with other settings: {names}")
    prices = suite.prices
    played = [outcome.path for outcome in outcomes if outcome.folder]
    if not played:
        return
    known = (lambda model: price_of(prices, model)) if prices else (lambda model: None)
    found = leaderboard(suite.parent, runs=played, prices=known)
    tell_all(BOARD_FORMATS["table"](found, details))
    tell(f"run folders: {suite.parent} (sketchmark view {suite.parent})")
    tell(f"leaderboard: sketchmark compare {suite.parent}{f' --prices {suite.prices_file}' if prices else ''}")
    cells = [cell for outcome in outcomes if outcome.folder for cell in outcome.folder.results().tasks.values()]
    _tell_calls("calls:       ", cells, sum(outcome.calls for outcome in outcomes))
    if prices:
        part = _part_of_others(
            sum(outcome.judge_spent for outcome in outcomes), sum(outcome.extractor_spent for outcome in outcomes)
        )
        in_all = sum(cost for row in found.rows for cost in row.costs.values())
        spent = sum(outcome.spent for outcome in outcomes)
        others = ", judge and extractor left out" if part else ""
        tell(f"cost:        {spent:.4f} now{part}, {in_all:.4f} for all episodes{others}")
