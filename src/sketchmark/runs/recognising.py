"""Samples whose fingerprints differ and that are the same all the same: with pictures of the same pixels.

Sketchmark 0.1.0 knew the pictures it made by the bytes of their files. Its folders resume and compare like others:
where fingerprints differ, what was written down is looked at.
"""

from __future__ import annotations

from functools import cached_property

from sketchmark.errors import SketchmarkError
from sketchmark.parts import Sample
from sketchmark.runs.format import SampleLine
from sketchmark.runs.record import unpack_sample
from sketchmark.runs.store import RunFolder


class PlayedSamples:
    """The samples of a cell as its run wrote them down; nothing is read before the first is asked for."""

    def __init__(self, folder: RunFolder, cell: str) -> None:
        self._folder, self._cell = folder, cell

    @cached_property
    def _lines(self) -> dict[str, SampleLine]:
        return {line.sample.id: line.sample for line in self._folder.episodes(self._cell)}

    def holds(self, sample: Sample) -> bool:
        """Whether this is what was played under its name. What cannot be read is not recognised."""
        try:
            found = self._sample(sample.id)
            return found is not None and found.looks_like(sample)
        except SketchmarkError:
            return False

    def agree(self, other: PlayedSamples, id: str) -> bool:
        """Whether both played the same under this name."""
        try:
            found = self._sample(id)
        except SketchmarkError:
            return False
        return found is not None and other.holds(found)

    def _sample(self, id: str) -> Sample | None:
        line = self._lines.get(id)
        return unpack_sample(line, self._folder.pictures) if line else None
