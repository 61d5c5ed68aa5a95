"""RunView and CellView: growing runs, replaced lines, states, outcomes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView, change, outcome
from tests.tabled import tabled
from tests.view.making import Maker, fail, play, sample


def index(maker: Maker) -> RunView:
    run = RunView(maker.folder, "run")
    run.refresh()
    return run


def test_appended_episodes_are_read_without_the_rest(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(3)
    run = index(maker)
    before = run.version
    maker.add("maze.direct", play(sample(3), "direct", True), 3)
    run.refresh()
    assert len(run.cells["maze.direct"].episodes) == 4
    assert run.version == before + 2  # one episode line, one score line
    assert run.cells["maze.direct"].value("maze-00003") == 1.0


def test_a_line_without_its_newline_is_not_read_yet(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    path = maker.folder.episodes_file("maze.direct")
    whole = path.read_bytes()
    seal = whole.rindex(b',"crc"')
    path.write_bytes(whole + whole[:seal].replace(b"maze-00000", b"maze-00009") + b"}")
    run = index(maker)
    assert list(run.cells["maze.direct"].episodes) == ["maze-00000"]
    with path.open("ab") as file:
        file.write(b"\n")
    run.refresh()
    assert list(run.cells["maze.direct"].episodes) == ["maze-00000", "maze-00009"]


def test_the_last_line_of_a_retried_sample_counts(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run")
    maker.add("maze.direct", fail(sample(0), "direct", "timeout", "too slow"), 0)
    maker.add("maze.direct", play(sample(0), "direct", True), 0)
    cell = index(maker).cells["maze.direct"]
    assert cell.episode("maze-00000").failure is None
    assert cell.value("maze-00000") == 1.0 and len(cell.rows) == 1


def test_new_scores_replace_the_old_ones(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(4, skill=0.0)
    run = index(maker)
    path = maker.folder.scores_file("maze.direct")
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.unlink()
    path.write_bytes(first)
    run.refresh()
    assert list(run.cells["maze.direct"].rows) == ["maze-00000"]


def test_an_id_with_quotes_and_backslashes_is_read_like_any_other(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run")
    strange = 'a "quoted" \\ id\n<script>'
    of = sample(0)
    named = type(of)(**{**{name: getattr(of, name) for name in of.__dataclass_fields__}, "id": strange})
    maker.add("maze.direct", play(named, "direct", True), 0)
    assert index(maker).cells["maze.direct"].episode(strange).sample.id == strange


def test_a_link_that_leads_out_of_the_run_is_not_followed(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    secret = tmp_path / "secret.jsonl"
    path = maker.folder.episodes_file("maze.direct")
    path.rename(secret)
    path.symlink_to(secret)
    with pytest.raises(BadInput, match="is a link"):
        index(maker)


@pytest.mark.parametrize("kind", ["episodes", "scores"])
def test_a_file_that_cannot_be_opened_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    maker, opened = Maker(tmp_path / "run").fill(1), os.open
    bad = maker.folder.path / kind / "maze.direct.jsonl"

    def broken(path: Any, *how: Any, **more: Any) -> int:
        if path == bad:
            raise OSError(5, "Input/output error", str(path))
        return opened(path, *how, **more)

    monkeypatch.setattr(os, "open", broken)
    with pytest.raises(BadInput, match=r"cannot read .*maze\.direct\.jsonl: Input/output error"):
        index(maker)
    monkeypatch.undo()
    bad.unlink()
    assert "maze.direct" in index(maker).cells


def test_a_cell_name_with_dots_and_slashes_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_text("{}\n")
    maker = Maker(tmp_path / "run", cells=("maze.direct", "../../outside", "..", "maze.direct/../../x"))
    run = index(maker)
    assert list(run.cells) == ["maze.direct"]


def test_a_run_is_running_until_its_results_are_newer_than_its_episodes(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    run = index(maker)
    played = max(maker.folder.episodes_file(name).stat().st_mtime for name in maker.cells)
    assert run.state(played + 5) == "running"
    assert run.state(played + 5_000) == "stopped"
    maker.finish()
    os.utime(maker.folder.path / "results.json", (played + 1, played + 1))
    assert run.state(played + 5) == "finished"


def test_a_copied_run_is_finished_if_its_results_count_every_episode(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    maker.finish()
    played = max(maker.folder.episodes_file(name).stat().st_mtime for name in maker.cells)
    os.utime(maker.folder.path / "results.json", (played - 1, played - 1))
    run = index(maker)
    assert run.state(played + 5) == run.state(played + 5_000) == "finished"
    maker.fill(3)
    run.refresh()
    assert (run.state(played + 5), run.state(played + 5_000)) == ("running", "stopped")


def test_looking_at_a_run_writes_nothing_to_it(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    before = {path: path.stat().st_mtime_ns for path in maker.folder.path.rglob("*")}
    run = RunView(RunFolder(maker.folder.path), "run")
    run.refresh()
    run.cells["maze.direct"].episode("maze-00000")
    assert before == {path: path.stat().st_mtime_ns for path in maker.folder.path.rglob("*")}


@tabled
def test_an_answer_is_called_by_its_score(value: float | None, called: str) -> None:
    assert outcome(value) == called


@pytest.mark.parametrize(
    ("before", "after", "called"),
    [(0, 1, "helped"), (1, 0, "hurt"), (0.5, 0.5, "same"), (None, 1, None), (1, None, None), (0, 0, "same")],
)
def test_a_change_is_called_by_its_direction(before: float | None, after: float | None, called: str | None) -> None:
    assert change(before, after) == called
