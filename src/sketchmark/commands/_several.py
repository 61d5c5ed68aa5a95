"""What `sketchmark run` does for one model, for several, and for a run file."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput

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
    from sketchmark.commands._run import run_and_print

    return run_and_print(**options)


def _of_models(models: list[str], options: Mapping[str, Any]) -> int:
    from sketchmark.commands._suite import run_and_print
    from sketchmark.suites import of_models

    own = {name: value for name, value in options.items() if name not in ("model", "dry_run", "quiet")}
    return run_and_print(of_models(models, **own), dry_run=options["dry_run"], quiet=options["quiet"])


def _of_file(path: Path, options: Mapping[str, Any], given: AbstractSet[str]) -> int:
    from sketchmark.commands._suite import run_and_print
    from sketchmark.key_values import parse_arguments
    from sketchmark.suites import read_suite

    for name in _NAMED_IN_THE_FILE:
        if name in given:
            option = name.replace("_", "-")
            raise BadInput(f"--{option} and a run file", f"the file names models, their arguments and tasks: {path}")
    over = {name: options[name] for name in given if name not in ("dry_run", "quiet")}
    over |= {name: parse_arguments(over[name]) for name in _ARGUMENTS if name in over}
    return run_and_print(read_suite(path, **over), dry_run=options["dry_run"], quiet=options["quiet"])
