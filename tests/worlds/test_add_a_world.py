"""docs/add-a-world.md, followed to the letter: its files and its one line make a world that everything knows."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sketchmark.tasks.worlds

import sketchmark
import sketchmark.worlds
from sketchmark.catalog import Catalog
from sketchmark.cli import main
from sketchmark.errors import UnknownName
from sketchmark.media import Picture
from sketchmark.view.media import difference, overlay
from sketchmark.worlds import WORLDS, board_of, world

PAGE = (Path(__file__).parents[2] / "docs/add-a-world.md").read_text("utf-8")
PLACES = {"src/sketchmark/worlds/": sketchmark.worlds, "src/sketchmark/tasks/worlds/": sketchmark.tasks.worlds}
MODULES = ("sketchmark.worlds.dots", "sketchmark.worlds.dots")

Say = Callable[..., str]


@pytest.fixture
def task_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Writes the page's files, lets the two packages find theirs, and adds the line. Gives the task's file."""
    for name, content in re.findall(r"```\w+\n# (\S+)\n(.*?)```", PAGE, re.DOTALL):
        file = tmp_path / "page" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    for place, package in PLACES.items():
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / "page" / place)])
    line = re.search(r'^    "(\w+)": "([\w.]+)",$', PAGE, re.MULTILINE)
    assert line is not None
    monkeypatch.setitem(WORLDS, line[1], line[2])
    yield tmp_path / "page/src/sketchmark/tasks/worlds/dots.yaml"
    for module in MODULES:
        sys.modules.pop(module, None)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs one command, which must succeed, and gives what it printed."""

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert not stop.value.code, err
        return out

    return run


def _printed_command(verb: str) -> list[str]:
    found = re.search(rf"^    sketchmark ({verb} .*)$", PAGE, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


def test_a_world_that_nobody_described_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no world called 'dots'.*maze, sliding, jigsaw, voila"):
        world("dots")


def test_the_new_world_is_listed_with_its_docstring(task_file: Path, say: Say) -> None:
    assert "Odd dots: a board of blue dots, but for one. What you see:" in " ".join(
        say(*_printed_command("list")).split()
    )


def test_the_new_world_is_made_and_read_back(
    task_file: Path, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert say(*_printed_command("make")) == "3 x dots in dots\n"
    rows = [json.loads(line) for line in (tmp_path / "dots/dots.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["dots-0-000000", "dots-0-000001", "dots-0-000002"]
    for row in rows:
        seen = json.loads(say("read", "dots", tmp_path / "dots" / row["initial_image"], "--grid", "3x4", "--json"))
        found = [[r + 1, c + 1] for r in range(3) for c in range(4) if seen["grid"][r][c] == "orange"]
        assert found == [row["place"]]
        assert sum(cells.count("blue") for cells in seen["grid"]) == 11
    assert len(say(*_printed_command("read")).splitlines()) == 3


def test_a_world_without_published_folders_says_so(
    task_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["make", "dots", "--count", "1", "--out", str(tmp_path / "out"), "--format", "folder"])
    assert stop.value.code == 2 and "no published folders of dots" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_solver_plays_the_new_world_perfectly(task_file: Path, say: Say, tmp_path: Path) -> None:
    say(*_printed_command("run"), "--include", task_file, "--trust-code", "--output-path", tmp_path / "run")
    results = json.loads((tmp_path / "run/results.json").read_text("utf-8"))["tasks"]
    assert set(results) == {"dots.direct", "dots.visual_cot", "dots.text_cot"}
    assert set(results["dots.visual_cot"]["metrics"]) == {"dots_right", "dots_img_exact"}
    for cell in results.values():
        assert cell["failures"] == {}
        assert {found["mean"] for found in cell["metrics"].values()} == {1.0}


@pytest.mark.parametrize("player", ["random", "sketcher"])
def test_players_that_cannot_solve_the_new_world_answer_in_its_form(
    task_file: Path, tmp_path: Path, player: str
) -> None:
    folder = sketchmark.run(
        f"player/{player}", "dots", limit=20, include=[task_file], trust_code=True, output_path=tmp_path / "run"
    ).folder
    cell = folder.results().tasks["dots.direct"]
    assert cell.failures == {}, "every guess could be read"
    assert cell.metrics["dots_right"].mean < 0.5


def test_a_wrong_drawing_of_the_new_world_is_explained_cell_by_cell(task_file: Path) -> None:
    catalog = Catalog((task_file,), trust_code=True)
    one, two = (sample for sample in catalog.task("dots").samples(limit=2) if sample.frames)
    assert one.frames is not None and two.frames is not None
    (true,), (wrong,) = one.frames(), two.frames()
    assert one.target["place"] != two.target["place"]
    found = difference(one.target, wrong, true)
    (row, col), (other_row, other_col) = one.target["place"], two.target["place"]
    assert set(found.cells) == {
        (row - 1, col - 1, "blue", "green"),
        (other_row - 1, other_col - 1, "green", "blue"),
    }
    assert f"row {row}, column {col}: blue, not green" in found.in_words()
    assert difference(one.target, true, true).in_words() == "every cell is as it should be"
    marked = Picture.from_bytes(overlay(one.target, wrong, true))
    assert marked.size == wrong.size and marked != Picture.from_bytes(overlay(one.target, true, true))


@pytest.mark.parametrize("named", ["narnia", ["dots"], 7])
def test_a_target_that_names_no_world_of_ours_is_nobodys_board(named: object) -> None:
    assert board_of({"world": named, "moves": ["up"], "rows": 6, "cols": 6}) is None
    assert board_of({"moves": ["up"], "rows": 6, "cols": 6}) is not None
    assert board_of({"moves": ["up"], "rows": "six", "cols": 6}) is None
