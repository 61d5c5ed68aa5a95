"""The runs below a folder, found again at every look: new ones appear, deleted ones go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.runs.index import RunIndex
from sketchmark.runs.shelf import run_folders
from sketchmark.runs.store import RunFolder
from sketchmark.terminal import one_line

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
        self._runs: dict[str, RunIndex] = {}
        self.troubles: dict[str, str] = {}

    def look(self) -> list[RunIndex]:
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

    def _refreshed(self, key: str) -> RunIndex:
        """Of a run that cannot be read a part was taken in: it is begun anew the next time."""
        run = self._runs.pop(key, None) or RunIndex(RunFolder(self._paths[key]), key)
        run.refresh()
        self._runs[key] = run
        return run

    def rows(self, make: Callable[[RunIndex], Row]) -> list[Row]:
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

    def run(self, key: str) -> RunIndex:
        """One run, brought up to date without looking at the others."""
        if key not in self._paths:
            self.look()
        if key not in self._paths:
            raise BadInput(f"there is no run {key[:80]!r} here")
        try:
            return self._refreshed(key)
        except Exception as error:
            raise BadInput(in_words(error)) from error
