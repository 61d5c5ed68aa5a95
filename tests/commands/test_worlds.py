"""`sketchmark read` and `sketchmark make`, from the command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from PIL import Image

from sketchmark.cli import main
from sketchmark.media import Picture
from sketchmark.worlds import installed_worlds
from sketchmark.worlds.jigsaw import panels as jigsaw
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding
from tests.tabled import tabled

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs one command and gives its exit code, output and error output."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return run


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_read_prints_what_a_maze_looks_like(say: Say, tmp_path: Path) -> None:
    made = maze.generate(3, 4, 5, 2, 6)
    file = tmp_path / "m.png"
    file.write_bytes(maze.render(made).data)
    code, out, _ = say("read", "maze", file, "--grid", "4x5", "--json")
    expected = {"grid": maze.expected_grid(made, made.start), "start": list(made.start), "goal": list(made.goal)}
    assert (code, json.loads(out)) == (0, expected)
    code, out, _ = say("read", "maze", file, "--grid", "4x5")
    assert code == 0 and len(out.splitlines()) == 6 and f"start: row {made.start[0]}" in out


def test_read_says_null_where_there_is_no_start(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "white.png"
    Image.new("RGB", (60, 60), "white").save(file)
    code, out, _ = say("read", "maze", file, "--json")
    assert code == 0
    assert json.loads(out) == {"grid": [[" "] * 6] * 6, "start": None, "goal": None}


def test_read_prints_the_numbers_of_a_sliding_puzzle(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "s.png"
    file.write_bytes(sliding.render((2, 1, 3, 4)).data)
    assert say("read", "sliding", file, "--grid", "2x2", "--json")[1] == '{"grid": [[2, 1], [3, 4]]}\n'
    assert say("read", "sliding", file, "--grid", "2x2")[1].split() == ["2", "1", "3", "4"]


@pytest.mark.parametrize("content", [None, b"", b"words", b"\x89PNG\r\n\x1a\ntorn", b"\xff\xd8\xff\xe0torn"])
@pytest.mark.parametrize("world", ["maze", "sliding"])
def test_a_file_that_is_no_picture_is_one_line_and_exit_code_2(
    say: Say, tmp_path: Path, world: str, content: bytes | None
) -> None:
    file = tmp_path / "bad.png"
    if content is not None:
        file.write_bytes(content)
    code, out, err = say("read", world, file, "--json")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1 and "bad.png" in err


@tabled
def test_a_grid_that_cannot_be_is_refused(say: Say, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "w.png"
    Image.new("RGB", (60, 60), "white").save(file)
    assert say("read", *arguments, file)[0] == 2


def test_make_writes_pictures_steps_and_answers_that_fit_together(say: Say, tmp_path: Path) -> None:
    assert say("make", "maze", "--count", 5, "--seed", 7, "--out", tmp_path, "--max_steps", 6)[0] == 0
    rows = _lines(tmp_path / "maze.jsonl")
    assert len(rows) == 5 and len({str(row["id"]) for row in rows}) == 5
    for row in rows:
        made = maze.to_maze(maze.read(Picture.from_file(tmp_path / str(row["initial_image"]))))
        assert made is not None and row["steps"] == maze.solve(made)
        steps, names = row["steps"], row["step_images"]
        assert isinstance(steps, list) and isinstance(names, list) and 3 <= len(steps) <= 6
        assert [Picture.from_file(tmp_path / name) for name in names] == maze.frames(made, steps)


def test_the_same_seed_writes_the_same_bytes(say: Say, tmp_path: Path) -> None:
    for name in ("one", "two"):
        say("make", "sliding", "--count", 4, "--seed", 3, "--out", tmp_path / name, "--min-depth", 2)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) > 10
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_make_jigsaw_uses_the_difficulty_and_the_pictures_given(say: Say, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    Image.effect_mandelbrot((90, 60), (-2.0, -1.2, 1.0, 1.2), 100).save(photos / "one.png")
    out = tmp_path / "set"
    assert say("make", "jigsaw", "--count", 2, "--out", out, "--difficulty", "hard", "--pictures", photos)[0] == 0
    rows = _lines(out / "jigsaw.jsonl")
    assert len(rows) == 2
    for row in rows:
        ref, *candidates = (Picture.from_file(out / str(row[f"{name}_image"])) for name in ("ref", "cand0", "cand1"))
        costs = [jigsaw.seam_cost(jigsaw.complete(ref, candidate)) for candidate in candidates]
        assert costs.index(min(costs)) == row["label"]
        assert ref.size == (224, 224)
        red, green, blue = ref.image().split()
        assert red.tobytes() == green.tobytes() == blue.tobytes(), "cut from the grey picture that was given"
    nowhere = say("make", "jigsaw", "--count", 2, "--out", tmp_path / "none", "--pictures", tmp_path / "nowhere")
    assert nowhere[0] == 2 and "nowhere is not a folder of images" in nowhere[2]


@pytest.mark.parametrize("world", ["maze", "sliding", "jigsaw"])
def test_parquet_has_the_published_schema(say: Say, tmp_path: Path, world: str) -> None:
    assert say("make", world, "--count", 3, "--out", tmp_path, "--format", "parquet")[0] == 0
    rows = import_module("pyarrow.parquet").read_table(tmp_path / f"{world}.parquet").to_pylist()
    fields = {
        "maze": ["id", "initial_image", "steps"],
        "sliding": ["id", "initial_image", "steps_words"],
        "jigsaw": ["id", "ref_image", "cand0_image", "cand1_image", "label"],
    }[world]
    truth = fields[-1]
    for row, line in zip(rows, _lines(tmp_path / f"{world}.jsonl"), strict=True):
        assert list(row) == fields
        for name in fields[1:-1]:
            assert Image.open(io.BytesIO(row[name]["bytes"])).format == "PNG"
            assert row[name]["bytes"] == (tmp_path / str(line[name])).read_bytes()
        assert (row[truth] if world == "jigsaw" else json.loads(row[truth])) == line[truth]


def test_parquet_is_written_in_groups_as_it_comes(say: Say, tmp_path: Path) -> None:
    say("make", "maze", "--count", 230, "--out", tmp_path, "--format", "parquet", "--max-steps", 3)
    file = import_module("pyarrow.parquet").ParquetFile(tmp_path / "maze.parquet")
    assert (file.metadata.num_rows, file.metadata.num_row_groups) == (230, 3)


def test_without_pyarrow_the_error_names_the_extra(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = say("make", "maze", "--count", 1, "--out", tmp_path, "--format", "parquet")
    assert code == 2 and "sketchmark[data]" in err


def test_folder_is_the_layout_of_the_published_archive(say: Say, tmp_path: Path) -> None:
    for world in ("maze", "sliding", "jigsaw"):
        assert say("make", world, "--count", 2, "--seed", 1, "--out", tmp_path, "--format", "folder")[0] == 0
    for number in ("00000", "00001"):
        moves = json.loads((tmp_path / f"maze/maze_6x6_steps_{number}.json").read_text())["steps_long"]
        pictures = sorted((tmp_path / f"maze/maze_6x6_{number}_steps").iterdir())
        assert [picture.name for picture in pictures] == [f"maze_step_{i:04d}.png" for i in range(len(moves) + 1)]
        assert any("SG" in row for row in maze.read(Picture.from_file(pictures[-1])).grid)
    items = json.loads((tmp_path / "sliding/summary_steps_le_8.json").read_text())["items"]
    for number, item in zip(("00000", "00001"), items, strict=True):
        assert item["steps_dir"] == f"sliding/demo_3x3_{number}_steps"
        assert item["steps_words_json"] == f"sliding/demo_3x3_steps_words_{number}.json"
        moves = json.loads((tmp_path / item["steps_words_json"]).read_text())["steps_words"]
        first, last = (
            sliding.read(Picture.from_file(tmp_path / item[name])) for name in ("initial_png", "final_png")
        )
        state = sliding.to_state(first)
        assert state is not None and moves == sliding.solve(state)
        assert sliding.to_state(last) == sliding.goal_state()
    items = json.loads((tmp_path / "jigsaw_dataset_2x2ref/metadata.json").read_text())["items"]
    for item in items:
        ref = Picture.from_file(tmp_path / item["ref_panel"]["ref_image_path"])
        right, wrong = (
            Picture.from_file(tmp_path / item["candidate_paths"][i]) for i in (item["label"], 1 - item["label"])
        )
        assert Picture.from_file(tmp_path / item["gt_completed_2x2_path"]) == jigsaw.complete(ref, right)
        assert Picture.from_file(tmp_path / item["gt_wrong_2x2_path"]) == jigsaw.complete(ref, wrong)


@pytest.mark.parametrize("form", ["jsonl", "parquet", "folder"])
def test_an_existing_set_is_not_overwritten(say: Say, tmp_path: Path, form: str) -> None:
    assert say("make", "maze", "--count", 1, "--out", tmp_path, "--format", form)[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, _, err = say("make", "maze", "--count", 2, "--seed", 5, "--out", tmp_path, "--format", form)
    assert code == 2 and "already there" in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_impossible_wish_leaves_no_file_behind(say: Say, tmp_path: Path) -> None:
    code, _, err = say("make", "maze", "--count", 2, "--out", tmp_path, "--min-steps", 90, "--max-steps", 95)
    assert code == 2 and len(err.splitlines()) == 1 and "at most 20" in err
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_one_line(say: Say, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, _, err = say("make", "maze", "--count", 1, "--out", tmp_path / "file" / "below")
    assert code == 2 and len(err.splitlines()) == 1


LEVELED = [world.name for world in installed_worlds() if world.chances]


def test_twelve_worlds_have_levels() -> None:
    assert len(LEVELED) == 12


@pytest.mark.parametrize("name", LEVELED)
def test_make_read_list_and_show_support_every_world(say: Say, tmp_path: Path, name: str) -> None:
    made = tmp_path / "made"
    assert say("make", name, "--count", "2", "--level", "2", "--out", made)[0] == 0
    (one, two) = _lines(made / f"{name}.jsonl")
    assert isinstance(one["groups"], dict) and one["groups"]["level"] == 2
    assert isinstance(two["step_images"], list) and len(two["step_images"]) == 2
    image = next((made / str(two["id"])).glob("[ir][ne]*_image.png"))  # initial or ref
    code, out, err = say("read", name, image)
    assert code == 0 and len(out.splitlines()) >= 2, err
    about = installed_worlds()[name].about
    told = " ".join(say("list", "worlds", name)[1].split())
    assert " ".join(about.split("\n\n")[0].split()) in told
    shown = " ".join(say("show", name, "--mode", "direct")[1].split())
    for start in ("Levels: ", "Looks: ", "Chance: "):
        (paragraph,) = [" ".join(each.split()) for each in about.split("\n\n") if f"\n{start}" in f"\n{each}"]
        assert paragraph in shown
    assert "(levels are 1 to 5)" in say("make", name, "--count", "1", "--level", "6", "--out", tmp_path / "no")[2]


@pytest.mark.parametrize("group", ["worlds", "worlds_hard"])
def test_the_groups_have_all_worlds_and_take_a_level(say: Say, tmp_path: Path, group: str) -> None:
    ending = group.removeprefix("worlds")
    settings = ("--limit", "1", "--task-args", "level=3", "-o", tmp_path / "run")
    code, _, err = say("run", "--model", "player/solver", "--tasks", group, "--mode", "direct", *settings)
    assert code == 0, err
    cells = json.loads((tmp_path / "run/results.json").read_text("utf-8"))["tasks"]
    assert {name.partition(".")[0] for name in cells} == {f"{name}{ending}" for name in LEVELED}
    assert all(set(cell["by"]["level"]) == {"3"} for cell in cells.values())
