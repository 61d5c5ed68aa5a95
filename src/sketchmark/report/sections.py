"""Sections of the report that other packages compute: comparison, audit, alignment, published scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sketchmark.audit import audit
from sketchmark.audit.contrasts import settled_when
from sketchmark.comparison import Comparison, compare
from sketchmark.comparison.findings import PublishedTable
from sketchmark.episode.desk import CANVASES
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder.index import RunView
from sketchmark.folder.results_format import CellResult, Metric
from sketchmark.markup import Child, Html, as_table, bracket, join, percent, points, tag
from sketchmark.results import MEANING
from sketchmark.tasks import RA_AL


def compared(run: RunView) -> Comparison:
    """Compare the cells of a run; empty if there is nothing to compare (one mode, or no scores yet)."""
    try:
        return compare(run, anyway=True, published=True)
    except BadInput:
        return Comparison((), (), ())


def findings(run: RunView) -> list[str]:
    """Return the sentences of the audit, one per finding; none if the run has no canvas to compare drawings with."""
    try:
        found = audit(run)
    except (BadInput, RunConflict):
        return []
    tasks = [task for task in found.tasks if sum(one.place in CANVASES for one in task.scores) > 1]
    told = [f"{task.task}: {one.sentence}" for task in tasks for one in task.findings]
    return [*told, settled_when(found)] if told else []


def alignment(cells: Mapping[str, CellResult]) -> Html | None:
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
    found = as_table("By a judge, and by image readers", ("Task.mode", "Measure", "Mean [95%]", "n"), rows)
    return join(found, tag("ul", *(tag("li", line) for line in told)) if told else None)


def _on_its_scale(score: str, found: Metric) -> str:
    """Show a mean: RA and AL run from 1 to 5, all others are proportions."""
    if score not in ("ra", "al"):
        return f"{percent(found.mean, found.ci95)} {bracket(found.ci95)}"
    low, high = found.ci95
    return f"{found.mean:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else "")


def published(tables: Sequence[PublishedTable]) -> Html:
    """Show published scores next to the run's own; they enter no number of the report."""
    parts = [tag("p", "Scores of others, copied from their pages. They enter no statistic of this run.")]
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
        columns = ("Published for", "Score", "Theirs", "n", "Yours [95%]", "Yours − theirs [95%]", "Yours is")
        notes = [*(f"Published: {source}" for source in found.sources), *found.notes]
        parts.append(as_table(f"{found.task}, {found.mode}: published", columns, rows))
        parts.append(tag("ul", *(tag("li", note) for note in notes)))
    return join(*parts)
