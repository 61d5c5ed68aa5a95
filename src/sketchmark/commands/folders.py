"""Commands on whole run folders: `merge` joins shards, `repair` sets damaged lines aside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sketchmark.commands.options import include_option, output_option
from sketchmark.terminal import notice, show_progress, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sketchmark.folder.repair import Repair
    from sketchmark.tasks import Task


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
def merge_command(
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
    from sketchmark.commands.tables import print_all, tell_unscored
    from sketchmark.engines import run_async
    from sketchmark.errors import BadInput
    from sketchmark.folder import RunFolder
    from sketchmark.report import write_report
    from sketchmark.results.scorings import with_replies
    from sketchmark.runs.merge import NotWhole, merge, new_folder

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


_SHOWN = 20
"""Samples or lines to name; the rest is counted."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only say what is damaged; touch nothing.")
def repair_command(run: Path, dry_run: bool) -> int:
    """Set damaged lines and pictures of RUN aside and say what must be played or scored again.

    \b
    A line is damaged when it is not what was written: the disk was full, the machine lost power, or the file was
    edited. It goes to RUN/set-aside, with where it was; nothing is guessed. A sound run is left as it is.
    """
    from sketchmark.folder import RunFolder
    from sketchmark.folder.lock import RunLock
    from sketchmark.folder.repair import repair

    folder = RunFolder(run)
    found = repair(folder, dry_run=True)
    if found.faults and not dry_run:
        lock = RunLock(run)
        try:
            found = repair(folder)
        finally:
            lock.release()
    for line in _told(found, run, dry_run):
        tell(line)
    return 0


def _told(found: Repair, run: Path, dry_run: bool) -> Iterator[str]:
    if not found.faults and not found.play:
        yield f"{run}: nothing to repair"
        return
    for file, faults in found.faults.items():
        yield f"{run / file}: {_listed(faults, '; ')}"
    if found.faults:
        yield f"{'would be' if dry_run else 'now'} set aside in {run / 'set-aside'}"
    for cell, samples in found.play.items():
        yield f"to be played again: {cell}: {_listed(samples)}"
    for cell, count in found.untold.items():
        yield f"to be played again: {cell}: {count} whose samples cannot be told; the run finds them missing"
    for cell, samples in found.retry.items():
        yield f"only an older try that failed is left: {cell}: {_listed(samples)}; --retry-failed plays it again"
    for file, samples in found.score.items():
        yield f"to be scored again: {file}: {_listed(samples) or 'none'}"
    if dry_run:
        yield f"next: sketchmark repair {run}"
    else:
        yield "next: give the `sketchmark run` command of this run again; it does what is missing and nothing twice"


def _listed(texts: list[str], between: str = ", ") -> str:
    return between.join(texts[:_SHOWN]) + (f"{between}and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")
