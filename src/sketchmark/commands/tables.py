"""Tables that `run`, `score` and `score-file` print at the end, and lines on episodes without a score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sketchmark.comparison.findings import Findings, bounds, mean_of
from sketchmark.comparison.headlines import summary_tables, trouble_lines
from sketchmark.comparison.tables import conditions, gains_table, scores_table
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import BenchmarkTotal, CellResult, Mean, Results
from sketchmark.results import MEANING, NO_VERDICT
from sketchmark.results.aggregate import flat, warned
from sketchmark.results.scorings import sentences
from sketchmark.stats.intervals import as_percent
from sketchmark.tasks import RA_AL
from sketchmark.terminal import tell
from sketchmark.terminal.tables import Table, print_table, tell_wrapped, wrapped

if TYPE_CHECKING:
    from rich.console import Console


def print_alignment(results: Results) -> None:
    """Print RA and AL of all cells that have them, in one table."""
    title = "Does the drawing follow the reasoning, and the answer the drawing? With 95% intervals"
    table = Table(title, ("task.mode", RA_AL, "mean", "95%", "n"), texts=2)
    for label, cell in results.tasks.items():
        metrics = cell.scorings[RA_AL].metrics if RA_AL in cell.scorings else {}
        for name in (name for name in MEANING if name in metrics):
            found = metrics[name]
            table.add(label, MEANING[name], mean_of(found), bounds(found), str(found.n))
    if table.rows:
        print_table(table)


_MOST = 10
"""Replies per table; those with the greatest difference come first."""


def print_readings(results: Results, all_of_them: str) -> None:
    """Print the replies on which scorings disagree. `all_of_them` says where to find the rest."""
    hidden = 0
    for name, cell in results.tasks.items():
        for scoring, other in cell.scorings.items():
            if other.against is None or not other.against.replies:
                continue
            replies = other.against.replies
            table = Table(f"{name}: what each scoring parsed", ("sample", "scoring", "parsed as", "score"), texts=3)
            for reply in replies[:_MOST]:
                for one in (cell.scoring or "strict", scoring):
                    table.add(reply.sample, one, _read(reply.readings, one), _score(reply.values.get(one)))
            print_table(table)
            hidden += len(replies[_MOST:])
    for line in sentences(results.tasks):
        tell_wrapped(line)
    if hidden:
        tell_wrapped(f"{hidden} more replies are parsed or scored differently: {all_of_them}")


def _read(readings: dict[str, str | None], scoring: str) -> str:
    if scoring not in readings:
        return "?"
    text = readings[scoring]
    return "(unparsed)" if text is None else text if len(text) <= 40 else f"{text[:39]}…"


def _score(value: float | None) -> str:
    return "-" if value is None else as_percent(value)


_MOST_GROUPS = 12
"""Groups per task: enough for categories, not for every length of a path."""


def print_summary(results: Results, comparison: Findings | None, costs: Mapping[str, float]) -> None:
    """Print the answer: the headline table and sentence, the controls, and a line for each kind of failure."""
    from sketchmark.terminal.console import console

    out = console()
    if results.part:
        out.print(results.part, style="yellow")
    for table in summary_tables(results, comparison, costs):
        out.print(table)
    for line in conditions(results):
        tell_wrapped(line)
    lines = [(line, "red") for line in trouble_lines(results.tasks)]
    lines += [(f"warning: {line}", "yellow") for line in (*results.warnings, *warned(results.tasks))]
    for text, style in lines:
        for line in wrapped(text, out.width):
            out.print(line, style=style)


def print_details(results: Results) -> None:
    """Print every score of every cell, the headline score by group, and all gains."""
    from sketchmark.terminal.console import console

    out = console()
    out.print(scores_table(results))
    _print_groups(out, results.tasks)
    if results.gains:
        out.print(gains_table(results.gains))


def _print_groups(out: Console, cells: Mapping[str, CellResult]) -> None:
    """Print the headline score by every group key of each task. Lengths and other numbers are in the report."""
    table = Table("By group, in percent", ("task.mode", "by", "group", "mean", "95%", "n"), texts=3)
    for name, cell in cells.items():
        for by, groups in cell.by.items():
            if not 2 <= len(groups) <= _MOST_GROUPS or all(group.isdigit() for group in groups):
                continue
            for label, group in groups.items():
                found = group.metrics.get(cell.headline)
                table.add(name, by, label, mean_of(found), bounds(found), str(found.n if found else 0))
    if table.rows:
        out.print(table)


def print_scorings(results: Results) -> None:
    """Print one table per cell whose task has its own totals and several scorings, one column per scoring."""
    for name, cell in results.tasks.items():
        ways = {cell.scoring or "strict": cell, **cell.scorings}
        columns = {name: way for name, way in ways.items() if way.aggregate}
        if len(columns) < 2 or not cell.aggregate:
            continue
        title = f"{name}: the same replies, scored {len(columns)} ways"
        table = Table(title, ("number", *columns), texts=1)
        numbers = {scoring: dict(flat(summary.aggregate)) for scoring, summary in columns.items()}
        for label in dict.fromkeys(label for found in numbers.values() for label in found):
            table.add(label, *(_written(found.get(label)) for found in numbers.values()))
        print_table(table)


def _written(value: float | None) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else as_percent(value)


_NAMED = 3
"""Missing tasks to name; results.json has all of them."""


def print_totals(results: Results) -> None:
    """Print a table for each complete benchmark total, and a line with the missing tasks for each other."""
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
    gain = ", and the gain over direct" if total.gains else ""
    columns = ("category", "mean", "95%", "n", *(["gain", "95%"] if total.gains else []))
    table = Table(f"{_title(total)}, weighted{gain}", columns, texts=1)
    for name, mean in {**total.categories, "overall": overall}.items():
        change = total.gains.get(name)
        table.add(
            *(name, mean_of(mean), bounds(mean), str(mean.n)),
            *((mean_of(change), bounds(change)) if change else ()),
            style="bold" if name == "overall" else "",
        )
    return table


def print_all(
    results: Results,
    all_readings: str,
    folder: RunFolder | None = None,
    *,
    details: bool = False,
    replies: bool = False,
    costs: Mapping[str, float] | None = None,
) -> None:
    """Print the summary; with `details` all tables, with `replies` those on which scorings disagree.

    `all_readings` says where to find all these replies. `folder` gives the controls, `costs` the cost of each cell.
    """
    from sketchmark.comparison import controls_of

    print_summary(results, controls_of(folder, results) if folder else None, costs or {})
    print_totals(results)
    print_alignment(results)
    if details:
        print_details(results)
    if details or replies:
        print_scorings(results)
        print_readings(results, all_readings)
        return
    said = list(sentences(results.tasks))
    differing = [line for line in said if not line.endswith(" alike")]
    if said and not differing:
        tell_wrapped("All scorings read and score every reply alike.")
    for line in differing:
        tell_wrapped(line)


def print_json(results: Results) -> None:
    import json

    from sketchmark.files.jsonl import plain
    from sketchmark.terminal import tell_all

    tell_all(json.dumps(plain(results), indent=1, ensure_ascii=False))


def tell_unscored(cells: Mapping[str, CellResult], again: str) -> int:
    """Print one line per cell and kind of failure, with the first reason, then `again`, the way to retry.

    Return the number of missing scores, for the exit code.
    """
    total = problems = 0
    labelled = (
        one
        for name, cell in cells.items()
        for one in ((name, cell), *((f"{name}, {scoring}", other) for scoring, other in cell.scorings.items()))
    )
    for label, one in labelled:
        for kind in sorted(NO_VERDICT):
            if count := one.failures.get(kind, 0):
                reason = one.reasons.get(kind, "")
                tell(f"sketchmark: {label}: {kind} {count}, the first: {reason}", err=True)
                total += count
        if one.problem:
            problems += 1
            tell(f"sketchmark: {label}: {one.problem}", err=True)
    if total:
        tell(f"sketchmark: {total} episodes could not be scored; {again}", err=True)
    return total + problems
