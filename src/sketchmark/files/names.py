"""Names of files that are made from what someone wrote. Such a text is never a path."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

_ORDINARY = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.\-]{0,98}[A-Za-z0-9_\-])?")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Devices on Windows, whatever their ending; exports are sent to others."""


def file_names(wanted: Mapping[str, str]) -> dict[str, str]:
    """key → the name it wants, if that is an ordinary one and nobody has it yet, upper and lower case alike;
    otherwise what is ordinary in it, and a digest that tells it apart."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for key, text in wanted.items():
        if not _ORDINARY.fullmatch(text) or _RESERVED.fullmatch(text) or text.casefold() in taken:
            digest = hashlib.sha256(f"{text}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
            text = f"{re.sub(r'[^A-Za-z0-9_]+', '-', text)[:60]}-{digest}".lstrip("-")
        names[key] = text
        taken.add(text.casefold())
    return names


def file_name(text: str) -> str:
    """The same for a name that stands alone."""
    return file_names({"": text})[""]
