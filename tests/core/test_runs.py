from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Model
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import Results
from tests.core.helpers import Recorder, episodes


def _run(model: str | Model, path: Path, **more: Any) -> RunFolder:
    settings: dict[str, Any] = {
        "tasks": "maze",
        "mode": "direct,visual_cot",
        "limit": 4,
        "no_cache": "cache" not in more,
    }
    return sketchmark.run(model, output_path=path, **{**settings, **more}).folder


def test_concurrency_changes_no_result(tmp_path: Path) -> None:
    one = _run("player/sketcher", tmp_path / "one", concurrency=1, canvas="own,other")
    many = _run("player/sketcher", tmp_path / "many", concurrency=32, canvas="own,other")
    for cell in one.cells:
        assert episodes(one.path, cell) == episodes(many.path, cell)
    timeless = [_without_usage(folder.results()) for folder in (one, many)]
    assert timeless[0] == timeless[1]


def _without_usage(results: Results) -> Results:
    for cell in results.tasks.values():
        cell.usage = {}
    return results


def test_a_free_running_episode_ends_when_the_model_says_so_and_is_scored_like_any_other(tmp_path: Path) -> None:
    cell = _run("player/solver", tmp_path / "run", tasks="maze,sliding", mode="visual_cot", steps="model").results()
    for name in ("maze", "sliding"):
        metrics = cell.tasks[f"{name}.visual_cot"].metrics
        assert {found.mean for found in metrics.values()} == {1.0}


def test_a_run_can_be_started_where_an_event_loop_is_running(tmp_path: Path) -> None:
    async def notebook() -> RunFolder:
        return _run("player/solver", tmp_path / "run", limit=2)

    assert asyncio.run(notebook()).results().tasks["maze.direct"].n == 2


def test_a_model_made_by_name_is_closed_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    async def close(self: Model) -> None:
        closed.append(self.name)

    monkeypatch.setattr(Model, "close", close)
    _run("player/solver", tmp_path / "run", limit=2)
    assert closed == ["player/solver"]


def test_settings_for_a_model_by_name_are_refused_with_an_instance(tmp_path: Path) -> None:
    for settings in ({"model_args": "seed=1"}, {"batch_size": 2}, {"max_requests_per_minute": 5}):
        with pytest.raises(BadInput, match="given by name"):
            _run(Recorder(), tmp_path / "run", **settings)


def test_calls_of_an_instance_are_cached_only_where_a_folder_is_named(tmp_path: Path) -> None:
    """Two instances of one class may answer differently; a name says what answers."""
    for folder, calls in (("a", 2), ("b", 2)):
        again = Recorder()
        sketchmark.run(again, "maze", limit=2, output_path=tmp_path / folder)
        assert len(again.calls) == calls
    for folder, calls in (("c", 2), ("d", 0)):
        again = Recorder()
        sketchmark.run(again, "maze", limit=2, output_path=tmp_path / folder, cache=tmp_path / "cache")
        assert len(again.calls) == calls
