"""The picture channel by itself: drawn frames against true ones, and against each other."""

from __future__ import annotations

import pytest

from sketchmark.worlds.moves import Grid, frame_scores, share_legal

A: Grid = [["S", " "], ["#", "G"]]
B: Grid = [[" ", "S"], ["#", "G"]]
C: Grid = [[" ", " "], ["#", "SG"]]


def _scored(drawn: list[Grid], expected: list[Grid]) -> tuple[float | None, float | None, list[bool]]:
    values, right = frame_scores("x", drawn, expected, 0.0, [])
    return values["x_img_exact"], values["x_img_frame_acc"], right


@pytest.mark.parametrize(
    ("drawn", "exact", "share", "right"),
    [
        ([A, B, C], 1.0, 1.0, [True, True, True]), ([A, C, C], 0.0, 2 / 3, [True, False, True]),
        ([C, B, A], 0.0, 1 / 3, [False, True, False]), ([A, B], 0.0, 2 / 3, [True, True]),
        ([B, C], 0.0, 0.0, [False, False]), ([A, B, C, C], 0.0, 1.0, [True, True, True, False]),
        ([A, B, A, C, C], 0.0, 2 / 3, [True, True, False, False, False]), ([], 0.0, 0.0, []),
    ],
)  # fmt: skip
def test_frames_are_paired_by_index_and_the_share_is_of_those_expected(
    drawn: list[Grid], exact: float, share: float, right: list[bool]
) -> None:
    assert _scored(drawn, [A, B, C]) == (exact, share, right)


def test_where_nothing_is_expected_nothing_is_right() -> None:
    assert _scored([], []) == (0.0, 0.0, [])
    assert _scored([A, B], []) == (0.0, 0.0, [False, False])


def _next(before: int, after: int) -> bool:
    return after == before + 1


@pytest.mark.parametrize(
    ("first", "drawn", "share"),
    [
        (0, [1, 2, 3], 1.0), (0, [2, 3, 4], 2 / 3), (0, [1, 2, 2], 2 / 3), (0, [1, 3, 4, 5], 3 / 4),
        (0, [5], 0.0), (0, [1, None, 3, 4], 2 / 4), (0, [None, 2, 3], 1 / 3), (0, [None, None], 0.0),
        (0, [1, 2, None], 2 / 3), (None, [1, 2, 3], 2 / 3), (None, [1], 0.0), (0, [], 0.0), (3, [2, 1], 0.0),
    ],
)  # fmt: skip
def test_a_frame_is_legal_when_it_follows_from_the_one_before(
    first: int | None, drawn: list[int | None], share: float
) -> None:
    assert share_legal(first, drawn, _next) == pytest.approx(share)
