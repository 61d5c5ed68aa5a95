"""`sketchmark card`: what was run and how to repeat it, on one page."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sketchmark.commands._output import output_option
from sketchmark.terminal import tell, tell_all


@click.command("card")
@click.argument("run", type=click.Path(path_type=Path))
@output_option("Write there instead of printing.", folder=False)
def command(run: Path, output_path: Path | None) -> None:
    """Print a reproduction card of RUN in Markdown: the model and its version as the server reports it, protocol,
    prompts by digest, what was left out, scoring, failures, cost, versions, and the command that repeats it.

    \b
    sketchmark card runs/my-run --output_path CARD.md
    """
    from sketchmark.report.card import card
    from sketchmark.runs.store import RunFolder

    folder = RunFolder.open(run)
    if output_path is None:
        tell_all(card(folder, str(run)))
        return
    text = card(folder, os.path.relpath(run, output_path.parent))
    output_path.write_text(text, "utf-8")
    tell(f"written to {output_path}")
