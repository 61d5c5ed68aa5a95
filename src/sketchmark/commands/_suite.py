"""What `sketchmark run` prints of several models, and its exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sketchmark.commands._run import exit_code
from sketchmark.models.secrets import to_write_down
from sketchmark.runs.estimate import estimate
from sketchmark.runs.plan import Cell
from sketchmark.suites import Outcome, Suite, play, prepare_all
from sketchmark.terminal import tell, tell_all
from sketchmark.terminal.tables import Table, print_table

_COLUMNS = ("episodes", "calls", "pictures_in", "pictures_out", "tokens_in", "tokens_out")


def run_and_print(suite: Suite, *, dry_run: bool, quiet: bool) -> int:
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
        tell(f"{len(outcomes)} models, each into a folder of its own in {suite.parent}:", err=True)

    def begin(outcome: Outcome) -> None:
        if not quiet:
            at = outcomes.index(outcome) + 1
            tell(f"[{at}/{len(outcomes)}] {outcome.entry.model} → {outcome.path}", err=True)

    known = {outcome.entry.name: len(outcome.errors) for outcome in outcomes}
    codes = []
    for outcome in play(suite, outcomes, begin):
        if outcome is not outcomes[-1]:
            _tell_errors(outcome, known[outcome.entry.name])
        codes.append(_code(outcome))
    if not quiet:
        _print_board(suite, outcomes)
    return _told_at_the_end(outcomes, codes)


def _tell_errors(outcome: Outcome, since: int = 0, *, others: bool = True) -> None:
    for error in outcome.errors[since:]:
        tell(f"sketchmark: {outcome.entry.name}: {error}{'; the others go on' if others else ''}", err=True)


def _refuse_if_all_fail_alike(outcomes: Sequence[Outcome]) -> None:
    """A task that is misspelt is one mistake, however many models were to play it."""
    errors = {str(error): error for outcome in outcomes for error in outcome.errors}
    if len(errors) == 1 and not any(outcome.runs for outcome in outcomes):
        raise next(iter(errors.values()))


def _tell_warnings(outcomes: Sequence[Outcome]) -> None:
    whose: dict[str, list[str]] = {}
    for outcome in outcomes:
        for line in dict.fromkeys(line for run in outcome.runs for line in run.options.warnings):
            whose.setdefault(line, []).append(outcome.entry.name)
    for line, names in whose.items():
        some = f" ({', '.join(names)})" if len(names) < len(outcomes) else ""
        tell(f"warning: {line}{some}", err=True)


def _code(outcome: Outcome) -> int:
    """Of one model, as if it had been run alone."""
    if outcome.errors:
        return 2
    if outcome.left_out:
        return 3
    folder = outcome.folder
    return max((exit_code(folder, run, at_cost_limit=False) for run in outcome.runs if folder), default=0)


def _told_at_the_end(outcomes: Sequence[Outcome], codes: Sequence[int]) -> int:
    """Again, behind all that was printed since."""
    for outcome in outcomes:
        for error in outcome.errors:
            tell(f"sketchmark: {outcome.entry.name} was not played to its end: {error}", err=True)
    if any(outcome.left_out for outcome in outcomes):
        spent = sum(outcome.spent for outcome in outcomes)
        waiting = ", ".join(outcome.entry.name for outcome in outcomes if outcome.left_out)
        tell(f"sketchmark: stopped at the cost limit ({spent:.4f} spent now); to be resumed: {waiting}", err=True)
        return 3
    return max(codes)


def _print_plan(suite: Suite, outcomes: Sequence[Outcome]) -> None:
    """What will be asked, of whom, at which address, and how much at most: before anything is paid for."""
    for outcome in outcomes:
        tell(f"{outcome.entry.model} → {outcome.path}", bold=True)
        for run in outcome.runs:
            arguments = ", ".join(f"{name}={value}" for name, value in to_write_down(run.request.model_args).items())
            tell(f"  {', '.join(map(_cell, run.cells))}{f'; {arguments}' if arguments else ''}")
    tell()
    priced = suite.prices is not None
    table = Table(
        "A dry run: nothing was asked. At most:",
        ("model", *(name.replace("_", " ") for name in _COLUMNS), *(["cost"] if priced else [])),
        texts=1,
    )
    total: Counter[str] = Counter()
    total_cost = 0.0
    for outcome in outcomes:
        usage, cost = _estimated(outcome)
        total.update(usage)
        total_cost += cost
        table.add(outcome.entry.name, *_figures(usage), *([f"{cost:.2f}"] if priced else []))
    table.add("all models", *_figures(total), *([f"{total_cost:.2f}"] if priced else []), style="bold")
    print_table(table)
    if suite.max_cost is not None:
        tell(f"A start of this suite stops once it has cost {suite.max_cost:g}, all models together.")


def _cell(cell: Cell) -> str:
    most = cell.limit or cell.task.declared.default_limit
    return f"{cell.name} ({most if most is not None else 'all'})"


def _estimated(outcome: Outcome) -> tuple[Counter[str], float]:
    usage: Counter[str] = Counter()
    cost = 0.0
    for run in outcome.runs:
        budget, options = run.options.budget, run.options
        scorings = (options.grading.scoring, *options.scored_beside) if options.grading.judge else ()
        for found in estimate(run.cells, scorings).values():
            usage.update(found.usage)
            usage.update(found.judge)
            cost += budget.price(found.usage) if budget.price else 0.0
            cost += budget.judge_price(found.judge) if budget.judge_price else 0.0
    return usage, cost


def _figures(usage: Counter[str]) -> list[str]:
    return [f"{usage[name]:,}" for name in _COLUMNS]


def _print_board(suite: Suite, outcomes: Sequence[Outcome]) -> None:
    """Of the models of this suite, whatever else lies in its folder."""
    from sketchmark.comparison.board_formats import BOARD_FORMATS
    from sketchmark.comparison.leaderboard import leaderboard
    from sketchmark.models.prices import price_of

    without = [outcome for outcome in outcomes if not outcome.folder and (outcome.path / "run.json").exists()]
    if without:
        names = ", ".join(outcome.entry.name for outcome in without)
        tell(f"not in the leaderboard, since not played as asked now: {names}")
    prices = suite.prices
    played = [outcome.path for outcome in outcomes if outcome.folder]
    if not played:
        return
    known = (lambda model: price_of(prices, model)) if prices else (lambda model: None)
    tell_all(BOARD_FORMATS["table"](leaderboard(suite.parent, runs=played, prices=known)))
    tell(f"run folders: {suite.parent} (sketchmark view {suite.parent})")
    tell(f"leaderboard: sketchmark compare {suite.parent}{f' --prices {suite.prices_file}' if prices else ''}")
    if prices:
        judged = sum(outcome.judge_spent for outcome in outcomes)
        part = f" ({judged:.4f} of it the judge's)" if judged else ""
        tell(f"cost:        {sum(outcome.spent for outcome in outcomes):.4f} now{part}")
