"""Longest first, as far as one looks ahead."""

from __future__ import annotations

from collections.abc import Iterator

from sketchmark.engines import longest_first


def _order(lengths: list[int | None], ahead: int) -> list[int | None]:
    return list(longest_first(iter(lengths), lambda job: job or None, ahead))


def test_the_longest_of_those_in_sight_comes_first() -> None:
    assert _order([1, 2, 3, 4, 5, 6, 1, 1], 3) == [1, 3, 5, 6, 4, 2, 1, 1]


def test_the_last_ones_are_the_shortest() -> None:
    lengths = [5, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9]
    ordered = [length or 0 for length in _order(list(lengths), 6)]
    assert sorted(ordered) == sorted(lengths) and ordered[-7:] == sorted(ordered[-7:], reverse=True)


def test_equal_lengths_keep_their_order() -> None:
    jobs: list[str | None] = ["a", "b", "c", "d"]
    assert list(longest_first(iter(jobs), lambda job: 2, 3)) == jobs


def test_without_looking_ahead_nothing_changes() -> None:
    assert _order([1, 3, 2, 5], 0) == [1, 3, 2, 5]


def test_what_has_no_length_and_what_needs_no_playing_passes_through() -> None:
    """0 stands for a job whose length nobody knows."""
    assert _order([3, 1, None, 0, 2, None, 4], 2) == [3, None, 0, 2, None, 4, 1]


def test_the_first_job_does_not_wait_until_all_are_made_and_few_are_held() -> None:
    drawn: list[int] = []

    def supply() -> Iterator[int]:
        for number in range(1000):
            drawn.append(number)
            yield number + 1

    jobs = longest_first(supply(), lambda job: job, 8)
    ahead = []
    for given in range(1, 40):
        next(jobs)
        ahead.append(len(drawn) - given)
    assert ahead[0] <= 1 and max(ahead) == 8
