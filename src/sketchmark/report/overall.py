"""The section on benchmarks of several tasks: one row for each category, or what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.report.markup import Child, Html, as_table, join, tag
from sketchmark.report.numbers import bracket, percent, points
from sketchmark.runs.results_format import BenchmarkTotal


def overall(totals: Sequence[BenchmarkTotal]) -> Html | None:
    if not totals:
        return None
    return join(*(_whole(total) if total.overall else _missing(total) for total in totals))


def _whole(total: BenchmarkTotal) -> Html:
    rows: list[list[Child]] = []
    for name, mean in {"overall": total.overall, **total.categories}.items():
        if mean is not None:
            gain = total.gains.get(name)
            change = f"{points(gain.gain, gain.ci95)} {bracket(gain.ci95)}" if gain else ""
            rows.append([name, f"{percent(mean.mean, mean.ci95)} {bracket(mean.ci95)}", mean.n, change])
    caption = f"{_title(total)}: means weighted by the benchmark's constants"
    return as_table(caption, ("Category", "Score [95 %]", "n", "Gain over direct"), rows)


def _missing(total: BenchmarkTotal) -> Html:
    tasks = tag("ul", *(tag("li", f"{task}: {why}") for task, why in total.missing.items()))
    told = f"{_title(total)} has no overall score: {len(total.missing)} of its tasks are missing."
    return tag("details", tag("summary", told), tasks)


def _title(total: BenchmarkTotal) -> str:
    canvas = "" if total.canvas == "own" else f", {total.canvas} canvas"
    return f"{total.benchmark} ({total.mode}{canvas}, {total.scoring})"
