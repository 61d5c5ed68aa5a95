"""`sketchmark demo`: three scripted players on the generated worlds in every mode, without key, weights or
network."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.api import run
from sketchmark.commands.options import output_option
from sketchmark.comparison.findings import bounds, mean_of, span
from sketchmark.comparison.headlines import run_sentences, score_of
from sketchmark.folder import RunFolder
from sketchmark.terminal import tell
from sketchmark.terminal.tables import Table, print_table, tell_wrapped
from sketchmark.worlds import installed_worlds

_CANVASES = {"player/sketcher": "own,blank,other,oracle"}


def play_demo(limit: int, path: Path) -> int:
    folders = []
    for name in ("player/random", "player/solver", "player/sketcher"):
        tell(f"{name} …", err=True)
        folders.append(_play(name, limit, path / name.partition("/")[2], path / "cache"))
    _print(folders)
    last = folders[-1]
    tell_wrapped(f"player/sketcher sees only a few moves ahead. {' '.join(run_sentences(last.results()))}")
    tell_wrapped(f"Control: {_control(last)}")
    tell()
    tell(f"report:      {last.path / 'report.html'} (one file; open it in any browser)")
    tell(f"look closer: sketchmark view {path}")
    return 0


def _control(folder: RunFolder) -> str:
    """Say what a blank image in place of the drawing does."""
    blank = [gain for gain in folder.results().gains if gain.canvas == "blank"]
    gained = ", ".join(f"{span(gain)} on {gain.task}" for gain in blank)
    return f"shown a blank image instead of its drawing, it gains {gained}."


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
    """Return the first three generated worlds: more would take too long. Each has a task of its name."""
    return [world.name for world in installed_worlds() if world.making][:3]


def _print(folders: list[RunFolder]) -> None:
    """Print one table: the headline score of each mode, and the gain by drawing."""
    modes = ("direct", "text_cot", "visual_cot")
    columns = ("player", "world", "direct", "text", "drawn", "gain", "95%", "blank", "failed")
    table = Table("Does drawing help? Headline scores in percent, with 95% intervals", columns, texts=2)
    for folder in folders:
        results = folder.results()
        for world in _worlds():
            found = {gain.canvas: gain for gain in results.gains if (gain.task, gain.mode) == (world, "visual_cot")}
            cells = [cell for cell in results.tasks.values() if cell.task == world]
            by_mode = {cell.mode: cell for cell in cells if cell.canvas == "own"}
            table.add(
                *(results.model, world, *(score_of(by_mode[mode]) if mode in by_mode else "" for mode in modes)),
                *(mean_of(found.get("own")), bounds(found.get("own"))),
                mean_of(found["blank"]) if "blank" in found else "",
                str(sum(sum(cell.failures.values()) for cell in cells)),
            )
    table.below = ("gain: drawn minus direct, on the same samples; blank: the same gain, shown a blank image.",)
    print_table(table)


@click.command()
@click.option("--limit", type=click.IntRange(2), default=16, show_default=True, help="Samples of each world.")
@output_option("Folder of the demo's runs.", default=Path("runs/demo"), show_default=True)
def demo_command(limit: int, output_path: Path) -> int:
    """Three scripted players show what a run looks like and what the controls are for.

    `random` sits at chance, `solver` is always right, and `sketcher` sees only a few moves ahead: drawing helps it,
    and a blank canvas takes the help away.
    """

    return play_demo(limit, output_path)
