"""What `sketchmark audit` finds in a run, as the report shows it."""

from __future__ import annotations

from sketchmark.audit import audit
from sketchmark.audit.findings import Finding
from sketchmark.audit.terminal import settled_when
from sketchmark.canvas import CANVASES
from sketchmark.errors import BadInput, RunConflict
from sketchmark.report import charts
from sketchmark.report.markup import Html, join, tag
from sketchmark.runs.results_format import Mean
from sketchmark.runs.store import RunFolder


def audited(folder: RunFolder) -> Html | None:
    """None where the run holds no canvas to hold the drawings against."""
    try:
        found = audit(folder.path)
    except (BadInput, RunConflict):
        return None
    tasks = [task for task in found.tasks if sum(one.place in CANVASES for one in task.scores) > 1]
    if not tasks:
        return None
    labels = list(dict.fromkeys(one.label for task in tasks for one in task.findings))
    series = {
        task.task: [next((_point(one) for one in task.findings if one.label == label), None) for label in labels]
        for task in tasks
    }
    sentences = [tag("li", f"{task.task}: {one.sentence}") for task in tasks for one in task.findings]
    return join(
        charts.bars(
            "Differences and shares in points, with 95 % intervals", labels, series, signed=True, slanted=True
        ),
        tag("ul", *sentences),
        tag("p", settled_when(found), class_="quiet"),
    )


def _point(found: Finding) -> Mean:
    return Mean(mean=found.mean, ci95=(found.low, found.high), n=found.n)
