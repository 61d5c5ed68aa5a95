"""docs/several-models.md and the example it shows, as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command_line import sketchmark

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/several-models.md").read_text("utf-8")
EXAMPLE = ROOT / "examples/three_players.yaml"


def test_the_page_shows_the_example_that_lies_in_the_repository() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.yaml")} == {EXAMPLE.name, "prices.yaml"}
    assert f"```yaml\n{EXAMPLE.read_text('utf-8')}```" in PAGE


@pytest.mark.slow
def test_the_run_file_prints_the_leaderboard_of_the_page(tmp_path: Path) -> None:
    (tmp_path / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())

    def say(*words: str) -> str:
        done = sketchmark(*words, cwd=tmp_path, env={"COLUMNS": "80"})
        assert done.returncode == 0, done.stderr
        return done.stdout

    (printed,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    assert "all models" in say("run", EXAMPLE.name, "--dry-run")
    assert printed in say("run", EXAMPLE.name, "-o", "runs/three")
