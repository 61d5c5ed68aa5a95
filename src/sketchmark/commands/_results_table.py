"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sketchmark.runs.baselines import warned
from sketchmark.runs.results_format import Baseline, CellSummary, Gain, Metric, Results
from sketchmark.task import RA_AL

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


_MOST_GROUPS = 12
"""A screen has room for the kinds of a question, not for every length of a path."""


def print_results(results: Results) -> None:
    """Every score with its interval, by each scoring, beside it what guessing would get (where there is something to
    guess) and how many replies were cut or could not be read; then other trouble, and what drawing changed."""
    from sketchmark.terminal.console import console

    out = console()
    if results.part:
        out.print(results.part, style="yellow")
    out.print(_scores(results))
    for name, cell in results.tasks.items():
        if trouble := _trouble(cell):
            out.print(f"{name}: {trouble}", style="red")
    _print_groups(out, results.tasks)
    for warning in (*results.warnings, *warned(results.tasks)):
        out.print(f"warning: {warning}", style="yellow")
    if results.gains:
        _print_gains(out, results.gains)


def _scores(results: Results) -> Table:
    """Names may fold in a narrow terminal, numbers never. The scoring is in the title, or a column where there are
    several."""
    from rich import box
    from rich.table import Table

    scorings = {name for cell in results.tasks.values() for name in _by_scoring(cell)}
    title = f"{results.model}: scores{f' by {scorings.pop()}' if len(scorings) == 1 else ''}, with 95 % intervals"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for name in ("task.mode", "score", *["scoring"] * bool(scorings)):
        table.add_column(name, overflow="fold")
    guessed = any(cell.baselines for cell in results.tasks.values())
    for name in ("mean", "95 %", *["guess"] * guessed, "n", "cut", "unparsed"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, cell in results.tasks.items():
        ways = _by_scoring(cell)
        numbers = {name: _numbers(one, cell.headline) for name, one in ways.items()}
        told: set[str] = set()
        for metric in dict.fromkeys(metric for found in numbers.values() for metric in found):
            score = metric
            for name, of in numbers.items():
                found = of.get(metric)
                shares = ("", "") if name in told else (_share(ways[name].cut), _share(ways[name].unparsed))
                told.add(name)
                table.add_row(
                    *(label, score, *[name] * bool(scorings), mean_of(found), bounds_of(found)),
                    *[_guess(ways[name].baselines.get(metric))] * guessed,
                    *(str(found.n) if found else "", *shares),
                    style="bold" if metric == cell.headline else None,
                )
                label = score = ""
        if label:
            table.add_row(label, f"({cell.problem or 'nothing scored'})")
        table.add_section()
    return table


def _by_scoring(cell: CellSummary) -> dict[str, CellSummary]:
    """`ra-al` reads no answers and has a table of its own."""
    return {cell.scoring or "strict": cell, **{name: one for name, one in cell.scorings.items() if name != RA_AL}}


def _numbers(cell: CellSummary, headline: str) -> dict[str, Metric]:
    own = _own_numbers(cell, headline)
    return {**own, **cell.metrics} if headline in own else {**cell.metrics, **own}


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %" if share else "0 %"


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
            table.add_row(name, by, label, mean_of(found), bounds_of(found), str(group.n))
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
            bounds_of(gain, "+.3f"),
            *map(str, (gain.helped, gain.hurt, gain.same)),
            f"{gain.p:.2g}" if gain.p is not None else "",
            style=style,
        )
    out.print(table)


def _own_numbers(cell: CellSummary, headline: str) -> dict[str, Metric]:
    """Scores that only the task's own aggregation makes: a number without an interval. A count is one only where
    there is no headline score."""
    kinds = float if headline in cell.metrics else (int, float)
    numbers = {
        name: value for name, value in cell.aggregate.items() if isinstance(value, kinds) and name not in cell.metrics
    }
    return {name: Metric(value, (None, None), cell.n) for name, value in numbers.items()}


def mean_of(found: Metric | None) -> str:
    if not found:
        return "-"
    return str(found.mean) if isinstance(found.mean, int) else f"{found.mean:.3f}"


def _guess(found: Baseline | None) -> str:
    """The best that one gets without looking."""
    return f"{found.best:.3f}" if found else ""


def bounds_of(found: Metric | Gain | None, style: str = ".3f") -> str:
    """Nothing where no interval can be had (a single value that is not a share)."""
    if not found or found.ci95[0] is None:
        return ""
    return "[{}, {}]".format(*(format(bound, style) for bound in found.ci95))


def _trouble(cell: CellSummary) -> str:
    """What the table has no column for."""
    counts = [f"{kind} {count}" for kind, count in cell.failures.items() if kind not in ("truncated", "unparsed")]
    if cell.left_out:
        counts.append(f"context left out {cell.left_out} ({cell.calls_left_out} calls)")
    return ", ".join(counts)
