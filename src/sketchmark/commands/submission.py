"""`sketchmark submission`: the files that a benchmark's own server or an external metric suite takes."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.terminal import tell


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
def command(run: Path) -> int:
    """Write the submission files of RUN, for tasks that have them.

    \b
    MMMU test (answers withheld): one JSON of id -> answer, for EvalAI.
    IU X-Ray, MIMIC-CXR, CheXpert Plus: predictions.csv and ground_truth.csv, for report-metric suites.
    """
    from sketchmark.catalog import Catalog
    from sketchmark.errors import BadInput
    from sketchmark.runs.store import RunFolder
    from sketchmark.runs.submissions import write_submissions

    folder, catalog = RunFolder.open(run), Catalog()
    cells = folder.about().cells
    written = write_submissions(
        folder, {name: catalog.played(cells[name].task, cells[name].source) for name in folder.cells}
    )
    if not written:
        raise BadInput(f"no task of {run} has a submission file", "mmmu_test and the report sets have one")
    for path in written:
        tell(path)
    return 0
