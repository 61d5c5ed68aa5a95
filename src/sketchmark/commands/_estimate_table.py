"""The table of `--dry-run`: what a run would ask for at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sketchmark.runs.estimate import estimate
from sketchmark.runs.options import Price
from sketchmark.runs.plan import Cell


def print_estimate(cells: list[Cell], price: Price | None) -> None:
    from rich.table import Table

    from sketchmark.terminal.console import console

    table = Table(title="A dry run: nothing was asked. At most:", title_justify="left")
    columns = ("episodes", "calls", "pictures_in", "pictures_out", "tokens_in", "tokens_out")
    table.add_column("task.mode", overflow="fold")
    for name in columns:
        table.add_column(name.replace("_", " "), justify="right")
    if price:
        table.add_column("cost", justify="right")
    total: Counter[str] = Counter()
    for name, usage in estimate(cells).items():
        total.update(usage)
        table.add_row(name, *_row(usage, columns, price))
    table.add_section()
    table.add_row("total", *_row(total, columns, price))
    console().print(table)


def _row(usage: Mapping[str, int], columns: tuple[str, ...], price: Price | None) -> list[str]:
    cells = [f"{usage.get(name, 0):,}" for name in columns]
    return [*cells, f"{price(usage):.2f}"] if price else cells
