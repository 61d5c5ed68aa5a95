"""What the viewer calls an answer, and what a change."""

from __future__ import annotations

import pytest

from sketchmark.folder.format import Score
from sketchmark.folder.index import change, outcome


@pytest.mark.parametrize(
    ("value", "called"),
    [
        (None, "unscored"),
        (0.0, "wrong"),
        (-0.5, "wrong"),
        (0.01, "partly"),
        (0.99, "partly"),
        (1.0, "right"),
        (7, "right"),
    ],
)
def test_an_answer_is_called_by_its_score(value: float | None, called: str) -> None:
    assert outcome(Score(index=0, sample="s", scored=True, values={}), value) == called


def test_a_sample_without_a_row_is_unscored() -> None:
    assert outcome(None, None) == outcome(None, 1.0) == "unscored"


@pytest.mark.parametrize(
    ("before", "after", "called"),
    [(0, 1, "helped"), (1, 0, "hurt"), (0.5, 0.5, "same"), (None, 1, None), (1, None, None), (0, 0, "same")],
)
def test_a_change_is_called_by_its_direction(before: float | None, after: float | None, called: str | None) -> None:
    assert change(before, after) == called
