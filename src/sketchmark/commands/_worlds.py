"""Command groups with one subcommand for each world, made from its description."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from sketchmark.worlds import WORLDS, world
from sketchmark.worlds.description import Board, World


class WorldGroup(click.Group):
    """`build` makes a world's subcommand, or None for a world that has none here."""

    def __init__(self, *arguments: Any, build: Callable[[World], click.Command | None], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._build = build

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for name in WORLDS if self._build(world(name)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._build(world(cmd_name)) if cmd_name in WORLDS else None


def grid_option(board: Board) -> click.Option:
    """`--grid ROWSxCOLS`, passed on as (rows, columns)."""
    return click.Option(
        ["--grid"],
        metavar="ROWSxCOLS",
        default=f"{board.size[0]}x{board.size[1]}",
        show_default=True,
        callback=_parse,
        help="Size of the board.",
    )


def _parse(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})[xX×](\d{1,3})", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not a size such as 6x6", context, option)
    return int(found[1]), int(found[2])
