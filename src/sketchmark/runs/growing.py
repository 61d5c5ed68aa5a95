"""A run that grows: whether there shall be more samples is asked when those asked for are played and scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sketchmark.runs.store import RunFolder


class More(NamedTuple):
    """How many samples there shall be in all, and of which tasks."""

    limit: int
    tasks: frozenset[str]


Grow = Callable[[RunFolder], More | None]
"""None: that is enough."""
