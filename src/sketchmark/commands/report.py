"""`sketchmark report`: make a run's report.html anew."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.terminal import tell


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
def command(run: Path) -> None:
    """Write RUN/report.html, one self-contained file to send to a colleague."""
    from sketchmark.report import write_report
    from sketchmark.runs.store import RunFolder

    tell(write_report(RunFolder.open(run)))
