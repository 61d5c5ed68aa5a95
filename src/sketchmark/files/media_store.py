"""Images and sounds on disk, each stored once under its digest."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sketchmark.errors import BadInput, BadPicture
from sketchmark.files import own_name, write_atomic
from sketchmark.files.jsonl import open_regular
from sketchmark.media import Picture
from sketchmark.media.sound import MAX_BYTES, Sound

Media = TypeVar("Media", Picture, Sound)
_MOST_KNOWN = 1000
_NAME = re.compile(r"([0-9a-f]{64})\.([a-z][a-z0-9]{2,3})")


class PictureStore:
    """A folder `ab/abcd….png`. Names are checked, because a run folder may be untrusted.

    `inside` is the untrusted part of the path: in `PictureStore(run, "pictures")` neither `pictures` nor anything
    below may be a link.
    """

    def __init__(self, root: Path, inside: str = "") -> None:
        self.folder = root / inside
        self._root, self._inside = root, [inside] if inside else []
        self._stored: set[str] = set()
        """Some names that were stored a moment ago: an episode saves what its job has saved."""

    def save(self, shown: Picture | Sound) -> str:
        """Store an image or sound and return its name.

        It is not synced to the disk: an episode has several, and waiting for each would take most of a run's time.
        One that a power cut removes is missing (`holds`), so its episode runs again. One that it damages is refused
        by its digest, and `sketchmark repair` sets it aside.
        """
        name = self.name_of(shown)
        if name not in self._stored:
            place = self._place(name)
            if not _is_there(place):
                write_atomic(place, shown.data, durable=False)
            if len(self._stored) == _MOST_KNOWN:
                self._stored.clear()
            self._stored.add(name)
        return name

    @staticmethod
    def name_of(shown: Picture | Sound) -> str:
        return f"{shown.digest}.{shown.format}"

    def load(self, name: str) -> Picture:
        picture = self._read(name, "picture", Picture.from_bytes)
        _check(name, picture.digest)
        return picture

    def load_sound(self, name: str) -> Sound:
        sound = self._read(name, "sound", Sound.from_bytes)
        _check(name, sound.digest)
        return sound

    def _read(self, name: str, kind: str, make: Callable[[bytes], Media]) -> Media:
        path = self.path(name)
        try:
            with open_regular(path) as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise BadPicture(f"cannot read {kind} {path}: {error.strerror}") from error
        try:
            return make(data)
        except BadInput as error:
            raise BadPicture(f"{path}: {error}") from error

    def sound_in_words(self, name: str) -> str:
        """Describe a sound for a page without reading it: `a sound, wav, 16 kB`."""
        try:
            size = self.path(name).stat().st_size
        except (BadInput, OSError):
            return "a sound, missing"
        return f"a sound, {name.partition('.')[2]}, {max(1, round(size / 1000)):,} kB"

    def holds(self, name: str) -> bool:
        return _is_there(self._place(name))

    def path(self, name: str) -> Path:
        return Path(self._place(name))

    def _place(self, name: str) -> str:
        if not is_picture_name(name):
            raise BadInput(f"not a picture name: {name[:80]!r}")
        return own_name(self._root, *self._inside, name[:2], name)


def _check(name: str, digest: str) -> None:
    if digest != name.partition(".")[0]:
        raise BadInput(f"{name} does not hold what its name says", "sketchmark repair RUN")


def _is_there(place: str) -> bool:
    try:
        return os.stat(place).st_size > 0  # noqa: PTH116 (a crash of the machine can leave an empty file)
    except FileNotFoundError:
        return False


def is_picture_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def small(picture: Picture, side: int) -> bytes:
    """Return a WebP of at most `side` pixels in width and height, for pages."""
    image = picture.image()
    image.thumbnail((side, side))
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=82, method=0)
    return buffer.getvalue()
