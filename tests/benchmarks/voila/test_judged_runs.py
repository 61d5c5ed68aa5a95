"""A judge in an ordinary run: scores of its own names beside the rule's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Context, Model, Options, Reply
from sketchmark.api import run
from sketchmark.benchmarks import voila
from sketchmark.benchmarks.voila.totals import agreement
from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import CellResult
from sketchmark.serve import serving
from sketchmark.serve.faults import Faults
from tests.benchmarks.voila.making import Judge

JUDGED = [
    *(f"voila_judge_step{step}_{name}" for step in (1, 2, 3) for name in ("number", "subject", "action", "overall")),
    *(f"voila_step4_judge_{name}" for name in ("number", "subject", "action", "overall")),
]


class Dumb(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        return Reply("I cannot tell.")


class Harsh(Judge):
    """Finds nothing right."""

    async def say(self, context: Context, options: Options) -> Reply:
        verdict = (await super().say(context, options)).text
        return Reply(re.sub(r'"(number|subject_type|action)": 1', r'"\1": 0', verdict))


def metrics(folder: Path, judge: Model | None, mode: str = "stepwise", limit: int = 4) -> dict[str, Any]:
    task = folder / "judged.yaml"
    scorers = ["voila.score_by_rule", "voila.score_by_judge"]
    task.write_text(json.dumps({"include": str(Path(voila.__path__[0]) / "voila.yaml"), "scorers": scorers}))
    done = run(
        "player/solver",
        "judged",
        mode=mode,
        limit=limit,
        output_path=folder / "run",
        judge=judge or "",
        include=(task,),
    ).folder
    return {name: found.mean for name, found in done.results().tasks[f"judged.{mode}"].metrics.items()}


def test_without_a_judge_there_are_no_judged_scores(tmp_path: Path) -> None:
    found = metrics(tmp_path, None, limit=1)
    assert found["voila_step3_overall"] == 1
    assert not [name for name in found if "judge" in name]


def test_with_a_judge_its_scores_stand_beside_the_rules(tmp_path: Path) -> None:
    judge = Judge()
    found = metrics(tmp_path, judge)
    assert [name for name in found if "judge" in name] == JUDGED
    for step in (1, 2, 3):
        assert found[f"voila_judge_step{step}_overall"] == found[f"voila_step{step}_overall"] == 1
    assert found["voila_step4_judge_number"] == 1
    assert len(judge.asked) == 16


def test_direct_answers_are_judged_as_step_3(tmp_path: Path) -> None:
    found = metrics(tmp_path, Judge(), mode="direct")
    assert [name for name in found if "judge" in name] == JUDGED[8:12]
    assert found["voila_judge_step3_overall"] == 1


def test_a_judge_without_verdicts_has_no_scores_and_the_rules_stand(tmp_path: Path) -> None:
    found = metrics(tmp_path, Dumb("dumb"))
    assert not set(found) & set(JUDGED)
    assert found["voila_step3_overall"] == pytest.approx(1)
    cell = RunFolder(tmp_path / "run").results().tasks["judged.stepwise"]
    assert (cell.n, cell.failures) == (4, {"judge_failed": 4})
    assert "step 1: not JSON; step 2: not JSON" in cell.reasons["judge_failed"]


def test_a_healthy_judge_is_asked_where_the_last_one_failed_and_only_there(tmp_path: Path) -> None:
    """Over HTTP: a server that answers nothing, one that gives no verdict on its first question, then the same."""

    class Waking(Judge):
        async def say(self, context: Context, options: Options) -> Reply:
            reply = await super().say(context, options)
            return Reply("Hm?") if len(self.asked) == 1 else reply

    judge = Waking()

    def judged(url: str) -> CellResult:
        done = run(
            "player/solver",
            "voila",
            limit=3,
            output_path=tmp_path / "run",
            cache=tmp_path / "kept",
            judge="openai/m",
            judge_args={"base_url": url, "max_retries": 0},
        ).folder
        return done.results().tasks["voila.direct"]

    def n(cell: CellResult, score: str) -> int:
        return cell.metrics[score].n if score in cell.metrics else 0

    with serving(Judge(), faults=Faults.parse("500:1")) as url:
        dead = judged(url)
    assert (n(dead, "voila_step3_overall"), n(dead, "voila_judge_step3_overall")) == (3, 0)
    assert dead.failures == {"judge_failed": 3} and "step 3: server_error" in dead.reasons["judge_failed"]
    with serving(judge) as url:
        waking, awake = judged(url), judged(url)
    assert (n(waking, "voila_judge_step3_overall"), waking.failures) == (2, {"judge_failed": 1})
    assert (n(awake, "voila_judge_step3_overall"), awake.failures) == (3, {})
    assert len(judge.asked) == 4, "three, and one again"


def test_a_judge_that_cannot_go_on_ends_the_run_and_the_next_one_only_judges(tmp_path: Path) -> None:
    class Refused(Judge):
        refused = True

        async def say(self, context: Context, options: Options) -> Reply:
            if self.refused and len(self.asked) == 2:
                raise CallFailed("quota", "the account is empty", stops_run=True)
            return await super().say(context, options)

    judge = Refused()
    arguments: dict[str, Any] = {"limit": 4, "output_path": tmp_path / "run", "judge": judge, "concurrency": 1}
    with pytest.raises(SketchmarkError, match="the account is empty"):
        run("player/solver", "voila", **arguments)
    assert len(judge.asked) == 2
    played = len(list(RunFolder(tmp_path / "run").episodes("voila.direct")))
    assert played == 3, "what is played is kept, also the one that could not be judged"
    judge.refused = False
    cell = run("player/solver", "voila", **arguments).folder.results().tasks["voila.direct"]
    assert cell.metrics["voila_judge_step3_overall"].n == 4 and cell.failures == {}
    assert len(judge.asked) == 4, "verdicts that were given are not asked for again"


def test_official_has_the_judges_marks_in_the_place_of_the_rules_and_needs_a_judge(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"limit": 2, "mode": "stepwise", "output_path": tmp_path / "run"}
    with pytest.raises(SketchmarkError, match="give --judge"):
        run("player/solver", "voila", scoring="official", **settings)
    done = run("player/solver", "voila", scoring="official,strict", judge=Harsh(), **settings).folder
    cell = done.results().tasks["voila.stepwise"]
    assert cell.metrics["voila_step3_overall"].mean == 0, "what the judge says"
    assert {name.removesuffix("_overall") for name in cell.metrics if name.endswith("_overall")} == {
        "voila_step1", "voila_step2", "voila_step3", "voila_step4_judge"}  # fmt: skip
    strict = cell.scorings["strict"].metrics
    assert strict["voila_step3_overall"].mean == 1 and strict["voila_judge_step3_overall"].mean == 0


def test_a_scoring_that_voila_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SketchmarkError, match="there are: strict, official"):
        run("player/solver", "voila", limit=1, scoring="lenient", output_path=tmp_path / "run")


def _row(rule: int, judge: int | None) -> dict[str, Any]:
    names = ("number", "subject", "action", "overall")
    values = {
        f"{start}_{name}": float(mark)
        for start, mark in (("voila_step3", rule), ("voila_judge_step3", judge))
        for name in names
        if mark is not None
    }
    return {"scored": True, "values": values, "notes": {}}


def test_rule_and_judge_are_compared_where_both_gave_a_mark() -> None:
    rows = [_row(1, 1), _row(1, 1), _row(0, 0), _row(1, 0), _row(1, None)]
    found = agreement(rows, "strict")
    assert found["voila_agreement_step3"] == 0.75
    assert found["agreement"]["step3"]["number"] == {"n": 4, "raw": 0.75, "kappa": pytest.approx(0.5)}
    assert list(found) == ["voila_agreement_step3", "agreement"]


def test_without_a_judge_no_agreement_is_reported() -> None:
    alone = [{"scored": True, "values": {"voila_step3_overall": 1.0}, "notes": {}}]
    assert agreement(alone, "strict") == {}


def test_a_judged_run_reports_the_agreement(tmp_path: Path) -> None:
    done = run("player/solver", "voila", mode="stepwise", limit=3, output_path=tmp_path / "run", judge=Judge()).folder
    found = done.results().tasks["voila.stepwise"].aggregate
    assert (found["voila_agreement_step2"], found["voila_agreement_step3"]) == (1.0, 1.0)
