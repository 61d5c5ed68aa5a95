"""A seed of its own for each sample of a set."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

_STRIDE = 1_000_003
"""Seeds of neighbouring runs must not overlap: run seed 1, sample 0 is not run seed 0, sample 1."""


def numbered_seeds(seed: int) -> Iterator[tuple[int, int]]:
    """Each sample's number and its seed, without end."""
    return ((number, seed * _STRIDE + number) for number in itertools.count())
