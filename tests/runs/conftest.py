"""One run for the tests that only read it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.folder import RunFolder


def run_again(path: Path, **more: Any) -> RunFolder:
    """Run player/sketcher on two samples of maze and sliding, in the modes and canvases of `played`."""
    asked = {"mode": "direct,visual_cot", "canvas": "own,blank", "scoring": "strict,lenient", "limit": 2, **more}
    return sketchmark.run(
        "player/sketcher", "maze,sliding", output_path=path, cache=None, concurrency=1, quiet=True, **asked
    ).folder


@pytest.fixture(scope="session")
def _played_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_again(tmp_path_factory.mktemp("played") / "run").path


@pytest.fixture
def played(_played_once: Path, tmp_path: Path) -> RunFolder:
    """A copy of a run: player/sketcher on two samples of maze and sliding, in `tmp_path / "run"`."""
    shutil.copytree(_played_once, tmp_path / "run")
    return RunFolder.open(tmp_path / "run")
