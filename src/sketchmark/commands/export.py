"""`sketchmark export`: a run in other tools' formats."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.commands._output import output_option
from sketchmark.terminal import tell


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--to", "to", required=True, help="lmms-eval, inspect, wandb (offline) or hf.")
@output_option("A new or empty folder [default: RUN-FORMAT].")
def command(run: Path, to: str, output_path: Path | None) -> None:
    """Write RUN in another tool's format."""
    from sketchmark.export import export
    from sketchmark.runs.store import RunFolder

    for path in export(RunFolder.open(run), to, output_path):
        tell(path)
