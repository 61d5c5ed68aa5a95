"""A judge in an ordinary run: scores of its own names beside the rule's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sketchmark.api import run
from sketchmark.models.base import Model, Options, Reply
from sketchmark.parts import Context
from sketchmark.runs.runner import Manner
from sketchmark.task import Grading
from sketchmark.tasks import voila
from tests.voila_judge.making import Judge

JUDGED = [
    *(f"voila_judge_step{step}_{name}" for step in (1, 2, 3) for name in ("number", "subject", "action", "overall")),
    *(f"voila_step4_judge_{name}" for name in ("number", "subject", "action", "overall")),
]


class Dumb(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        return Reply("I cannot tell.")


def metrics(folder: Path, judge: Model | None, mode: str = "stepwise", limit: int = 4) -> dict[str, Any]:
    task = folder / "judged.yaml"
    scorers = ["voila.scoring:by_rule", "voila.judged:score"]
    task.write_text(json.dumps({"include": str(Path(voila.__path__[0]) / "voila.yaml"), "scorers": scorers}))
    manner = Manner(grading=Grading(judge=judge))
    done = run(
        "player/solver", "judged", mode=mode, limit=limit, output_path=folder / "run", manner=manner, include=(task,)
    )
    return {name: found["mean"] for name, found in done.results()["tasks"][f"judged.{mode}"]["metrics"].items()}


def test_without_a_judge_there_are_no_judged_scores(tmp_path: Path) -> None:
    found = metrics(tmp_path, None, limit=1)
    assert found["voila_step3_overall"] == 1
    assert not [name for name in found if "judge" in name]


def test_with_a_judge_its_scores_stand_beside_the_rules(tmp_path: Path) -> None:
    judge = Judge()
    found = metrics(tmp_path, judge)
    assert [name for name in found if "judge" in name] == [*JUDGED, "voila_judge_failed"]
    for step in (1, 2, 3):
        assert found[f"voila_judge_step{step}_overall"] == found[f"voila_step{step}_overall"] == 1
    assert found["voila_step4_judge_number"] == 1
    assert found["voila_judge_failed"] == 0
    assert len(judge.asked) == 16


def test_direct_answers_are_judged_as_step_3(tmp_path: Path) -> None:
    found = metrics(tmp_path, Judge(), mode="direct")
    assert [name for name in found if "judge" in name] == [*JUDGED[8:12], "voila_judge_failed"]
    assert found["voila_judge_step3_overall"] == 1


def test_a_judge_without_verdicts_is_counted_and_everything_is_0(tmp_path: Path) -> None:
    found = metrics(tmp_path, Dumb("dumb"))
    assert found["voila_judge_failed"] == 1
    assert {found[name] for name in JUDGED} == {0}
    assert found["voila_step3_overall"] == pytest.approx(1)
