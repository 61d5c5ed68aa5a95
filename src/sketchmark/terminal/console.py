"""Rich consoles and progress bars for untrusted text, and the output of a notebook's cell.

Rich reads markup and emoji codes in every text and passes escapes on. These classes give it plain text only.
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
    """A console that prints plain text. Every printed string, also in a table, goes through `render_str`. In a
    notebook, Rich would show output that belongs elsewhere."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(force_jupyter=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str(one_line(text), **{**settings, "markup": False, "emoji": False, "highlight": False})


PIPE = 120
"""Columns of output to a file or a pipe, unless COLUMNS is set."""


def has_width() -> bool:
    """Return whether lines must fit a width. In a pipe they may have any length."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def columns() -> int:
    return shutil.get_terminal_size((PIPE, 40)).columns if has_width() else PIPE


def console() -> Console:
    """Return a console for standard output, as wide as the terminal."""
    return _TextsOnly(width=columns())


def written_to(file: IO[str], width: int) -> Console:
    """Return a console for text that is printed or kept later: without colours, even if FORCE_COLOR is set."""
    return _TextsOnly(file=file, width=width, color_system=None, force_terminal=False)


class _TextColumn(TextColumn):
    """A column of plain text next to a bar. Such texts do not go through `render_str`."""

    def render(self, task: Task) -> Text:
        return Text(one_line(self.text_format.format(task=task)), style=self.style)


class _TimeLeft(TimeRemainingColumn):
    """The time left. Empty while all calls fail, because the estimate would be wrong."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.fields.get("works", True) else Text("")


class Bars(Progress):
    """Progress bars, with one line above them and at most two lines about errors."""

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
"""Columns that a bar and its numbers need. Names get the rest and are truncated."""


def bars() -> Bars:
    """Make a display with one bar per task that is added, `failed` and `rate` next to it, and the time left if it
    `works`."""
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
    """Return whether this Python is a notebook's kernel, without importing anything."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class CellOutput:
    """An area in the output of the running notebook cell. The next text replaces the last."""

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
