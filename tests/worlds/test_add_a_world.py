"""docs/add-a-world.md, followed to the letter from outside the package, and a world that describes itself."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from bench.worlds import DISTORTIONS, misread, subject_of

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.cli import main
from sketchmark.errors import UnknownName
from sketchmark.media import Picture
from sketchmark.view.media import difference, overlay
from sketchmark.worlds import LEVELS, installed_worlds
from sketchmark.worlds.steps import StepWorld

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "add-a-world.md").read_text("utf-8")
SOURCE = Path(sketchmark.__file__).parent
SPECIFIC = ("worlds/", "benchmarks/", "commands/voila", "testing.py")
"""Where a world may be named: its folder, benchmarks built on it, and VOILA's own commands."""

Say = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a world that describes itself in it and nothing else."""
    for file in (Path(__file__).parent / "described").glob("dots.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the page's files in it and nothing else."""
    for name, content in re.findall(r"```\w+\n# (\S+)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(content, "utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"lamps.py", "lamps.yaml"}
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs one command, which must succeed, and returns its output."""

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert not stop.value.code, err
        return out

    return run


@pytest.fixture
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The world as a module of an installed package with an entry point."""
    group, name, package, module = "sketchmark.worlds", "dots", "my_package", "dots"
    (folder / package).mkdir()
    for suffix in (".py", ".yaml"):
        (folder / f"dots{suffix}").rename(folder / package / f"{module}{suffix}")
    points = metadata.EntryPoints([metadata.EntryPoint(name, f"{package}.{module}", group)])
    known = metadata.entry_points
    monkeypatch.setattr(metadata, "entry_points", lambda group: points.select(group=group) or known(group=group))
    monkeypatch.syspath_prepend(folder)
    installed_worlds.cache_clear()
    yield
    installed_worlds.cache_clear()
    for each in (package, f"{package}.{module}"):
        sys.modules.pop(each, None)


def _command(verb: str) -> list[str]:
    found = re.search(rf"^    sketchmark ({verb} .*)$", PAGE, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


def _scores(run: Path) -> dict[str, dict[str, float]]:
    cells = json.loads((run / "results.json").read_text("utf-8"))["tasks"]
    assert all(cell["failures"] == {} for cell in cells.values())
    return {name: {score: found["mean"] for score, found in cell["metrics"].items()} for name, cell in cells.items()}


def test_an_unknown_world_is_refused_with_the_names_of_the_others() -> None:
    with pytest.raises(UnknownName, match=r"no world called 'dots'.*maze, sliding, jigsaw, voila"):
        installed_worlds()["dots"]


def test_the_page_is_followed_with_include(followed: Path, say: Say) -> None:
    before = _files()
    listed = " ".join(say(*_command("list")).split())
    assert listed.startswith("lamps Lamps: switch off the lamps of a row from left to right. What you see:")
    shown = say(*_command("show"))
    assert "Levels: level n has n lit lamps" in shown and "Switch all of them off" in shown
    assert say(*_command("make")) == "3 x lamps in made\n"
    rows = [json.loads(line) for line in Path("made/lamps.jsonl").read_text("utf-8").splitlines()]
    assert [(row["groups"], len(row["step_images"])) for row in rows] == [({"level": 2, "look": "wood"}, 2)] * 3
    lit = say(*_command("read")).split()[1:]
    assert [str(number) for number, state in enumerate(lit, 1) if state == "on"] == rows[0]["answer"]
    say(*_command("run"), "--output-path", "run")
    cells = _scores(followed / "run")
    assert set(cells) == {f"lamps.{mode}" for mode in ("direct", "visual_cot", "text_cot", "text_input")}
    assert all(set(metrics.values()) == {1.0} for metrics in cells.values())
    said = say(*_command("audit"), "--output-path", "audit")
    assert "Follows a corrupted drawing in 100.0%" in said
    assert {path.name for path in followed.iterdir()} - {"made", "run", "audit", "__pycache__"} == OWN
    assert _files() == before, "no file of the package changes"


OWN = {"lamps.py", "lamps.yaml"}


def _files() -> dict[Path, int]:
    """Return all files of the package with the time of their last change."""
    files = (path for path in SOURCE.rglob("*") if path.suffix in (".py", ".yaml"))
    return {path: path.stat().st_mtime_ns for path in files}


def test_the_page_s_entry_point_needs_no_option(followed: Path, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package as pip installs it."""
    before, site = _files(), followed / "site"
    package, about = site / "my_package", site / "my_package-1.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    for name in OWN:
        (followed / name).rename(package / name)
    group, point = re.findall(r'entry-points\."(\S+)"\]\n\s*(.*)', PAGE)[0]
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", "utf-8")
    (about / "entry_points.txt").write_text(f"[{group}]\n{point.replace(chr(34), '')}\n", "utf-8")
    monkeypatch.syspath_prepend(site)
    installed_worlds.cache_clear()
    try:
        assert "Lamps: switch off" in say("list", "worlds", "lamps")
        assert say("make", "lamps", "--count", "1", "--out", "made") == "1 x lamps in made\n"
        assert say("read", "lamps", "made/lamps-0-000000/initial_image.png").startswith("lamps: o")
        run = ("run", "--model", "player/solver", "--tasks", "lamps", "--mode", "direct,visual_cot", "--limit", "5")
        say(*run, "--output-path", "run")
    finally:
        installed_worlds.cache_clear()
        for name in ("my_package", "my_package.lamps"):
            sys.modules.pop(name, None)
    assert all(set(metrics.values()) == {1.0} for metrics in _scores(followed / "run").values())
    assert {path.name for path in package.iterdir()} - {"__pycache__"} == OWN and _files() == before


@pytest.mark.parametrize("distortion", list(DISTORTIONS))
def test_the_page_s_world_keeps_what_step_worlds_promise(followed: Path, distortion: str) -> None:
    world = Catalog((Path("lamps.py"),)).worlds["lamps"].play
    assert isinstance(world, StepWorld)
    assert misread(subject_of(world), 60, DISTORTIONS[distortion]) == []
    for level in LEVELS:
        puzzle = world.puzzle(level, level, "day")
        assert len(world.solve(puzzle)) == level and world.accepts(puzzle, world.solve(puzzle))


def test_a_world_that_describes_itself_is_listed_and_shown(folder: Path, say: Say) -> None:
    listed = " ".join(say("list", "worlds", "--include", "dots.py").split())
    assert "Odd dots: a board of blue dots, except for one. What you see:" in listed
    assert "You look for the odd dot" in say("show", "dots", "--include", "dots.py")
    assert "dots" in say("make", "--include", "dots.py", "--help")


def test_a_world_that_describes_itself_is_made_and_read_back(folder: Path, say: Say) -> None:
    arguments = ("dots", "--count", 3, "--grid", "3x4", "--odd", "orange", "--out", "made")
    assert say("make", "--include", "dots.py", *arguments) == "3 x dots in made\n"
    rows = [json.loads(line) for line in Path("made/dots.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["dots-0-000000", "dots-0-000001", "dots-0-000002"]
    read = ("read", "--include", "dots.py", "dots")
    for row in rows:
        seen = json.loads(say(*read, f"made/{row['initial_image']}", "--grid", "3x4", "--json"))
        found = [[r + 1, c + 1] for r in range(3) for c in range(4) if seen["grid"][r][c] == "orange"]
        assert found == [row["place"]]
        assert sum(cells.count("blue") for cells in seen["grid"]) == 11
    assert len(say(*read, f"made/{rows[0]['initial_image']}", "--grid", "3x4").splitlines()) == 3


def test_a_world_without_published_folders_cannot_write_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*["make", "--include", "dots.py", "dots", "--count", "1", "--out", "out", "--format", "folder"]])
    assert stop.value.code == 2 and "no published folders of dots" in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize("how", [[], ["--engine", "processes", "--replicas", "2"]], ids=["here", "processes"])
def test_the_solver_solves_it_and_is_scored_again(folder: Path, say: Say, how: list[str]) -> None:
    settings = ("--mode", "direct,visual_cot,text_cot", "--limit", 20, *how, "--output-path", "run")
    say("run", "--include", "dots.py", "--model", "player/solver", "--tasks", "dots", *settings)
    text, all_scores = {"dots_right": 1.0}, {"dots_right": 1.0, "dots_img_exact": 1.0}
    expected = {"dots.direct": text, "dots.visual_cot": all_scores, "dots.text_cot": text}
    assert _scores(folder / "run") == expected
    say("score", "run", "--include", "dots.py")
    assert _scores(folder / "run") == expected


def test_it_is_audited_on_every_canvas(folder: Path, say: Say) -> None:
    settings = ("--tasks", "dots", "--limit", 8, "--output-path", "run")
    said = say("audit", "--include", "dots.py", "--model", "player/solver", *settings)
    cells = set(_scores(folder / "run"))
    assert {f"dots.visual_cot.{canvas}" for canvas in ("blank", "other", "oracle", "corrupt", "caption")} <= cells
    assert "dots_right" in said


@pytest.mark.parametrize("player", ["random", "sketcher", "flawed"])
def test_players_that_cannot_solve_it_guess_in_its_form(folder: Path, player: str) -> None:
    run = sketchmark.run(f"player/{player}", "dots", limit=20, include="dots.py", output_path="run").folder
    cell = run.results().tasks["dots.direct"]
    assert cell.failures == {}, "every guess was parsed"
    assert cell.metrics["dots_right"].mean < 0.5


@pytest.mark.parametrize("include", ["dots/__init__.py", "dots/"])
def test_a_world_may_be_a_folder_with_further_modules(folder: Path, say: Say, include: str) -> None:
    Path("dots").mkdir()
    source = Path("dots.py").read_text("utf-8").replace("CELL = 40\n", "")
    Path("dots/__init__.py").write_text(source.replace("from PIL", "from size import CELL\nfrom PIL", 1), "utf-8")
    Path("dots/size.py").write_text("CELL = 40\n", "utf-8")
    Path("dots.yaml").rename("dots/dots.yaml")
    Path("dots.py").unlink()
    run = ["run", "--model", "player/solver", "--tasks", "dots", "--limit", "3", "--output-path", "run"]
    say(*run, "--include", include, *(["--trust-code"] if include.endswith("/") else []))
    assert _scores(folder / "run") == {"dots.direct": {"dots_right": 1.0}}


def test_a_wrong_drawing_is_explained_cell_by_cell(installed: None) -> None:
    one, two = Catalog().task("dots").samples(limit=2)
    assert one.frames is not None and two.frames is not None
    (true,), (wrong,) = one.frames(), two.frames()
    (row, col), (other_row, other_col) = one.target["place"], two.target["place"]
    assert (row, col) != (other_row, other_col)
    found = difference(one.target, wrong, true)
    assert set(found.cells) == {(row - 1, col - 1, "blue", "green"), (other_row - 1, other_col - 1, "green", "blue")}
    assert f"row {row}, column {col}: blue, not green" in found.in_words()
    assert difference(one.target, true, true).in_words() == "every cell is as it should be"
    marked = Picture.from_bytes(overlay(one.target, wrong, true))
    assert marked.size == wrong.size and marked != Picture.from_bytes(overlay(one.target, true, true))


def test_a_file_whose_world_has_another_name_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dots.py").rename("points.py")
    with pytest.raises(SystemExit) as stop:
        main(["list", "worlds", "--include", "points.py"])
    assert stop.value.code == 2 and "'points' has no WORLD of that name" in capsys.readouterr().err


def test_a_world_whose_module_is_gone_is_refused_by_name(
    installed: None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "my_package/dots.py").rename(folder / "my_package/gone.py")
    assert Catalog().task_names(), "the other tasks are there"
    with pytest.raises(SystemExit) as stop:
        main(["list", "worlds"])
    assert stop.value.code == 2 and "the world 'dots' cannot be loaded" in capsys.readouterr().err


def test_a_trusted_file_with_another_kind_of_world_is_left_alone(folder: Path, say: Say) -> None:
    Path("dots.py").write_text("WORLD = 8\nWORLD: int = len('four')\n", "utf-8")
    assert "\ndots " not in say("list", "worlds", "--include", ".", "--trust-code")


@pytest.mark.parametrize("named", ["narnia", ["dots"], 7])
def test_a_target_that_names_no_known_world_has_no_board(named: object) -> None:
    board_of = installed_worlds().board_of
    assert board_of({"world": named, "moves": ["up"], "rows": 6, "cols": 6}) is None
    assert board_of({"moves": ["up"], "rows": 6, "cols": 6}) is not None
    assert board_of({"moves": ["up"], "rows": "six", "cols": 6}) is None


def test_general_code_names_no_world() -> None:
    names = set(installed_worlds().names)
    modules = {f"sketchmark.worlds.{name}" for name in names}
    found = set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        for node in [] if place.startswith(SPECIFIC) else ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Constant) and node.value in names:
                found.add((place, node.value))
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(tuple(f"{one}." for one in modules)):
                found.add((place, str(node.module)))
    assert found == {("commands/__init__.py", "voila")}, "the table of commands has VOILA's own"


def test_the_page_on_worlds_has_their_docstrings_and_contact_sheets() -> None:
    spec = importlib.util.spec_from_file_location("make_worlds", DOCS / "make_worlds.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    page = (DOCS / "worlds.md").read_text("utf-8")
    assert maker.filled(page) == page, "run docs/make_worlds.py"
    for name in (world.name for world in installed_worlds() if world.chances):
        assert f"## {name}\n" in page and re.search(rf"^\| `{name}` \|.*4 of 4", page, re.MULTILINE), name
        assert 2_000 < (DOCS / f"pictures/worlds/{name}.png").stat().st_size < 240_000
