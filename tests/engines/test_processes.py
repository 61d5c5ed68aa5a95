"""Worker processes execute a run as this process would, and their deaths cost nothing but time."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.commands.run import run_command
from sketchmark.errors import BadInput, UnknownName
from sketchmark.folder import RunFolder
from sketchmark.models import load_model
from sketchmark.runs import prepare
from tests.engines.comparing import PLUG_IN, ROWS, assert_same, first_picture, ids

INCLUDED = [PLUG_IN, ROWS]


def _both(folder: Path, model: str, tasks: str, **asked: Any) -> tuple[Path, Path]:
    paths = folder / "local", folder / "processes"
    for path in paths:
        sketchmark.run(model, tasks, engine=path.name, output_path=path, no_cache=True, **asked)
    return paths


@pytest.mark.slow
def test_episodes_scores_and_numbers_are_those_of_the_local_engine(tmp_path: Path) -> None:
    modes, canvases = "direct,visual_cot,text_cot", "own,blank,other,oracle"
    assert_same(*_both(tmp_path, "player/sketcher", "maze,jigsaw", mode=modes, canvas=canvases, limit=5))


def test_samples_that_were_read_travel_with_their_pictures_and_are_the_same_samples(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"mode": "direct,steps", "include": INCLUDED, "trust_code": True}
    one, other = _both(tmp_path, "painter", "rows", **asked)
    assert_same(one, other)
    cell = RunFolder(other).results().tasks["rows.steps"]
    assert (cell.n, cell.metrics["right"].mean) == (6, 1.0) and cell.metrics["drawn"].mean > 0, "frames came along"
    sketchmark.run("painter", "rows", engine="local", output_path=other, no_cache=True, **asked)
    assert len(ids(other, "rows.steps")) == 6, "another engine finds the same samples in the folder"


@pytest.mark.slow
def test_a_worker_that_dies_costs_nothing_and_the_summary_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from sketchmark.commands.outcome import run_and_print

    deaths = tmp_path / "deaths"
    deaths.mkdir()
    asked: dict[str, Any] = {"mode": "direct,visual_cot", "limit": 8, "include": [PLUG_IN], "no_cache": True}
    arguments = {"victim": first_picture(3), "folder": str(deaths)}
    code = run_and_print(
        dry_run=False, model="deadly", tasks="maze", model_args=arguments, engine="processes",
        output_path=tmp_path / "killed", quiet=False, **asked,
    )  # fmt: skip
    assert code == 0 and len(list(deaths.iterdir())) == 1
    assert "workers:    1 worker was lost; " in capsys.readouterr().out
    sketchmark.run("deadly", "maze", model_args={"folder": str(deaths)}, output_path=tmp_path / "whole", **asked)
    assert_same(tmp_path / "killed", tmp_path / "whole")
    for cell in ("maze.direct", "maze.visual_cot"):
        assert len(ids(tmp_path / "killed", cell)) == 8, "nothing lost and nothing twice"


@pytest.mark.slow
def test_an_episode_that_kills_every_worker_fails_alone_and_is_rerun_by_the_next_invocation(tmp_path: Path) -> None:
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    arguments = {"victim": first_picture(3), "folder": str(deaths), "deaths": 3}
    asked: dict[str, Any] = {"limit": 8, "include": [PLUG_IN], "model_args": arguments, "no_cache": True}
    asked |= {"engine": "processes", "replicas": 1, "output_path": tmp_path / "run"}
    folder = sketchmark.run("deadly", "maze", **asked).folder
    cell = folder.results().tasks["maze.direct"]
    assert (cell.n, cell.failures) == (7, {"worker_lost": 1})
    (failure,) = [line.failure for line in folder.episodes("maze.direct") if line.failure]
    assert "died 3 times" in failure.message and "signal 9" in failure.message
    folder = sketchmark.run("deadly", "maze", **asked).folder
    assert folder.results().tasks["maze.direct"].n == 8 and len(list(deaths.iterdir())) == 3


def test_a_judge_is_called_by_the_run_itself(tmp_path: Path) -> None:
    class Judge(Model):
        calls = 0

        async def say(self, context: Context, options: Options) -> Reply:
            Judge.calls += 1
            return Reply("yes")

    judged = tmp_path / "judged.py"
    judged.write_text(
        "from sketchmark import Options, Scores\nfrom sketchmark.episode.sample import of\n"
        "async def ask(sample, episode, grading):\n"
        "    verdict = await grading.judge.say(of(episode.answer), Options())\n"
        "    return Scores({'right': float(verdict.text == 'yes')})\n"
    )
    task = tmp_path / "judged_rows.yaml"
    (tmp_path / "_rows.yaml").write_text(ROWS.read_text())
    task.write_text("include: _rows.yaml\nscorers: [judged:ask]\n")
    folder = sketchmark.run(
        "painter", "judged_rows", engine="processes", judge=Judge("judge"), include=[PLUG_IN, judged, task],
        trust_code=True, output_path=tmp_path / "run", no_cache=True,
    ).folder  # fmt: skip
    assert Judge.calls == 6 and folder.results().tasks["judged_rows.direct"].metrics["right"].mean == 1.0


def test_the_cost_limit_holds_for_all_workers_together(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("player/solver: {output: 1000000}\n")  # one for each word
    prepared = prepare(
        "player/solver", "maze", engine="processes", limit=200, prices=prices, max_cost=20, concurrency=4,
        output_path=tmp_path / "run", no_cache=True,
    )  # fmt: skip
    episodes = list(prepared.play().episodes("maze.direct"))
    assert prepared.budget.used_up and 0 < len(episodes) < 30


def _running(tmp_path: Path) -> subprocess.Popen[str]:
    """A run on two workers, some episodes into it."""
    asked = [sys.executable, "-m", "sketchmark", "run", "--include", str(PLUG_IN), "--model", "slow"]
    asked += ["--tasks", "maze", "--mode", "visual_cot", "--limit", "60", "--concurrency", "4", "--no-cache"]
    asked += ["--engine", "processes", "--replicas", "2", "--output-path", str(tmp_path / "run"), "--quiet"]
    process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    path, deadline = tmp_path / "run/episodes/maze.visual_cot.jsonl", time.monotonic() + 180
    while time.monotonic() < deadline and not (path.exists() and path.read_bytes().count(b"\n") > 2):
        time.sleep(0.02)
    assert process.poll() is None, "it ended before it could be ended"
    return process


def _workers_of(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def _wait_until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline, f"left behind: {pids}"
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_however_a_run_ends_no_worker_is_left_and_it_can_be_resumed(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    process = _running(tmp_path)
    workers = _workers_of(process.pid)
    assert len(workers) == 2
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    if number != signal.SIGKILL:
        assert said == "sketchmark: interrupted; what was finished is kept, the same command resumes from there\n"
    _wait_until_gone(workers)
    before = ids(tmp_path / "run", "maze.visual_cot")
    assert 0 < len(before) < 60
    asked: dict[str, Any] = {"include": [PLUG_IN], "mode": "visual_cot", "limit": 12, "no_cache": True}
    folder = sketchmark.run("slow", "maze", output_path=tmp_path / "run", **asked).folder
    assert folder.results().tasks["maze.visual_cot"].n == 12
    after = ids(tmp_path / "run", "maze.visual_cot")
    assert after[: len(before)] == before and len(set(after)) == len(after), "nothing is run twice"


@pytest.mark.parametrize(
    ("model", "tasks", "limit", "cores", "engine"),
    [
        ("player/random", "maze", 500, 2, "processes"),
        ("player/random", "maze", 5, 2, "local"),
        ("player/random", "maze", 500, 1, "local"),
        ("slow", "maze", 100000, 2, "local"),
        ("player/random", "rows", 100000, 2, "local"),
        (load_model("player/solver"), "maze", 5000, 2, "local"),
    ],
)
def test_processes_are_used_for_many_samples_that_players_make(
    monkeypatch: pytest.MonkeyPatch, model: Any, tasks: str, limit: int, cores: int, engine: str
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    prepared = prepare(model, tasks, limit=limit, include=INCLUDED, trust_code=True)
    assert prepared.settings.engine == engine


def test_options_that_do_nothing_are_refused() -> None:
    with pytest.raises(BadInput, match="engine processes makes the model again in every worker"):
        prepare(load_model("player/solver"), "maze", engine="processes")
    with pytest.raises(UnknownName, match="no engine named 'rya'"):
        prepare("player/solver", "maze", engine="rya")
    with pytest.raises(BadInput, match="add --engine ray"):
        prepare("player/solver", "maze", ray_address="auto")
    with pytest.raises(BadInput, match="cannot go to another process"):
        prepare("slow", "maze", model_args={"seconds": 1 + 0j}, include=[PLUG_IN], engine="processes").play()


MADE_HERE = """
import os
from sketchmark import Sample
from sketchmark.episode.sample import Draft, Drafts

def make(number):
    if str(os.getpid()) != os.environ["RUN_IS"]:
        raise OSError("there is no such file on this machine")
    return Sample(f"s{number}", fields={"question": str(number)})

def made(*, seed, data):
    return Drafts(Draft(f"s{number}", lambda number=number: make(number)) for number in range(4))
"""


def test_a_sample_that_a_worker_cannot_make_is_made_here_and_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUN_IS", str(os.getpid()))
    (tmp_path / "made.py").write_text(MADE_HERE)
    (tmp_path / "made_here.yaml").write_text(
        "source: {use: made:made}\n"
        "modes: {direct: {protocol: direct, prompts: {inputs: ['{question}'], ask: Answer.}}}\n"
    )
    asked: dict[str, Any] = {"include": [tmp_path / "made.py", tmp_path / "made_here.yaml"], "trust_code": True}
    one, other = _both(tmp_path, "player/random", "made_here", **asked)
    assert_same(one, other)
    assert sorted(ids(other, "made_here.direct")) == ["s0", "s1", "s2", "s3"]


def test_limits_of_the_whole_run_are_shared_out(tmp_path: Path) -> None:
    from sketchmark.runs.engine import _shared_out
    from sketchmark.runs.worker import Recipe
    from sketchmark.settings import Settings

    limits = {"max_requests_per_minute": 100, "max_concurrent": 3}
    recipe, size = _shared_out(Recipe(Settings(model_args=limits)), 8, 16)
    assert recipe.settings.model_args == {"max_requests_per_minute": 100 / 3, "max_concurrent": 1}
    assert (size, recipe.at_once) == (3, 6)
    recipe, size = _shared_out(Recipe(Settings()), 8, 16)
    assert (size, recipe.at_once, recipe.settings.model_args) == (8, 2, {})
    assert _shared_out(Recipe(Settings()), 8, 4)[1] == 4


# docs/scale.md


PAGE = (Path(__file__).parents[2] / "docs/scale.md").read_text("utf-8")


def test_the_rayjob_is_yaml_and_its_entrypoint_a_command_of_ours() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    job = yaml.safe_load(block)
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    head, (workers,) = (
        job["spec"]["rayClusterSpec"]["headGroupSpec"],
        job["spec"]["rayClusterSpec"]["workerGroupSpecs"],
    )
    for group in (head, workers):
        (container,) = group["template"]["spec"]["containers"]
        assert container["image"] and container["resources"]["limits"]
    _parses(job["spec"]["entrypoint"])


def test_every_command_on_the_page_is_one_that_sketchmark_takes() -> None:
    plain = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL).replace("\\\n", " ")
    commands = re.findall(r"^ {4}.*?(sketchmark run .*)$", plain, re.MULTILINE)
    assert len(commands) == 6
    for line in commands:
        _parses(line)


def _parses(line: str) -> None:
    program, sub, *arguments = shlex.split(line)
    assert (program, sub) == ("sketchmark", "run")
    run_command.make_context("run", arguments, token_normalize_func=lambda token: token.replace("_", "-"))
