"""`sketchmark audit`: where a drawing gain comes from, and where it is lost."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import click

from sketchmark.commands import run as _run

_CHOSEN = {"mode", "canvas", "limit", "shard", "log_samples"}
"""Options of `sketchmark run` that an audit decides for itself."""


@click.command("audit")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(2), help="Samples of each task [default: 100; --until settled: 500].")
@click.option(
    "--until",
    type=click.Choice(["settled"]),
    help="Add samples in blocks until the drawing gain is settled, at most --limit or --max-cost.",
)
@click.option("--block", type=click.IntRange(2), default=20, show_default=True, help="Samples of a block (--until).")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="A difference that is nearer to zero than this for certain is none worth naming.",
)
@click.option("--json", "as_json", is_flag=True, help="All numbers as JSON.")
def command(run: Path | None, **options: Any) -> int:
    """Play direct, text_cot and visual_cot on every canvas that the task allows, and say where the gain comes from.

    \b
    Each with its interval, and how many samples would settle what is not settled:
      oracle − own      what is lost by drawing wrongly
      oracle, not right what is lost by reading
      own − blank       what the drawing's content gives
      own − text_cot    what a picture gives over words
      follows corrupt   how often a wrong drawing is believed
    It is an ordinary run: the same command resumes it, and report and viewer show it.
      sketchmark audit --model player/sketcher --tasks maze,sliding,jigsaw --limit 60
      sketchmark audit --model player/sketcher --tasks maze --until settled --margin 0.05
    Of a run folder that has the cells, playing nothing:
      sketchmark audit runs/player-sketcher
    Exit codes are those of `sketchmark run`.
    """
    from sketchmark.commands._audit import audit_and_print, print_audit

    if run is None:
        return audit_and_print(**options)
    if options["model"] or options["tasks"]:
        raise click.UsageError("give a RUN to look at, or --model and --tasks to play; not both")
    print_audit(run, margin=options["margin"], as_json=options["as_json"])
    return 0


def _shared() -> list[click.Option]:
    """The options of `sketchmark run`, so that whatever a run can do, an audit can."""
    options = (param for param in _run.command.params if isinstance(param, click.Option))
    shared = [copy.copy(param) for param in options if param.name not in _CHOSEN]
    for param in shared:
        param.required = False
    return shared


command.params += _shared()
