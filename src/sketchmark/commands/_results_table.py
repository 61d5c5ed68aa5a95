"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sketchmark.runs.results_format import CellSummary, Gain, Metric, Results

if TYPE_CHECKING:
    from rich.console import Console


_MOST_GROUPS = 12
"""A screen has room for the kinds of a question, not for every length of a path."""


def print_results(results: Results) -> None:
    """Every score with its interval and its count of failures, other scorings beside; then what drawing changed."""
    from rich.table import Table

    from sketchmark.terminal.console import console

    out = console()
    beside = list(dict.fromkeys(name for cell in results.tasks.values() for name in cell.scorings))
    table = Table(title=f"{results.model}: scores with 95 % intervals", title_justify="left")
    table.add_column("task.mode")
    table.add_column("score")
    table.add_column("mean", justify="right")
    table.add_column("95 %")
    for scoring in beside:
        table.add_column(scoring, justify="right")
    table.add_column("n", justify="right")
    table.add_column("trouble", style="red")
    for name, cell in results.tasks.items():
        label, trouble = name, _trouble(cell)
        others = [cell.scorings[scoring].metrics if scoring in cell.scorings else {} for scoring in beside]
        own = _own_numbers(cell)
        first, then = (own, cell.metrics) if cell.headline in own else (cell.metrics, own)
        metrics: dict[str, Metric | None] = {**first, **then}
        for other in others:
            metrics |= {metric: None for metric in other if metric not in metrics}
        nothing: dict[str, Metric | None] = {f"({cell.problem or 'nothing scored'})": None}
        for metric, found in (metrics or nothing).items():
            table.add_row(
                label,
                metric,
                _mean(found),
                _bounds(found),
                *(_mean(other.get(metric)) for other in others),
                str(found.n) if found else "",
                trouble,
                style="bold" if metric == cell.headline else None,
            )
            label = trouble = ""
        table.add_section()
    out.print(table)
    _print_groups(out, results.tasks)
    for warning in results.warnings:
        out.print(f"warning: {warning}", style="yellow")
    if results.gains:
        _print_gains(out, results.gains)


def _print_groups(out: Console, cells: Mapping[str, CellSummary]) -> None:
    """The headline score by the first key that groups a task's samples; the report has all of them."""
    from rich.table import Table

    table = Table(title="By group", title_justify="left")
    for name in ("task.mode", "by", "group"):
        table.add_column(name)
    table.add_column("mean", justify="right")
    table.add_column("95 %")
    table.add_column("n", justify="right")
    for name, cell in cells.items():
        by, groups = next(iter(cell.by.items()), ("", {}))
        if not 2 <= len(groups) <= _MOST_GROUPS or all(group.isdigit() for group in groups):
            continue
        for label, group in groups.items():
            found = group.metrics.get(cell.headline)
            table.add_row(name, by, label, _mean(found), _bounds(found), str(group.n))
            name = by = ""
        table.add_section()
    if table.row_count:
        out.print(table)


def _print_gains(out: Console, gains: Sequence[Gain]) -> None:
    from rich.table import Table

    table = Table(title="Gain over direct, on the same samples", title_justify="left")
    for name in ("task", "mode", "canvas", "score"):
        table.add_column(name)
    for name in ("gain", "95 %", "helped", "hurt", "same", "p"):
        table.add_column(name, justify="right")
    for gain in gains:
        low, high = gain.ci95
        style = None if low is None or high is None else "green" if low > 0 else "red" if high < 0 else None
        table.add_row(
            *(gain.task, gain.mode, gain.canvas, gain.metric),
            f"{gain.gain:+.3f}",
            _bounds(gain, "+.3f"),
            *map(str, (gain.helped, gain.hurt, gain.same)),
            f"{gain.p:.2g}" if gain.p is not None else "",
            style=style,
        )
    out.print(table)


def _own_numbers(cell: CellSummary) -> dict[str, Metric]:
    """Scores that only the task's own aggregation makes: a number without an interval. A count is one only where
    there is no headline score."""
    kinds = float if cell.headline in cell.metrics else (int, float)
    numbers = {
        name: value for name, value in cell.aggregate.items() if isinstance(value, kinds) and name not in cell.metrics
    }
    return {name: Metric(value, (None, None), cell.n) for name, value in numbers.items()}


def _mean(found: Metric | None) -> str:
    if not found:
        return "-"
    return str(found.mean) if isinstance(found.mean, int) else f"{found.mean:.3f}"


def _bounds(found: Metric | Gain | None, style: str = ".3f") -> str:
    """Nothing where no interval can be had (a single value that is not a share)."""
    if not found or found.ci95[0] is None:
        return ""
    return "[{}, {}]".format(*(format(bound, style) for bound in found.ci95))


def _trouble(cell: CellSummary) -> str:
    counts = [f"{kind} {count}" for kind, count in cell.failures.items()]
    if cell.left_out:
        counts.append(f"context left out {cell.left_out} ({cell.calls_left_out} calls)")
    return ", ".join(counts)
