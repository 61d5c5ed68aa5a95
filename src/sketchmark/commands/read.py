"""`sketchmark read`: what the scorers' reader sees in a picture, one subcommand for each world with a board."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from sketchmark.commands._worlds import WorldGroup, grid_option
from sketchmark.errors import BadPicture
from sketchmark.picture import Picture
from sketchmark.terminal import tell, tell_all
from sketchmark.worlds.description import Board, BoardReading, World


def _build(world: World) -> click.Command | None:
    if world.board is None:
        return None
    params = [
        click.Argument(["file"], type=click.Path(path_type=Path)),
        grid_option(world.board),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON instead of a table."),
    ]
    return click.Command(world.name, params=params, callback=partial(_show, world.board), help=world.board.legend)


def _show(board: Board, file: Path, grid: tuple[int, int], as_json: bool) -> None:
    board.sized(*grid)  # refuses a size that cannot be
    seen = _read(board, file, grid)
    if as_json:
        tell_all(json.dumps({"grid": seen.grid, **seen.places}))
        return
    for row in seen.grid:
        tell(" ".join(f"{'.' if label == ' ' else label:>2}" for label in row))
    for name, place in seen.places.items():
        tell(f"{name}: " + (f"row {place[0]}, column {place[1]}, counted from 0" if place else "not found"))


def _read(board: Board, file: Path, grid: tuple[int, int]) -> BoardReading:
    """A torn picture is noticed only when it is decoded; the error then names the file."""
    picture = Picture.from_file(file)
    try:
        return board.read(picture, *grid)
    except BadPicture as error:
        raise BadPicture(f"{file}: {error}") from error


@click.group("read", cls=WorldGroup, build=_build)
def command() -> None:
    """Read a picture the way drawn steps are scored."""
