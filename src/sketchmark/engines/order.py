"""The order in which jobs are handed out."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from typing import TypeVar

Job = TypeVar("Job")


def longest_first(
    jobs: Iterator[Job | None], length: Callable[[Job], float | None], ahead: int
) -> Iterator[Job | None]:
    """The longest of the next `ahead` jobs comes first, so that a long one does not begin when all others are done.

    No more than `ahead` jobs are held back, and the look-ahead grows by one with each job that is given: whoever
    waits for the first one does not wait until many are made. Jobs of equal length keep their order; one whose length
    nobody knows, and None, passes through.
    """
    held: list[tuple[float, int, Job]] = []
    number = itertools.count()
    room = 0
    for job in jobs:
        known = length(job) if job is not None else None
        if job is None or known is None:
            yield job
            continue
        heapq.heappush(held, (-known, next(number), job))
        if len(held) > room:
            room = min(ahead, room + 1)
            yield heapq.heappop(held)[2]
    while held:
        yield heapq.heappop(held)[2]
