"""Pictures for the browser: originals as they are, small ones made once."""

from __future__ import annotations

import threading
from collections import OrderedDict

from sketchmark.files.pictures import small
from sketchmark.picture import Picture
from sketchmark.runs.store import RunFolder

SIDES = (160, 320, 640)
_BUDGET = 64 * 2**20
_SHOWABLE = ("png", "jpeg", "gif", "webp", "bmp")


class Thumbnails:
    """Small WebP pictures, the most recently used of them in memory. Content-addressed names never go stale."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._bytes = 0
        self._made: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = threading.Lock()
        # A picture may be 64 megapixels: two of them decoded at a time is what memory is planned for.
        self._decoding = threading.Semaphore(2)

    def get(self, folder: RunFolder, name: str, side: int) -> bytes:
        key = (name, min(SIDES, key=lambda known: abs(known - side)))
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        with self._decoding:
            data = small(folder.pictures.load(name), key[1])
        with self._lock:
            self._bytes += len(data) - len(self._made.pop(key, b""))
            self._made[key] = data
            while self._bytes > self._budget:
                self._bytes -= len(self._made.popitem(last=False)[1])
        return data


def original(folder: RunFolder, name: str) -> tuple[bytes, str]:
    """Bytes and media type, as the model saw it; a format that browsers do not show is converted."""
    picture = folder.pictures.load(name).shown()
    if picture.format not in _SHOWABLE:
        picture = Picture.from_image(picture.image())
    return picture.data, picture.media_type
