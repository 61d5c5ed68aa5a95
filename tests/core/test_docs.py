"""The two ten-minute pages, followed to the letter."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import sketchmark

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md"), *DOCS.parent.glob("examples/*.md")])
_TYPED = re.compile(
    r"^(?:    )?(?:sketchmark|make|pip|\.venv/bin/\w+|docker|ray|for \w+ in [^:]*;) .*$", re.MULTILINE
)


def _blocks(page: str) -> list[str]:
    return re.findall(r"```\w+\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)


def _command(page: str) -> list[str]:
    found = re.search(r"^    sketchmark (run .*)$", (DOCS / page).read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


@pytest.mark.slow
def test_the_page_on_tasks_works_as_printed(tmp_path: Path) -> None:
    task, code, protocol = _blocks("add-a-task.md")
    folder = tmp_path / "shapes"
    folder.mkdir()
    (folder / "shapes.yaml").write_text(task)
    (folder / "my_shapes.py").write_text(code + "\n\n" + protocol)
    done = sketchmark(*_command("add-a-task.md"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "runs/player-random/results.json").read_text())["tasks"]
    assert {name: cell["n"] for name, cell in results.items()} == {"shapes.direct": 100, "shapes.visual_cot": 100}
    assert set(results["shapes.direct"]["by"]["colour"]) == {"red", "blue"}
    (folder / "shapes.yaml").write_text(task.replace("protocol: draw_then_answer", 'protocol: "my_shapes:twice"'))
    again = sketchmark(*_command("add-a-task.md"), "--limit", "2", "-o", "twice", cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_code_beside_a_task_is_not_run_unasked_and_the_error_says_how_to(tmp_path: Path) -> None:
    task, code, _ = _blocks("add-a-task.md")
    folder = tmp_path / "shapes"
    folder.mkdir()
    (folder / "shapes.yaml").write_text(task)
    (folder / "my_shapes.py").write_text(code)
    arguments = [argument for argument in _command("add-a-task.md") if argument != "--trust-code"]
    done = sketchmark(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and "--trust-code" in done.stderr


def test_the_reading_of_a_choice_on_the_page_on_lmms_eval_works_as_printed() -> None:
    (code,) = _blocks("lmms-eval-tasks.md")
    names: dict[str, Any] = {}
    exec(code, names)
    doc = {"options": ["North", "South"], "answer": "B"}
    assert names["process_results"](doc, ["Not A. The answer is **B**."]) == {"acc": 1.0}
    assert names["process_results"](doc, ["A or B"]) == {"acc": 0.0}


def test_the_page_on_models_works_as_printed(tmp_path: Path) -> None:
    code, _ = _blocks("add-a-model.md")
    (tmp_path / "my_model.py").write_text(code)
    done = sketchmark(*_command("add-a-model.md"), "--limit", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    puzzles = ["jigsaw" if word == "maze" else word for word in _command("add-a-model.md")]
    drawn = sketchmark(*puzzles, "--limit=2", "--mode=visual_cot", "-o", "drawn", cwd=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    cell = json.loads((tmp_path / "drawn/results.json").read_text())["tasks"]["jigsaw.visual_cot"]
    assert (cell["left_out"], cell["calls_left_out"]) == (2, 4), "each episode draws twice, without its pictures"
    assert "context left out 2 (4 calls)" in drawn.stdout


def test_the_page_on_models_makes_a_package_whose_model_needs_no_include(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, project = _blocks("add-a-model.md")
    package, info = tmp_path / "site", tmp_path / "site/mine-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "my_model.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    for group, entries in tomllib.loads(project)["project"]["entry-points"].items():
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))
    monkeypatch.syspath_prepend(package)
    words = [word for word in _command("add-a-model.md") if word not in ("--include", "my_model.py")]
    done = sketchmark(*words, "--limit", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a plug-in" in sketchmark("list", "models", "mymodel", cwd=tmp_path).stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_to_be_typed_ends_in_a_remark(page: Path) -> None:
    """zsh, in which most people on a Mac paste it, takes the remark for arguments."""
    assert not [line for line in _TYPED.findall(page.read_text("utf-8")) if re.search(r"\s#", line)]


def _slugs(page: Path) -> set[str]:
    """How GitHub names the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_into_a_page_leads_to_a_heading_on_github_too(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", page.read_text("utf-8")):
        assert heading in _slugs(page.parent / target if target else page), f"{target}#{heading}"
