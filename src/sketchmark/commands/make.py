"""`sketchmark make`: write generated mazes, sliding puzzles and jigsaws to disk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sketchmark.commands._grid import grid_option, side
from sketchmark.errors import BadInput

if TYPE_CHECKING:
    from sketchmark.parts import Sample


def _common(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option(
            "--format",
            "form",
            type=click.Choice(["jsonl", "parquet", "folder"]),
            default="jsonl",
            show_default=True,
            help="JSONL with picture files; that and parquet in the published schema; the published folders.",
        ),
        click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder."),
        click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Same seed, same set."),
        click.option("--count", required=True, type=click.IntRange(min=1), help="How many."),
    ):
        function = option(function)
    return function


@click.group("make")
def command() -> None:
    """Write generated puzzles with their pictures, step pictures and answers.

    They are the puzzles that `sketchmark run` plays with the same seed and settings.
    """


@command.command("maze")
@_common
@grid_option("6x6")
@click.option("--min-steps", default=3, show_default=True, type=int, help="Length of the shortest way, at least.")
@click.option("--max-steps", default=12, show_default=True, type=int, help="Length of the shortest way, at most.")
def maze_command(grid: tuple[int, int], min_steps: int, max_steps: int, **where: Any) -> None:
    """Mazes with exactly one shortest way."""
    from sketchmark.tasks.worlds import data

    rows, cols = grid
    _write(
        "maze",
        lambda seed: data.mazes(seed=seed, data=None, rows=rows, cols=cols, min_steps=min_steps, max_steps=max_steps),
        **where,
    )


@command.command("sliding")
@_common
@grid_option("3x3")
@click.option("--min-depth", default=1, show_default=True, type=int, help="Moves to the goal, at least.")
@click.option("--max-depth", default=8, show_default=True, type=int, help="Moves to the goal, at most.")
def sliding_command(grid: tuple[int, int], min_depth: int, max_depth: int, **where: Any) -> None:
    """Sliding puzzles of exact depth, 2x2 to 5x5, all with one goal."""
    from sketchmark.tasks.worlds import data

    n = side(grid)
    _write(
        "sliding",
        lambda seed: data.slidings(seed=seed, data=None, n=n, min_depth=min_depth, max_depth=max_depth),
        **where,
    )


@command.command("jigsaw")
@_common
@click.option(
    "--difficulty",
    type=click.Choice(["easy", "medium", "hard"]),
    default="medium",
    show_default=True,
    help="How alike.",
)
@click.option(
    "--pictures", type=click.Path(path_type=Path, file_okay=False), help="Folder of your own pictures to cut up."
)
def jigsaw_command(difficulty: str, pictures: Path | None, **where: Any) -> None:
    """Jigsaws of 2x2 cells with one right and one plausible wrong patch."""
    from sketchmark.tasks.worlds import data

    folder = str(pictures) if pictures else ""
    _write("jigsaw", lambda seed: data.jigsaws(seed=seed, data=None, difficulty=difficulty, folder=folder), **where)


def _write(
    world: str, samples: Callable[[int], Iterator[Sample]], count: int, seed: int, out: Path, form: str
) -> None:
    from sketchmark.worlds import writing

    numbered = zip(range(count), samples(seed), strict=False)
    bar = click.progressbar(numbered, length=count, label=world, file=sys.stderr, hidden=not sys.stderr.isatty())
    try:
        with writing.writer(world, form, out) as add, bar:
            for number, sample in bar:
                add(number, sample)
    except OSError as error:
        raise BadInput(f"cannot write to {out}: {error.strerror}") from error
    click.echo(f"{count} x {world} in {out}")
