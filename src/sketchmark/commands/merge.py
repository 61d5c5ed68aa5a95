"""`sketchmark merge`: put the shards of a run together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sketchmark.commands._include import include_option
from sketchmark.commands._output import output_option
from sketchmark.terminal import notice, show_progress, tell

if TYPE_CHECKING:
    from sketchmark.task import Task


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@output_option("The run folder to make; it must not be there yet.", required=True)
@click.option("--partial", is_flag=True, help="Merge what is there although samples are missing.")
@include_option("Where tasks of your own are.")
@click.option(
    "--data", type=click.Path(path_type=Path), help="Where their data is now; unless it was moved, run.json says it."
)
@click.option("--trust-code", is_flag=True, help="Run Python that a task in an --include folder names.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no table.")
def command(
    runs: tuple[Path, ...],
    output_path: Path,
    partial: bool,
    include: tuple[Path, ...],
    data: Path | None,
    trust_code: bool,
    quiet: bool,
) -> int:
    """Put the parts of a run (`sketchmark run --shard 0/3`, 1/3, 2/3) together into one run folder.

    \b
    The runs must agree in model, settings, prompts and data. Missing samples are named, and nothing is written
    unless you say --partial; the same sample in two runs counts once, and two different answers to it are refused.
    The merged folder is a run like any other: the `sketchmark run` command without --shard plays what is missing.
      sketchmark merge runs/player-solver-shard-*-of-3 --out runs/solver
    Exit code: 0, 1 when some episodes failed or could not be scored, 2 when the runs cannot be merged.
    """

    from sketchmark.catalog import Catalog
    from sketchmark.commands._printed import print_all
    from sketchmark.commands._unscored import tell_unscored
    from sketchmark.engines.loop import run_async
    from sketchmark.errors import BadInput
    from sketchmark.report import write_report
    from sketchmark.runs.merging import NotWhole, merge, new_folder
    from sketchmark.runs.readings import with_replies
    from sketchmark.runs.store import RunFolder

    twice = [run for run in dict.fromkeys(runs) if [other.resolve() for other in runs].count(run.resolve()) > 1]
    if twice:
        raise BadInput(f"{twice[0]} is named twice", "name every run once")
    folders = [RunFolder.open(run) for run in runs]
    catalog = Catalog(include, trust_code, notice)

    if quiet:
        show_progress(False)

    def task_of(name: str, source: Mapping[str, Any], then: Path | None) -> Task:
        return catalog.played(name, source, data or then)

    def say(line: str) -> None:
        if not quiet:
            tell(line, err=True)

    try:
        with new_folder(output_path) as made:
            failed = run_async(merge(folders, made, task_of, say, partial=partial))
            write_report(made)
    except NotWhole as error:
        for gap in error.gaps:
            tell(gap, err=True)
        raise
    folder = RunFolder(output_path)
    results = folder.results()
    if not quiet:
        print_all(with_replies(folder, results), f"the viewer shows them (sketchmark view {output_path})")
        tell(f"run folder: {output_path}")
        tell(f"report:     {output_path / 'report.html'}")
    unscored = tell_unscored(results.tasks, "the `sketchmark run` command without --shard tries once more")
    if failed:
        tell(
            f"sketchmark: {failed} episodes failed; the run's command without --shard plays them once more", err=True
        )
    return 1 if failed or unscored else 0
