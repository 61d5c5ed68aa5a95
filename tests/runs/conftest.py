"""One played run for the tests that only read it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sketchmark
from sketchmark.folder import RunFolder


@pytest.fixture(scope="session")
def _played_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sketchmark.run(
        "player/sketcher",
        "maze,sliding",
        mode="direct,visual_cot",
        canvas="own,blank",
        scoring="strict,lenient",
        limit=2,
        output_path=tmp_path_factory.mktemp("played") / "run",
        cache=None,
        concurrency=1,
        quiet=True,
    ).folder.path


@pytest.fixture
def played(_played_once: Path, tmp_path: Path) -> RunFolder:
    """A copy of a run: player/sketcher on two samples of maze and sliding, in `tmp_path / "run"`."""
    shutil.copytree(_played_once, tmp_path / "run")
    return RunFolder.open(tmp_path / "run")
