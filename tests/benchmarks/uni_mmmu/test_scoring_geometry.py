"""Geometry: what the judges are asked, how their verdicts are read, and numbers by rule."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from sketchmark import Model, Sample
from sketchmark.benchmarks.uni_mmmu import geometry
from sketchmark.benchmarks.uni_mmmu.geometry import quantity, same
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.errors import JudgeFailed
from sketchmark.media import Picture
from sketchmark.models.cache import with_cache
from tests.episodes import Judge, episode, flat
from tests.tabled import tabled

DIAGRAM, TRUE, DRAWN = flat(10), flat(20), flat(30)
RIGHT, WRONG = '{"text_ok": 1}', '{"text_ok": 0}'


def _sample(
    *, lines: str = "", drawn: Picture | None = TRUE, kind: str = "CALCULATION", solution: str = "AD is twelve."
) -> Sample:
    return Sample(
        "x",
        pictures={"image": DIAGRAM},
        fields={"question": "How long is AD?", "choices": "(no choices)", "lines": lines},
        target={"kind": kind, "solution": solution, "answer": "12"},
        frames=(lambda: [drawn]) if drawn else None,
    )


def _text(judge: Model | None, said: str | Episode, scoring: str = "strict", sample: Sample | None = None) -> Scores:
    played = said if isinstance(said, Episode) else episode(said)
    return asyncio.run(geometry.solution(sample or _sample(), played, Grading(scoring, judge)))


def _lines(
    judge: Model | None, *drawings: Picture | None, scoring: str = "strict", sample: Sample | None = None
) -> Scores:
    played = episode("AD is 12", drawings=drawings)
    return asyncio.run(geometry.overlay(sample or _sample(), played, Grading(scoring, judge)))


@tabled
def test_the_two_readings_of_a_verdict(reply: str, strict: int | None, official: int) -> None:
    if strict is None:
        with pytest.raises(JudgeFailed):
            _text(Judge(reply), "AD is 12")
    else:
        scores = _text(Judge(reply), "AD is 12")
        assert scores.values == {"geometry_text_acc": strict}
        assert scores.notes == {"answer": "AD is 12", "expected": "AD is twelve.", "geometry_text_acc_judge": reply}
    assert _text(Judge(reply), "AD is 12", "official").values == {"geometry_text_acc": official}


def test_no_verdict_is_a_failure_of_the_judge_and_not_kept(tmp_path: Path) -> None:
    judge = Judge("CORRECT")
    for _ in range(2):
        with pytest.raises(JudgeFailed, match="gave no verdict"):
            _text(with_cache(judge, tmp_path), "AD is 12")
    assert len(judge.asked) == 2


def test_the_text_judge_gets_the_published_question() -> None:
    judge = Judge(RIGHT)
    _text(judge, "<think>Hm.</think>AD is {12}", sample=_sample(kind="PROVING"))
    [shown] = judge.shown
    system, user = shown.texts
    assert system.startswith("You are a rigorous grader") and '"text_reason":"<short>"}' in system
    assert "Type: PROVING\nProblem (may have EN/CN):\nHow long is AD?\n" in user
    assert "path):\nAD is twelve.\n" in user and "Candidate solution text (to grade):\nAD is {12}\n" in user
    assert user.endswith("```json ...  ```\n            ") and shown.pictures == []


def test_official_sends_the_whole_reply_also_an_empty_one() -> None:
    judge = Judge(WRONG)
    _text(judge, "<think>Hm.</think>AD is 12", "official")
    _text(judge, "", "official")
    assert "(to grade):\n<think>Hm.</think>AD is 12\n" in judge.asked[0] and "(to grade):\n\n" in judge.asked[1]


def test_official_takes_a_row_without_a_type_for_a_proof_and_keeps_the_blanks_of_the_file() -> None:
    judge, plain = Judge('{"text_ok": 1, "overlay_ok": 1}'), _sample(lines="Connect AD")
    filed = {"as_filed": {"solution": " AD is twelve.\n", "lines": " Connect AD\n"}}
    sample = replace(plain, target={**plain.target, **filed})
    typed = replace(sample, groups={"type": "Calc."})
    for scoring, of, kind, truth in (
        ("strict", sample, "CALCULATION", "AD is twelve."),
        ("official", sample, "PROVING", " AD is twelve.\n"),
        ("official", typed, "CALCULATION", " AD is twelve.\n"),
    ):
        _text(judge, "AD is 12", scoring, of)
        assert f"Type: {kind}\n" in judge.asked[-1] and f"path):\n{truth}\n\nCandidate" in judge.asked[-1]
        _lines(judge, DRAWN, scoring=scoring, sample=of)
        lines = "Connect AD" if scoring == "strict" else " Connect AD\n"
        assert f"draw ALL): \n{lines}\n" in judge.asked[-1]


def test_the_judges_instructions_are_a_system_message() -> None:
    judge = Judge(RIGHT)
    _text(judge, "AD is 12")
    _lines(judge, DRAWN, scoring="official")
    assert [[part.by for part in shown] for shown in judge.shown] == [
        ["system", "task"],
        ["system", "task", "task", "task", "task"],
    ]


def test_what_is_missing_is_wrong_and_nobody_is_asked_about_it() -> None:
    judge = Judge(RIGHT)
    for said in ("", "  ", "<think>only thought</think>"):
        scores = _text(judge, said)
        assert (scores.values, scores.unparsed) == ({"geometry_text_acc": 0.0}, True)
    assert _lines(judge, None).values == {"geometry_overlay_acc": 0.0}
    assert judge.asked == []


def test_an_item_that_was_not_produced_is_wrong_but_left_out_by_the_published_program() -> None:
    failed = episode("AD is 12", drawings=[None], failed=True)
    assert _text(Judge(RIGHT), failed).values == {"geometry_text_acc": 0.0}
    assert _text(Judge(RIGHT), failed, "official").values == {"geometry_text_acc": None}
    for scoring, value in (("strict", 0.0), ("official", None)):
        found = asyncio.run(geometry.overlay(_sample(), failed, Grading(scoring, Judge(RIGHT))))
        assert found.values == {"geometry_overlay_acc": value}


def test_the_overlay_judge_sees_diagram_truth_and_drawing_in_this_order() -> None:
    judge = Judge('```json {"overlay_ok":1,"overlay_reason":"{all}"} ```')
    for scoring in ("strict", "official"):
        scores = _lines(judge, DRAWN, sample=_sample(lines="Connect AD"), scoring=scoring)
        assert scores.values == {"geometry_overlay_acc": 1.0} and scores.notes["frames_right"] == [True]
    shown = judge.shown[0]
    assert shown.pictures == [DIAGRAM, TRUE, DRAWN]
    assert [isinstance(part.content, str) for part in shown.parts] == [True, True, False, False, False]
    assert shown.texts[0].endswith('{"overlay_ok":0|1,"overlay_reason":"<short>"}\n')
    assert "draw ALL): \nConnect AD\n" in shown.texts[1]
    _lines(judge, DRAWN)
    assert "draw ALL): \n(none)\n" in judge.asked[-1]


def test_without_the_true_lines_a_drawing_is_not_scored() -> None:
    judge = Judge(RIGHT)
    scores = _lines(judge, DRAWN, sample=_sample(drawn=None))
    assert (
        scores.values == {"geometry_overlay_acc": None} and "no picture of the required" in scores.notes["no_truth"]
    )
    assert _text(judge, "x", sample=_sample(solution="")).values == {"geometry_text_acc": None}
    assert judge.asked == []


def test_without_a_judge_only_numbers_are_scored() -> None:
    for scores in (_text(None, "AD is 12"), _lines(None, DRAWN)):
        assert list(scores.values.values()) == [None] and "--judge" in scores.notes["unscored"]
    assert _lines(None).values == {}
    assert geometry.number(_sample(), episode("**Final answer: 12**"), Grading()).values["geometry_number_acc"] == 1.0


@tabled
def test_a_calculated_number_is_compared_as_a_number(said: str, right: int | None) -> None:
    scores = geometry.number(_sample(), episode(said), Grading())
    assert (scores.values, scores.unparsed) == ({"geometry_number_acc": float(right or 0)}, right is None)


def test_proofs_and_answers_that_are_no_number_have_no_number_score() -> None:
    said = episode("**Final answer: 12**")
    assert geometry.number(_sample(kind="PROVING"), said, Grading()).values == {"geometry_number_acc": None}
    words = Sample("x", target={"kind": "CALCULATION", "answer": "isosceles", "solution": ""})
    assert geometry.number(words, said, Grading()).values == {"geometry_number_acc": None}


@tabled
def test_numbers_as_geometry_writes_them(text: str, value: float | None) -> None:
    assert quantity(text) == (value if value is None else pytest.approx(value, rel=1e-5))


def test_rounded_numbers_are_the_same_and_whole_ones_equal_or_not() -> None:
    assert same(6.93, 6.9282) and not same(6.9, 6.9282)
    assert not same(1001.0, 1000.0) and same(1000.0, 1000.0)
