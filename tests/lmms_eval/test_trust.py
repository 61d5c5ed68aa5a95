"""What of a trusted folder is run, and when: what a task that is played names, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import Done, sketchmark

STRAY = "with open({ran!r}, 'a') as ran:\n    ran.write('{name} ')\n"


@pytest.fixture(autouse=True)
def traces(folder: Path, tmp_path: Path) -> None:
    """An upload script beside the task's code, and code that leaves a trace when it is run."""
    (folder / "upload.py").write_text(STRAY.format(ran=str(tmp_path / "ran"), name="upload"))
    code = (folder / "utils.py").read_text()
    (folder / "utils.py").write_text(f"{code}\n{STRAY.format(ran=str(tmp_path / 'ran'), name='utils')}")


def say(*arguments: object) -> Done:
    done = sketchmark(*arguments)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("what", [("list", "tasks"), ("list", "models"), ("show", "maze")])
def test_looking_around_runs_nothing(folder: Path, tmp_path: Path, what: tuple[str, ...]) -> None:
    done = say(*what, "--include", folder, "--trust-code")
    assert not (tmp_path / "ran").exists() and "running" not in done.stderr


def test_playing_runs_what_the_task_names_and_says_so_first(folder: Path, tmp_path: Path) -> None:
    run = ("run", "--model", "player/random", "--include", folder, "--trust-code", "--quiet", "--no-cache")
    done = say(*run, "--tasks", "shades", "--output_path", tmp_path / "out")
    assert (tmp_path / "ran").read_text() == "utils "
    assert done.stderr.splitlines()[0] == f"shades: running utils.py of {folder} (--trust-code)"


def test_showing_a_task_runs_its_own_code_alone(folder: Path, tmp_path: Path) -> None:
    say("show", "shades", "--include", folder, "--trust-code")
    assert (tmp_path / "ran").read_text() == "utils "
