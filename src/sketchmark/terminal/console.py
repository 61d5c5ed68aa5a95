"""Tables and progress bars. Rich reads markup and emoji codes in every text unless it is told not to, and passes
escapes on: here it gets texts that are only texts."""

from __future__ import annotations

import os
import shutil
import sys
from typing import IO, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from sketchmark.terminal.telling import one_line


class _TextsOnly(Console):
    """Every string that is printed, alone or in a table, comes through `render_str`."""

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str(one_line(text), **{**settings, "markup": False, "emoji": False, "highlight": False})


PIPE = 120
"""Columns of what is written to a file or a pipe, unless COLUMNS says otherwise."""


def columns() -> int:
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return shutil.get_terminal_size((PIPE, 40)).columns
    return PIPE


def console() -> Console:
    """For standard output, as wide as it is."""
    return _TextsOnly(width=columns())


def written_to(file: IO[str], width: int) -> Console:
    """For a text that is printed or kept later: without colours, whatever FORCE_COLOR says."""
    return _TextsOnly(file=file, width=width, color_system=None, force_terminal=False)


class _TextColumn(TextColumn):
    """The same for the texts beside a bar, which do not come through `render_str`."""

    def render(self, task: Task) -> Text:
        return Text(one_line(self.text_format.format(task=task)), style=self.style)


def bars() -> Progress:
    """One bar for each task that is added; `failed` and `rate` stand beside it."""
    return Progress(
        _TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _TextColumn("{task.fields[failed]}", style="red"),
        _TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=_TextsOnly(stderr=True),
    )
