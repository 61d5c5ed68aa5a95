"""`sketchmark report-metrics`: the report metrics that run a model of their own."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.terminal import tell, tell_all


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--metric", "-m", "metrics", multiple=True, required=True, help="rate, green, radgraph, chexbert, bertscore."
)
def command(run: Path, metrics: tuple[str, ...]) -> int:
    """Score the reports of RUN with RaTEScore, GREEN, RadGraph-F1, CheXbert-F1 or BERTScore, as JSON.

    They need the extra `reports` (an error names the command that installs it) and download their weights on first
    use. Exit code 1 where a metric failed or a cell's scores are withheld.
    """
    import json

    from sketchmark.errors import BadInput, SketchmarkError
    from sketchmark.runs.complete import refuse_partial_scores
    from sketchmark.runs.results import withheld
    from sketchmark.runs.store import RunFolder

    folder = RunFolder.open(run)
    refuse_partial_scores(folder)
    found: dict[str, dict[str, float]] = {}
    problems: list[str] = []
    for cell in folder.cells:
        rows = list(folder.scores(cell))
        notes = [row.notes for row in rows if row.scored and "reference" in row.notes]
        if notes and (reason := withheld(rows)):
            problems.append(f"{cell}: {reason}; `sketchmark score {run}` tries again")
        elif notes:
            if len(notes) < len(rows):
                tell(f"{cell}: {len(rows) - len(notes)} of {len(rows)} episodes have no score: left out", err=True)
            found[cell] = {}
            for metric in metrics:
                try:
                    found[cell] |= _values(metric, [n["reference"] for n in notes], [n["reply"] for n in notes])
                except SketchmarkError:
                    raise
                except Exception as error:  # other people's packages: anything may come
                    problems.append(f"{cell}: {metric} failed: {type(error).__name__}: {error}")
    if not found and not problems:
        raise BadInput(f"{run} holds no reports", "iu_xray, mimic_cxr and chexpert_plus are report tasks")
    tell_all(json.dumps(found, indent=1))
    for problem in problems:
        tell(f"sketchmark: {problem}", err=True)
    return 1 if problems else 0


def _values(metric: str, references: list[str], replies: list[str]) -> dict[str, float]:
    """A metric's numbers; one that is no number is an error, not a result."""
    import math

    from sketchmark.tasks.medical.radiology_models import model_scores

    values = model_scores(metric, references, replies)
    for name, value in values.items():
        if not math.isfinite(value):
            raise ValueError(f"{name} is {value}")
    return values
