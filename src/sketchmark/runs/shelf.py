"""The run folders below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

DEPTH = 3


def run_folders(folder: Path, depth: int = DEPTH) -> Iterator[Path]:
    """In the order of their names; links are not followed. What only looks like a run is given, too: whoever
    opens it is told what is wrong."""
    if os.path.lexists(folder / "run.json"):
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
            yield from run_folders(Path(entry.path), depth - 1)
