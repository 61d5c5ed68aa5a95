"""The fork's mix-up of replies (spec medical.md §5.1 #27)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any


def fork_replies(rows: Sequence[Mapping[str, Any]], replies: Sequence[Any]) -> list[Any]:
    """The replies as the fork scores them: items with the same question and answer all get the last one's.

    It files replies by the item's `id` or else by its question and answer, whatever the pictures. Two CT questions
    answered `yes` and `no` both become `no`. Rows with neither keep their own.
    """
    keys = [_key(row, index) for index, row in enumerate(rows)]
    last = dict(zip(keys, replies, strict=True))
    return [last[key] for key in keys]


def _key(row: Mapping[str, Any], index: int) -> str:
    if row.get("id") is not None:
        return f"id:{row['id']}"
    if "question" in row and "answer" in row:
        return hashlib.sha256(f"{row['question']}{row['answer']}".encode()).hexdigest()
    return f"row:{index}"
