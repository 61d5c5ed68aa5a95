"""What stands beside the scores in the report: RA and AL, and what others published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sketchmark.comparison import PublishedTable
from sketchmark.report.markup import Child, Html, as_table, join, tag
from sketchmark.report.numbers import bracket, percent, points
from sketchmark.runs.alignment import MEANING
from sketchmark.runs.results_format import CellSummary, Metric
from sketchmark.task import RA_AL


def alignment(cells: Mapping[str, CellSummary]) -> Html | None:
    looked_at = {name: cell.scorings[RA_AL] for name, cell in cells.items() if RA_AL in cell.scorings}
    rows: list[list[Child]] = [
        [name, words, _on_its_scale(score, cell.metrics[score]), cell.metrics[score].n]
        for name, cell in looked_at.items()
        for score, words in MEANING.items()
        if score in cell.metrics
    ]
    failed = {name: cell.failures.get("judge_failed", 0) for name, cell in looked_at.items()}
    told = [f"{name}: the judge gave no verdict on {count} episodes" for name, count in failed.items() if count]
    if not rows and not told:
        return None
    found = as_table("Judged, and read from the pictures", ("Task.mode", "What", "Mean [95 %]", "n"), rows)
    return join(found, tag("ul", *(tag("li", line) for line in told)) if told else None)


def _on_its_scale(score: str, found: Metric) -> str:
    """RA and AL run from 1 to 5, all else is a share."""
    if score not in ("ra", "al"):
        return f"{percent(found.mean, found.ci95)} {bracket(found.ci95)}"
    low, high = found.ci95
    return f"{found.mean:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else "")


def published(tables: Sequence[PublishedTable]) -> Html | None:
    """Beside the run's own, and in no number of this report."""
    if not tables:
        return None
    parts = [tag("p", "Figures of others, copied from their pages. No statistic of this run is made of them.")]
    for found in tables:
        rows: list[list[Child]] = [
            [
                row.model,
                f"{row.channel} ({row.score})",
                percent(row.value),
                row.n or "–",
                f"{percent(row.yours.mean)} {bracket((row.yours.low, row.yours.high))}",
                f"{points(row.apart.mean)} {bracket((row.apart.low, row.apart.high))}" if row.apart else "",
                row.apart.verdict if row.apart else row.untold,
            ]
            for row in found.rows
        ]
        columns = ("Published for", "Figure", "Theirs", "n", "Yours [95 %]", "Yours − theirs [95 %]", "Yours is")
        notes = [*(f"Published: {source}" for source in found.sources), *found.notes]
        parts.append(as_table(f"{found.task}, {found.mode}: published", columns, rows))
        parts.append(tag("ul", *(tag("li", note) for note in notes)))
    return join(*parts)
