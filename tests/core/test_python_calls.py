"""What people naturally write when they call `sketchmark.run` from Python."""

from __future__ import annotations

import asyncio
import inspect
import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sketchmark
from sketchmark.folder import RunFolder
from sketchmark.notebook import Run
from sketchmark.runs import prepare
from tests.core.helpers import episodes
from tests.core.slow_solver import Slow

ROOT = Path(__file__).parents[2]
PLUG_IN = "from tests.core.slow_solver import Slow\n\nclass Own(Slow):\n    pass\n"
QUESTION = {"question": "How much is 2 + 2?", "answer": "4"}


def play(tasks: Any = "maze", **asked: Any) -> Run:
    return sketchmark.run("player/solver", tasks, **{"limit": 2, "no_cache": True, "engine": "local", **asked})


def test_the_signature_says_what_is_returned() -> None:
    signature = inspect.signature(sketchmark.run)
    assert signature.return_annotation == sketchmark.run.__annotations__["return"] == "Run"
    assert {"model", "tasks", "limit"} < set(signature.parameters) and "PreparedRun" not in str(signature)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("kind", [str, Path])
def test_files_are_named_by_a_text_or_a_path_alone_or_in_a_list(kind: Any, several: bool, tmp_path: Path) -> None:
    questions, plug_in = tmp_path / "mine.jsonl", tmp_path / "own.py"
    questions.write_text(json.dumps(QUESTION) + "\n")
    plug_in.write_text(PLUG_IN)
    tasks, include = ([kind(path)] if several else kind(path) for path in (questions, plug_in))
    run = sketchmark.run("own", tasks, include=include, output_path=tmp_path / "run")
    assert list(run.results.tasks) == ["mine.direct"]


def test_a_number_of_numpy_is_a_number(tmp_path: Path) -> None:
    numbers = {"limit": np.int64(2), "seed": np.int32(7), "concurrency": np.uint8(3), "time_limit": np.float32(60)}
    run = play(output_path=tmp_path, **numbers)
    assert [one.sample for one in run.episodes()] == ["maze-7-000000", "maze-7-000001"]
    assert RunFolder(tmp_path).about().asked["maze.direct"].time_limit == 60
    assert len(play(output_path=tmp_path / "share", limit=np.float64(0.01)).episodes())


def test_none_is_an_option_left_out(tmp_path: Path) -> None:
    given = inspect.signature(sketchmark.run).parameters
    left_out = {name: None for name, one in given.items() if one.default not in (inspect.Parameter.empty, None)}
    assert {"judge", "prompts", "mode", "include"} < left_out.keys()
    run = play(**{**left_out, "limit": 1, "output_path": tmp_path})
    assert list(Run(tmp_path).results.tasks) == list(run.results.tasks) == ["maze.direct"]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("player/solver,player/random", "one call runs one model"),
        (["player/solver", "player/random"], "one call runs one model"),
        (Slow, "is not a model"),
        (None, "is not a model"),
    ],
)
def test_what_is_not_one_model_is_refused_with_what_to_do(model: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(sketchmark.SketchmarkError, match=told) as refused:
        sketchmark.run(model, "maze", output_path=tmp_path / "run")
    assert refused.value.hint and not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["concurrency", "seed", "replicas", "max_requests_per_minute"])
def test_what_is_counted_is_a_whole_number(name: str, tmp_path: Path) -> None:
    with pytest.raises(sketchmark.SketchmarkError, match=rf"{name} is 2\.5 \(it must be a whole number\)"):
        play(output_path=tmp_path / "run", **{name: 2.5})


def test_a_tilde_is_the_home_folder_wherever_a_path_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    (home / "mine.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (home / "own.py").write_text(PLUG_IN)
    (home / "prices.yaml").write_text("own: {picture: 1.0}\n")
    paths: Any = {"include": "~/own.py", "prices": "~/prices.yaml", "cache": "~/cache", "output_path": "~/run"}
    run = sketchmark.run("own", "~/mine.jsonl", **paths)
    assert run.path == home / "run" and (home / "cache").is_dir() and not list(here.iterdir())
    assert Run("~/run").path == RunFolder.open("~/run").path == home / "run"
    assert prepare("player/solver", "maze", data="~/data", output_path="~/run").settings.data_path == home / "data"
    play(mode="direct,text_cot", output_path="~/two")
    assert sketchmark.compare("~/two").rows


def test_a_run_onto_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    for path in (file, file / "run"):
        with pytest.raises(sketchmark.SketchmarkError, match=r"notes\.txt is a file, and a run is a folder"):
            play(output_path=path)
    assert file.read_text() == "mine"


SCRIPT = """
import asyncio, sys
import sketchmark
from tests.core.slow_solver import Slow

class Telling(Slow):
    said = 0

    async def say(self, context, options):
        self.said += 1
        if self.said == 3:
            print("plays", flush=True)
        return await super().say(context, options)

async def play():
    sketchmark.run(Telling("slow"), "maze", limit=5000, output_path="run", concurrency=1)

async def beside():
    asyncio.create_task(play())
    await asyncio.sleep(3600)

asyncio.run(globals()[sys.argv[1]]())
"""


@pytest.mark.slow
@pytest.mark.parametrize("main", ["play", "beside"])
def test_one_interrupt_ends_a_run_inside_asyncio_run_in_order(main: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, "script.py", main],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "plays\n"
    process.send_signal(signal.SIGINT)
    try:
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
    assert told.rstrip().endswith("KeyboardInterrupt")
    ended = RunFolder(tmp_path / "run").about().ended
    assert ended and ended.how == "stopped"
    played = len(episodes(tmp_path / "run", "maze.direct"))
    assert 0 < played < 1000 and f"(maze.direct {played} of 5000 episodes)" in str(Run(tmp_path / "run"))


def test_an_interrupt_before_the_run_has_begun_ends_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(ThreadPoolExecutor):
        def submit(self, work: Any, /, *given: Any, **named: Any) -> Any:
            def later() -> Any:
                time.sleep(0.3)
                return work(*given, **named)

            return super().submit(later)

    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    async def main() -> None:
        sketchmark.run(Slow("slow"), "maze", limit=200, output_path=tmp_path / "run", concurrency=1)

    monkeypatch.setattr("sketchmark.engines.ThreadPoolExecutor", Late)
    monkeypatch.setattr("sketchmark.engines.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert len(episodes(tmp_path / "run", "maze.direct")) < 100
