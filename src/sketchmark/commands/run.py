"""`sketchmark run`: run tasks with one model, with several, or from a run file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import click

from sketchmark.commands.options import (
    OutputPath,
    file_defaults,
    is_given,
    log_level,
    open_log,
    origin,
    refused,
    setting_options,
)
from sketchmark.errors import BadInput
from sketchmark.terminal import notice

_NAMED_IN_THE_FILE = ("model", "tasks", "model_args", "drawer", "drawer_args")
_OF_THE_OUTPUT = ("dry_run", "details", "verbose", "quiet")
_ARGUMENTS = ("task_args", "gen_kwargs", "judge_args", "extractor_args")


def asked_for(run_file: Path | None, options: dict[str, Any], given: AbstractSet[str]) -> int:
    """Run what was asked for. `given` are the options on the command line."""
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
    from sketchmark.settings.run_file import of_models

    own = {name: value for name, value in options.items() if name not in ("model", *_OF_THE_OUTPUT)}
    return run_suite_and_print(of_models(models, **own), **{name: options[name] for name in _OF_THE_OUTPUT})


def _of_file(path: Path, options: Mapping[str, Any], given: AbstractSet[str]) -> int:
    from sketchmark.commands.outcome import run_suite_and_print
    from sketchmark.settings import parse_arguments
    from sketchmark.settings.run_file import read_suite

    for name in _NAMED_IN_THE_FILE:
        if name in given:
            option = name.replace("_", "-")
            raise BadInput(f"--{option} and a run file", f"the file names models, their arguments and tasks: {path}")
    over = {name: options[name] for name in given if name not in _OF_THE_OUTPUT}
    over |= {name: parse_arguments(over[name]) for name in _ARGUMENTS if name in over}
    return run_suite_and_print(read_suite(path, **over), **{name: options[name] for name in _OF_THE_OUTPUT})


_DRY_RUN = click.Option(
    ["--dry-run"], is_flag=True, help="Count the calls and images of this run and its judge, and stop."
)
_SHOW_SETTINGS = click.Option(
    ["--show-settings"], is_flag=True, help="Print every setting and where it came from, and stop."
)
_DETAILS = click.Option(
    ["--details"], is_flag=True, help="Also print every score, breakdown and gain (results.json has them all)."
)
_LOGGING = [
    _DETAILS,
    click.Option(["--log-samples"], is_flag=True, help="Accepted for lmms-eval users; samples are always logged."),
    click.Option(
        ["--log-samples-suffix"],
        hidden=True,
        expose_value=False,
        callback=refused("samples are logged in the run folder: --output_path names it"),
    ),
    click.Option(
        ["-v", "--verbose"], is_flag=True, help="Also print where errors in your own code came from, and log records."
    ),
    click.Option(
        ["--log-file"],
        type=OutputPath(path_type=Path, dir_okay=False),
        expose_value=False,
        callback=open_log,
        help="Append what is printed on standard error, and log records, to this file.",
    ),
    click.Option(
        ["--verbosity"],
        type=click.Choice(["CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"], case_sensitive=False),
        expose_value=False,
        callback=log_level,
        help="Which log records of libraries are shown [default: WARNING].",
    ),
]


def show_settings(context: click.Context, options: Mapping[str, Any]) -> None:
    """Print each setting with its value and its origin. Keys are never settings, so none is printed."""
    from sketchmark.secrets import redact
    from sketchmark.settings import fields
    from sketchmark.terminal.tables import Table, print_table

    file, _ = file_defaults(Path())
    table = Table("Settings of this command", ("setting", "value", "from"), texts=3)
    for field in fields("C"):
        value = options[field.name]
        if not field.about.hidden:
            listed = value if isinstance(value, tuple) else () if value in (None, "", False) else (value,)
            text = redact(",".join(map(str, listed)))
            table.add(field.name, text or "–", origin(context, field.name, file))
    print_table(table)


@click.command()
@click.argument("run_file", required=False, type=click.Path(path_type=Path))
@click.pass_context
def run_command(context: click.Context, /, run_file: Path | None, **options: Any) -> int:
    """Run TASKS with a MODEL, write the run folder and print the answer; or run the models of a RUN_FILE.

    \b
      sketchmark run --model player/sketcher --tasks maze,sliding \\
          --mode direct,visual_cot --canvas own,blank --limit 50
      sketchmark run -m openai/gpt-6-luna -t mmsi --mode direct,visual_cot
      sketchmark run --model player/random,player/solver --tasks maze --limit 20
      sketchmark run suite.yaml --dry-run

    The same command again resumes where it stopped: finished episodes are kept, and episodes that failed for reasons
    other than the model's are rerun. --concurrency, --max-requests-per-minute and --max-cost hold for all replicas
    together.

    \b
    Exit codes:
      0    every episode was scored; a model failure is scored as wrong
      1    some episodes failed for other reasons
      2    the input cannot be used, or no further call would work (a refused
           key, a wrong address, an empty account, many equal failures)
      3    the cost limit stopped it
      130  after Ctrl-C; 143 after SIGTERM
    """

    if options["tasks"] == "list":
        from sketchmark.catalog import Catalog
        from sketchmark.commands.list import find_tasks, print_tasks

        print_tasks(find_tasks(Catalog(options["include"], options["trust_code"], notice)))
        return 0
    options.pop("log_samples")
    if options.pop("show_settings"):
        show_settings(context, options)
        return 0
    if options["verbose"]:
        logging.getLogger().setLevel(min(logging.getLogger().level, logging.INFO))
    return asked_for(run_file, options, {name for name in options if is_given(context, name)})


run_command.params += setting_options({"prices": [_DRY_RUN, _SHOW_SETTINGS], "quiet": _LOGGING})
