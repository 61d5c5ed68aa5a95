"""`sketchmark doctor`: what a model and its server really do, before money is spent."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.commands._include import include_option


@click.command("doctor")
@click.option("--model", "-m", required=True, help="As in `run`: provider/name or an alias.")
@click.option("--model-args", default="", help="Its arguments: key=value,key=value.")
@include_option("A Python file with a model of yours.")
@click.option("--prices", type=click.Path(path_type=Path, exists=True), help="YAML price table, for what it cost.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def command(model: str, model_args: str, include: tuple[Path, ...], prices: Path | None, as_json: bool) -> int:
    """Examine a MODEL by some twenty small calls, each checked by our own readers.

    \b
    Does it see all pictures, in order? Does its drawing follow the prompt, and
    what it said before? Does an edit keep the rest? Are size, seed and limits
    kept to, or dropped without a word? What that means for the modes stands
    below each finding.
      sketchmark doctor --model openai/NAME --model-args base_url=http://127.0.0.1:8000/v1
      sketchmark doctor --model player/patient
    Exit code: 0 when all that the model says it can do works, 1 when something
    does not, 2 when the model cannot be reached.
    """
    from sketchmark.commands._doctor import examine_and_print

    return examine_and_print(model, model_args, include, prices, as_json=as_json)
