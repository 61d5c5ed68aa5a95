"""`sketchmark repair`: set aside what is damaged in a run, and say what is to be done again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sketchmark.terminal import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sketchmark.runs.repair import Repair

_SHOWN = 20
"""Samples or lines that are named before the rest is counted."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only say what is damaged; touch nothing.")
def command(run: Path, dry_run: bool) -> int:
    """Set damaged lines and pictures of RUN aside and say what must be played or scored again.

    \b
    A line is damaged when it is not what was written: the disk was full, the machine lost power, or the file was
    edited. It goes to RUN/set-aside, with where it was; nothing is guessed. A sound run is left as it is.
    """
    from sketchmark.runs.lock import RunLock
    from sketchmark.runs.repair import repair
    from sketchmark.runs.store import RunFolder

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
