"""The pictures of a question: files under the folder of the questions or of --data, or bytes in the row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sketchmark.errors import BadInput, BadPicture
from sketchmark.files.tables import inside
from sketchmark.picture import Picture
from sketchmark.tasks.questions.cells import listed

MOST_PICTURES = 100
MOST_BYTES = 50_000_000
"""Of one picture's file."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://|image/)")
_SAVE_IT = "save it beside the file of questions, and write its path"


Look = Callable[[Picture], object]
"""Raises BadPicture where there is something wrong."""


def header(picture: Picture) -> None:
    _ = picture.size


class Decoding:
    """Every picture's pixels are made, once, which finds files that were cut off. One that moves is refused: servers
    show the first frame, all of them, or none."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, picture: Picture) -> None:
        if picture.digest not in self._seen:
            picture.image()
            if picture.is_animated:
                raise BadPicture("it is animated", "save the frame that is meant")
            self._seen.add(picture.digest)


def pictures_of(value: Any, places: Sequence[Path], look: Look = header) -> list[Picture]:
    """One or several: paths, bytes, or `{"bytes": …}` as data sets have them."""
    several = [value] if isinstance(value, (bytes, dict)) else listed(value, "pictures")
    if len(several) > MOST_PICTURES:
        raise BadInput(f"{len(several)} pictures", f"a question shows at most {MOST_PICTURES}")
    found = []
    for number, one in enumerate(several, start=1):
        picture = _picture(one, places)
        try:
            look(picture)
        except BadPicture as error:
            name = repr(one[:200]) if isinstance(one, str) else str(number)
            raise BadInput(f"the picture {name}: {error}") from error
        found.append(picture)
    return found


def _picture(value: Any, places: Sequence[Path]) -> Picture:
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, bytes):
        if len(value) > MOST_BYTES:
            raise BadInput(f"a picture of {len(value)} bytes", f"at most {MOST_BYTES}")
        return Picture.from_bytes(value)
    if isinstance(value, str) and value.strip():
        return Picture.from_file(_file(value.strip(), places))
    raise BadInput("a picture that is neither a path nor bytes", "a path, seen from the file's folder")


def _file(name: str, places: Sequence[Path]) -> Path:
    path = _path(name)
    kept: BadInput | None = None
    for place in places:
        try:
            found = inside(place, path, "pictures")
            if found.is_file():
                if found.stat().st_size > MOST_BYTES:
                    raise BadInput(f"the picture {name[:200]!r} has more than {MOST_BYTES} bytes")
                return found
        except BadInput as error:
            kept = error
        except (OSError, ValueError) as error:  # a name that no file can have
            why = error.strerror if isinstance(error, OSError) else error
            raise BadInput(f"there cannot be a picture {name[:200]!r}: {why}") from error
    where = " or ".join(map(str, places))
    raise kept or BadInput(
        f"there is no picture {name[:200]!r} in {where}", "paths are seen from the file's folder, or from --data"
    )


def _path(name: str) -> str:
    """A path as it is written; of a `file:` address its path. No other address is followed."""
    if not _ADDRESS.match(name):
        return name
    parts = urlsplit(name)
    if parts.scheme.lower() == "file" and parts.netloc in ("", "localhost"):
        return url2pathname(parts.path)
    raise BadInput(f"the picture {name[:80]!r} is an address, and nothing is fetched", _SAVE_IT)
