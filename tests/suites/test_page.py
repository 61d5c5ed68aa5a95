"""docs/several-models.md and the example it shows, as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/several-models.md").read_text("utf-8")
EXAMPLE = ROOT / "examples/three_players.yaml"


def test_the_page_shows_the_example_that_lies_in_the_repository() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.yaml")} == {EXAMPLE.name, "prices.yaml"}
    assert f"```yaml\n{EXAMPLE.read_text('utf-8')}```" in PAGE


@pytest.mark.slow
def test_the_run_file_prints_the_leaderboard_of_the_page(tmp_path: Path) -> None:
    (tmp_path / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
    environment = {**os.environ, "COLUMNS": "80", "XDG_CACHE_HOME": str(tmp_path)}

    def say(*words: str) -> str:
        command = [sys.executable, "-m", "sketchmark", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    (printed,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    assert "all models" in say("run", EXAMPLE.name, "--dry-run")
    assert printed in say("run", EXAMPLE.name, "-o", "runs/three")
