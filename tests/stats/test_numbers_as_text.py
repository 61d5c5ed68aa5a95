"""Numbers as text: one unit and one rounding for terminal, report, figures and viewer."""

from __future__ import annotations

import pytest

from sketchmark.stats.intervals import as_bracket, as_p, as_percent, as_points, rounded


@pytest.mark.parametrize(
    ("value", "text"),
    [(5 / 16, "31.3"), (0.35, "35.0"), (1.0, "100.0"), (0.0, "0.0"), (None, "–"), (-0.0001, "0.0"), (0.1235, "12.4")],
)
def test_a_score_is_in_percent_with_halves_rounded_away_from_zero(value: float | None, text: str) -> None:
    assert as_percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.3125, "+31.3"), (-0.3125, "-31.3"), (0.0004, "±0.0"), (-0.0004, "±0.0"), (None, "–")]
)
def test_a_difference_always_has_its_sign(value: float | None, text: str) -> None:
    assert as_points(value) == text


def test_an_interval_shows_whether_a_small_number_is_a_proportion() -> None:
    assert (as_percent(0.9, (0, 5)), as_percent(66.7, (50, 80)), as_points(75, (18, 92))) == ("0.9", "66.7", "+75.0")
    assert as_bracket((-0.0521, 0.5)) == "[-5.2, 50.0]" and as_bracket((None, 0.5)) == ""
    assert as_bracket((-0.0521, 0.5), signed=True) == "[-5.2, +50.0]"


def test_a_p_value_is_never_zero() -> None:
    assert [as_p(p) for p in (None, 0.0, 0.0009, 0.0125, 1.0)] == ["–", "< 0.001", "< 0.001", "0.013", "1.000"]
    assert rounded(-2.5, 0) == -3.0
