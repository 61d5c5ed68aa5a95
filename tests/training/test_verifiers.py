"""The worlds in verifiers: its own commands against `sketchmark serve`, with the scores of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from sketchmark.folder import RunFolder
from sketchmark.training import Course, Weights

pytestmark = pytest.mark.trainers
BIN = Path(sys.executable).parent
PACKAGE = "sketchmark-worlds"
MODELS = [("player/flawed", "draw_error=0.6", "visual_cot"), ("player/sketcher", "lookahead=3", "direct")]


@pytest.fixture(autouse=True, scope="module")
def _installed() -> None:
    pytest.importorskip("verifiers", reason="another trainer's environment")


@contextmanager
def served(model: str, *options: str) -> Iterator[str]:
    """The address of `sketchmark serve` in its own process."""
    command = [sys.executable, "-m", "sketchmark", "serve", "--model", model, "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def ran(folder: Path, *command: str) -> str:
    environment = {**os.environ, "ANY_KEY": "any"}
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:], "--no-rich"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def evaluated(folder: Path, address: str, *options: str) -> list[dict[str, Any]]:
    """Run `vf-eval` on the first five samples of a run, and read its traces."""
    client = ("--client.base-url", address, "--client.api-key-var", "ANY_KEY", "--no-push")
    here = ("-n", "5", "-m", "any", "--env.agent.runtime.type", "subprocess", "--env.taskset.split", "run")
    ran(folder, "vf-eval", PACKAGE, *here, *client, *options)
    (file,) = folder.glob("outputs/*/traces.jsonl")
    return [trace for line in file.read_text().splitlines() for trace in json.loads(line)["traces"]]


@pytest.mark.parametrize(("model", "arguments", "mode"), MODELS)
def test_vf_eval_gives_the_replies_and_the_scores_of_a_run(
    tmp_path: Path, played: Callable[..., RunFolder], model: str, arguments: str, mode: str
) -> None:
    folder = played(model, "maze", mode=mode, limit=5, model_args=arguments)
    (cell,) = folder.cells
    course, rows = Course("maze", mode), {row.sample: row for row in folder.scores(cell)}
    with served(model, "--model-args", arguments) as address:
        traces = {
            one["task"]["data"]["id"]: one
            for one in evaluated(tmp_path, address, "--env.taskset.mode", mode, "--env.taskset.world", "maze")
        }
    assert traces.keys() == rows.keys()
    seen = set()
    for _, episode in folder.played(cell):
        trace = traces[episode.sample.id]
        replies = [turn.reply for turn in episode.turns if turn.reply]
        sent = [{"image": one.picture.data_url} if one.picture else {"text": one.text} for one in replies]
        assert trace["info"]["replies"] == sent
        marks, weights = asdict(course.marks(episode)), asdict(Weights())
        assert trace["rewards"] == {name: {"score": marks[name], "weight": weights[name]} for name in marks}
        assert marks["answer"] == rows[episode.sample.id].values[course.task.headline]
        seen.add(tuple(marks.values()))
    assert len(seen) > 1, "all episodes scored alike: the comparison shows nothing"


def test_a_server_that_fails_gives_an_error_and_no_score(tmp_path: Path) -> None:
    with served("player/solver", "--fail", "500:1") as address:
        traces = evaluated(tmp_path, address, "-n", "1")
    assert [(one["ok"], one["rewards"].get("answer")) for one in traces] == [(False, None)]
    assert "500" in json.dumps(traces[0]["errors"])


def test_vf_validate_finds_every_task_valid(tmp_path: Path) -> None:
    told = ran(
        tmp_path, "vf-validate", PACKAGE, "-n", "5", "--runtime.type", "subprocess", "--taskset.world", "gears"
    )
    assert '"valid_rate": 1.0' in told and '"total": 5' in told


def test_a_task_holds_no_solution_and_training_is_apart_from_evaluation() -> None:
    import verifiers.v1 as vf
    from verifiers.v1.utils.loaders import default_harness_id, harness_class, taskset_class

    assert default_harness_id(PACKAGE) == PACKAGE and issubclass(harness_class(PACKAGE), vf.Harness)
    kind = taskset_class(PACKAGE)
    config = kind.__orig_bases__[0].__args__[1]
    tasks = {split: next(iter(kind(config(id=PACKAGE, world="gears", split=split)))) for split in ("train", "run")}
    ids = {split: task.data.id for split, task in tasks.items()}
    assert ids["train"] != ids["run"]
    solution = tasks["train"].data.game().sample.target
    about = tasks["train"].data.model_dump(exclude={"prompt"})
    assert not {"target", "answer", "moves"} & about.keys()
    assert json.dumps(solution["puzzle"])[1:-1] not in tasks["train"].data.model_dump_json()
