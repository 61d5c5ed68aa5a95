"""Drawing sets: equal shares, no repeats, by seed, uniform or balanced."""

import random
from collections import Counter
from itertools import islice

import pytest

from sketchmark.errors import BadInput
from sketchmark.worlds import voila
from sketchmark.worlds.voila.sets import _uniform_places, hidden_scene


def test_the_same_seed_draws_the_same_set_and_another_seed_another() -> None:
    first, again, other = (
        [q.index for q in voila.sample_questions(190, seed, distraction=True)] for seed in (3, 3, 4)
    )
    assert first == again
    assert not set(first) & set(other)


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("distraction", [False, True])
def test_every_structure_gets_the_same_share_and_no_question_comes_twice(distraction: bool, balance: bool) -> None:
    kinds = len(voila.structures(distraction))
    questions = list(voila.sample_questions(kinds * 527, 0, distraction, balance))
    assert Counter(q.rule for q in questions) == {s.id: 527 for s in voila.structures(distraction)}
    assert [q.rule for q in questions] == sorted(q.rule for q in questions)
    assert len({q.scenes for q in questions}) == len(questions)


def test_the_set_without_distraction_is_that_part_of_the_set_with_it() -> None:
    hard = voila.sample_questions(19 * 20, 8, distraction=True)
    easy = list(voila.sample_questions(7 * 20, 8, distraction=False))
    assert [q for q in hard if not voila.STRUCTURES[q.rule].has_distraction] == easy


@pytest.mark.parametrize(("count", "near"), [(100, "95 or 114"), (10, "19"), (20, "19 or 38")])
def test_a_count_that_cannot_be_shared_equally_is_refused_with_the_nearest_that_can(count: int, near: str) -> None:
    with pytest.raises(BadInput, match=f"among 19 structures .try {near}."):
        voila.sample_questions(count, 0, distraction=True)


@pytest.mark.parametrize(("distraction", "largest"), [(True, 3_236_688), (False, 2_384_928)])
def test_a_count_beyond_the_smallest_structure_is_refused_at_once_with_the_largest(
    distraction: bool, largest: int
) -> None:
    assert voila.largest_count(distraction) == largest
    with pytest.raises(BadInput, match=f"the largest count is {largest}"):
        voila.sample_questions(largest + len(voila.structures(distraction)), 0, distraction)


def test_the_smallest_structure_can_be_drawn_to_the_last_question_without_an_endless_search() -> None:
    smallest = voila.STRUCTURES[2]
    places = list(_uniform_places(smallest, smallest.size, random.Random(0)))
    assert sorted(places) == list(range(smallest.size))


def test_uniform_draws_reach_all_values_about_equally() -> None:
    answers = Counter(q.answer.subject for q in voila.sample_questions(7 * 2000, 1, distraction=False))
    assert all(850 < answers[subject] < 1150 for subject in range(14))


def test_balance_gives_every_subject_and_action_equal_use_in_every_slot_of_every_structure() -> None:
    questions = list(voila.sample_questions(19 * 100, 2, distraction=True, balance=True))
    for structure in voila.structures(True):
        own = [q for q in questions if q.rule == structure.id]
        for slot in range(3):
            for prop, size in (("subject", 14), ("action", 13)):
                uses = Counter(getattr(q.scenes[slot], prop) for q in own)
                assert len(uses) == size
                assert max(uses.values()) - min(uses.values()) <= 1


def test_balance_gives_every_number_a_quarter_where_the_rule_can_and_every_triple_equal_use_where_not() -> None:
    questions = list(voila.sample_questions(19 * 96, 2, distraction=True, balance=True))
    for structure in voila.structures(True):
        own = [q for q in questions if q.rule == structure.id]
        for slot in range(3):
            uses = Counter(q.scenes[slot].number for q in own)
            if structure.number in ("stable", "arithmetic"):
                assert set(uses.values()) == {24}
        if structure.number in ("distraction", "arithmetic without repeat"):
            tuples = Counter(tuple(scene.number for scene in q.scenes) for q in own)
            assert len(set(tuples.values())) == 1


def test_a_balanced_set_without_repeats_exists_up_to_half_the_smallest_structure() -> None:
    count = voila.largest_count(True, balance=True)
    share = count // 19
    rule_1_and_2 = list(islice(voila.sample_questions(count, 0, distraction=True, balance=True), 2 * share))
    assert len({q.index for q in rule_1_and_2}) == 2 * share
    with pytest.raises(BadInput, match="balanced"):
        voila.sample_questions(count + 19, 0, distraction=True, balance=True)


def test_a_hidden_fourth_scene_keeps_what_is_known_and_shows_the_number_not_yet_seen() -> None:
    for question in voila.sample_questions(19 * 20, 5, distraction=True):
        hidden = hidden_scene(question, 5)
        assert hidden == hidden_scene(question, 5)
        assert hidden.is_concrete
        for known, value in zip(question.answer, hidden, strict=True):
            assert known is None or known == value
        if question.answer.number is None:
            assert hidden.number not in [scene.number for scene in question.scenes]
