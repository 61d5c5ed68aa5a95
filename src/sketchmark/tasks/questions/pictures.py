"""The pictures of a question: files under the folder of the questions or of --data, or bytes in the row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sketchmark.errors import BadInput
from sketchmark.files.tables import inside
from sketchmark.parts import Picture
from sketchmark.tasks.questions.cells import listed

MOST_PICTURES = 100
MOST_BYTES = 50_000_000
"""Of one picture's file."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://|image/)")
_SAVE_IT = "save it beside the file of questions, and write its path"


def pictures_of(value: Any, places: Sequence[Path]) -> list[Picture]:
    """One or several: paths, bytes, or `{"bytes": …}` as data sets have them. Only headers are looked at."""
    several = [value] if isinstance(value, (bytes, dict)) else listed(value, "pictures")
    if len(several) > MOST_PICTURES:
        raise BadInput(f"{len(several)} pictures", f"a question shows at most {MOST_PICTURES}")
    found = [_picture(one, places) for one in several]
    for picture in found:
        _ = picture.size
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
            raise BadInput(f"there cannot be a picture {name[:200]!r}: {error}") from error
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
