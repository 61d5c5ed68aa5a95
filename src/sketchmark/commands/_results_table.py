"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sketchmark.comparison.wording import bounds_of, chance
from sketchmark.models.by_code import SVG
from sketchmark.models.native import NATIVE_HISTORY
from sketchmark.runs.baselines import warned
from sketchmark.runs.own_numbers import own_numbers, why_none
from sketchmark.runs.results_format import Baseline, CellSummary, Gain, Metric, Results
from sketchmark.task import RA_AL
from sketchmark.terminal.tables import Table

if TYPE_CHECKING:
    from rich.console import Console

_MOST_GROUPS = 12
"""A screen has room for the kinds of a question, not for every length of a path."""

_WAYS = {
    SVG: "drawn by code (svg), not by pixels",
    NATIVE_HISTORY: "with native history, a condition of its own",
}


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
    for way, words in _WAYS.items():
        if played := [name for name, cell in results.tasks.items() if cell.draw_with == way]:
            out.print(f"{words}: {', '.join(played)}")
    _print_groups(out, results.tasks)
    for warning in (*results.warnings, *warned(results.tasks)):
        out.print(f"warning: {warning}", style="yellow")
    if results.gains:
        _print_gains(out, results.gains)


def _scores(results: Results) -> Table:
    """The scoring is in the title, or a column where there are several."""
    scorings = {name for cell in results.tasks.values() for name in _by_scoring(cell)}
    title = f"{results.model}: scores{f' by {scorings.pop()}' if len(scorings) == 1 else ''}, with 95 % intervals"
    names = ("task.mode", "score", *["scoring"] * bool(scorings))
    guessed = any(cell.baselines for cell in results.tasks.values())
    numbers = ("mean", "95 %", *["guess"] * guessed, "n", "cut", "unparsed")
    table = Table(title, (*names, *numbers), texts=len(names))
    for label, cell in results.tasks.items():
        _add_scores(table, label, cell, several=bool(scorings), guessed=guessed)
    return table


def _add_scores(table: Table, label: str, cell: CellSummary, *, several: bool, guessed: bool) -> None:
    ways = _by_scoring(cell)
    numbers = {name: _numbers(one, cell.headline) for name, one in ways.items()}
    told: set[str] = set()
    for metric in dict.fromkeys(metric for found in numbers.values() for metric in found):
        for name, of in numbers.items():
            found = of.get(metric)
            shares = ("", "") if name in told else (_share(ways[name].cut), _share(ways[name].unparsed))
            told.add(name)
            table.add(
                *(label, metric, *[name] * several, mean_of(found), bounds_of(found)),
                *[_guess(ways[name].baselines.get(metric))] * guessed,
                *(str(found.n) if found else "", *shares),
                style="bold" if metric == cell.headline else "",
            )
    if not told:
        table.add(label, "(no score)" if cell.aggregate else "(nothing scored)")
        table.below += (f"{label}: {why_none(cell)}",) * bool(cell.problem or cell.aggregate)


def _by_scoring(cell: CellSummary) -> dict[str, CellSummary]:
    """`ra-al` reads no answers and has a table of its own."""
    return {cell.scoring or "strict": cell, **{name: one for name, one in cell.scorings.items() if name != RA_AL}}


def _numbers(cell: CellSummary, headline: str) -> dict[str, Metric]:
    own = {name: Metric(value, (None, None), cell.n) for name, value in own_numbers(cell, headline).items()}
    return {**own, **cell.metrics} if headline in own else {**cell.metrics, **own}


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %" if share else "0 %"


def _print_groups(out: Console, cells: Mapping[str, CellSummary]) -> None:
    """The headline score by the first key that groups a task's samples; the report has all of them."""
    table = Table("By group", ("task.mode", "by", "group", "mean", "95 %", "n"), texts=3)
    for name, cell in cells.items():
        by, groups = next(iter(cell.by.items()), ("", {}))
        if not 2 <= len(groups) <= _MOST_GROUPS or all(group.isdigit() for group in groups):
            continue
        for label, group in groups.items():
            found = group.metrics.get(cell.headline)
            table.add(name, by, label, mean_of(found), bounds_of(found), str(found.n if found else 0))
    if table.rows:
        out.print(table)


def _print_gains(out: Console, gains: Sequence[Gain]) -> None:
    names = ("task", "score", "mode", "canvas")
    numbers = ("gain", "95 %", "p (Holm)", "verdict", "helped", "hurt", "same", "p")
    table = Table("Gain over direct, on the same samples", (*names, *numbers), texts=len(names))
    for gain in gains:
        table.add(
            *(gain.task, gain.metric, gain.mode, gain.canvas),
            f"{gain.gain:+.3f}",
            bounds_of(gain),
            chance(gain.p_holm),
            gain.verdict or "",
            *map(str, (gain.helped, gain.hurt, gain.same)),
            chance(gain.p),
            style={"better": "green", "worse": "red"}.get(gain.verdict or "", ""),
        )
    out.print(table)


def mean_of(found: Metric | None) -> str:
    if not found:
        return "-"
    return str(found.mean) if isinstance(found.mean, int) else f"{found.mean:.3f}"


def _guess(found: Baseline | None) -> str:
    """The best that one gets without looking."""
    return f"{found.best:.3f}" if found else ""


def _trouble(cell: CellSummary) -> str:
    """What the table has no column for."""
    counts = [f"{kind} {count}" for kind, count in cell.failures.items() if kind not in ("truncated", "unparsed")]
    if cell.left_out:
        counts.append(f"context left out {cell.left_out} ({cell.calls_left_out} calls)")
    return ", ".join(counts)
