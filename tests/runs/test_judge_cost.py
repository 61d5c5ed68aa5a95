"""The cost of a judge counts like the model's: towards the limit and in the dry run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark import Context, Model, Options, Reply, Usage
from sketchmark.cli import root
from sketchmark.errors import BadInput
from sketchmark.models.cache import Cached, CallCache
from sketchmark.runs import PreparedRun, prepare
from sketchmark.runs.checks import estimate
from sketchmark.runs.runner import Budget
from tests.benchmarks.uni_mmmu import published_rest
from tests.runs.making import Looker, Speaker, colour, cost, make_cells, run

PRICES = "artist: {input: 0}\njudge: {input: 1000000, output: 2000000}\n"
"""One per input token of the judge, two per output token."""


class Artist(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        return Reply("<OUTPUT_PROMPT>It melts.</OUTPUT_PROMPT>")

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply(picture=context.pictures[-1])


class Judge(Model):
    """Each verdict costs 3 and 2 × 1: five."""

    def __init__(self) -> None:
        super().__init__("judge")
        self.asked = 0

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked += 1
        verdict = '{"reasoning_correct": 1, "result_correct": 1, "image_correct": 1}'
        return Reply(verdict, usage=Usage(tokens_in=3, tokens_out=1))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    published_rest.science(tmp_path)
    (tmp_path / "prices.yaml").write_text(PRICES)
    return {"data": tmp_path, "prices": tmp_path / "prices.yaml", "output_path": tmp_path / "run", "concurrency": 1}


def _prepared(judge: Judge, files: dict[str, Any], **more: Any) -> PreparedRun:
    return prepare(Artist("artist"), "uni_mmmu_science_visual_cot", judge=judge, **files, **more)


def test_the_judges_calls_are_charged_by_its_own_price(files: dict[str, Any]) -> None:
    judge = Judge()
    run = _prepared(judge, files)
    run.play()
    assert judge.asked == 4
    assert (run.budget.spent, run.budget.judge_spent) == (20.0, 20.0)


def test_a_run_stops_when_the_judge_has_used_up_the_limit_and_can_be_resumed(files: dict[str, Any]) -> None:
    judge = Judge()
    run = _prepared(judge, files, max_cost=5)
    folder = run.play()
    assert judge.asked == 1 and run.budget.used_up
    cell = folder.results().tasks["uni_mmmu_science.visual_cot"]
    assert cell.episodes == 1 and cell.failures == {"judge_failed": 1}
    assert "the cost limit is reached" in cell.reasons["judge_failed"]
    more = _prepared(judge, files, max_cost=100)
    cell = more.play().results().tasks["uni_mmmu_science.visual_cot"]
    assert (cell.episodes, cell.failures) == (2, {})
    assert cell.metrics["science_img_acc"].n == 2


def test_the_limit_holds_also_for_scores_filled_in_later(files: dict[str, Any]) -> None:
    sketchmark.run(Artist("artist"), "uni_mmmu_science_visual_cot", **files)
    judge = Judge()
    run = _prepared(judge, files, max_cost=10)
    run.play()
    assert judge.asked == 2 and run.budget.spent == 10.0
    assert run.is_stopped_by_cost(), "all is played, and verdicts are missing"
    rest = _prepared(judge, files, max_cost=10)
    rest.play()
    assert rest.budget.used_up and not rest.is_stopped_by_cost()


def test_cached_verdicts_cost_nothing_and_are_used_beyond_the_limit(files: dict[str, Any], tmp_path: Path) -> None:
    from sketchmark.models.cache import with_cache
    from sketchmark.models.wrappers import Metered

    judge, budget = Judge(), Budget(5.0, judge_price=lambda usage: 5.0)
    kept = with_cache(Metered(judge, budget.charge_judge, lambda: budget.used_up), tmp_path / "kept")
    for name in ("one", "two"):
        asked: dict[str, Any] = {"limit": 1, "data": files["data"], "output_path": tmp_path / name}
        run = sketchmark.run(Artist("artist"), "uni_mmmu_science", judge=kept, **asked)
        cell = run.results.tasks["uni_mmmu_science.direct"]
        assert cell.failures == {} and cell.metrics["science_text_result_acc"].n == 1
    assert (judge.asked, budget.spent) == (1, 5.0)


def test_a_judge_without_a_price_is_refused_and_without_prices_nothing_is_metered(files: dict[str, Any]) -> None:
    judge = Judge()
    files["prices"].write_text("artist: {input: 1}\n")
    with pytest.raises(BadInput, match="has no entry 'judge'"):
        _prepared(judge, files)
    del files["prices"]
    assert _prepared(judge, files).resources.judge is judge


def test_a_dry_run_counts_calls_to_the_judge(files: dict[str, Any]) -> None:
    run = _prepared(Judge(), files)
    found = estimate(run.cells, ["strict"])["uni_mmmu_science.visual_cot"]
    assert found.judge["calls"] == 4 and found.judge["pictures_in"] == 4
    assert found.judge["tokens_out"] == 2 * (1024 + 512)
    assert found.judge["tokens_in"] > 4 * 2048 + 4 * 765, "answers at their longest, and pictures"
    assert estimate(run.cells, ["strict", "official"])["uni_mmmu_science.visual_cot"].judge["calls"] == 8
    assert estimate(run.cells)["uni_mmmu_science.visual_cot"].judge == {}
    assert run.budget.spent == 0.0


def test_a_dry_run_counts_judges_that_ask_only_about_answers_in_their_form(tmp_path: Path) -> None:
    published_rest.code(tmp_path)
    run = prepare(
        Artist("artist"), "uni_mmmu_code_visual_cot", judge=Judge(), data=tmp_path, output_path=tmp_path / "run"
    )
    assert estimate(run.cells, ["strict"])["uni_mmmu_code.visual_cot"].judge["calls"] == 4


def test_the_table_of_a_dry_run_has_a_row_for_the_judge_and_its_price(tmp_path: Path) -> None:
    published_rest.science(tmp_path)
    (tmp_path / "prices.yaml").write_text("player/solver: {picture: 1}\nplayer/random: {output: 1000000}\n")
    command = "run --model player/solver --judge player/random --tasks uni_mmmu_science --mode visual_cot --dry-run"
    more = ["--data", str(tmp_path), "--prices", str(tmp_path / "prices.yaml"), "-o", str(tmp_path / "run")]
    done = CliRunner().invoke(root, [*command.split(), *more], standalone_mode=False, env={"COLUMNS": "120"})
    assert (done.exception, done.return_value) == (None, 0)
    rows = {line.split("  ")[1]: line for line in done.output.splitlines() if line.count("  ") > 5}
    assert rows["the model"].endswith("2.00")
    assert rows["judge player/random"].endswith("3072.00")
    assert done.output.split("total\n")[1].splitlines()[0].endswith("3074.00")


# What a run costs, and that it stops where it was told to.


NAME = "shades.direct"


def _priced(id: str) -> Reply:
    return Reply("yes", usage=cost(1, tokens_in=10))


def _drawn(id: str) -> Reply:
    return Reply(picture=colour("blue"), usage=Usage(pictures_out=1))


def _price(usage: Mapping[str, int]) -> float:
    return usage.get("tokens_in", 0) / 10


async def test_a_budget_stops_the_run_cleanly_and_the_rest_can_be_played_later(tmp_path: Path) -> None:
    model, looker, budget = Speaker(_priced, _drawn), Looker(), Budget(2.0, _price)
    cells = make_cells(4, "direct", "visual_cot")
    folder = await run(tmp_path, cells, model, looker, budget=budget)
    assert model.asked == ["s0", "s1"] and budget.spent == 2.0 and budget.used_up
    assert folder.results().tasks[NAME].n == 2
    assert {told[1] for told in looker.told} == {NAME}, "the next cell is not begun"
    assert ("end", NAME) in looker.told
    rest = Budget(100.0, _price)
    await run(tmp_path, cells, model, looker, budget=rest)
    assert folder.results().tasks[NAME].n == 4 and rest.spent == 2.0 + 4.0 and not rest.used_up


def test_a_budget_is_used_up_when_it_is_spent_and_never_without_a_limit() -> None:
    budget = Budget(1.0, _price)
    budget.charge(Usage(9))
    assert not budget.used_up
    budget.charge(Usage(1))
    assert budget.used_up and budget.spent == 1.0
    assert Budget(0.0, _price).used_up
    free, endless = Budget(1.0), Budget(None, _price)
    free.charge(Usage(1000)), endless.charge(Usage(1000))
    assert free.spent == 0.0 and not free.used_up
    assert endless.spent == 100.0 and not endless.used_up


async def test_calls_from_the_cache_cost_nothing(tmp_path: Path) -> None:
    inner, cells = Speaker(_priced), make_cells(3)
    spent = []
    for name in ("first", "second"):
        budget = Budget(None, _price)
        folder = await run(tmp_path / name, cells, Cached(inner, CallCache(tmp_path / "cache")), budget=budget)
        used = folder.results().tasks[NAME]
        spent.append((budget.spent, used.usage["calls"], used.spent.get("calls", 0)))
    assert spent == [(3.0, 3, 3), (0.0, 3, 0)] and len(inner.calls) == 3
