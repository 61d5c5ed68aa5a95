"""Answers worth keeping until the run has grown.

The runs below a folder, found again at every look: new ones appear, deleted ones go.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.folder import RunFolder, run_folders
from sketchmark.folder.index import RunView
from sketchmark.terminal import one_line

Made = TypeVar("Made")
_KEPT = 16


class Recent:
    """The last few answers made from a run's index; one made before something was added is never given again."""

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, run: RunView, what: Hashable, make: Callable[[], Made]) -> Made:
        key = (run.key, run.version, what)
        if key not in self._made:
            self._made[key] = make()
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]  # type: ignore[return-value]


Row = TypeVar("Row")


def in_words(error: Exception) -> str:
    """What is wrong, in a line; a broken or hostile run folder is an answer, not a traceback."""
    if isinstance(error, (SketchmarkError, OSError)):
        return one_line(str(error))
    return one_line(f"it holds what no run holds: {type(error).__name__}: {error}")


class RunList:
    """Run folders by key, their path below the shelf. A request can only name a key that was found by looking, so
    no name in a request ever becomes a path."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise BadInput(f"{root} is not a folder", "give a run folder, or a folder of runs")
        self.root = root.resolve()
        self._paths: dict[str, Path] = {}
        self._runs: dict[str, RunView] = {}
        self.troubles: dict[str, str] = {}

    def look(self) -> list[RunView]:
        """Every readable run, brought up to date. One broken folder is named in `troubles` and hides no other."""
        self._paths = {path.relative_to(self.root).as_posix(): path for path in run_folders(self.root)}
        self._runs = {key: run for key, run in self._runs.items() if key in self._paths}
        self.troubles = {}
        found = []
        for key in self._paths:
            try:
                found.append(self._refreshed(key))
            except Exception as error:  # whatever a stranger's files can lead to
                self.troubles[key] = in_words(error)
        return found

    def _refreshed(self, key: str) -> RunView:
        """Of a run that cannot be read a part was taken in: it is begun anew the next time."""
        run = self._runs.pop(key, None) or RunView(RunFolder(self._paths[key]), key)
        run.refresh()
        self._runs[key] = run
        return run

    def rows(self, make: Callable[[RunView], Row]) -> list[Row]:
        """What `make` makes of every readable run. One that it makes nothing of is named in `troubles`."""
        made = []
        for run in self.look():
            try:
                row = make(run)
                json.dumps(row, allow_nan=False)  # one number that is not JSON would be the end of the whole list
            except Exception as error:
                self.troubles[run.key] = in_words(error)
            else:
                made.append(row)
        return made

    def run(self, key: str) -> RunView:
        """One run, brought up to date without looking at the others."""
        if key not in self._paths:
            self.look()
        if key not in self._paths:
            raise BadInput(f"there is no run {key[:80]!r} here")
        try:
            return self._refreshed(key)
        except Exception as error:
            raise BadInput(in_words(error)) from error
