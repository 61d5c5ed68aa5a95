"""`sketchmark report-metrics`: the report metrics that run a model of their own."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.terminal import tell_all


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--metric", "-m", "metrics", multiple=True, required=True, help="rate, green, radgraph, chexbert, bertscore."
)
def command(run: Path, metrics: tuple[str, ...]) -> int:
    """Score the reports of RUN with RaTEScore, GREEN, RadGraph-F1, CheXbert-F1 or BERTScore, as JSON.

    They need `pip install 'sketchmark[reports]'` and download their weights on first use.
    """
    import json

    from sketchmark.errors import BadInput
    from sketchmark.runs.store import RunFolder
    from sketchmark.tasks.medical.radiology_models import model_scores

    folder = RunFolder.open(run)
    found = {}
    for cell in folder.cells:
        notes = [row.notes for row in folder.scores(cell) if row.scored and "reference" in row.notes]
        if notes:
            references, replies = [n["reference"] for n in notes], [n["reply"] for n in notes]
            found[cell] = {
                name: value for metric in metrics for name, value in model_scores(metric, references, replies).items()
            }
    if not found:
        raise BadInput(f"{run} holds no reports", "iu_xray, mimic_cxr and chexpert_plus are report tasks")
    tell_all(json.dumps(found, indent=1))
    return 0
