"""The option that says where a command writes: spelled alike in all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

NAMES = ("--output-path", "--output", "--out", "-o", "output_path")
"""The last is the parameter's."""


class Place(click.Path):
    """Where to write. Nothing (a variable of the shell that is not set) would be the folder that one stands in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("it is empty", param, ctx)
        return super().convert(value, param, ctx)


def output_option(help: str, *also: str, folder: bool = True, **settings: Any) -> Callable[[F], F]:
    """A folder, or a file where `folder` is not so; `also` are further spellings."""
    kind = Place(path_type=Path) if folder else Place(path_type=Path, dir_okay=False)
    return click.option(*also, *NAMES, type=kind, help=help, **settings)
