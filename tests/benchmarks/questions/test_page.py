"""The page on your own questions works as printed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sketchmark.benchmarks.questions import COLUMNS
from sketchmark.benchmarks.questions.samples import TYPES
from tests.command_line import sketchmark

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/your-own-questions.md").read_text("utf-8")
BLOCKS = re.findall(r"```\w+\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_works_as_printed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/questions/pictures", tmp_path / "pictures")
    questions, in_order, broken, task = BLOCKS
    file = tmp_path / "my_questions.jsonl"
    file.write_text(questions, "utf-8")
    assert sketchmark("check", "my_questions.jsonl", cwd=tmp_path).stdout == in_order
    for line in re.findall(r"^    sketchmark (\S.*?)(?: {2,}#.*)?$", PAGE, re.MULTILINE):
        done = sketchmark(*line.split(), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    (tmp_path / "quiz.yaml").write_text(task, "utf-8")
    assert sketchmark("check", "quiz.yaml", cwd=tmp_path).returncode == 0
    run = ("run", "--include", "quiz.yaml", "--tasks", "quiz", "--prompts", "terse", "--model", "player/random")
    done = sketchmark(*run, "--mode", "visual_cot", "-o", "quiz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    file.write_text(questions.replace('"answer": "a square"', '"answer": "a squre"'), "utf-8")
    assert sketchmark("check", "my_questions.jsonl", cwd=tmp_path).stdout.startswith(broken)


def test_the_page_lists_every_column_and_type() -> None:
    columns, types = re.findall(r"\|---.*?\n((?:\|.*\n)+)", PAGE)
    rows = [re.split(r" \| (?=[^`]*(?:`[^`]*`[^`]*)*$)", row.strip("| ")) for row in columns.splitlines()]
    found = {row[0].strip("` "): tuple(re.findall(r"`(\w+)`", row[2])) if len(row) > 2 else () for row in rows}
    assert found == COLUMNS
    assert re.findall(r"^\| `(\w+)`", types, re.MULTILINE) == list(TYPES)
