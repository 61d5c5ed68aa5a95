"""The two ten-minute pages, followed to the letter."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from PIL import Image

from sketchmark.cli import root
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


# docs/coming-from.md: our lines work, or are refused only for the key, the weights or the data that they need.


PAGE = (Path(__file__).parents[2] / "docs/coming-from.md").read_text("utf-8")
LINES = [
    line
    for line in re.findall(r"`sketchmark ((?:run|list|voila|score-file) [^`…]*)`", PAGE)
    if "--" in line or line.startswith("list")
]
WORKING = (
    *("list ", "voila create_dataset", "voila inference_test_VOILA_WD --model_name player"),
    "voila score_model_result",
)
NEEDED = re.compile(
    r"is not set|azure_endpoint|the hub|--data|there is no file|pip install|needs|not exist|no `response`|checkout"
)


def test_the_page_maps_every_command_line_of_the_seed_pages() -> None:
    for old in (
        "create_dataset.py",
        "inference_test_VOILA_WD.py",
        "score_model_result.py",
        "--model bagel",
        "qwen2_5_vl",
    ):
        assert re.search(rf"\| `python [^`]*{re.escape(old)}", PAGE), old
    assert len(LINES) >= 10


@pytest.mark.slow
def test_every_line_of_ours_works_or_is_refused_for_what_it_needs(tmp_path: Path) -> None:
    for line in LINES:
        done = sketchmark(*shlex.split(line), cwd=tmp_path)
        assert "Traceback" not in done.stderr and "No such option" not in done.stderr, line
        if line.startswith(WORKING):
            assert done.returncode == 0, f"{line}\n{done.stderr}"
        else:
            assert done.returncode == 2 and NEEDED.search(done.stderr), f"{line}\n{done.stderr}"


# The table of unified models in docs/models.md: every command starts, or stops with what is missing.


_PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text("utf-8")
_SECTION = _PAGE.partition("## Unified and image-output models")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in _SECTION.splitlines() if " | " in line][
    1:
]
TABLED_COMMANDS = [match[1] for row in ROWS if (match := re.fullmatch(r"`sketchmark (.+)`", row[1]))]
MISSING = re.compile(r"needs an optional dependency|not a BAGEL checkout|is not a folder")


def test_each_row_has_a_command_or_says_not_yet() -> None:
    assert len(ROWS) >= 20 and all(len(row) == 4 for row in ROWS)
    assert all(row[1].startswith(("`sketchmark run ", "not yet: ")) for row in ROWS)


@pytest.mark.parametrize("command", TABLED_COMMANDS)
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


# Every script in examples/ runs as it lies there, from an empty folder, and prints what its page promises.


EXAMPLES = Path(__file__).parents[2] / "examples"


def _run_example(script: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{script}.py")], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("running ") for line in done.stderr.splitlines()), "what --trust-code runs is told"
    return done.stdout


SAID = {
    "own_model": ["jigsaw.direct: 3 samples, could not be read: 3", "jigsaw.visual_cot: 3 samples"],
    "own_task": ["right: 68% [52%, 80%] of 40", "4 dots: 100% of 8", "5 dots: 0% of 8"],
    "own_protocol": [
        "direct: right 0%",
        "visual_cot: right 100%",
        "asked 'You said 2. Count again, on your drawing.",
    ],
    "compare_two_runs": ["sketcher − random, direct: +", "visual_cot − direct (sketcher): +", "hurt 0"],
    "read_a_run": ["maze-0-000000: 9 drawings, answer '<ANSWER_JSON>", "wrote film_strip.png"],
}


@pytest.mark.slow
@pytest.mark.parametrize("script", SAID)
def test_an_example_runs_as_it_is_printed(tmp_path: Path, script: str) -> None:
    printed = _run_example(script, tmp_path)
    for words in SAID[script]:
        assert words in printed


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)


def test_the_film_strip_shows_the_input_and_every_drawing(tmp_path: Path) -> None:
    _run_example("read_a_run", tmp_path)
    with Image.open(tmp_path / "film_strip.png") as strip:
        assert strip.size == (160 * 10, 160)
        frames = {strip.crop((160 * i, 0, 160 * i + 160, 160)).tobytes() for i in range(10)}
    assert len(frames) == 10, "each step changed the picture"
