"""Runs below a folder, scanned again for every request, and a cache of results."""

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
    """Cache of recent results, valid until the run grows."""

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
    """Describe an error of a broken or hostile run folder in one line."""
    if isinstance(error, (SketchmarkError, OSError)):
        return one_line(str(error))
    return one_line(f"it holds what no run holds: {type(error).__name__}: {error}")


class RunList:
    """Run folders by key, their path below the root.

    A request can only name a key that a scan has found, so no name in a request ever becomes a path.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise BadInput(f"{root} is not a folder", "give a run folder, or a folder of runs")
        self.root = root.resolve()
        self._paths: dict[str, Path] = {}
        self._runs: dict[str, RunView] = {}
        self.troubles: dict[str, str] = {}

    def look(self) -> list[RunView]:
        """Scan again and refresh every readable run. Broken folders are named in `troubles`."""
        self._paths = {path.relative_to(self.root).as_posix(): path for path in run_folders(self.root)}
        self._runs = {key: run for key, run in self._runs.items() if key in self._paths}
        self.troubles = {}
        found = []
        for key in self._paths:
            try:
                found.append(self._refreshed(key))
            except Exception as error:  # an untrusted folder can cause any error
                self.troubles[key] = in_words(error)
        return found

    def _refreshed(self, key: str) -> RunView:
        """Refresh a run; one that fails halfway is opened again next time."""
        run = self._runs.pop(key, None) or RunView(RunFolder(self._paths[key]), key)
        run.refresh()
        self._runs[key] = run
        return run

    def rows(self, make: Callable[[RunView], Row]) -> list[Row]:
        """Apply `make` to every readable run. Runs on which it fails are named in `troubles`."""
        made = []
        for run in self.look():
            try:
                row = make(run)
                json.dumps(row, allow_nan=False)  # one invalid number would break the whole list
            except Exception as error:
                self.troubles[run.key] = in_words(error)
            else:
                made.append(row)
        return made

    def run(self, key: str) -> RunView:
        """Refresh one run without the others."""
        if key not in self._paths:
            self.look()
        if key not in self._paths:
            raise BadInput(f"there is no run {key[:80]!r} here")
        try:
            return self._refreshed(key)
        except Exception as error:
            raise BadInput(in_words(error)) from error
