"""The table of unified models in docs/models.md: every command starts, or stops with what is missing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from sketchmark.cli import root

_PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text("utf-8")
_SECTION = _PAGE.partition("## Unified and image-output models")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in _SECTION.splitlines() if " | " in line][
    1:
]
COMMANDS = [match[1] for row in ROWS if (match := re.fullmatch(r"`sketchmark (.+)`", row[1]))]
MISSING = re.compile(r"needs an optional dependency|not a BAGEL checkout|is not a folder")


def test_each_row_has_a_command_or_says_not_yet() -> None:
    assert len(ROWS) >= 20 and all(len(row) == 4 for row in ROWS)
    assert all(row[1].startswith(("`sketchmark run ", "not yet: ")) for row in ROWS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_table_starts_or_names_what_is_missing(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command.replace("THINKER", "openai/gpt-6-luna"))
    more = ["--tasks", "maze", "--mode", "direct,visual_cot", "--limit", "1", "--dry-run"]
    done = CliRunner().invoke(root, [*words, *more])
    if done.exit_code == 0:
        assert "maze.visual_cot" in done.output
    else:
        assert MISSING.search(f"{done.output} {done.exception}"), done.output
