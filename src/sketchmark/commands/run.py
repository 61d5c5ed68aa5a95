"""What `sketchmark run` does for one model, for several, and for a run file.

`sketchmark run`: play tasks with a model, and say what came out.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import click

from sketchmark.commands.options import (
    Joined,
    include_option,
    is_given,
    limit,
    log_level,
    output_option,
    refused,
)
from sketchmark.errors import BadInput
from sketchmark.terminal import notice

_NAMED_IN_THE_FILE = ("model", "tasks", "model_args")
_ARGUMENTS = ("task_args", "gen_kwargs", "judge_args")


def asked_for(run_file: Path | None, options: dict[str, Any], given: AbstractSet[str]) -> int:
    """`given` are the options that stand on the command line."""
    if run_file is not None:
        return _of_file(run_file, options, given)
    for name in ("model", "tasks"):
        if not options[name]:
            raise BadInput(
                f"--{name} is missing", "say --model and --tasks, or name a run file (YAML with models: and tasks:)"
            )
    models = [name.strip() for name in options["model"].split(",") if name.strip()]
    if len(models) > 1:
        return _of_models(models, options)
    from sketchmark.commands.outcome import run_and_print

    return run_and_print(**options)


def _of_models(models: list[str], options: Mapping[str, Any]) -> int:
    from sketchmark.commands.outcome import run_suite_and_print
    from sketchmark.suites.run_file import of_models

    own = {name: value for name, value in options.items() if name not in ("model", "dry_run", "quiet")}
    return run_suite_and_print(of_models(models, **own), dry_run=options["dry_run"], quiet=options["quiet"])


def _of_file(path: Path, options: Mapping[str, Any], given: AbstractSet[str]) -> int:
    from sketchmark.commands.outcome import run_suite_and_print
    from sketchmark.settings import parse_arguments
    from sketchmark.suites.run_file import read_suite

    for name in _NAMED_IN_THE_FILE:
        if name in given:
            option = name.replace("_", "-")
            raise BadInput(f"--{option} and a run file", f"the file names models, their arguments and tasks: {path}")
    over = {name: options[name] for name in given if name not in ("dry_run", "quiet")}
    over |= {name: parse_arguments(over[name]) for name in _ARGUMENTS if name in over}
    return run_suite_and_print(read_suite(path, **over), dry_run=options["dry_run"], quiet=options["quiet"])


@click.command()
@click.argument("run_file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--model", "-m", cls=Joined, help="provider/name or an alias, several with commas; see `sketchmark list models`."
)
@click.option(
    "--tasks",
    "-t",
    cls=Joined,
    help="Tasks, groups, patterns ('mmmu*') or files of questions, with commas; `list` lists them.",
)
@click.option(
    "--mode",
    cls=Joined,
    default="direct",
    show_default=True,
    help="direct, visual_cot, text_cot; several with commas.",
)
@click.option(
    "--canvas",
    cls=Joined,
    default="own",
    show_default=True,
    help="What the model sees of its drawing: own, blank, other, oracle, corrupt, caption, source; several; all.",
)
@click.option(
    "--draw",
    type=click.Choice(["svg"]),
    help="Let the model draw by writing SVG, which is rendered: for one that returns no pictures.",
)
@click.option(
    "--steps", default="truth", show_default=True, help="Who ends a stepwise episode: truth (as published) or model."
)
@click.option(
    "--limit",
    callback=limit,
    metavar="N|SHARE",
    help="Only the first N samples of each task, or a share of them (0.1), also in the numbers.",
)
@click.option("--shard", default="", help="A part of the run: 0/3, 1/3, 2/3; `sketchmark merge` joins them.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of generated puzzles.")
@output_option("Run folder, or the folder of several models' runs [default: runs/MODEL, runs/RUN_FILE].")
@click.option("--model-args", cls=Joined, default="", help="key=value,key=value for the model.")
@click.option("--task-args", cls=Joined, default="", help="key=value,… for the tasks' data (rows=8,max_steps=20).")
@click.option("--gen-kwargs", cls=Joined, default="", help="key=value,… over the tasks' generation settings.")
@click.option("--prompts", default="", help="A prompt set of the task (see `sketchmark show TASK`).")
@click.option("--data", type=click.Path(path_type=Path), help="Where the task's data is on disk.")
@click.option(
    "--scoring",
    cls=Joined,
    default="strict",
    show_default=True,
    help="How answers are read; several with commas: the first counts.",
)
@click.option("--judge", default="", help="A model that judges open answers.")
@click.option("--judge-args", cls=Joined, default="", help="key=value,… for the judge.")
@click.option("--concurrency", "-c", type=click.IntRange(1), default=100, show_default=True, help="Episodes at once.")
@click.option("--batch-size", default="", help="For local weights: N or auto.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="Seconds an episode may take.")
@click.option("--max-requests-per-minute", type=click.IntRange(1), help="Keep below the provider's limit.")
@click.option(
    "--on-draw-failure",
    type=click.Choice(["fail", "continue"]),
    default="fail",
    show_default=True,
    help="What to do when a drawing call returns no picture.",
)
@click.option("--retry-failed", is_flag=True, help="Play again also what the model itself failed.")
@click.option("--fresh", is_flag=True, help="Throw away what the run folder holds and start over.")
@click.option(
    "--cache", type=click.Path(path_type=Path), help="Folder of the call cache [default: ~/.cache/sketchmark]."
)
@click.option("--no-cache", is_flag=True, help="Ask the model even what it has answered before.")
@include_option("Tasks or models of your own: a YAML or Python file, or a folder.")
@click.option(
    "--trust-code",
    is_flag=True,
    help="Run Python that a task in an --include folder names. It can do anything you can.",
)
@click.option("--strict-leaks", is_flag=True, help="Stop when a generation prompt contains an answer option.")
@click.option("--dry-run", is_flag=True, help="Count the calls and pictures of this run and its judge, and stop.")
@click.option("--prices", type=click.Path(path_type=Path, exists=True), help="YAML price table of model and judge.")
@click.option("--max-cost", type=click.FloatRange(0), help="What this start may cost, with --prices; then it stops.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "local", "processes", "ray"]),
    default="auto",
    show_default=True,
    help="Who plays: this process, several beside it, or a Ray cluster. auto: processes where scripted players "
    "have much to do, else local.",
)
@click.option("--ray-address", help="Of the Ray cluster [default: $RAY_ADDRESS, one on this machine, or a new one].")
@click.option(
    "--replicas",
    type=click.IntRange(1),
    help="Workers, each with a model of its own [default: one per core, CPU or --num-gpus of the cluster].",
)
@click.option("--num-gpus", type=click.FloatRange(0), default=0, help="GPUs of each replica (--engine ray).")
@click.option("--log-samples", is_flag=True, help="Accepted for lmms-eval users; samples are always logged.")
@click.option(
    "--log-samples-suffix",
    hidden=True,
    expose_value=False,
    callback=refused("samples are logged in the run folder: --output_path names it"),
)
@click.option(
    "--verbosity",
    type=click.Choice(["CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"], case_sensitive=False),
    expose_value=False,
    callback=log_level,
    help="Which log records of libraries are shown [default: WARNING].",
)
@click.option("--quiet", "-q", is_flag=True, help="No progress, no table.")
@click.pass_context
def run_command(context: click.Context, /, run_file: Path | None, **options: Any) -> int:
    """Play TASKS with a MODEL, write the run folder, print the table; or play the models of a RUN_FILE.

    \b
    The same command again resumes where it stopped; nothing finished is done twice, and an episode that failed
    for reasons other than the model's is played again.
      sketchmark run --model player/sketcher --tasks maze,sliding --mode direct,visual_cot --limit 50
      sketchmark run --model openai/gpt-6-luna --tasks mmsi --mode direct,visual_cot
      sketchmark run --model player/random,player/solver --tasks maze --limit 20
      sketchmark run suite.yaml --dry-run
      sketchmark run --model hf/NAME --tasks mmsi --engine ray --ray-address auto --num-gpus 1 --concurrency 64
    --concurrency, --max-requests-per-minute and --max-cost hold for all replicas together.
    Exit code: 0 when every episode was scored (what the model itself failed, such as a drawing that never came, is
    scored as wrong), 1 when some failed for other reasons, 2 for input that cannot be used or a run that stopped
    because no further call would work (a wrong address, a refused key, an empty account, many failures alike in a
    row), 3 when the cost limit stopped it, 130 after Ctrl-C, 143 after SIGTERM.
    """

    if options["tasks"] == "list":
        from sketchmark.catalog import Catalog
        from sketchmark.commands.list import find_tasks, print_tasks

        print_tasks(find_tasks(Catalog(options["include"], options["trust_code"], notice)))
        return 0
    options.pop("log_samples")
    return asked_for(run_file, options, {name for name in options if is_given(context, name)})
