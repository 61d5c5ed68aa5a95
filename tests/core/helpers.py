"""Episodes that the core's tests compare, and `sketchmark.testing`."""

from __future__ import annotations

from pathlib import Path

from sketchmark.folder import RunFolder
from sketchmark.folder.format import EpisodeLine
from sketchmark.testing import Recorder, colour

__all__ = ["Recorder", "colour", "episodes", "without_times"]


def without_times(line: EpisodeLine) -> EpisodeLine:
    """Return an episode without the times, which differ between runs."""
    line.started = line.seconds = 0.0
    for turn in line.turns:
        turn.seconds = None
    return line


def episodes(path: Path, cell: str) -> list[EpisodeLine]:
    found = [without_times(line) for line in RunFolder(path).episodes(cell)]
    return sorted(found, key=lambda line: line.index)
