"""Cells that hold several things: a list, a JSON list in a text, or parts with ` | ` between them."""

from __future__ import annotations

import json
from typing import Any

from sketchmark.errors import BadInput

BETWEEN = " | "
LONGEST_TEXT = 100_000


def listed(value: Any, column: str) -> list[Any]:
    """What stands in a cell, one by one. A text that may or may not be a list is refused."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    if value.lstrip().startswith("["):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{column} begins with [ and is no JSON list", 'write ["a", "b"], or a | b') from error
        return list(found)
    if BETWEEN in value:
        return [part.strip() for part in value.split(BETWEEN)]
    if "|" in value:
        raise BadInput(f"{column} has | without blanks around it", "separate parts by ` | `, or write a JSON list")
    return [value.strip()]


def text(value: Any, column: str) -> str:
    """A text, or a number that is meant as one."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise BadInput(f"{column} is no text, but {_kind(value)}")
    found = str(value).strip()
    if len(found) > LONGEST_TEXT:
        raise BadInput(f"{column} has {len(found)} characters", f"at most {LONGEST_TEXT}")
    return found


def _kind(value: object) -> str:
    names = {bool: "true or false", list: "a list", dict: "an object", bytes: "bytes"}
    return names.get(type(value), f"a {type(value).__name__}")
