"""The option `--grid 6x6`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from sketchmark.errors import BadInput

Command = TypeVar("Command", bound=Callable[..., Any])


def grid_option(default: str) -> Callable[[Command], Command]:
    """`--grid ROWSxCOLS`, passed on as (rows, columns)."""
    return click.option(
        "--grid", metavar="ROWSxCOLS", default=default, show_default=True, callback=_parse, help="Size of the board."
    )


def _parse(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})[xX×](\d{1,3})", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not a size such as 6x6", context, option)
    return int(found[1]), int(found[2])


def side(grid: tuple[int, int]) -> int:
    """The side of a board that has to be square."""
    if grid[0] != grid[1]:
        raise BadInput(f"a sliding puzzle of {grid[0]}x{grid[1]} cells is not square")
    return grid[0]
