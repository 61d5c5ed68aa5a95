"""Pictures on disk, each stored once under its digest."""

from __future__ import annotations

import io
import re
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.files.atomic import write_atomic
from sketchmark.parts import Picture

_NAME = re.compile(r"([0-9a-f]{64})\.([a-z]{3,4})")


class PictureStore:
    """A folder `ab/abcd….png`. Names are checked, never trusted: a run folder may come from a stranger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, picture: Picture) -> str:
        """The picture's name."""
        name = self.name_of(picture)
        if not self.holds(name):  # a crash of the machine can leave an empty file
            write_atomic(self.path(name), picture.data)
        return name

    @staticmethod
    def name_of(picture: Picture) -> str:
        return f"{picture.digest}.{picture.format}"

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


def small(picture: Picture, side: int) -> bytes:
    """A WebP of at most `side` pixels wide and high, for pages."""
    image = picture.image()
    image.thumbnail((side, side))
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=82, method=0)
    return buffer.getvalue()
