"""Pictures that a drawing shows by number, put into its text: the renderer itself opens nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sketchmark.errors import BadPicture
from sketchmark.picture import Picture

LARGEST = 40_000_000
"""Bytes of all pictures in one drawing, as they are written into it."""

_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_NUMBERED = re.compile(rb"""([\s:]href\s*=\s*)(["'])\s*picture:(\d{1,4})\s*\2""")
_READ_BY_RESVG = ("png", "jpeg")


def with_pictures(text: str, places: Sequence[int], pictures: Sequence[Picture]) -> str:
    """The text with each picture in the place of its number. `places` are those of checked, well-formed tags."""
    if not places:
        return text
    data, end, room = text.encode("utf-8"), 0, LARGEST
    pieces: list[bytes] = []
    for place in dict.fromkeys(places):
        found = _TAG.match(data, place)
        tag = found[0] if found else b""
        whole = _NUMBERED.sub(lambda href: href[1] + _quoted(pictures[int(href[3]) - 1]), tag)
        if whole == tag:  # written in entities, say
            raise BadPicture("the SVG shows a picture in an unusual spelling", 'write it as href="picture:1"')
        room -= len(whole)
        if room < 0:
            raise BadPicture(f"an SVG that shows more than {LARGEST // 1_000_000} MB of pictures")
        pieces += [data[end:place], whole]
        end = place + len(tag)
    return b"".join([*pieces, data[end:]]).decode("utf-8")


def _quoted(picture: Picture) -> bytes:
    seen = picture.shown()
    if seen.format not in _READ_BY_RESVG:
        seen = Picture.from_image(seen.image())
    return b'"' + seen.data_url.encode("ascii") + b'"'
