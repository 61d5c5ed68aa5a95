"""Commands on a finished run: `card`, `export`, `plot`, `report` and `view` show or convert it, `merge` joins shards,
`repair` sets damaged lines aside."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sketchmark.commands.options import RUN, include_option, open_address, output_option
from sketchmark.terminal import notice, show_progress, tell, tell_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sketchmark.folder.repair import Repair
    from sketchmark.tasks import Task


@click.command("card")
@click.argument("run", type=RUN)
@output_option("Write there instead of printing.", folder=False)
def card_command(run: Path, output_path: Path | None) -> None:
    """Print a reproduction card of RUN in Markdown: the model and its version as the server reports it, protocol,
    prompts by digest, what was left out, scoring, failures, cost, versions, and the command that repeats it. A run of
    people also gets what a study of human baselines must report.

    \b
    sketchmark card runs/my-run --output_path CARD.md
    """
    from sketchmark.folder import RunFolder
    from sketchmark.human.group import people_section
    from sketchmark.report.card import card

    folder = RunFolder.open(run)
    where = str(run) if output_path is None else os.path.relpath(run, output_path.parent)
    people = people_section(folder)
    text = card(folder, where) + (f"\n{people}" if people else "")
    if output_path is None:
        tell_all(text)
        return
    output_path.write_text(text, "utf-8")
    tell(f"written to {output_path}")


@click.command("export")
@click.argument("run", type=RUN)
@click.option("--to", "to", required=True, help="csv, lmms-eval, inspect, wandb (offline) or hf.")
@output_option("A new or empty folder [default: RUN-FORMAT].")
def export_command(run: Path, to: str, output_path: Path | None) -> None:
    """Write RUN in another tool's format."""
    from sketchmark.export import export
    from sketchmark.folder import RunFolder

    for path in export(RunFolder.open(run), to, output_path):
        tell(path)


@click.command("plot")
@click.argument("runs", nargs=-1, required=True, type=RUN)
@output_option("FILE.pdf, FILE.svg or FILE.png.", folder=False, required=True)
@click.option("--kind", default="gain", show_default=True, help="gain, scores, difficulty, strip or leaderboard.")
@click.option("--task", default="", help="Only this task [default: all].")
@click.option("--sample", default="", help="Episode of a strip [default: the first that drawing helped].")
@click.option("--width", default="", help="column (3.25 in), page (6.875 in) or inches [default: by kind].")
def plot_command(runs: tuple[Path, ...], output_path: Path, kind: str, task: str, sample: str, width: str) -> None:
    """Draw a figure of RUNS for a paper, with its numbers as CSV next to it.

    \b
    sketchmark plot runs/a runs/b --out gain.pdf
    sketchmark plot runs/a --kind scores --out scores.svg
    """
    from sketchmark.plots.figures import figure, opened

    for path in figure(list(opened(runs)), kind, task=task, sample=sample, width=width).save(output_path):
        tell(path)


@click.command("report")
@click.argument("run", type=RUN)
def report_command(run: Path) -> None:
    """Write RUN/report.html, one self-contained file to send to a colleague."""
    from sketchmark.folder import RunFolder
    from sketchmark.report import write_report

    tell(write_report(RunFolder.open(run)))


@click.command("view")
@click.argument("folder", default=".", type=RUN)
@click.option("--port", default=0, show_default=True, help="0 takes any free port.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--export",
    "site",
    type=click.Path(path_type=Path),
    help="Write the viewer there as static files, for a web server or a paper's supplement, and do not serve.",
)
def view_command(folder: Path, port: int, no_browser: bool, site: Path | None) -> None:
    """Show the runs in FOLDER (a run, or a folder of runs) in the browser, also while they are running."""
    if site is not None:
        from sketchmark.view.site import estimate, export

        tell(f"about {estimate(folder).in_words()} to {site}")
        tell(f"written: {export(folder, site).in_words()}; open {site / 'index.html'} from any web server")
        return
    from sketchmark.view import serve

    def ready(address: str) -> None:
        tell(f"Looking at {folder} on {address}  (Ctrl-C to stop)")
        open_address(address, no_browser)

    serve(folder, port, ready)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=RUN)
@output_option("The run folder to make; must not exist.", required=True)
@click.option("--partial", is_flag=True, help="Merge even if samples are missing.")
@include_option("Folder with your own tasks.")
@click.option("--data", type=click.Path(path_type=Path), help="Their data, if it has moved since the run.")
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
    """Join the shards of a run (`sketchmark run --shard 0/3`, 1/3, 2/3) in one run folder.

    \b
      sketchmark merge runs/player-solver-shard-*-of-3 --out runs/solver

    The runs must agree in model, settings, prompts and data. Missing samples are named, and nothing is written
    without --partial. The same sample in two runs counts once; two different answers to it are refused. The merged
    folder is a run like any other: the `sketchmark run` command without --shard runs what is missing.

    Exit code: 0, 1 when some episodes failed or could not be scored, 2 when the runs cannot be merged.
    """

    from sketchmark.catalog import Catalog
    from sketchmark.commands.tables import print_all, tell_unscored
    from sketchmark.engines import run_async
    from sketchmark.errors import BadInput
    from sketchmark.folder import RunFolder
    from sketchmark.folder.lock import new_folder
    from sketchmark.report import write_report
    from sketchmark.results.scorings import with_replies
    from sketchmark.runs.merge import NotWhole, merge

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
        with new_folder(output_path, "merging") as path:
            made = RunFolder(path)
            failed = run_async(merge(folders, made, task_of, say, partial=partial))
            write_report(made)
    except NotWhole as error:
        for gap in error.gaps:
            tell(gap, err=True)
        raise
    folder = RunFolder(output_path)
    results = folder.results()
    if not quiet:
        print_all(with_replies(folder, results), f"the viewer shows them (sketchmark view {output_path})", folder)
        tell(f"run folder: {output_path}")
        tell(f"report:     {output_path / 'report.html'}")
    unscored = tell_unscored(results.tasks, "the `sketchmark run` command without --shard retries")
    if failed:
        tell(f"sketchmark: {failed} episodes failed; the run's command without --shard reruns them", err=True)
    return 1 if failed or unscored else 0


_SHOWN = 20
"""Samples or lines to name; the rest is counted."""


@click.command()
@click.argument("run", type=RUN)
@click.option("--dry-run", is_flag=True, help="Only report damage; change nothing.")
def repair_command(run: Path, dry_run: bool) -> int:
    """Set damaged lines and images of RUN aside, and print what must be rerun or rescored.

    A line is damaged when it is not what was written: the disk was full, the machine lost power, or the file was
    edited. It goes to RUN/set-aside, with its place; nothing is guessed. A run without damage is unchanged.
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
        yield f"to rerun: {cell}: {_listed(samples)}"
    for cell, count in found.untold.items():
        yield f"to rerun: {cell}: {count} with unknown samples; the run finds them missing"
    for cell, samples in found.retry.items():
        yield f"only an older failed attempt is left: {cell}: {_listed(samples)}; --retry-failed reruns it"
    for file, samples in found.score.items():
        yield f"to rescore: {file}: {_listed(samples) or 'none'}"
    if dry_run:
        yield f"next: sketchmark repair {run}"
    else:
        yield "next: run the `sketchmark run` command of this run again; it does only what is missing"


def _listed(texts: list[str], between: str = ", ") -> str:
    return between.join(texts[:_SHOWN]) + (f"{between}and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")
