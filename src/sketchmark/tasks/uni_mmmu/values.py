"""Labels and moves as the published files have them: numbers, texts, JSON texts or lists. Anything else is an error
that names the row."""

from __future__ import annotations

import json
import re
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.worlds.boards import MOVES


def label_of(value: object, where: str) -> int:
    """0 or 1, from `0`, `"0"`, `"[0]"` or `[0]`."""
    found = _parsed(value)
    if isinstance(found, (list, tuple)) and len(found) == 1:
        found = _parsed(found[0])
    if isinstance(found, bool) or found not in (0, 1):
        raise BadInput(f"{where}: the label is {value!r}", "0 or 1")
    return int(found)


def moves_of(value: object, where: str) -> list[str] | None:
    """Move words from a list, a JSON list or plain words; None where the file gives no ground truth at all."""
    if value is None or value == "":
        return None
    found = _parsed(value)
    if isinstance(found, str):
        found = re.findall(r"[^\s,;]+", found)
    if not isinstance(found, (list, tuple)) or not all(isinstance(move, str) for move in found):
        raise BadInput(f"{where}: the moves are {value!r}", "a list of up, down, left and right")
    moves = [move.strip().lower() for move in found]
    if unknown := [move for move in moves if move not in MOVES]:
        raise BadInput(f"{where}: {unknown[0]!r} is no move", "up, down, left and right")
    return moves


def _parsed(value: object) -> Any:
    """A text that holds JSON, opened; twice where a JSON text holds JSON again."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value
