"""Index to question and back, and the whole space as a stream."""

import itertools
import random
import tracemalloc
from dataclasses import replace

import pytest

from sketchmark.errors import BadInput
from sketchmark.worlds import voila
from sketchmark.worlds.voila.questions import Question


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
