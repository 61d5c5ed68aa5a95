"""A run folder from a stranger: no name in it makes a path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from sketchmark.catalog import Catalog
from sketchmark.commands import list as show
from sketchmark.errors import BadInput
from sketchmark.export import export
from sketchmark.files import file_name, file_names
from sketchmark.folder import RunFolder
from sketchmark.folder.format import ModelAbout
from sketchmark.results.aggregate import write_submissions
from tests.view.making import Maker, play, sample

NAMES = {
    "up": "../../x", "absolute": "/ABSOLUTE/x", "nul": "a\x00b", "long": "x" * 5_000, "dots": "..",
    "nothing": "", "device": "NUL", "escape": "\x1b[2J\u202e\n", "drive": "C:\\x\\..\\y",
}  # fmt: skip


def named(folder: Path, name: str) -> RunFolder:
    """Everything that a run says of itself is this name; of the two cells one is named in capitals."""
    maker = Maker(folder / "deep" / "er" / "run", cells=("maze.direct", "maze.visual_cot"))
    for cell in maker.cells:
        maker.add(cell, play(replace(sample(0), id=name, groups={"steps": name}), "direct", True), 0)
    run = maker.finish()
    about = run.about()
    for of_cell, spelled in zip(about.cells.values(), (name, name.upper()), strict=True):
        of_cell.task = of_cell.mode = of_cell.canvas = spelled
    about = msgspec.structs.replace(about, started=name, model=ModelAbout(name, {name: name}), sketchmark=name)
    run.run_file.write_bytes(msgspec.json.encode(about))
    return run


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("to", ["lmms-eval", "inspect", "hf"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_an_export_writes_into_its_folder_and_nowhere_else(tmp_path: Path, name: str, to: str) -> None:
    run = named(tmp_path, name.replace("/ABSOLUTE", str(tmp_path)))
    before, out = files(tmp_path), tmp_path / "deep" / "out"
    made = export(run, to, out)
    assert files(tmp_path) - before == set(made)
    assert len({str(path).casefold() for path in made}) == len(made) == {"lmms-eval": 3, "inspect": 2, "hf": 3}[to]
    for path in made:
        assert path.resolve().is_relative_to(out.resolve())
        assert all(part.isascii() and part.isprintable() and len(part) < 160 for part in path.relative_to(out).parts)


def test_wandb_writes_into_its_folder_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    run = named(tmp_path, "../../../../../../x")
    before, out = files(tmp_path), tmp_path / "deep" / "out"
    export(run, "wandb", out)
    made = files(tmp_path) - before
    assert len([path for path in made if path.name.endswith((".table.json", ".png"))]) == 4
    assert all(path.is_relative_to(out) or path.is_relative_to(tmp_path / "home") for path in made)


def test_an_ordinary_name_is_kept_and_no_two_are_alike() -> None:
    assert file_names({"a": "maze", "b": "maze_visual_cot", "c": "Qwen2.5-VL"}) == {
        "a": "maze",
        "b": "maze_visual_cot",
        "c": "Qwen2.5-VL",
    }
    names = file_names({"a": "maze", "b": "MAZE", "c": "maze", "d": "m/aze", "e": "m:aze"})
    assert names["a"] == "maze" and len({name.casefold() for name in names.values()}) == 5


@pytest.mark.parametrize("text", [*NAMES.values(), "con.txt", ".hidden", "-rf", "ends.", "\ud800", "名前"])
def test_any_other_becomes_one(text: str) -> None:
    name = file_name(text)
    assert name != text and file_name(name) == name


def test_a_picture_that_is_shown_is_saved_in_the_folder_that_was_named(tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "climbing.yaml").write_text(
        'source: {use: "climbing:samples"}\nmodes: {direct: {protocol: direct, prompts: {inputs: [Which?]}}}\n'
        'scorers: ["climbing:score"]\nheadline: right\n'
    )
    (tmp_path / "task" / "climbing.py").write_text(
        "from PIL import Image\nfrom sketchmark import Picture, Sample, Scores\n"
        "def samples(*, seed, data):\n"
        "    yield Sample('s', pictures={'../../up': Picture.from_image(Image.new('RGB', (4, 4)))})\n"
        "def score(sample, episode, grading):\n    return Scores({'right': 1.0})\n"
    )
    before, out = files(tmp_path), tmp_path / "deep" / "er" / "out"
    asked = ["climbing", "--include", str(tmp_path / "task"), "--trust-code", "--save", str(out)]
    result = CliRunner().invoke(show.show_command, asked, catch_exceptions=False)
    assert result.exit_code == 0
    (made,) = (path for path in files(tmp_path) - before if path.suffix != ".pyc")
    assert made.parent == out


@pytest.mark.parametrize("link", ["submission", "submission/iu_xray.direct"])
def test_a_submission_is_not_written_through_a_link(tmp_path: Path, link: str) -> None:
    run = reports(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (run.path / link).parent.mkdir(exist_ok=True)
    (run.path / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput):
        write_submissions(run, {"iu_xray.direct": Catalog().task("iu_xray")})
    assert files(tmp_path / "elsewhere") == set()


def test_a_link_in_the_place_of_a_submission_is_not_followed(tmp_path: Path) -> None:
    run = reports(tmp_path)
    (tmp_path / "precious").write_text("mine")
    place = run.path / "submission" / "iu_xray.direct" / "predictions.csv"
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "precious")
    with pytest.raises(BadInput):
        write_submissions(run, {"iu_xray.direct": Catalog().task("iu_xray")})
    assert (tmp_path / "precious").read_text() == "mine"


def reports(folder: Path) -> RunFolder:
    maker = Maker(folder / "run", cells=("iu_xray.direct",))
    of = sample(0)
    of = replace(of, target={**of.target, "reference": "Clear."})
    maker.add("iu_xray.direct", play(of, "direct", True), 0)
    return maker.folder
