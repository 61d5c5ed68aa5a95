"""VOILA's scores by rule, from what was said and drawn: which answer is read for which step."""

from __future__ import annotations

import pytest

from sketchmark import Sample
from sketchmark.benchmarks.voila.rules import by_rule
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.media import Picture
from sketchmark.worlds.voila import bank
from sketchmark.worlds.voila.scenes import Scene
from tests.episodes import BLANK, episode

SCENES = (Scene(2, 5, 3), Scene(4, 5, 3), Scene(1, 6, 4))
ANSWER = Scene(2, 6, 4)
DESCRIBED = "Image 1: two cats walking. Image 2: four cats walking. Image 3: one dog swimming."
IDENTIFIED = "The number increases. The subject type stays the same. The action stays the same."
APPLIED = "The answer is number = two, subject = dogs, action = swimming"
SAID = (DESCRIBED, IDENTIFIED, APPLIED)
KEYS = ("number", "subject", "action", "overall")


def _sample(answer: Scene = ANSWER) -> Sample:
    target = {"scenes": [list(scene) for scene in SCENES], "answer": list(answer), "answer_text": answer.describe()}
    return Sample("voila-00001", target=target)


def _score(played: Episode, answer: Scene = ANSWER) -> Scores:
    return by_rule(_sample(answer), played, Grading())


def _step(scores: Scores, step: str) -> tuple[float | None, ...]:
    return tuple(scores.values[f"voila_{step}_{key}"] for key in KEYS)


def test_all_three_answers_are_read_each_for_its_step() -> None:
    scores = _score(episode(*SAID))
    assert scores.values == {f"voila_step{step}_{key}": 1.0 for step in (1, 2, 3) for key in KEYS}
    assert scores.notes == {"answer": {"number": 2, "subject": 6, "action": 4}, "expected": "two dogs swimming"}
    assert not scores.unparsed


@pytest.mark.parametrize("step", [1, 2, 3])
def test_one_answer_that_says_nothing_spoils_its_own_step_alone(step: int) -> None:
    said = [*SAID]
    said[step - 1] = "Hard to say."
    scores = _score(episode(*said))
    assert [_step(scores, f"step{k}") == (1.0,) * 4 for k in (1, 2, 3)] == [k != step for k in (1, 2, 3)]
    assert scores.unparsed is (step == 3)
    assert (scores.notes["answer"] is None) is (step == 3)


def test_a_step_that_was_not_reached_is_wrong() -> None:
    scores = _score(episode(DESCRIBED))
    assert [_step(scores, f"step{k}")[-1] for k in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert scores.unparsed


def test_step_1_is_a_share_of_the_pictures_and_step_2_looks_at_the_first_two() -> None:
    scores = _score(episode(DESCRIBED.replace("one dog", "three dogs"), IDENTIFIED.replace("in", "de"), APPLIED))
    assert _step(scores, "step1") == (2 / 3, 1.0, 1.0, 2 / 3)
    assert _step(scores, "step2") == (0.0, 1.0, 1.0, 0.0)


def test_asked_directly_there_is_one_answer_and_it_is_step_3() -> None:
    scores = _score(episode(APPLIED, settings={"mode": "direct"}))
    assert scores.values == {f"voila_step3_{key}": 1.0 for key in KEYS}


@pytest.mark.parametrize("mode", ["stepwise", "visual_cot", "text_cot"])
def test_every_other_mode_goes_step_by_step(mode: str) -> None:
    assert len(_score(episode(*SAID, settings={"mode": mode})).values) == 12


def _drawn(*drawings: Picture | None, answer: Scene = ANSWER) -> Scores:
    return _score(episode(*SAID, drawings=drawings), answer)


def test_step_4_is_scored_only_when_a_drawing_was_asked_for() -> None:
    scores = _drawn(bank.picture(ANSWER))
    assert _step(scores, "step4_reader") == (1.0,) * 4
    assert [_step(scores, f"step{k}") for k in (1, 2, 3)] == [(1.0,) * 4] * 3, "beside the steps before it"
    assert (scores.notes["drawn"], scores.notes["frames_right"]) == ("two dogs swimming", [True])
    assert "frames_right" not in _score(episode(*SAID)).notes


@pytest.mark.parametrize(
    ("scene", "right"),
    [
        (Scene(3, 6, 4), (0.0, 1.0, 1.0, 0.0)),
        (Scene(2, 5, 4), (1.0, 0.0, 1.0, 0.0)),
        (Scene(2, 6, 3), (1.0, 1.0, 0.0, 0.0)),
    ],
)
def test_a_drawing_is_right_property_by_property(scene: Scene, right: tuple[float, ...]) -> None:
    scores = _drawn(bank.picture(scene))
    assert _step(scores, "step4_reader") == right
    assert scores.notes["frames_right"] == [False]


def test_the_last_drawing_counts() -> None:
    wrong = bank.picture(Scene(1, 1, 1))
    assert _step(_drawn(wrong, bank.picture(ANSWER)), "step4_reader")[-1] == 1.0
    assert _step(_drawn(bank.picture(ANSWER), wrong), "step4_reader")[-1] == 0.0


@pytest.mark.parametrize("drawing", [None, BLANK])
def test_a_drawing_that_is_missing_or_shows_nothing_is_wrong(drawing: Picture | None) -> None:
    scores = _drawn(drawing)
    assert _step(scores, "step4_reader") == (0.0,) * 4
    assert (scores.notes["drawn"], scores.notes["frames_right"]) == (None, [False])


def test_where_the_answer_is_any_a_drawing_cannot_be_wrong_but_must_be_there() -> None:
    due = Scene(None, 6, None)
    assert _step(_drawn(bank.picture(Scene(3, 6, 1)), answer=due), "step4_reader") == (1.0,) * 4
    assert _step(_drawn(None, answer=due), "step4_reader") == (0.0,) * 4
    said = _score(episode(*SAID[:2], "number = any, subject = dogs, action = any"), due)
    assert _step(said, "step3") == (1.0,) * 4
