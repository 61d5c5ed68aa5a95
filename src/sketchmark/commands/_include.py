"""The option that names tasks and models of one's own: spelled alike in all commands, lmms-eval's way included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def include_option(help: str) -> Callable[[F], F]:
    names = ("--include", "--include-path", "include")  # the last is the parameter's
    return click.option(*names, multiple=True, type=click.Path(path_type=Path), help=help)
