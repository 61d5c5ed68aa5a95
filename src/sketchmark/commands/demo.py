"""`sketchmark demo`: the scripted players on the generated worlds, in every mode. No key, no weights, no network."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.commands._output import output_option


@click.command()
@click.option("--limit", type=click.IntRange(2), default=16, show_default=True, help="Samples of each world.")
@output_option("Folder of the demo's runs.", default=Path("runs/demo"), show_default=True)
def command(limit: int, output_path: Path) -> int:
    """Three scripted players show what a run looks like and what the controls are for.

    `random` sits at chance, `solver` is always right, and `sketcher` sees only a few moves ahead: drawing helps it,
    and a blank canvas takes the help away.
    """
    from sketchmark.commands._demo import play_demo

    return play_demo(limit, output_path)
