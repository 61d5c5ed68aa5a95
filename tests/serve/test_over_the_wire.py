"""Whole runs through the server: faults change no result, native history is a condition, keys do not leak."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark.cli import root
from sketchmark.comparison import compare
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.models import load_model
from sketchmark.report.card import card
from sketchmark.serve import Faults, serving
from tests.serve.models import Speaker

STEPS = "rows=3,cols=3,min_steps=2,max_steps=4"
KEY = "sk-planted-0123456789-secret"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(load_model("player/solver")) as address:
        yield address


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def play(url: str, folder: Path, tasks: str = "maze", args: str = "", **asked: Any) -> RunFolder:
    asked = {"limit": 2, "no_cache": True, "engine": "local", **asked}
    return sketchmark.run("openai/x", tasks, output_path=folder, model_args=f"base_url={url}{args}", **asked).folder


# Faults


def scores(folder: RunFolder) -> dict[str, Any]:
    return {
        name: sorted((row.sample, tuple(row.values.items()), str(row.notes)) for row in folder.scores(name))
        for name in folder.cells
    }


@pytest.mark.parametrize(
    ("tasks", "faults", "asked"),
    [
        ("maze,sliding,jigsaw", "429:0.1,500:0.05,reset:0.02", {"mode": "direct,visual_cot", "limit": 3}),
        ("maze", "500:0.1", {"mode": "visual_cot", "args": ",draw_with=responses", "task_args": STEPS}),
    ],
)  # fmt: skip
def test_the_solver_scores_1_through_a_bad_wire_exactly_as_through_a_good_one(
    url: str, tmp_path: Path, tasks: str, faults: str, asked: dict[str, Any]
) -> None:
    good = play(url, tmp_path / "good", tasks, **asked)
    with serving(load_model("player/solver"), faults=Faults.parse(faults, "5ms", seed=1)) as bad_url:
        bad = play(bad_url, tmp_path / "bad", tasks, **asked)
    assert scores(bad) == scores(good)
    cells = good.results().tasks
    assert len(cells) == {"maze,sliding,jigsaw": 6, "maze": 1}[tasks]
    for name, cell in cells.items():
        assert cell.n == asked.get("limit", 2)
        assert {metric: found.mean for metric, found in cell.metrics.items()} == dict.fromkeys(cell.metrics, 1.0)
        assert "visual_cot" not in name or any("img" in metric for metric in cell.metrics)


# Native history


MODES = "direct,text_cot,visual_cot"


def with_history(url: str, folder: Path, history: str = "native", **more: Any) -> RunFolder:
    args = f",draw_with=responses,history={history}"
    return play(url, folder, args=args, task_args=STEPS, **{"mode": MODES, **more})


def test_the_solver_scores_1_with_its_own_items_sent_back_and_recorded(url: str, tmp_path: Path) -> None:
    folder = with_history(url, tmp_path)
    results = folder.results().tasks
    assert len(results) == 3 and {cell.n for cell in results.values()} == {2}
    for name in ("maze.direct", "maze.visual_cot"):
        metrics = results[name].metrics
        assert {metric: found.mean for metric, found in metrics.items()} == dict.fromkeys(metrics, 1.0)
    assert any("img" in metric for metric in results["maze.visual_cot"].metrics)
    (_, episode), *_ = folder.played("maze.visual_cot")
    turn, context = list(episode.contexts())[-1]
    own = [part for part in context if part.by == "model"]
    assert len(own) >= 4 and all(part.native for part in own) and turn.reply and turn.reply.native
    assert all('"id":"ig_' in part.native and '"result":""' in part.native for part in own if part.picture)
    assert not [part for part in context if part.by == "task" and part.native]


def test_native_history_is_a_separate_condition_in_every_table(url: str, tmp_path: Path) -> None:
    native, plain = with_history(url, tmp_path / "native"), with_history(url, tmp_path / "plain", "plain")
    assert {cell.draw_with for cell in native.about().cells.values()} == {"native history"}
    assert {cell.draw_with for cell in plain.about().cells.values()} == {""}
    assert {cell.draw_with for cell in native.results().tasks.values()} == {"native history"}
    told = card(native, "runs/x")
    assert "described in text, with native history" in told and "history=native" in told
    assert "visual_cot with native history" in native.report_file.read_text("utf-8")
    labels = [row.label for row in compare([native.path]).rows]
    assert "visual_cot − direct, with native history" in labels
    both = compare([native.path, plain.path])
    assert "plain − native, visual_cot − visual_cot with native history" in [row.label for row in both.rows]
    notes = [note for note in both.notes if "conditions" in note]
    assert len(notes) == 3
    assert all("with native history, the other with plain history: two different" in note for note in notes)
    controls = with_history(url, tmp_path / "controls", "plain", mode="visual_cot", canvas="own,blank")
    [table] = compare([native.path, controls.path]).canvases
    assert table.run == "controls" and [score.canvas for score in table.scores] == ["own", "blank"]


def test_controls_of_a_plain_run_are_not_compared_with_native_history(url: str, tmp_path: Path) -> None:
    native = with_history(url, tmp_path / "native", mode="visual_cot")
    blank = with_history(url, tmp_path / "blank", "plain", mode="visual_cot", canvas="blank")
    with pytest.raises(BadInput, match="nothing to compare"):
        compare([native.path, blank.path])
    with pytest.raises(RunConflict, match="history"):
        with_history(url, tmp_path / "native", "plain", mode="visual_cot")


def test_the_command_line_names_native_history(url: str, tmp_path: Path) -> None:
    given = ["run", "--model", "openai/x", "--model_args", f"base_url={url},history=native", "--tasks", "maze",
             "--task_args", STEPS, "--mode", "visual_cot", "--limit", "1", "--no-cache"]  # fmt: skip
    done = CliRunner().invoke(root, [*given, "--output_path", str(tmp_path / "run")])
    assert done.exit_code == 0 and "with native history, a separate condition: maze.visual_cot" in done.output


# A planted key


def command(url: str, folder: Path, limit: int) -> list[str]:
    return [
        *(sys.executable, "-m", "sketchmark", "run", "--model", "openai/solver", "--tasks", "maze"),
        *("--mode", "direct,visual_cot", "--limit", str(limit), "--model-args", f"base_url={url},max_retries=1"),
        *("--output-path", str(folder / "run"), "--cache", str(folder / "cache")),
    ]


def with_key(key: str = KEY) -> dict[str, str]:
    return {**os.environ, "OPENAI_API_KEY": key}


def found(folder: Path, *texts: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    return [str(path) for path in files] + [text for text in texts if KEY in text]


@pytest.mark.parametrize(
    ("given", "asked_for", "fail", "code"),
    [
        (KEY, KEY, "", 0),
        (f"{KEY}\r\n", KEY, "", 0),  # as a file with Windows line ends leaves it: stripped, it is the right key
        (KEY, KEY, "500:1", 1),
        (KEY, "another", "", 2),
        ("", None, "", 0),  # it is in the address
    ],
)
def test_a_key_is_in_no_file_and_no_output_after_a_run(
    tmp_path: Path, given: str, asked_for: str | None, fail: str, code: int
) -> None:
    with serving(load_model("player/solver"), key=asked_for, faults=Faults.parse(fail, "", seed=1)) as url:
        address = url if asked_for else url.replace("http://", f"http://me:{KEY}@")
        done = subprocess.run(command(address, tmp_path, 1), env=with_key(given), capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert code != 1 or "episodes failed" in done.stderr
    assert found(tmp_path, done.stdout, done.stderr) == []


def test_a_key_that_the_model_says_is_in_no_file(tmp_path: Path) -> None:
    with serving(Speaker(f"It is {KEY}, is it not?"), key=KEY) as url:
        done = subprocess.run(command(url, tmp_path, 1), env=with_key(), capture_output=True, text=True)
    assert "[key]" in (tmp_path / "run/episodes/maze.direct.jsonl").read_text(), done.stderr
    assert found(tmp_path, done.stdout, done.stderr) == []
    (tmp_path / "leak").write_text(f"Authorization: Bearer {KEY}")
    assert found(tmp_path, "fine") == [str(tmp_path / "leak")], "the search would find it"


def test_a_key_is_in_no_file_after_a_crash(tmp_path: Path) -> None:
    slow = Faults.parse("", "30ms", seed=1)
    with serving(load_model("player/solver"), key=KEY, faults=slow) as url, (tmp_path / "log").open("w") as file:
        process = subprocess.Popen(command(url, tmp_path, 200), env=with_key(), stdout=file, stderr=file)
        deadline = time.monotonic() + 120
        while not list((tmp_path / "run").glob("episodes/*.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.1)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert list((tmp_path / "run").glob("episodes/*.jsonl")) and found(tmp_path) == []
