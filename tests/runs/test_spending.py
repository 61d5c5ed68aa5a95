"""What a run costs, and that it stops where it was told to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sketchmark import Reply, Usage
from sketchmark.models.cache import Cached, CallCache
from sketchmark.runs.runner import Budget
from tests.runs.making import Looker, Speaker, colour, cost, make_cells, run

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
