"""Science: the judge's questions, the two readings of labels, and the form by rule."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sketchmark import Model, Sample
from sketchmark.benchmarks.uni_mmmu import science
from sketchmark.episode import Grading, Scores
from sketchmark.errors import JudgeFailed
from sketchmark.media import Picture
from tests.episodes import Judge, episode, flat
from tests.tabled import tabled

INITIAL, OTHER, DRAWN = flat(10), flat(20), flat(30)
SAID = "<OUTPUT_PROMPT> Heat melts ice. A puddle. </OUTPUT_PROMPT>"
BOTH = '{"reasoning_correct": 1, "result_correct": 1}'


def _sample(*, truth: str = "A puddle.", shifted: bool = False) -> Sample:
    compared = {"compared": {"condition": "It snows.", "final_state": "Snow."}} if shifted else {}
    return Sample(
        "case_01",
        pictures={"image": INITIAL, **({"compared": OTHER} if shifted else {})},
        fields={"condition": "It is heated."},
        target={"final_state": truth, **compared},
    )


def _text(judge: Model | None, said: str = SAID, scoring: str = "strict", sample: Sample | None = None) -> Scores:
    return asyncio.run(science.text(sample or _sample(), episode(said), Grading(scoring, judge)))


def _image(
    judge: Model | None, *drawings: Picture | None, scoring: str = "strict", sample: Sample | None = None
) -> Scores:
    played = episode(SAID, drawings=drawings)
    return asyncio.run(science.image(sample or _sample(), played, Grading(scoring, judge)))


@tabled
def test_the_two_readings_of_the_labels(
    reply: str, strict: tuple[int, int] | None, official: tuple[int, int]
) -> None:
    names = ("science_text_reasoning_acc", "science_text_result_acc")
    if strict is None:
        with pytest.raises(JudgeFailed):
            _text(Judge(reply))
    else:
        assert _text(Judge(reply)).values == dict(zip(names, strict, strict=True))
    assert _text(Judge(reply), scoring="official").values == dict(zip(names, official, strict=True))


def test_the_text_judge_gets_the_whole_reply_and_no_picture() -> None:
    judge = Judge(BOTH)
    _text(judge)
    system, user = judge.shown[0].texts
    assert system.endswith("No meta talk.") and user.endswith("Return ONLY JSON.\n")
    assert "Scene: (none)\nCondition: It is heated.\n" in user
    assert f"reference):\nA puddle.\nCandidate explanation (text to evaluate):\n{SAID}\n" in user
    assert judge.shown[0].pictures == []


@pytest.mark.parametrize(("reply", "strict", "official"), [(1, 1, 1), (0, 0, 0), ('"0"', 0, 1), ("null", None, 0)])
def test_the_picture_judge_sees_the_scene_before_and_after(reply: object, strict: int | None, official: int) -> None:
    judge = Judge(f'{{"image_correct": {reply}}}')
    if strict is None:
        with pytest.raises(JudgeFailed):
            _image(judge, DRAWN)
    else:
        scores = _image(judge, DRAWN)
        assert scores.values == {"science_img_acc": strict} and scores.notes["frames_right"] == [bool(strict)]
    assert _image(judge, DRAWN, scoring="official").values == {"science_img_acc": official}
    assert judge.shown[0].pictures == [INITIAL, DRAWN]
    assert judge.asked[0] == (
        "\nCondition (context): It is heated.\nTARGET text (final state to achieve):\nA puddle.\n"
    )


def test_the_text_stands_where_the_drawing_failed() -> None:
    played = episode(SAID, drawings=[None], failed=True)
    scores = asyncio.run(science.text(_sample(), played, Grading("strict", Judge(BOTH))))
    assert scores.values["science_text_result_acc"] == 1.0
    assert _image(Judge(BOTH), None).values == {"science_img_acc": 0.0}


def test_what_is_missing_is_wrong_and_nobody_is_asked() -> None:
    judge = Judge(BOTH)
    for scoring in ("strict", "official"):
        assert set(_text(judge, " ", scoring).values.values()) == {0.0}
    assert _image(judge).values == {}
    assert judge.asked == []


def test_without_a_truth_strict_scores_nothing_and_the_published_program_0() -> None:
    judge = Judge(BOTH)
    sample = _sample(truth="")
    assert set(_text(judge, sample=sample).values.values()) == {None}
    assert _image(judge, DRAWN, sample=sample).values == {"science_img_acc": None}
    assert set(_text(judge, sample=sample, scoring="official").values.values()) == {0.0}


def test_behind_an_incomplete_sample_the_published_program_compares_with_another_truth() -> None:
    judge = Judge('{"reasoning_correct": 1, "result_correct": 1, "image_correct": 1}')
    for scoring, condition, truth, picture in (
        ("strict", "It is heated.", "A puddle.", INITIAL),
        ("official", "It snows.", "Snow.", OTHER),
    ):
        _text(judge, scoring=scoring, sample=_sample(shifted=True))
        assert f"Condition: {condition}\n" in judge.asked[-1] and f"reference):\n{truth}\n" in judge.asked[-1]
        _image(judge, DRAWN, scoring=scoring, sample=_sample(shifted=True))
        assert judge.asked[-1].endswith(f"achieve):\n{truth}\n") and judge.shown[-1].pictures == [picture, DRAWN]


def test_official_sends_condition_and_truth_with_the_blanks_of_the_file() -> None:
    judge = Judge('{"reasoning_correct": 1, "result_correct": 1, "image_correct": 1}')
    plain = _sample()
    filed = {"condition": " It is heated.\n", "final_state": "A puddle. "}
    sample = replace(plain, target={**plain.target, "as_filed": filed})
    for scoring, condition, truth in (("strict", "It is heated.", "A puddle."), ("official", *filed.values())):
        _text(judge, scoring=scoring, sample=sample)
        assert f"Condition: {condition}\n" in judge.asked[-1] and f"reference):\n{truth}\n" in judge.asked[-1]
        _image(judge, DRAWN, scoring=scoring, sample=sample)
        assert judge.asked[-1].startswith(f"\nCondition (context): {condition}\n")
        assert [part.by for part in judge.shown[-1]] == ["system", "task", "task", "task"]


def test_without_a_judge_only_the_form_is_scored() -> None:
    for scores in (_text(None), _image(None, DRAWN)):
        assert set(scores.values.values()) == {None} and "--judge" in scores.notes["unscored"]


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        (SAID, 1),
        ("Sure! <output_prompt>ice\nmelts</output_prompt>", 1),
        (f"<OUTPUT_PROMPT>{'word ' * 120}</OUTPUT_PROMPT>", 1),
        (f"<OUTPUT_PROMPT>{'word ' * 121}</OUTPUT_PROMPT>", 0),
        (f"{SAID}{SAID}", 0),
        ("<OUTPUT_PROMPT> </OUTPUT_PROMPT>", 0),
        ("<OUTPUT_PROMPT> it melts", 0),
        (f"<OUTPUT_PROMPT>{SAID}", 0),
        (f"<think>{SAID}</think>{SAID}", 1),
        ("It melts.", 0),
        ("", 0),
    ],
)
def test_the_form_is_one_block_of_at_most_120_words(said: str, fits: int) -> None:
    assert science.form(_sample(), episode(said), Grading()).values == {"science_form": float(fits)}
