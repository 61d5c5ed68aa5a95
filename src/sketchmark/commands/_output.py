"""The option that says where a command writes: spelled alike in all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

NAMES = ("--output-path", "--output", "--out", "-o", "output_path")
"""The last is the parameter's."""


def output_option(help: str, *also: str, folder: bool = True, **settings: Any) -> Callable[[F], F]:
    """A folder, or a file where `folder` is not so; `also` are further spellings."""
    kind = click.Path(path_type=Path) if folder else click.Path(path_type=Path, dir_okay=False)
    return click.option(*also, *NAMES, type=kind, help=help, **settings)
