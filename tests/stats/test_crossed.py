"""Intervals for people and samples that are crossed: coverage by simulation, and their edges."""

from __future__ import annotations

import numpy as np
import pytest
from bench.people import EFFECTS, coverage, coverage_of_gain

from sketchmark.stats.intervals import crossed_interval, interval


@pytest.mark.parametrize("people", [5, 20])
def test_two_way_intervals_cover_where_clusters_of_people_only_do_not(people: int) -> None:
    none, by_people, _, both = coverage(people, EFFECTS[0], 400)
    assert both >= 0.935
    assert none < 0.8 and by_people < both


def test_gains_of_people_who_saw_each_sample_in_one_mode_are_covered() -> None:
    assert coverage_of_gain(10, EFFECTS[0], 100) >= 0.9


def test_every_sample_has_the_same_weight_however_many_people_answered_it() -> None:
    found = crossed_interval([1, 1, 1, 0], ["a", "b", "c", "a"], ["s", "s", "s", "t"])
    assert found.mean == 0.5 and found.n == 2 and found.method == "two-way"


def test_answers_that_are_all_right_keep_a_width_by_the_smaller_number() -> None:
    people, samples = np.indices((4, 30)).reshape(2, -1)
    found = crossed_interval(np.ones(120), people, samples)
    assert found.high == 1 and found.low is not None and found.low < 0.6
    plain = interval(np.ones(120))
    assert plain.low is not None and plain.low > 0.9


@pytest.mark.parametrize(("people", "samples"), [([0, 0], [0, 1]), ([0, 1], [0, 0]), ([], [])])
def test_one_person_or_one_sample_shows_no_spread(people: list[int], samples: list[int]) -> None:
    found = crossed_interval([1.0] * len(people), people, samples)
    assert found.low is None and found.high is None


def test_scores_outside_of_0_to_1_get_a_t_interval_around_the_mean() -> None:
    people, samples = np.indices((5, 6)).reshape(2, -1)
    found = crossed_interval(10 * people + samples, people, samples)
    assert found.low is not None and found.high is not None and found.mean == pytest.approx(22.5)
    assert found.low < 10 < 35 < found.high
