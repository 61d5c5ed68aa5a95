"""`sketchmark voila infer`: play steps 1 to 3 (and 4) and write VOILA's results file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sketchmark.commands._output import output_option
from sketchmark.terminal import show_progress, tell


@click.command("infer")
@click.option("--model_name", required=True, help="A Sketchmark model (openai/gpt-6-luna), or a hub id or path: hf/…")
@click.option(
    "--dataset_name", default="nlylmz/VOILA", show_default=True, help="On the hub, or a folder with CSV and pictures."
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True),
    help="A VOILA CSV file, or a folder with one, and its pictures beside it: as for `sketchmark run`.",
)
@click.option(
    "--csv", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Questions from a VOILA CSV file."
)
@click.option(
    "--images",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The CSV's pictures [default: Test_Images beside it].",
)
@click.option("--distraction", required=True, type=click.Choice(["yes", "no"]), help="VOILA-WD or VOILA-ND.")
@output_option("The results file.", folder=False, default="results.json", show_default=True)
@click.option("--max_new_tokens", default=3048, show_default=True, type=click.IntRange(1))
@click.option("--temperature", default=0.5, show_default=True, type=click.FloatRange(0))
@click.option("--device_map", default="auto", show_default=True, help="For hub models.")
@click.option("--model_args", default="", help="key=value,… for the model.")
@click.option("--draw", is_flag=True, help="Also step 4, if the model draws. The original stops after step 3.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N questions.")
@click.option("--concurrency", default=16, show_default=True, type=click.IntRange(1), help="Questions at once.")
@click.option("--fresh", is_flag=True, help="Throw away what was played before and start over.")
@click.option("--quiet", is_flag=True, help="No progress.")
def command(distraction: str, model_args: str, **options: Any) -> int:
    """Play VOILA's steps and write the results file, as the original's inference_test.py does.

    \b
    The run folder is kept beside the file (results.json.run). The same command again resumes where it stopped and
    plays again what failed.
      sketchmark voila infer --model_name openai/gpt-6-luna --distraction yes
      sketchmark voila infer --model_name openai/gpt-6-luna --distraction yes --data my_voila
      sketchmark voila infer --model_name player/solver --csv voila.csv --distraction no --draw
    """
    from sketchmark.commands._voila_inference import Inference, infer
    from sketchmark.key_values import parse_arguments

    if options["quiet"]:
        show_progress(False)
    asked = Inference(distraction=distraction == "yes", model_args=parse_arguments(model_args), **options)
    path, failed = infer(asked)
    tell(f"results: {path}")
    tell(f"run:     {asked.run_folder}")
    if failed:
        named = ", ".join(map(str, failed[:10])) + (", …" if len(failed) > 10 else "")
        tell(
            f"sketchmark: {len(failed)} questions failed and are not in the results ({named}); "
            "the same command plays them again",
            err=True,
        )
    return 1 if failed else 0
