"""`sketchmark check`, and the messages of `show` and `run` for the same file."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

from tests.benchmarks.questions.files import jsonl, picture
from tests.command_line import sketchmark
from tests.tabled import tabled

RUN = ("run", "--model", "player/random", "--tasks")
EXAMPLE = Path(__file__).parents[3] / "examples/questions/shapes.jsonl"


def test_the_example_is_in_order_and_plays(tmp_path: Path) -> None:
    done = sketchmark("check", str(EXAMPLE))
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 questions, all in order" in done.stdout
    assert "number 3, choice 2, exact 1, yes_no 1, judged 1" in done.stdout
    done = sketchmark(*RUN, str(EXAMPLE), "--mode", "direct,visual_cot,text_cot", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out/results.json").read_text())["tasks"]
    episodes = {name: cell["episodes"] for name, cell in results.items()}
    assert episodes == {f"shapes.{mode}": 8 for mode in ("direct", "visual_cot", "text_cot")}


def test_all_broken_rows_are_named_and_run_refuses_in_the_same_words(tmp_path: Path) -> None:
    jsonl(
        tmp_path / "q.jsonl",
        {"id": "a", "question": "a?", "answer": "x", "notes": "mine"},
        "{torn",
        {"id": "b", "query": "b?"},
        {"id": "c", "question": "c?", "options": ["x", "y"], "answer": "z"},
        {"id": "a", "question": "d?", "answer": "x"},
    )
    done = sketchmark("check", "q.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "q.jsonl: 4 of 5 rows broken"
    assert [line.split(":")[0] for line in lines[1:5]] == ["  row 2", "  row 3 (b)", "  row 4 (c)", "  row 5 (a)"]
    assert lines[-1] == "  not used: notes"
    refused = sketchmark(*RUN, "q.jsonl", "-o", "out", cwd=tmp_path)
    assert refused.returncode == 2 and not (tmp_path / "out").exists()
    assert len(refused.stderr.splitlines()) == 1
    for line in lines[1:4]:
        assert line.strip() in refused.stderr
    assert "and 1 more" in refused.stderr and "sketchmark check q.jsonl" in refused.stderr
    told = json.loads(sketchmark("check", "q.jsonl", "--json", cwd=tmp_path).stdout)
    assert (told["rows"], told["broken_rows"], told["unused"]) == (5, 4, ["notes"])
    assert [one["row"] for one in told["broken"]] == [2, 3, 4, 5]
    assert told["broken"][3]["problem"] == "the id 'a' is already used by row 1 (give each row a unique id)"


def test_many_broken_rows_are_counted(tmp_path: Path) -> None:
    jsonl(tmp_path / "q.jsonl", *({"question": f"{n}?"} for n in range(130)))
    done = sketchmark("check", "q.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    _, same, rest = done.stdout.splitlines()
    assert same.startswith("  100 rows (1, 2, 3, 4, 5 and 95 more), the first: no answer (every question needs one")
    assert rest == "  and 30 more broken rows"


def test_a_picture_that_was_cut_off_is_found(tmp_path: Path) -> None:
    whole = picture(tmp_path / "a.png", size=(300, 300)).read_bytes()
    (tmp_path / "a.png").write_bytes(whole[: len(whole) - 40])
    jsonl(tmp_path / "q.jsonl", {"question": "a?", "answer": "x", "image": "a.png"})
    done = sketchmark("check", "q.jsonl", cwd=tmp_path)
    told = "row 1: the picture 'a.png': broken png picture"
    assert done.returncode == 2 and told in done.stdout
    for mode in ("direct", "visual_cot"):
        refused = sketchmark(*RUN, "q.jsonl", "--mode", mode, "-o", "out", cwd=tmp_path)
        assert refused.returncode == 2 and told in refused.stderr and not (tmp_path / "out").exists()


def test_a_picture_that_moves_is_refused_and_one_frame_is_not(tmp_path: Path) -> None:
    still, other = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (8, 8), "blue")
    for name in ("a.gif", "a.webp", "a.png"):
        still.save(tmp_path / name, save_all=True, append_images=[other])
        still.save(tmp_path / f"still_{name}")
    names = sorted(path.name for path in tmp_path.iterdir())
    jsonl(tmp_path / "q.jsonl", *({"id": name, "question": "a?", "answer": "x", "image": name} for name in names))
    done = sketchmark("check", "q.jsonl", cwd=tmp_path)
    assert done.returncode == 2 and "3 of 6 rows broken" in done.stdout
    assert "the first: the picture 'a.gif': it is animated (save the frame that is meant)" in done.stdout


def test_a_picture_of_too_many_pixels_or_with_too_long_a_name_is_named_in_short(tmp_path: Path) -> None:
    Image.new("1", (9000, 9000)).save(tmp_path / "huge.png")
    rows = [{"question": "a?", "answer": "x", "image": name} for name in ("huge.png", "a/" * 2500 + "b.png")]
    done = sketchmark("check", "q.jsonl", cwd=jsonl(tmp_path / "q.jsonl", *rows).parent)
    assert done.returncode == 2 and "row 1: the picture 'huge.png': picture of 9000x9000 pixels" in done.stdout
    assert "row 2: there " in done.stdout and max(map(len, done.stdout.splitlines())) < 400


def test_a_file_that_is_not_there_hides_no_other(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        jsonl(tmp_path / name, {"question": "a?", "answer": "x"})
    (tmp_path / "d.jsonl").mkdir()
    files = ("a.jsonl", "missing.jsonl", "d.jsonl", "b.jsonl")
    done = sketchmark("check", *files, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout.count("1 question, all in order") == 2
    missing, folder = done.stderr.splitlines()
    assert "there is no file missing.jsonl" in missing and "d.jsonl is a folder" in folder
    told = [json.loads(line) for line in sketchmark("check", *files, "--json", cwd=tmp_path).stdout.splitlines()]
    assert [one["file"] for one in told] == list(files) and "no file missing.jsonl" in told[1]["problem"]
    assert sketchmark("check", "a.jsonl", "b.jsonl", cwd=tmp_path).returncode == 0


def test_show_shows_what_will_be_asked() -> None:
    done = sketchmark("show", str(EXAMPLE), "--mode", "direct")
    assert done.returncode == 0
    asked = "  │ Which shape is on the left?\n  │ A. a circle\n  │ B. a square\n  │ C. a triangle\n  │ Answer with"
    assert f"  [picture 160x120]\n{asked}" in done.stdout


@tabled
def test_bad_input_is_one_line_that_says_what_to_do(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    jsonl(tmp_path / "shapes.jsonl", {"question": "a?", "answer": "x"})
    (tmp_path / "broken.yaml").write_text("mods: {}\n")
    done = sketchmark(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_task_file_with_code_is_looked_at_and_its_code_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('the code ran')")
    task = """
        source: {use: "mine:samples"}
        modes:
          direct: {protocol: direct, prompts: {inputs: [What?]}}
          twice: {like: direct, protocol: "mine:twice"}
        scorers: ["mine:score"]
    """
    (tmp_path / "mine.yaml").write_text(task)
    done = sketchmark("check", "mine.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "mine.yaml: task mine, modes direct, twice, blind; in order\n")
    (tmp_path / "wrong.yaml").write_text(task.replace("like: direct", "like: indirect"))
    done = sketchmark("check", "wrong.yaml", cwd=tmp_path)
    assert done.returncode == 2 and "names the mode 'indirect'" in done.stderr


def test_a_built_in_task_file_is_in_order() -> None:
    import sketchmark as package

    root = Path(package.__file__).parent
    for name in ("worlds/maze/maze.yaml", "benchmarks/mmsi/mmsi.yaml"):
        assert sketchmark("check", str(root / name)).returncode == 0
