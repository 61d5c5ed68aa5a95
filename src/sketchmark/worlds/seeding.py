"""A seed of its own for each sample of a set."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

from sketchmark.parts import Draft, Drafts, Sample

_STRIDE = 1_000_003
"""Seeds of neighbouring runs must not overlap: run seed 1, sample 0 is not run seed 0, sample 1."""


def numbered_seeds(seed: int) -> Iterator[tuple[int, int]]:
    """Each sample's number and its seed, without end."""
    return ((number, seed * _STRIDE + number) for number in itertools.count())


def numbered_drafts(name: str, seed: int, make: Callable[[str, int, int], Sample]) -> Drafts:
    """`maze-0-000000`, `maze-0-000001` and so on, without end; `make` gets each id, its number and its own seed."""

    def draft(number: int, own_seed: int) -> Draft:
        id = f"{name}-{seed}-{number:06d}"
        return Draft(id, partial(make, id, number, own_seed))

    return Drafts(draft(number, own_seed) for number, own_seed in numbered_seeds(seed))
