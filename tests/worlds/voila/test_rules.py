"""The rules, the structures and the closed-form answer, against the figures in
docs/benchmarks/voila.md, "Structures"."""

import itertools
import random
import tracemalloc
from dataclasses import replace

import pytest

from sketchmark.errors import BadInput
from sketchmark.worlds import voila
from sketchmark.worlds.voila.questions import (
    STRUCTURES,
    Property,
    Question,
    Rule,
    all_questions,
    answer,
    question_at,
    structure_of,
    structures,
    triples,
)
from sketchmark.worlds.voila.scenes import SCENES, Scene, parse_description, scene_of_file

SPEC_SIZES = {
    1: 340_704, 2: 170_352, 3: 4_088_448, 4: 2_044_224, 5: 340_704, 6: 170_352, 7: 3_747_744, 8: 1_873_872,
    9: 794_976, 10: 9_539_712, 11: 8_744_736, 12: 104_936_832, 13: 340_704, 14: 170_352, 15: 794_976,
    16: 8_744_736, 17: 794_976, 18: 9_539_712, 19: 454_272,
}  # fmt: skip


def test_every_structure_holds_exactly_as_many_questions_as_the_spec_says() -> None:
    assert {id: structure.size for id, structure in STRUCTURES.items()} == SPEC_SIZES


@pytest.mark.parametrize(
    ("prop", "rule", "size"),
    [
        ("number", "stable", 12), ("subject", "stable", 182), ("action", "stable", 156),
        ("subject", "change", 182), ("action", "change", 156), ("number", "arithmetic", 28),
        ("number", "arithmetic without repeat", 16), ("subject", "distraction", 14 * 13 * 12),
        ("action", "distraction", 13 * 12 * 11), ("number", "distraction", 6),
    ],
)  # fmt: skip
def test_a_rule_allows_as_many_visible_triples_as_the_spec_says(prop: Property, rule: Rule, size: int) -> None:
    assert len(set(triples(prop, rule))) == len(triples(prop, rule)) == size


def test_number_distraction_is_the_six_published_cases() -> None:
    assert set(triples("number", "distraction")) == {(4, 1, 2), (4, 1, 3), (4, 2, 1), (4, 3, 1), (3, 1, 2), (3, 2, 1)}


def test_the_structures_are_all_mixes_with_a_change_or_arithmetic_in_them() -> None:
    mixes = {s.letters.replace("A'", "A") for s in STRUCTURES.values()}
    wanted = {f"{n} {s} {a}" for n in "SAD" for s in "SCD" for a in "SCD" if n == "A" or "C" in (s, a)}
    assert mixes == wanted
    assert [s.id for s in structures(distraction=False)] == [1, 5, 9, 13, 15, 17, 19]


def test_the_answer_of_a_question_follows_from_its_scenes_in_every_structure() -> None:
    for index in range(0, 157_632_384, 1_000_003):
        question = question_at(index)
        assert structure_of(*question.scenes) == STRUCTURES[question.rule]
        assert answer(*question.scenes) == question.answer
        assert len(set(question.scenes)) == 3


def test_any_stands_exactly_where_the_structure_distracts() -> None:
    for index in range(7, 157_632_384, 777_777):
        question = question_at(index)
        structure = STRUCTURES[question.rule]
        rules = (structure.number, structure.subject, structure.action)
        assert [value is None for value in question.answer] == [rule == "distraction" for rule in rules]


def test_the_number_rule_adds_and_does_not_multiply() -> None:
    scenes = [parse_description(f"{n} cats walking") for n in ("two", "four")]
    assert scenes[0] is not None and scenes[1] is not None
    one = Scene(1, 5, 3)
    assert answer(scenes[0], scenes[1], one).number == 3


def test_no_structure_allows_a_fourth_scene_that_was_already_shown_without_distraction() -> None:
    for place, question in enumerate(all_questions(distraction=False)):
        assert question.answer not in question.scenes
        if place == 20_000:
            break


def test_every_description_parses_back_to_its_scene_and_a_wrong_plural_does_not() -> None:
    assert len(SCENES) == len({scene.describe() for scene in SCENES}) == 728
    assert all(parse_description(scene.describe()) == scene for scene in SCENES)
    assert parse_description("any hamsters any") == Scene(None, 8, None)
    assert parse_description("one hamsters walking") is None
    assert parse_description("two hamster walking") is None
    assert parse_description("five hamsters walking") is None


def test_a_file_name_gives_its_scene_in_any_letter_case_and_nothing_else_does() -> None:
    for name in ("two_senior men_ice-skating_1111.png", "TWO_Senior Men_ice-skating_0.PNG"):
        assert scene_of_file(name) == Scene(2, 3, 2)
    for name in (
        "two_senior_men_ice-skating_0.png",
        "two senior men ice-skating",
        "any_senior men_ice-skating_0.png",
    ):
        assert scene_of_file(name) is None


# Index to question and back, and the whole space as a stream.


@pytest.mark.parametrize("rule", range(1, 20))
def test_index_to_question_to_index_is_the_identity_in_every_structure(rule: int) -> None:
    rng = random.Random(rule)
    structure = voila.STRUCTURES[rule]
    first = voila.question_in(structure, 0).index
    last = voila.question_in(structure, structure.size - 1).index
    assert last - first == structure.size - 1
    for index in (first, last, *(rng.randrange(first, last) for _ in range(200))):
        question = voila.question_at(index)
        assert question.rule == rule
        assert question.index == index
        assert voila.index_of(replace(question, index=-1)) == index


def test_a_question_without_distraction_has_the_same_index_in_both_sets() -> None:
    for index in (0, 1_234_567, 3_861_311):
        assert voila.question_at(index, distraction=False) == voila.question_at(index, distraction=True)


@pytest.mark.parametrize(("index", "distraction"), [(-1, True), (157_632_384, True), (3_861_312, False)])
def test_an_index_outside_the_space_is_refused_with_the_range(index: int, distraction: bool) -> None:
    with pytest.raises(BadInput, match=r"indices .* are 0 to \d+"):
        voila.question_at(index, distraction)


def test_scenes_that_break_their_rule_have_no_index() -> None:
    question = voila.question_at(0)
    with pytest.raises(BadInput, match="do not follow rule 1"):
        voila.index_of(Question(1, (question.scenes[0],) * 3, question.answer, 0))


def test_enumeration_goes_through_the_indices_in_order_and_in_constant_memory() -> None:
    next(voila.all_questions(distraction=False))
    tracemalloc.start()
    for place, question in enumerate(itertools.islice(voila.all_questions(distraction=False), 50_000)):
        assert question.index == place
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_enumeration_gives_distinct_triples_of_scenes_across_structures() -> None:
    questions = [voila.question_at(index, distraction=True) for index in range(0, 157_632_384, 50_021)]
    assert len({question.scenes for question in questions}) == len(questions)
