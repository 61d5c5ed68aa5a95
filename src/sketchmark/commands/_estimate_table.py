"""The table of `--dry-run`: what a run would ask for at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sketchmark.runs.estimate import estimate
from sketchmark.runs.options import Price, RunOptions
from sketchmark.runs.plan import Cell

_COLUMNS = ("episodes", "calls", "pictures_in", "pictures_out", "tokens_in", "tokens_out")


def print_estimate(cells: list[Cell], options: RunOptions) -> None:
    """One row for each cell and, where a judge scores it, one for what that is asked."""
    from rich.table import Table

    from sketchmark.terminal.console import console

    budget, judge = options.budget, options.grading.judge
    table = Table(title="A dry run: nothing was asked. At most:", title_justify="left")
    table.add_column("task.mode", overflow="fold")
    for name in _COLUMNS:
        table.add_column(name.replace("_", " "), justify="right")
    if budget.price:
        table.add_column("cost", justify="right")
    total: Counter[str] = Counter()
    cost = 0.0
    scorings = (options.grading.scoring, *options.scored_beside) if judge else ()
    for name, found in estimate(cells, scorings).items():
        for label, usage, price in (
            (name, found.usage, budget.price),
            (f"  judge {judge.name}" if judge else "", found.judge, budget.judge_price),
        ):
            if usage:
                total.update(usage)
                cost += price(usage) if price else 0.0
                table.add_row(label, *_row(usage), *_cost(price, usage))
    table.add_section()
    table.add_row("total", *_row(total), *([f"{cost:.2f}"] if budget.price else []))
    console().print(table)


def _row(usage: Mapping[str, int]) -> list[str]:
    return [f"{usage.get(name, 0):,}" for name in _COLUMNS]


def _cost(price: Price | None, usage: Mapping[str, int]) -> list[str]:
    return [f"{price(usage):.2f}"] if price else []
