"""Geometry is scored by a judge alone: what it is shown, and how its verdict is read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sketchmark.errors import CallFailed
from sketchmark.models.base import Model
from sketchmark.models.cached import with_cache
from sketchmark.parts import Picture, Sample
from sketchmark.task import Grading, Scores
from sketchmark.tasks.uni_mmmu.geometry import judged
from tests.episodes import Judge, episode, flat

DIAGRAM, TRUE, DRAWN, FIRST = flat(10), flat(20), flat(30), flat(40)
RIGHT, WRONG = "VERDICT: CORRECT", "VERDICT: INCORRECT"


def _sample(*, lines: str = "", drawn: Picture | None = None) -> Sample:
    return Sample(
        "x",
        pictures={"image": DIAGRAM},
        fields={"question": "How long is AD?", "lines": lines},
        target={"answer": "twelve"},
        frames=(lambda: [drawn, FIRST]) if drawn else None,
    )


def _score(judge: Model | None, said: str, *drawings: Picture | None, sample: Sample | None = None) -> Scores:
    return asyncio.run(judged(sample or _sample(), episode(said, drawings=drawings), Grading(judge=judge)))


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (RIGHT, 1.0),
        (WRONG, 0.0),
        ("VERDICT: **CORRECT**", 1.0),
        (f"{RIGHT}? No.\n{WRONG}", 0.0),
        (f"{WRONG}? No.\n{RIGHT}", 1.0),
    ],
)
def test_the_last_verdict_counts(reply: str, value: float) -> None:
    scores = _score(Judge(reply), "AD is 12")
    assert scores.values == {"geometry_text_acc": value}
    assert scores.notes == {"expected": "twelve", "geometry_text_acc_judge": reply}


@pytest.mark.parametrize("reply", ["", "CORRECT", "verdict: correct", "VERDICT: CORRECTED"])
def test_no_verdict_is_a_failure_of_the_judge_and_not_kept(reply: str, tmp_path: Path) -> None:
    judge = Judge(reply)
    for _ in range(2):
        with pytest.raises(CallFailed, match="geometry_text_acc: no verdict") as failed:
            _score(with_cache(judge, tmp_path), "AD is 12")
        assert failed.value.kind == "judge_failed"
    assert len(judge.asked) == 2


def test_the_judge_sees_problem_reference_and_solution() -> None:
    judge = Judge(RIGHT)
    _score(judge, "AD is 12")
    [asked] = judge.asked
    for part in ("Problem:\nHow long is AD?\n", "Reference:\ntwelve\n", "Solution to grade:\nAD is 12\n"):
        assert part in asked
    assert judge.shown[0].pictures == []


def test_the_last_drawing_is_judged_beside_the_diagram_and_the_true_lines() -> None:
    judge = Judge(RIGHT)
    scores = _score(judge, "AD is 12", FIRST, DRAWN, sample=_sample(lines="AD", drawn=TRUE))
    assert scores.values == {"geometry_text_acc": 1.0, "geometry_overlay_acc": 1.0}
    assert set(scores.notes) == {"expected", "geometry_text_acc_judge", "geometry_overlay_acc_judge"}
    assert judge.shown[1].pictures == [DIAGRAM, TRUE, DRAWN]
    assert "the third is to be graded" in judge.asked[1] and "Auxiliary lines:\nAD\n" in judge.asked[1]
    plain = Judge(WRONG)
    assert _score(plain, "AD is 12", DRAWN).values["geometry_overlay_acc"] == 0.0
    assert plain.shown[1].pictures == [DIAGRAM, DRAWN]
    assert "the second is to be graded" in plain.asked[1] and "Auxiliary lines:" not in plain.asked[1]


def test_what_is_missing_is_wrong_and_nobody_is_asked_about_it() -> None:
    judge = Judge(RIGHT)
    assert _score(judge, "  ", None).values == {"geometry_text_acc": 0.0, "geometry_overlay_acc": 0.0}
    assert judge.asked == []


def test_without_a_judge_nothing_is_scored() -> None:
    scores = _score(None, "AD is 12", DRAWN)
    assert scores.values == {"geometry_text_acc": None, "geometry_overlay_acc": None}
    assert "--judge" in scores.notes["unscored"]
    assert _score(None, "AD is 12").values == {"geometry_text_acc": None}
