"""Tables and progress bars. Rich reads markup and emoji codes in every text unless it is told not to, and passes
escapes on: here it gets texts that are only texts.

The output of a notebook's cell, which is no terminal: a line there can be replaced, not written over.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from sketchmark.terminal import one_line


class _TextsOnly(Console):
    """Every string that is printed, alone or in a table, comes through `render_str`. In a notebook Rich would show
    what is to be written elsewhere."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(force_jupyter=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str(one_line(text), **{**settings, "markup": False, "emoji": False, "highlight": False})


PIPE = 120
"""Columns of what is written to a file or a pipe, unless COLUMNS says otherwise."""


def has_width() -> bool:
    """Whether lines have to fit somewhere: in a pipe they may be as long as they are."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def columns() -> int:
    return shutil.get_terminal_size((PIPE, 40)).columns if has_width() else PIPE


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


class _TimeLeft(TimeRemainingColumn):
    """None while nothing works: what fails at once would end soon."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.fields.get("works", True) else Text("")


class Bars(Progress):
    """Bars; above them a line, and what is wrong in at most two."""

    _said = ("", "")

    def say(self, line: str, trouble: str = "") -> None:
        self._said = (line, trouble)

    def get_renderables(self) -> Iterable[RenderableType]:
        line, trouble = map(one_line, self._said)
        if line:
            yield Text(line, no_wrap=True, overflow="ellipsis")
        if trouble:
            most = _LINES_OF_TROUBLE * self.console.width
            yield Text(trouble if len(trouble) <= most else f"{trouble[: most - 1]}…", "red", overflow="fold")
        yield from super().get_renderables()


_LINES_OF_TROUBLE = 2
_BESIDE = 53
"""Columns that a bar and its numbers take; the rest is for names, which are cut."""


def bars() -> Bars:
    """One bar for each task that is added; `failed` and `rate` stand beside it, and the time left if it `works`."""
    out = _TextsOnly(stderr=True)
    names = Column(no_wrap=True, overflow="ellipsis", max_width=max(20, out.width - _BESIDE))
    return Bars(
        _TextColumn("{task.description}", table_column=names),
        BarColumn(bar_width=10),
        MofNCompleteColumn(),
        _TextColumn("{task.fields[failed]}", style="red"),
        _TextColumn("{task.fields[rate]}"),
        _TimeLeft(),
        console=out,
        refresh_per_second=4,
    )


def in_notebook() -> bool:
    """Whether this Python is a notebook's kernel; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class CellOutput:
    """A place in the output of the cell that runs, whose text is replaced by the next."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        from IPython import display

        plain = {"text/plain": text}
        if self._handle is None:
            self._handle = display.DisplayHandle()  # type: ignore[no-untyped-call]
            self._handle.display(plain, raw=True)
        else:
            self._handle.update(plain, raw=True)
