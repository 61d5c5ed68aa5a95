"""The fork's mix-up of records (docs/benchmarks/medical.md, "Shared replies")."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def fork_key(question: str, answer: str, own_id: Any = None) -> str:
    """What the fork files a record under: the item's `id`, or else its question and answer, whatever the pictures."""
    if own_id is not None:
        return f"id:{own_id}"
    return hashlib.sha256(f"{question}{answer}".encode()).hexdigest()


def fork_records(keys: Sequence[str], records: Sequence[T]) -> list[T]:
    """The records that the fork scores: where several have one key, the last of them, as often as there are items.

    Two CT questions about different pictures, answered `yes` and `no`, are both scored as the second.
    """
    last = dict(zip(keys, records, strict=True))
    return [last[key] for key in keys]
