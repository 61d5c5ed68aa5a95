"""The fork's mix-up of replies (docs/benchmarks/medical.md, "Shared replies")."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def fork_key(question: str, answer: str, own_id: Any = None) -> str:
    """What the fork files a reply under: the item's `id`, or else its question and answer, whatever the pictures."""
    if own_id is not None:
        return f"id:{own_id}"
    return hashlib.sha256(f"{question}{answer}".encode()).hexdigest()


def fork_replies(keys: Sequence[str], replies: Sequence[T]) -> list[T]:
    """The replies as the fork scores them: items under one key all get the last one's.

    Two CT questions about different pictures, answered `yes` and `no`, both become `no`.
    """
    last = dict(zip(keys, replies, strict=True))
    return [last[key] for key in keys]
