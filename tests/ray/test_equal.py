"""A Ray cluster plays a run as this machine would: the same episodes, scores and numbers, within the same limits."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.errors import SketchmarkError
from sketchmark.models import load_model
from sketchmark.runs import prepare
from sketchmark.serve import serving
from tests.engines.comparing import PLUG_IN, ROWS, assert_same, ids
from tests.ray.cluster import on_ray

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]


def test_episodes_scores_and_numbers_are_those_of_the_local_engine(cluster: Any, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"mode": "direct,visual_cot", "canvas": "own,other", "limit": 3}
    on_ray(cluster, "player/sketcher", "maze,jigsaw", output_path=tmp_path / "ray", **asked)
    local = {**asked, "engine": "local", "no_cache": True}
    sketchmark.run("player/sketcher", "maze,jigsaw", output_path=tmp_path / "local", **local)
    assert_same(tmp_path / "ray", tmp_path / "local")


def test_calls_that_are_made_on_the_cluster_are_seen_here(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sketchmark import runs as preparing
    from sketchmark.progress import Calls, Silent

    class Onlooker(Silent):
        looks_on = True
        told = ""

        def calls(self, so_far: Calls) -> None:
            self.told = so_far.told()

    looking = Onlooker()
    monkeypatch.setattr(preparing, "watcher", lambda quiet: looking)
    folder = on_ray(cluster, "player/sketcher", "maze", output_path=tmp_path, mode="visual_cot", limit=3)
    calls = folder.results().tasks["maze.visual_cot"].usage["calls"]
    assert looking.told.startswith(f"{calls} calls, 0 under way") and calls > 9


def test_included_code_and_rows_of_a_data_set_reach_the_workers(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder that is gone before the first worker could look into it."""
    included = tmp_path / "mine"
    included.mkdir()
    for file in (PLUG_IN, ROWS):
        (included / file.name).write_bytes(file.read_bytes())
    asked: dict[str, Any] = {"mode": "direct,steps", "include": [included], "trust_code": True, "no_cache": True}
    sketchmark.run("painter", "rows", engine="local", output_path=tmp_path / "local", **asked)
    run = prepare("painter", "rows", engine="ray", ray_address=cluster.address, output_path=tmp_path / "ray", **asked)
    from sketchmark.engines import ray_cluster

    start = ray_cluster.RayWorker.start

    async def hidden(*arguments: Any) -> Any:
        if included.exists():
            included.rename(tmp_path / "elsewhere")
        return await start(*arguments)

    monkeypatch.setattr(ray_cluster.RayWorker, "start", hidden)
    run.play()
    assert not included.exists()
    assert_same(tmp_path / "ray", tmp_path / "local")


class Counting(Model):
    """The solver, with a note of when it was asked."""

    def __init__(self) -> None:
        super().__init__("solver")
        self.asked: list[float] = []
        self._inner = load_model("player/solver")

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(time.monotonic())
        return await self._inner.say(context, options)


def test_the_rate_limit_holds_for_the_whole_cluster_and_keys_reach_the_workers_unwritten(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-the-key-of-the-ray-test-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    model = Counting()
    with serving(model, key=key) as url:
        on_ray(
            cluster, "openai/solver", "maze", limit=12, model_args={"base_url": url}, concurrency=12, replicas=3,
            max_requests_per_minute=180, output_path=tmp_path / "run",
        )  # fmt: skip
    asked = sorted(model.asked)
    assert len(asked) == 12
    assert asked[-1] - asked[0] >= 0.9 * (12 / 3 - 1) * 60 / (180 / 3), "three a second, and not three a replica"
    written = subprocess.run(
        ["grep", "-rlF", key, str(tmp_path), "/tmp/ray/session_latest/"], capture_output=True, text=True
    )
    assert written.stdout == "", "the key stands in a run folder or in Ray's logs"


def test_the_cost_limit_holds_for_the_whole_cluster(cluster: Any, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("player/solver: {output: 1000000}\n")  # one for each word
    folder = on_ray(
        cluster, "player/solver", "maze", limit=200, prices=prices, max_cost=20, concurrency=4,
        output_path=tmp_path / "run",
    )  # fmt: skip
    assert 0 < len(list(folder.episodes("maze.direct"))) < 30


def test_a_run_is_resumed_by_whichever_engine(cluster: Any, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"no_cache": True, "output_path": tmp_path / "run"}
    sketchmark.run("player/solver", "maze", engine="local", limit=3, **asked)
    on_ray(cluster, "player/solver", "maze", limit=6, output_path=tmp_path / "run")
    cell = (
        sketchmark.run("player/solver", "maze", engine="local", limit=8, **asked)
        .folder.results()
        .tasks["maze.direct"]
    )
    assert sorted(ids(tmp_path / "run", "maze.direct")) == [f"maze-0-{number:06d}" for number in range(8)]
    assert (cell.n, cell.metrics[cell.headline].mean) == (8, 1.0)


def test_another_version_on_the_workers_is_one_line(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sketchmark.runs import worker as travel

    pack = travel.pack_recipe

    def older(recipe: Any, files: Any) -> bytes:
        recipe.sketchmark = "0.0.1"
        return pack(recipe, files)

    monkeypatch.setattr(travel, "pack_recipe", older)
    with pytest.raises(SketchmarkError, match=r"the run is of Sketchmark 0\.0\.1, and a worker has"):
        on_ray(cluster, "player/solver", "maze", limit=2, output_path=tmp_path / "run")


def test_a_cluster_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    asked = ["run", "--model", "player/solver", "--tasks", "maze", "--limit", "2", "-o", str(tmp_path / "run")]
    nobody = ["--engine", "ray", "--ray-address", "127.0.0.1:1"]
    done = subprocess.run([sys.executable, "-m", "sketchmark", *asked, *nobody], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("sketchmark: cannot reach a Ray cluster")
