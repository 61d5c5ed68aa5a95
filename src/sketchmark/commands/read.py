"""`sketchmark read`: what the scorers' reader sees in a picture of a maze or a sliding puzzle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from sketchmark.commands._grid import grid_option, side
from sketchmark.errors import BadPicture
from sketchmark.parts import Picture

Reading = TypeVar("Reading")

_FILE = click.argument("file", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.group("read")
def command() -> None:
    """Read a picture the way drawn steps are scored."""


@command.command("maze")
@_FILE
@grid_option("6x6")
@_JSON
def maze_command(file: Path, grid: tuple[int, int], as_json: bool) -> None:
    """Walls (#), floor, start (S), goal (G), both (SG), or unclear (?) for each cell."""
    from sketchmark.worlds import maze

    seen = _read(file, lambda picture: maze.read(picture, *grid))
    if as_json:
        click.echo(json.dumps({"grid": seen.grid, "start": seen.start, "goal": seen.goal}))
        return
    _table([["." if label == " " else label for label in row] for row in seen.grid])
    for name, place in (("start", seen.start), ("goal", seen.goal)):
        click.echo(f"{name}: " + (f"row {place[0]}, column {place[1]}, counted from 0" if place else "not found"))


@command.command("sliding")
@_FILE
@grid_option("3x3")
@_JSON
def sliding_command(file: Path, grid: tuple[int, int], as_json: bool) -> None:
    """The number of each cell's colour (1 is red, the empty cell), or ? where it is unclear."""
    from sketchmark.worlds import sliding

    n = side(grid)
    seen = _read(file, lambda picture: sliding.read(picture, n))
    if as_json:
        click.echo(json.dumps({"grid": seen}))
        return
    _table([[str(number) for number in row] for row in seen])


def _read(file: Path, reader: Callable[[Picture], Reading]) -> Reading:
    """A torn picture is noticed only when it is decoded; the error then names the file."""
    picture = Picture.from_file(file)
    try:
        return reader(picture)
    except BadPicture as error:
        raise BadPicture(f"{file}: {error}") from error


def _table(rows: list[list[str]]) -> None:
    for row in rows:
        click.echo(" ".join(f"{label:>2}" for label in row))
