"""A real Ray cluster of two nodes: runs, limits and results are those of this machine, and deaths lose nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply, runs
from sketchmark.engines import ray_cluster
from sketchmark.errors import SketchmarkError
from sketchmark.folder import RunFolder
from sketchmark.models import load_model
from sketchmark.progress import Calls, Silent
from sketchmark.runs import prepare, worker
from sketchmark.serve import serving
from sketchmark.suites import run_suite
from tests.engines.comparing import PLUG_IN, ROWS, assert_same, first_picture, ids

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

_STORE = 100_000_000
CELLS = ("maze.direct", "maze.visual_cot")


@contextmanager
def two_nodes(head_cpus: int = 1, other_cpus: int = 2) -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": head_cpus, "object_store_memory": _STORE})
    try:
        cluster.add_node(num_cpus=other_cpus, object_store_memory=_STORE)
        yield cluster
    finally:
        cluster.shutdown()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    with two_nodes() as found:
        yield found


def on_ray(cluster: Any, model: str, tasks: str, **asked: Any) -> Any:
    how: dict[str, Any] = {"engine": "ray", "ray_address": cluster.address, "no_cache": True, **asked}
    return sketchmark.run(model, tasks, **how).folder


def command(cluster: Any, folder: Path, *more: str) -> list[str]:
    """Return the command of a run on the cluster: 40 episodes that take their time."""
    asked = [sys.executable, "-m", "sketchmark", "run", "--include", str(PLUG_IN), "--tasks", "maze", "--no-cache"]
    asked += ["--mode", "direct,visual_cot", "--limit", "20", "--output-path", str(folder), "--engine", "ray"]
    return [*asked, "--ray-address", cluster.address, *more]


def wait_for_lines(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 90
    while sum(path.read_bytes().count(b"\n") for path in folder.glob("episodes/*.jsonl")) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no episode was finished"
        time.sleep(0.05)


# The same results


def test_episodes_scores_and_numbers_are_those_of_the_local_engine(cluster: Any, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"mode": "direct,visual_cot", "canvas": "own,other", "limit": 3}
    on_ray(cluster, "player/sketcher", "maze,jigsaw", output_path=tmp_path / "ray", **asked)
    local = {**asked, "engine": "local", "no_cache": True}
    sketchmark.run("player/sketcher", "maze,jigsaw", output_path=tmp_path / "local", **local)
    assert_same(tmp_path / "ray", tmp_path / "local")


def test_repeats_and_answers_are_those_of_the_local_engine_also_when_raised_later(
    cluster: Any, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"mode": "direct,visual_cot", "limit": 3, "model_args": "draw_slip=0.4,read_slip=0.3"}
    on_ray(cluster, "player/flawed", "maze", output_path=tmp_path / "ray", repeats=2, **asked)
    raised = {**asked, "repeats": 3, "answers": 2}
    folder = on_ray(cluster, "player/flawed", "maze", output_path=tmp_path / "ray", **raised)
    sketchmark.run("player/flawed", "maze", output_path=tmp_path / "local", engine="local", no_cache=True, **raised)
    for cell, count in (("maze.direct", 9), ("maze.visual_cot", 18)):
        assert len(ids(tmp_path / "ray", cell)) == count, "each episode ran once"
        one, other = (
            {row.key: (row.values, row.usage) for row in RunFolder(path).scores(cell)}
            for path in (folder.path, tmp_path / "local")
        )
        assert one == other
    assert folder.results().tasks == RunFolder(tmp_path / "local").results().tasks


def test_calls_that_are_made_on_the_cluster_are_seen_here(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Onlooker(Silent):
        looks_on = True
        told = ""

        def calls(self, so_far: Calls) -> None:
            self.told = so_far.told()

    looking = Onlooker()
    monkeypatch.setattr(runs, "watcher", lambda quiet: looking)
    folder = on_ray(cluster, "player/sketcher", "maze", output_path=tmp_path, mode="visual_cot", limit=3)
    calls = folder.results().tasks["maze.visual_cot"].usage["calls"]
    assert looking.told.startswith(f"{calls} calls, 0 under way") and calls > 9


def test_included_code_and_rows_of_a_dataset_reach_the_workers(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come from a folder that is gone before the first worker could look into it."""
    included = tmp_path / "mine"
    included.mkdir()
    for file in (PLUG_IN, ROWS):
        (included / file.name).write_bytes(file.read_bytes())
    asked: dict[str, Any] = {"mode": "direct,steps", "include": [included], "trust_code": True, "no_cache": True}
    sketchmark.run("painter", "rows", engine="local", output_path=tmp_path / "local", **asked)
    run = prepare("painter", "rows", engine="ray", ray_address=cluster.address, output_path=tmp_path / "ray", **asked)
    start = ray_cluster.RayWorker.start

    async def hidden(*arguments: Any) -> Any:
        if included.exists():
            included.rename(tmp_path / "elsewhere")
        return await start(*arguments)

    monkeypatch.setattr(ray_cluster.RayWorker, "start", hidden)
    run.play()
    assert not included.exists()
    assert_same(tmp_path / "ray", tmp_path / "local")


def test_a_run_is_resumed_by_any_engine(cluster: Any, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"no_cache": True, "engine": "local", "output_path": tmp_path / "run"}
    sketchmark.run("player/solver", "maze", limit=3, **asked)
    on_ray(cluster, "player/solver", "maze", limit=6, output_path=tmp_path / "run")
    cell = sketchmark.run("player/solver", "maze", limit=8, **asked).folder.results().tasks["maze.direct"]
    assert sorted(ids(tmp_path / "run", "maze.direct")) == [f"maze-0-{number:06d}" for number in range(8)]
    assert (cell.n, cell.metrics[cell.headline].mean) == (8, 1.0)


# Pairs of a thinker and a drawer

PAIR: dict[str, Any] = {
    "drawer": "player/solver", "mode": "direct,visual_cot", "limit": 3,
    "task_args": "rows=3,cols=3,min_steps=2,max_steps=3",
}  # fmt: skip
PRICES = {"player/sketcher": {"output": 1_000_000}, "player/solver": {"picture": 1000}}


def test_a_pair_runs_on_the_cluster_as_it_runs_here_and_both_parts_are_charged(cluster: Any, tmp_path: Path) -> None:
    sketchmark.run("player/sketcher", "maze", engine="local", no_cache=True, output_path=tmp_path / "local", **PAIR)
    how: dict[str, Any] = {"engine": "ray", "ray_address": cluster.address, "no_cache": True, "prices": PRICES}
    run = prepare("player/sketcher", "maze", output_path=tmp_path / "ray", **how, **PAIR)
    there = run.play()
    assert_same(tmp_path / "ray", tmp_path / "local")
    assert there.about().model.name == "player/sketcher + player/solver"
    usage = there.results().tasks["maze.visual_cot"].usage
    assert usage["drawer_pictures_out"] == usage["pictures_out"] > 0
    assert run.budget.spent > 1000 * usage["pictures_out"]
    limited = prepare(
        "player/sketcher",
        "maze",
        output_path=tmp_path / "some",
        concurrency=1,
        replicas=1,
        max_cost=1500,
        **how,
        **PAIR,
    )
    limited.play()
    assert limited.is_stopped_by_cost() and 1500 <= limited.budget.spent < run.budget.spent


def test_a_run_file_gives_each_model_its_drawer_on_the_cluster(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.yaml").write_text(RUN_FILE, "utf-8")
    outcomes = run_suite(tmp_path / "runs.yaml", tmp_path / "runs", engine="ray", ray_address=cluster.address)
    assert [outcome.errors for outcome in outcomes] == [[], []]
    names = [outcome.folder.about().model.name for outcome in outcomes if outcome.folder]
    assert names == ["player/sketcher + player/solver", "player/sketcher + player/flawed"]


RUN_FILE = """
models:
  - player/sketcher
  - {model: player/sketcher, drawer: player/flawed, drawer_args: {draw_error: 1.0}}
drawer: player/solver
tasks: maze
mode: visual_cot
limit: 2
"""


def test_images_that_a_drawer_on_the_cluster_is_not_shown_are_left_out(cluster: Any, tmp_path: Path) -> None:
    asked = {**PAIR, "drawer": "copyist", "include": [PLUG_IN], "mode": "visual_cot"}
    folder = on_ray(cluster, "player/sketcher", "maze", output_path=tmp_path, **asked)
    turns = [turn for line in folder.episodes("maze.visual_cot") for turn in line.turns]
    lost = [turn.reply.left_out for turn in turns if turn.act == "draw" and turn.reply]
    assert any("of 2 pictures: copyist takes no more" in "".join(one) for one in lost), lost
    assert folder.results().tasks["maze.visual_cot"].calls_left_out > 0


def test_replicas_load_a_pipeline_of_diffusers_each(cluster: Any, tmp_path: Path) -> None:
    """Only where diffusers is installed next to Ray."""
    pytest.importorskip("diffusers")
    from tests.local.tiny_pipelines import make_flux

    drawer = f"diffusers/{make_flux(tmp_path / 'flux')}"
    more = {**PAIR, "drawer": drawer, "mode": "visual_cot", "limit": 2}
    more["drawer_args"] = {"steps": 1, "size": 32, "batch_size": 1, "texts": 1}
    on_ray(cluster, "player/solver", "maze", output_path=tmp_path / "ray", replicas=2, num_gpus=0, **more)
    sketchmark.run("player/solver", "maze", engine="local", no_cache=True, output_path=tmp_path / "local", **more)
    assert_same(tmp_path / "ray", tmp_path / "local")


# Limits


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
    assert written.stdout == "", "the key is in a run folder or in Ray's logs"


def test_the_cost_limit_holds_for_the_whole_cluster(cluster: Any, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("player/solver: {output: 1000000}\n")  # one for each word
    folder = on_ray(
        cluster, "player/solver", "maze", limit=200, prices=prices, max_cost=20, concurrency=4,
        output_path=tmp_path / "run",
    )  # fmt: skip
    assert 0 < len(list(folder.episodes("maze.direct"))) < 30


# Deaths


def _whole(path: Path, model: str, **asked: Any) -> Path:
    """The same as `command`, undisturbed and on this machine."""
    modes = "direct,visual_cot"
    how: dict[str, Any] = {"mode": modes, "limit": 20, "include": [PLUG_IN], "no_cache": True, **asked}
    sketchmark.run(model, "maze", output_path=path, **how)
    return path


def test_a_node_killed_in_the_middle_and_a_driver_killed_and_resumed(tmp_path: Path) -> None:
    """One cluster for both: first its second node dies under a run, then, on what is left, the run itself."""
    whole = _whole(tmp_path / "whole", "slow")
    with two_nodes() as cluster:
        (other,) = [node for node in cluster.list_all_nodes() if node is not cluster.head_node]
        asked = command(cluster, tmp_path / "node", "--model", "slow", "--concurrency", "6", "--replicas", "3")
        process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_lines(tmp_path / "node", 4, process)
        cluster.remove_node(other, allow_graceful=False)
        out, told = process.communicate(timeout=120)
        assert process.returncode == 0, told
        (line,) = [line for line in out.splitlines() if line.startswith("workers:")]
        assert "lost; " in line and "had to be rerun elsewhere" in line
        assert_same(tmp_path / "node", whole)
        assert all(len(ids(tmp_path / "node", cell)) == 20 for cell in CELLS), "nothing is written twice"

        asked = command(cluster, tmp_path / "driver", "--model", "slow", "--concurrency", "4", "--quiet")
        process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_lines(tmp_path / "driver", 4, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = {path: path.read_bytes() for path in (tmp_path / "driver").glob("episodes/*.jsonl")}
        done = subprocess.run(asked, capture_output=True, text=True, timeout=120)
        # Ray itself may still report the node that died, with its guesses why: (1), (2).
        ours = [line for line in done.stdout.splitlines() if "(raylet)" not in line and not line.startswith("\t(")]
        assert (done.returncode, ours) == (0, []), done.stderr
        assert_same(tmp_path / "driver", whole)
        for path, lines in before.items():
            kept = lines[: lines.rfind(b"\n") + 1]
            assert path.read_bytes().startswith(kept) and path.read_bytes().count(b"\n") == 20


def test_an_episode_that_kills_every_worker_fails_alone(cluster: Any, tmp_path: Path) -> None:
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    arguments = {"victim": first_picture(3), "folder": str(deaths), "deaths": 3}
    asked: dict[str, Any] = {"limit": 8, "include": [PLUG_IN], "model_args": arguments, "replicas": 1}
    folder = on_ray(cluster, "deadly", "maze", output_path=tmp_path / "run", **asked)
    cell = folder.results().tasks["maze.direct"]
    assert (cell.n, cell.failures) == (7, {"worker_lost": 1})
    assert sorted(ids(tmp_path / "run", "maze.direct")) == [f"maze-0-{number:06d}" for number in range(8)]
    folder = on_ray(cluster, "deadly", "maze", output_path=tmp_path / "run", **asked)
    assert folder.results().tasks["maze.direct"].n == 8 and len(list(deaths.iterdir())) == 3


def _memory() -> tuple[int, int]:
    """(all, free) in bytes, as the system says."""
    said = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return tuple(int(said[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))  # type: ignore[return-value]


def test_a_worker_that_runs_out_of_memory_costs_its_own_episode_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's own watch over memory ends the worker, as it would the largest one on a real node."""
    total, free = _memory()
    if free < 8_000_000_000:
        pytest.skip("needs 8 GB of free memory")
    monkeypatch.setenv("RAY_memory_usage_threshold", f"{(total - free + 2_500_000_000) / total:.4f}")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    with two_nodes() as cluster:
        folder = on_ray(
            cluster, "greedy", "maze", limit=6, include=[PLUG_IN], output_path=tmp_path / "run", replicas=2,
            model_args={"victim": first_picture(2), "megabytes": 6000},
        )  # fmt: skip
    cell = folder.results().tasks["maze.direct"]
    assert (cell.n, cell.failures) == (5, {"worker_lost": 1})
    (failure,) = [line.failure for line in folder.episodes("maze.direct") if line.failure]
    assert "memory" in failure.message.lower()


def test_a_cluster_that_is_full_is_waited_for(cluster: Any, tmp_path: Path) -> None:
    """More replicas than there is room for: those that have a place run, and the others do not hold them up."""
    began = time.monotonic()
    folder = on_ray(cluster, "player/solver", "maze", limit=10, replicas=8, output_path=tmp_path / "run")
    assert folder.results().tasks["maze.direct"].n == 10 and time.monotonic() - began < 120


# Errors


def test_another_version_on_the_workers_is_one_line(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = worker.pack_recipe

    def older(recipe: Any, files: Any) -> bytes:
        recipe.sketchmark = "0.0.1"
        return pack(recipe, files)

    monkeypatch.setattr(worker, "pack_recipe", older)
    with pytest.raises(SketchmarkError, match=r"the run is of Sketchmark 0\.0\.1, and a worker has"):
        on_ray(cluster, "player/solver", "maze", limit=2, output_path=tmp_path / "run")


def test_a_cluster_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    asked = ["run", "--model", "player/solver", "--tasks", "maze", "--limit", "2", "-o", str(tmp_path / "run")]
    missing = ["--engine", "ray", "--ray-address", "127.0.0.1:1"]
    done = subprocess.run([sys.executable, "-m", "sketchmark", *asked, *missing], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("sketchmark: cannot reach a Ray cluster")
