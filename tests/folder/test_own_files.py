"""An untrusted run folder: only regular files in it are read or written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

import pytest

from sketchmark.cli import root
from sketchmark.episode import Episode
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files import write_atomic, write_json
from sketchmark.folder import RunFolder
from sketchmark.folder.format import FORMAT
from sketchmark.folder.lock import RunLock
from sketchmark.results.aggregate import write_submissions
from tests.runs.making import Speaker, make_cell, make_samples, make_task, run

OF_A_RUN: dict[str, Callable[[RunFolder], object]] = {
    "run.json": RunFolder.about,
    "results.json": RunFolder.results,
    "episodes/a.b.jsonl": lambda folder: list(folder.episodes("a.b")),
    "scores/a.b.jsonl": lambda folder: list(folder.scores("a.b")),
    "scores/a.b~lenient.jsonl": lambda folder: list(folder.scored("a.b", "lenient")),
    f"pictures/00/{'0' * 64}.png": lambda folder: folder.pictures.load("0" * 64 + ".png"),
    ".lock": lambda folder: RunLock(folder.path),
    ".lock-holder": lambda folder: RunLock(folder.path),
    "report.html": lambda folder: write_atomic(folder.report_file, b"new"),
    "submission/a.b/predictions.csv": lambda folder: write_submissions(
        folder, {"a.b": make_task([], submission="tests.folder.test_own_files:hand_in")}
    ),
}
"""Every file that is opened in a run folder, and a function that opens it."""


def hand_in(episodes: Iterable[Episode], folder: Path) -> list[Path]:
    (folder / "predictions.csv").write_text("new")
    return []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name in OF_A_RUN
        for kind in ("link", "dangling", "pipe", "linked folder")
        if "/" in name or kind != "linked folder"  # the run folder itself may be a link: the user named it
    ],
)
def test_only_regular_files_in_the_folder_are_opened(tmp_path: Path, name: str, kind: str) -> None:
    """An untrusted folder cannot make us read or truncate a file elsewhere, nor block us."""
    write_json(tmp_path / "run/run.json", {"format": FORMAT, "cells": {"a.b": {}}})
    folder = RunFolder(tmp_path / "run")
    victim, path = tmp_path / "victim", folder.path / name
    victim.mkdir()
    (victim / path.name).write_bytes(b"precious")
    path.unlink(missing_ok=True)
    if kind == "linked folder":
        path.parent.parent.mkdir(exist_ok=True)
        path.parent.symlink_to(victim)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(victim / path.name if kind == "link" else victim / "nothing")
    with pytest.raises(BadInput, match=r"is a (link|pipe), not a (file|folder) of this folder"):
        OF_A_RUN[name](folder)
    assert [found.read_bytes() for found in victim.iterdir()] == [b"precious"]


async def test_a_run_does_not_write_through_a_link(tmp_path: Path) -> None:
    task = make_task(make_samples(2))
    folder = await run(tmp_path / "run", [make_cell(task)], Speaker())
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious, and without a newline at its end")
    folder.episodes_file("shades.direct").unlink()
    (tmp_path / "run/episodes/shades.direct.jsonl").symlink_to(victim)
    for fresh in (False, True):
        with pytest.raises(BadInput, match="is a link") if not fresh else nullcontext():
            await run(tmp_path / "run", [make_cell(task)], Speaker(), fresh=fresh)
        assert victim.read_bytes() == b"precious, and without a newline at its end"


READ = ("run.json", "results.json", "scores/maze.direct.jsonl", "episodes/maze.direct.jsonl")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(("compare", name) for name in ("run.json", "scores/maze.direct.jsonl")),
        *((command, name) for command in ("report", "score", "export --to lmms-eval", "repair") for name in READ),
    ],
)
def test_no_command_waits_for_a_pipe(played: RunFolder, tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / "run" / name).unlink()
    os.mkfifo(tmp_path / "run" / name)
    if (command, name) == ("repair", "results.json"):  # it is made again, so it can be set aside
        root.main([command, str(tmp_path / "run")], standalone_mode=False)
        assert (tmp_path / "run/set-aside/results.json").is_fifo()
        return
    with pytest.raises(SketchmarkError, match="is a pipe"):
        root.main([*command.split(), str(tmp_path / "run")], standalone_mode=False)
