"""A folder that takes its name when it is complete: a merge or an export that is killed leaves nothing under it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sketchmark.errors import RunConflict
from sketchmark.export import FORMATS, export
from sketchmark.folder import RunFolder
from sketchmark.folder.lock import RunLock, new_folder
from tests.runs.conftest import run_again


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_has_its_name_when_the_block_ends_and_not_before(tmp_path: Path, there: bool) -> None:
    out = tmp_path / "out"
    if there:
        out.mkdir()
    with pytest.raises(ZeroDivisionError), new_folder(out, "making") as made:
        (made / "half").touch()
        raise ZeroDivisionError
    assert out.exists() == there and not any(tmp_path.glob("**/.*")) and not any(tmp_path.rglob("half"))
    inode = out.stat().st_ino if there else None
    with new_folder(out, "making") as made:
        (made / "inner").mkdir()
        (made / "inner/file").touch()
        (made / "run.json").touch()
        assert not (out / "run.json").exists()
    assert _names(out) == ["inner", "run.json"] and _names(tmp_path) == ["out"]
    assert inode in (None, out.stat().st_ino), "an empty folder may be a mount: it is not replaced"


@pytest.mark.parametrize("there", [False, True])
def test_the_leftovers_of_a_kill_are_removed_and_a_living_process_is_not_disturbed(
    tmp_path: Path, there: bool
) -> None:
    out = tmp_path / "out"
    if there:
        out.mkdir()
    left = out / ".making" if there else tmp_path / ".out.making"
    (left / "deep").mkdir(parents=True)
    (left / "deep/old").touch()
    lock = RunLock(left)
    with pytest.raises(RunConflict, match="another process"), new_folder(out, "making"):
        pass
    assert (left / "deep/old").exists()
    lock.release()
    with new_folder(out, "making") as made:
        (made / "new").touch()
    assert _names(out) == ["new"] and _names(tmp_path) == ["out"]


@pytest.mark.parametrize("taken", ["file", "folder", "link"])
def test_a_name_that_is_taken_is_refused(tmp_path: Path, taken: str) -> None:
    out = tmp_path / "out"
    if taken == "folder":
        (out / "mine").mkdir(parents=True)
    elif taken == "file":
        out.write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        out.symlink_to(tmp_path / "elsewhere")
    before = _names(tmp_path)
    with pytest.raises(RunConflict, match="is there already"), new_folder(out, "making"):
        pass
    assert _names(tmp_path) == before


KILLED = """
import os, sys
from pathlib import Path
from sketchmark import export as exporting
from sketchmark.export import export
from sketchmark.folder import RunFolder

count = 0

def reached():
    global count
    count += 1
    if count == int(sys.argv[4]):
        os.kill(os.getpid(), 9)

def episodes(cell, read=exporting.episodes):
    for one in read(cell):
        reached()
        yield one

def answer_of(*line, read=exporting.answer_of):
    reached()
    return read(*line)

place = exporting._MODULES.get(sys.argv[2])
module = __import__(f"sketchmark.export.{place}", fromlist=["episodes"]) if place else exporting
for one in (episodes, answer_of):  # lmms-eval's format takes all episodes of a sample together
    if hasattr(module, one.__name__) and (one is episodes or not hasattr(module, "episodes")):
        setattr(module, one.__name__, one)
export(RunFolder.open(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("to", [name for name in FORMATS if name != "wandb"])
def test_an_export_that_is_killed_can_be_repeated(played: RunFolder, tmp_path: Path, to: str) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    export(played, to, whole)
    for episode in (1, 7, 12):
        words = [sys.executable, "-c", KILLED, str(played.path), to, str(out), str(episode)]
        assert subprocess.run(words, timeout=60).returncode == -9
        assert not out.exists()
    files = export(played, to, out)
    assert all(file.is_relative_to(out) and file.is_file() for file in files)
    assert {path.relative_to(out): path.stat().st_size for path in out.rglob("*")} == {
        path.relative_to(whole): path.stat().st_size for path in whole.rglob("*")
    }
    assert not [name for name in _names(tmp_path) if name.startswith(".")]


def test_temporary_files_of_a_killed_run_are_removed_by_the_next(played: RunFolder) -> None:
    holder = played.path / ".lock-holder"
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    pid = dead.stdout.strip()
    holder.write_text(f'{{"pid": {pid}, "host": "here"}}')
    shelf = next((played.path / "pictures").iterdir())
    left = [
        shelf / f".abc.png.{pid}.140",
        played.path / f".results.json.{pid}.140",
        played.path / f"scores/.x.{pid}.1",
    ]
    kept = [shelf / ".abc.png.1.140", played.path / "notes.txt"]
    for path in (*left, *kept):
        path.touch()
    run_again(played.path)
    assert not any(path.exists() for path in left) and all(path.exists() for path in kept)
    assert not holder.exists()
