"""The count of lmms-eval's own folders (bench/lmms_eval_tasks): what it makes up, and who is tried when."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import datasets  # type: ignore[import-untyped]
import numpy as np
import pytest
from bench.lmms_eval_tasks import processes
from bench.lmms_eval_tasks.documents import Inventor
from bench.lmms_eval_tasks.finding import LOADS, PLAYS, Finding
from bench.lmms_eval_tasks.guesses import sound
from bench.lmms_eval_tasks.known_rows import known_rows
from bench.lmms_eval_tasks.saving import save

from sketchmark.lmms_eval.data import decode_sounds


def tried(folders: list[str], *, seconds: int) -> dict[str, Finding]:
    return dict(processes.tried([(Path(name), Path("task.yaml")) for name in folders], seconds, at_once=2))


def test_folders_are_tried_at_once_and_told_in_their_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def tries(folder: Path, task_file: Path, home: Path, told: Path) -> None:
        while folder.name == "first" and not (tmp_path / "last").exists():
            time.sleep(0.01)
        (tmp_path / folder.name).touch()
        Finding(PLAYS, "", folder.name, task_file.name).write(told)

    monkeypatch.setattr(processes, "try_task", tries)
    found = tried(["first", "second", "last"], seconds=10)
    assert [(name, one.reason) for name, one in found.items()] == [
        (name, name) for name in ("first", "second", "last")
    ]


def test_who_works_for_too_long_or_fails_costs_nobody_else_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    def tries(folder: Path, task_file: Path, home: Path, told: Path) -> None:
        if folder.name == "fails":
            raise ValueError("no")
        Finding(LOADS, "not done in time", "being played", task_file.name).write(told)
        while folder.name == "works":
            pass
        Finding(PLAYS, "", f"{resource.getrlimit(resource.RLIMIT_CPU)[0]} s", task_file.name).write(told)

    monkeypatch.setattr(processes, "try_task", tries)
    found = tried(["works", "fails", "plays"], seconds=1)
    assert [one.state for one in found.values()] == [LOADS, LOADS, PLAYS]
    assert (found["works"].reason, found["fails"].kind) == ("being played", "stops the count itself")
    assert found["plays"].reason == "1 s", "of processor time, whoever else works here"


def test_who_only_waits_is_ended_with_all_that_it_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mark = tmp_path / "late"

    def tries(folder: Path, task_file: Path, home: Path, told: Path) -> None:
        subprocess.run([sys.executable, "-c", f"import time; time.sleep(1); open({str(mark)!r}, 'w')"], check=True)

    monkeypatch.setattr(processes, "try_task", tries)
    monkeypatch.setattr(processes, "_WAITING", 0.2)
    assert tried(["waits"], seconds=1)["waits"].kind == "not done in time"
    time.sleep(1.5)
    assert not mark.exists()


def test_known_rows_come_in_turns() -> None:
    known = {"rows": 4, "id": {"each": ["{turn}_a", "{turn}_b"]}, "n": "@number", "same": ["x"]}
    assert Inventor(known).table() == [
        {"id": "0_a", "n": 0, "same": ["x"]},
        {"id": "0_b", "n": 1, "same": ["x"]},
        {"id": "1_a", "n": 2, "same": ["x"]},
        {"id": "1_b", "n": 3, "same": ["x"]},
    ]


def test_made_up_sounds_are_read_back_as_a_run_gives_them_to_code(tmp_path: Path) -> None:
    save({"test": [{"audio": sound(), "text": "x"}] * 2}, tmp_path / "data")
    read = decode_sounds(datasets.load_from_disk(str(tmp_path / "data"))["test"])[0]["audio"]
    assert type(read) is type(sound()) and read["sampling_rate"] == sound()["sampling_rate"]
    assert np.allclose(read["array"], sound()["array"], atol=1e-3)


def test_every_entry_that_is_no_column_is_one_that_is_understood() -> None:
    named = {key for known in known_rows().values() for key in known if key.startswith("@")}
    assert named <= {"@answer", "@judge", "@sdk", "@files", "@models", "@env", "@why"}
