"""Pictures on disk, each stored once under its digest."""

from __future__ import annotations

import re
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.parts import Picture
from sketchmark.runs.whole import write_whole

_NAME = re.compile(r"([0-9a-f]{64})\.([a-z]{3,4})")


class PictureStore:
    """A folder `ab/abcd….png`. Names are checked, never trusted: a run folder may come from a stranger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, picture: Picture) -> str:
        """The picture's name."""
        name = f"{picture.digest}.{picture.format}"
        if not self.holds(name):  # a crash of the machine can leave an empty file
            write_whole(self.path(name), picture.data)
        return name

    def load(self, name: str) -> Picture:
        picture = Picture.from_file(self.path(name))
        if picture.digest != name.partition(".")[0]:
            raise BadInput(f"picture {name} does not hold what its name says", "the run folder was changed")
        return picture

    def holds(self, name: str) -> bool:
        path = self.path(name)
        return path.exists() and path.stat().st_size > 0

    def path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BadInput(f"not a picture name: {name[:80]!r}")
        return self.folder / name[:2] / name
