"""`sketchmark demo`: three scripted players on the generated worlds in every mode, without key, weights or
network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from sketchmark.api import run
from sketchmark.commands.options import output_option
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import CellResult, Gain
from sketchmark.results.aggregate import why_none
from sketchmark.terminal import tell
from sketchmark.terminal.tables import Table, print_table
from sketchmark.worlds import installed_worlds

_CANVASES = {"player/sketcher": "own,blank,other,oracle"}


def play_demo(limit: int, path: Path) -> int:
    folders = []
    for name in ("player/random", "player/solver", "player/sketcher"):
        tell(f"{name} …", err=True)
        folders.append(_play(name, limit, path / name.partition("/")[2], path / "cache"))
    _print(folders)
    tell(f"run folders: {path}")
    tell(f"report:      {folders[-1].path / 'report.html'}")
    tell(f"look closer: sketchmark view {path}")
    return 0


def _play(name: str, limit: int, path: Path, cache: Path) -> RunFolder:
    return run(
        name,
        ",".join(_worlds()),
        mode="direct,visual_cot,text_cot",
        canvas=_CANVASES.get(name, "own"),
        limit=limit,
        output_path=path,
        cache=cache,
        quiet=False,
    ).folder


def _worlds() -> list[str]:
    """Return the generated worlds. Each has a task of its name."""
    return [world.name for world in installed_worlds() if world.making]


def _print(folders: list[RunFolder]) -> None:
    """Print one table: the headline score of each mode, and the gain by drawing."""
    modes = ("direct", "text_cot", "visual_cot")
    columns = ("player", "world", *modes, "drawing gain", "blank canvas", "trouble")
    table = Table("Does drawing help? Headline scores with 95% intervals", columns, texts=2)
    for folder in folders:
        results = folder.results()
        for world in _worlds():
            cells = results.tasks
            table.add(
                results.model,
                world,
                *(_score(cells.get(f"{world}.{mode}")) for mode in modes),
                _gain(results.gains, world, "own"),
                _gain(results.gains, world, "blank"),
                _trouble(cells, world),
            )
    print_table(table)


def _score(cell: CellResult | None) -> str:
    if not cell:
        return ""
    found = cell.metrics.get(cell.headline)
    if not found:
        return f"– ({why_none(cell)})"
    return f"{found.mean:.2f} [{found.ci95[0]:.2f}, {found.ci95[1]:.2f}]"


def _gain(gains: Sequence[Gain], world: str, canvas: str) -> str:
    for gain in gains:
        if (gain.task, gain.mode, gain.canvas) == (world, "visual_cot", canvas):
            return f"{gain.gain:+.2f} [{gain.ci95[0]:+.2f}, {gain.ci95[1]:+.2f}]"
    return ""


def _trouble(cells: Mapping[str, CellResult], world: str) -> str:
    counts: dict[str, int] = {}
    for name, cell in cells.items():
        if name.startswith(f"{world}."):
            for kind, count in cell.failures.items():
                counts[kind] = counts.get(kind, 0) + count
    return ", ".join(f"{kind} {count}" for kind, count in counts.items()) or "none"


@click.command()
@click.option("--limit", type=click.IntRange(2), default=16, show_default=True, help="Samples of each world.")
@output_option("Folder of the demo's runs.", default=Path("runs/demo"), show_default=True)
def demo_command(limit: int, output_path: Path) -> int:
    """Three scripted players show what a run looks like and what the controls are for.

    `random` sits at chance, `solver` is always right, and `sketcher` sees only a few moves ahead: drawing helps it,
    and a blank canvas takes the help away.
    """

    return play_demo(limit, output_path)
