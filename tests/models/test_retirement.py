"""A model that its provider will shut down: on the record, and a warning when the day is near."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.models.providers.openai import OpenAI
from sketchmark.report.card import card
from sketchmark.runs.checks import retiring
from tests.models.fake_server import running


@pytest.mark.parametrize(("said", "found"), [("2026-12-01", {"m": "2026-12-01"}), (None, {}), ("soon", {}), (7, {})])
async def test_the_day_is_what_the_list_of_models_says(said: Any, found: dict[str, str]) -> None:
    with running() as far:
        far.shutdown_date = said
        model = OpenAI("m", base_url=f"{far.url}/v1")
        assert await model.retirements() == found
        await model.close()


async def test_a_server_that_cannot_be_reached_announces_nothing() -> None:
    model = OpenAI("m", base_url="http://127.0.0.1:9/v1")
    assert await model.retirements() == {}
    await model.close()


def test_a_day_within_three_months_is_a_warning() -> None:
    today = datetime.now(UTC).date()
    near, far = (str(today + timedelta(days=days)) for days in (89, 92))
    assert retiring({"a": near, "b": far, "c": "2026-99-99"}) == [
        f"a is shut down on {near}, says its provider: plan to repeat this with another model"
    ]


def test_it_is_in_run_json_on_the_card_and_among_the_warnings(tmp_path: Path) -> None:
    day = str(datetime.now(UTC).date() + timedelta(days=10))
    with running() as far:
        far.shutdown_date = day
        folder = sketchmark.run(
            "openai/m",
            "maze",
            limit=1,
            model_args={"base_url": f"{far.url}/v1"},
            output_path=tmp_path / "run",
            no_cache=True,
        ).folder
    assert folder.about().model.retires == {"m": day}
    assert any(f"m is shut down on {day}" in line for line in folder.results().warnings)
    assert f"m: {day}" in card(folder, "run")
