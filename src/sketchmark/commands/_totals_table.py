"""The scores of benchmarks of several tasks, under the table of the tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sketchmark.runs.results_format import BenchmarkTotal, Gain, Mean, Results

if TYPE_CHECKING:
    from rich.table import Table

_NAMED = 3
"""So many missing tasks are named on the screen; results.json has all of them."""


def print_totals(results: Results) -> None:
    """A table for each total that is whole; a line that says what is missing for each that is not."""
    from sketchmark.terminal.console import console

    out = console()
    for total in results.totals:
        if total.overall is not None:
            out.print(_table(total, total.overall))
        else:
            out.print(_missing(total), style="yellow")


def _missing(total: BenchmarkTotal) -> str:
    named = [f"{task} ({why})" for task, why in list(total.missing.items())[:_NAMED]]
    more = len(total.missing) - _NAMED
    return f"{_title(total)}: no overall score, {len(total.missing)} of its tasks are missing: {', '.join(named)}" + (
        f" and {more} more" if more > 0 else ""
    )


def _title(total: BenchmarkTotal) -> str:
    canvas = "" if total.canvas == "own" else f" on canvas {total.canvas}"
    return f"{total.benchmark} {total.mode}{canvas} by {total.scoring}"


def _table(total: BenchmarkTotal, overall: Mean) -> Table:
    from rich.table import Table

    gain = ", and the gain over direct" if total.gains else ""
    table = Table(title=f"{_title(total)}, weighted{gain}", title_justify="left")
    for name in ("category", "mean", "95 %", "n", *(["gain", "95 %"] if total.gains else [])):
        table.add_column(name, justify="left" if name == "category" else "right")
    for name, mean in {**total.categories, "overall": overall}.items():
        change = total.gains.get(name)
        table.add_row(
            *(name, f"{mean.mean:.4f}", _bounds(mean, ".3f"), str(mean.n)),
            *((f"{change.gain:+.4f}", _bounds(change, "+.3f")) if change else ()),
            style="bold" if name == "overall" else None,
        )
    return table


def _bounds(found: Mean | Gain, style: str) -> str:
    low, high = found.ci95
    return "" if low is None or high is None else f"[{low:{style}}, {high:{style}}]"
