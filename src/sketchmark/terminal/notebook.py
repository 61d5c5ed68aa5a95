"""The output of a notebook's cell, which is no terminal: a line there can be replaced, not written over."""

from __future__ import annotations

import sys
from typing import Any


def in_notebook() -> bool:
    """Whether this Python is a notebook's kernel; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class Place:
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
