"""Reading VOILA's answers by rule: what the judge prompt forgives is forgiven, the rest is not."""

from __future__ import annotations

import time

import pytest

from sketchmark import Sample
from sketchmark.benchmarks.voila import rules
from sketchmark.episode import Grading
from sketchmark.worlds import voila
from sketchmark.worlds.voila.scenes import Scene, read_statement
from tests.episodes import episode
from tests.tabled import tabled

TWO_HAMSTERS_WALKING = Scene(2, 8, 3)


def test_the_ground_truth_of_any_question_is_read_as_right_in_every_step() -> None:
    for question in voila.sample_questions(190, seed=3, distraction=True):
        first, second, _ = question.scenes
        step1 = rules.right_step1(rules.read_step1(voila.combined_text(question)), question.scenes)
        step2 = rules.right_step2(rules.read_step2(voila.relations_text(question)), first, second)
        answer = question.answer
        words = (answer.number_word, answer.subject_word, answer.action_word)
        said = "The answer is number = {}, subject = {}, action = {}.".format(*words)
        step3 = rules.right_step3(rules.read_step3(said), answer)
        for scores in (step1, step2, step3):
            assert set(scores.values()) == {1.0}, question


@tabled
def test_synonyms_are_fine_but_another_age_or_sex_is_not(text: str, subject: int | None) -> None:
    assert rules.read_step1(f"Image 1: {text}.")[0].subject == subject


@pytest.mark.parametrize(
    ("text", "number"),
    [("a man reading two books", 1), ("4 men reading", 4), ("a couple of men reading", 2), ("men reading", None)],
)
def test_the_number_is_the_one_before_the_subject(text: str, number: int | None) -> None:
    assert rules.read_step1(f"Image 1: {text}")[0].number == number


def test_pictures_may_be_called_by_ordinals_or_marked_down() -> None:
    text = "**Image 1**: one cat eating food\nThe second image shows two dogs jogging.\nImage 3: three bears typing"
    assert rules.read_step1(text) == [Scene(1, 5, 12), Scene(2, 6, 11), Scene(3, 12, 6)]


@pytest.mark.parametrize("form", ["Image : {}\nImage : {}\nImage : {}", "1. {}\n2. {}\n3. {}"])
def test_three_descriptions_without_image_numbers_are_read_in_order(form: str) -> None:
    text = form.format("one cat eating food", "two dogs jogging", "three bears typing")
    assert rules.read_step1(text) == [Scene(1, 5, 12), Scene(2, 6, 11), Scene(3, 12, 6)]


@tabled
def test_step_2_is_read_property_by_property_however_the_sentences_are_cut(text: str) -> None:
    assert rules.right_step2(rules.read_step2(text), Scene(2, 5, 3), Scene(4, 6, 3))["overall"] == 1.0
    assert rules.right_step2(rules.read_step2(text), Scene(2, 5, 3), Scene(4, 5, 3))["subject"] == 0.0
    assert rules.right_step2(rules.read_step2(text), Scene(2, 5, 3), Scene(4, 6, 4))["action"] == 0.0


@pytest.mark.parametrize("filler", [" ", "\n", ",", ":", "*", "from ", "a "])
def test_a_reply_of_nothing_but_filler_is_read_at_once(filler: str) -> None:
    text = "number = " + 50_000 * filler + "x"
    began = time.process_time()
    assert read_statement(text) is None and rules.read_step3(text) is None
    assert rules.right_step1(rules.read_step1(text), [Scene(1, 1, 1)] * 3)["overall"] == 0.0
    assert rules.right_step2(rules.read_step2(text), Scene(2, 5, 3), Scene(4, 5, 3))["overall"] == 0.0
    assert time.process_time() - began < 5


@tabled
def test_step_2_wants_the_right_relation_and_nothing_that_contradicts_the_pictures(
    text: str, expected: float
) -> None:
    read = rules.read_step2(text)
    assert rules.right_step2(read, Scene(2, 5, 3), Scene(4, 5, 3))["overall"] == expected


@tabled
def test_step_3_takes_the_last_answer_of_the_form(text: str, right: tuple[int, int, int]) -> None:
    found = rules.right_step3(rules.read_step3(text), TWO_HAMSTERS_WALKING)
    assert (found["number"], found["subject"], found["action"]) == right


@tabled
def test_step_1_credits_nothing_that_is_denied_or_one_of_two(text: str, scene: tuple[int | None, ...]) -> None:
    assert rules.read_step1(f"Image 1: {text}" if "<" not in text else text.replace(">", ">Image 1: "))[0] == scene


@tabled
def test_step_2_credits_nothing_that_is_denied_or_one_of_two(text: str, changed: tuple[bool | None, ...]) -> None:
    assert tuple(relation.changed for relation in rules.read_step2(text).values()) == changed


@tabled
def test_step_3_credits_nothing_that_is_thought_denied_or_one_of_two(reply: str, right: int) -> None:
    assert rules.right_step3(rules.read_step3(reply), TWO_HAMSTERS_WALKING)["overall"] == right
    target = {"scenes": [[1, 1, 1]] * 3, "answer": list(TWO_HAMSTERS_WALKING), "answer_text": "two hamsters walking"}
    scored = rules.by_rule(Sample("x", target=target), episode(reply, settings={"mode": "direct"}), Grading())
    assert scored.values["voila_step3_overall"] == right


def test_any_counts_only_where_it_is_due() -> None:
    due = Scene(None, 8, 3)
    said = read_statement("number = any, subject = hamsters, action = walking")
    assert rules.right_step3(said, due)["overall"] == 1.0
    said = read_statement("number = two, subject = hamsters, action = walking")
    assert rules.right_step3(said, due)["overall"] == 0.0


def test_an_answer_without_the_form_is_unread_and_wrong() -> None:
    assert read_statement("Two hamsters walking, obviously.") is None
    assert rules.right_step3(None, TWO_HAMSTERS_WALKING)["overall"] == 0.0
