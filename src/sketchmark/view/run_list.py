"""The runs below a folder, found again at every look: new ones appear, deleted ones go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.runs.index import RunIndex
from sketchmark.runs.store import RunFolder

DEPTH = 3


class RunList:
    """Run folders by key, their path below the shelf. A request can only name a key that was found by looking, so
    no name in a request ever becomes a path."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise BadInput(f"{root} is not a folder", "give a run folder, or a folder of runs")
        self.root = root.resolve()
        self._runs: dict[str, RunIndex] = {}
        self.troubles: dict[str, str] = {}

    def look(self) -> list[RunIndex]:
        """Every readable run, brought up to date. One broken folder is named in `troubles` and hides no other."""
        found: dict[str, RunIndex] = {}
        self.troubles = {}
        for path in self._folders(self.root, DEPTH):
            key = path.relative_to(self.root).as_posix()
            run = self._runs.get(key) or RunIndex(RunFolder(path), key)
            try:
                run.refresh()
            except (SketchmarkError, OSError, KeyError, TypeError, AttributeError) as error:
                self.troubles[key] = str(error) or type(error).__name__
            else:
                found[key] = run
        self._runs = found
        return list(found.values())

    def run(self, key: str) -> RunIndex:
        """One run, brought up to date without looking at the others."""
        if key not in self._runs:
            self.look()
        if key not in self._runs:
            raise BadInput(f"there is no run {key[:80]!r} here", self.troubles.get(key, ""))
        self._runs[key].refresh()
        return self._runs[key]

    def _folders(self, folder: Path, depth: int) -> Iterator[Path]:
        if (folder / "run.json").is_file():
            yield folder
            return
        if depth == 0:
            return
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                yield from self._folders(Path(entry.path), depth - 1)
