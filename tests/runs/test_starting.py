"""The folder of a run: what is written down of it, and what starting afresh may remove."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sketchmark import Reply, __version__
from sketchmark.errors import BadInput, CannotPlay, RunConflict
from sketchmark.folder.format import ModelAbout
from sketchmark.folder.results_format import Results
from tests.runs.making import Speaker, make_cell, make_cells, make_samples, make_task, run

NAME = "shades.direct"


def _mute(id: str) -> str:
    raise CannotPlay("it lost its voice")


def _dirty(path: Path) -> list[Path]:
    """Somebody's own things, beside and below what a run writes."""
    mine = [path / "notes.txt", path / "thesis/run.json", path / "submission/sent.zip"]
    for file in mine:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("precious")
    return mine


async def test_starting_afresh_plays_everything_anew_and_touches_nothing_else(tmp_path: Path) -> None:
    cells, model = make_cells(2, "visual_cot"), Speaker()
    folder = await run(tmp_path, [*make_cells(2), *cells], Speaker(), scoring="strict,lenient")
    mine = _dirty(tmp_path)
    before = {path.name for path in tmp_path.rglob("*.png")}
    model.drawing = lambda id: Reply()
    await run(tmp_path, cells, model, fresh=True)
    assert model.asked == ["s0", "s1"], "the drawing that does not come ends each"
    assert folder.cells == ["shades.visual_cot"] == list(folder.results().tasks)
    assert [path.name for path in tmp_path.rglob("*.jsonl")] == ["shades.visual_cot.jsonl"] * 2
    assert {path.name for path in tmp_path.rglob("*.png")} < before
    assert [file.read_text() for file in mine] == ["precious"] * 3


async def test_starting_afresh_leaves_no_old_result_behind_when_it_is_broken_off(tmp_path: Path) -> None:
    folder = await run(tmp_path, make_cells(2), Speaker())
    (tmp_path / "report.html").write_text("old")
    with pytest.raises(CannotPlay):
        await run(tmp_path, make_cells(2), Speaker(_mute), fresh=True)
    assert folder.results() == Results(tasks={}, gains=[]) and not (tmp_path / "report.html").exists()


async def test_starting_afresh_minds_nothing_that_is_gone_already(tmp_path: Path) -> None:
    folder = await run(tmp_path, make_cells(1), Speaker())
    for name in ("episodes", "scores", "pictures"):
        shutil.rmtree(tmp_path / name)
    (tmp_path / "results.json").unlink()
    await run(tmp_path, make_cells(1), Speaker(), fresh=True)
    assert folder.results().tasks[NAME].n == 1


async def test_what_was_changed_may_be_played_afresh(tmp_path: Path) -> None:
    await run(tmp_path, make_cells(2), Speaker())
    folder = await run(tmp_path, make_cells(2, seed=5), Speaker(name="other"), fresh=True)
    assert folder.about().seed == 5 and folder.about().cells[NAME].model["name"] == "other"


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("theirs", ["pictures/wedding.txt", "episodes/diary.txt", "scores/match.txt"])
async def test_a_folder_that_is_no_run_and_holds_what_a_run_would_remove_is_not_taken(
    tmp_path: Path, theirs: str, fresh: bool
) -> None:
    """Taken once, it would be the run's, and a later --fresh would remove it."""
    file = tmp_path / theirs
    file.parent.mkdir()
    file.write_text("precious")
    with pytest.raises(RunConflict, match=f"is not a run folder, and holds {file.parent.name}"):
        await run(tmp_path, make_cells(1), Speaker(), fresh=fresh)
    assert file.read_text() == "precious" and not (tmp_path / "run.json").exists()


async def test_starting_afresh_in_a_folder_that_is_no_run_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("precious")
    await run(tmp_path, make_cells(1), Speaker(), fresh=True)
    assert (tmp_path / "report.html").read_text() == "precious"


async def test_without_fresh_nothing_is_removed(tmp_path: Path) -> None:
    await run(tmp_path, make_cells(1), Speaker())
    (tmp_path / "report.html").write_text("kept")
    await run(tmp_path, make_cells(1), Speaker())
    assert (tmp_path / "report.html").read_text() == "kept"


async def test_what_could_not_be_read_again_is_refused_before_the_first_call(tmp_path: Path) -> None:
    model = Speaker()
    with pytest.raises(BadInput, match=r"seed is 9223372036854775808 \(it must be at most 9007199254740992"):
        await run(tmp_path / "run", [make_cell(make_task(make_samples(2)), seed=2**63)], model)
    assert not model.calls and not (tmp_path / "run" / "run.json").exists()


async def test_the_folder_says_what_was_run(tmp_path: Path) -> None:
    arguments = {"base_url": "https://me:secret-word@host/v1", "n": 3}
    cells = make_cells(1, model_args=arguments, seed=4)
    about = (await run(tmp_path, cells, Speaker())).about()
    assert about.model == ModelAbout("speaker", {"base_url": "https://host/v1", "n": 3})
    assert (about.format, about.sketchmark, about.seed) == (3, __version__, 4)
    assert set(about.machine) == {"python", "system"}
    assert about.cells == {NAME: cells[0].describe(Speaker())}
    assert (about.cells[NAME].headline, about.cells[NAME].breakdown) == ("right", [])


@pytest.mark.parametrize("name", ["api_key", "token", "key", "password"])
async def test_a_key_that_was_typed_is_refused_and_not_written_down(tmp_path: Path, name: str) -> None:
    model = Speaker()
    with pytest.raises(BadInput, match=f"{name}=… is a key .*environment") as refused:
        await run(tmp_path, make_cells(1, model_args={"n": 1, name: "sk-1234"}), model)
    assert "sk-1234" not in str(refused.value) and model.calls == []
    assert not (tmp_path / "run.json").exists()
