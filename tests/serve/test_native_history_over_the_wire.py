"""`history=native` from end to end: the solver behind our own Responses API, and how results name the condition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark.cli import root
from sketchmark.comparison import compare
from sketchmark.errors import BadInput, CannotPlay, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.models import load_model
from sketchmark.report.card import card
from sketchmark.serve import serving

STEPS = "rows=3,cols=3,min_steps=2,max_steps=4"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(load_model("player/solver")) as address:
        yield address


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def play(url: str, folder: Path, history: str = "native", **more: Any) -> RunFolder:
    chosen = {"mode": "direct,text_cot,visual_cot", "limit": 2, "no_cache": True, "engine": "local", **more}
    args = f"base_url={url},draw_with=responses,history={history}"
    return sketchmark.run(
        "openai/x", "maze", output_path=folder, model_args=args, task_args=STEPS, **chosen
    ).folder  # fmt: skip


def test_the_solver_scores_1_with_its_own_items_sent_back(url: str, tmp_path: Path) -> None:
    folder = play(url, tmp_path)
    results = folder.results().tasks
    assert len(results) == 3 and {cell.n for cell in results.values()} == {2}
    for name in ("maze.direct", "maze.visual_cot"):
        metrics = results[name].metrics
        assert {metric: found.mean for metric, found in metrics.items()} == dict.fromkeys(metrics, 1.0)
    assert any("img" in metric for metric in results["maze.visual_cot"].metrics)


def test_an_episode_read_back_says_what_was_sent(url: str, tmp_path: Path) -> None:
    folder = play(url, tmp_path, mode="visual_cot", limit=1)
    [(_, episode)] = folder.played("maze.visual_cot")
    turn, context = list(episode.contexts())[-1]
    own = [part for part in context if part.by == "model"]
    assert len(own) >= 4 and all(part.native for part in own) and turn.reply and turn.reply.native
    assert all('"id":"ig_' in part.native and '"result":""' in part.native for part in own if part.picture)
    assert not [part for part in context if part.by == "task" and part.native]


def test_it_is_a_condition_of_its_own_in_every_table(url: str, tmp_path: Path) -> None:
    native, plain = play(url, tmp_path / "native"), play(url, tmp_path / "plain", "plain")
    assert {cell.draw_with for cell in native.about().cells.values()} == {"native history"}
    assert {cell.draw_with for cell in plain.about().cells.values()} == {""}
    assert {cell.draw_with for cell in native.results().tasks.values()} == {"native history"}
    told = card(native, "runs/x")
    assert "in words, with native history" in told and "history=native" in told
    assert "visual_cot with native history" in native.report_file.read_text("utf-8")
    labels = [row.label for row in compare([native.path]).rows]
    assert "visual_cot − direct, with native history" in labels
    both = compare([native.path, plain.path])
    assert "plain − native, visual_cot − visual_cot with native history" in [row.label for row in both.rows]
    notes = [note for note in both.notes if "conditions" in note]
    assert len(notes) == 3
    assert all("with native history, the other with plain history: two different" in note for note in notes)


def test_controls_of_a_plain_run_are_not_held_against_native_history(url: str, tmp_path: Path) -> None:
    native = play(url, tmp_path / "native", mode="visual_cot")
    controls = play(url, tmp_path / "controls", "plain", mode="visual_cot", canvas="own,blank")
    tables = compare([native.path, controls.path]).canvases
    assert [table.run for table in tables] == ["controls"] and [score.canvas for score in tables[0].scores] == [
        "own",
        "blank",
    ]
    blank = play(url, tmp_path / "blank", "plain", mode="visual_cot", canvas="blank")
    with pytest.raises(BadInput, match="nothing to compare"):
        compare([native.path, blank.path])


def test_a_run_is_not_carried_on_with_another_history(url: str, tmp_path: Path) -> None:
    play(url, tmp_path, "plain", mode="direct", limit=1)
    with pytest.raises(RunConflict, match="history"):
        play(url, tmp_path, mode="direct", limit=1)


@pytest.mark.parametrize("canvas", ["blank", "other", "oracle", "own,blank"])
def test_the_controls_are_refused_before_anything_is_asked(url: str, tmp_path: Path, canvas: str) -> None:
    with pytest.raises(CannotPlay, match="history=native is a separate condition: run the controls without it"):
        play(url, tmp_path / "run", mode="visual_cot", canvas=canvas)
    assert not (tmp_path / "run").exists()


def test_the_command_line_names_it(url: str, tmp_path: Path) -> None:
    given = ["run", "--model", "openai/x", "--model_args", f"base_url={url},history=native", "--tasks", "maze",
             "--task_args", STEPS, "--mode", "visual_cot", "--limit", "1", "--no-cache"]  # fmt: skip
    done = CliRunner().invoke(root, [*given, "--output_path", str(tmp_path / "run")])
    assert done.exit_code == 0 and "with native history, a condition of its own: maze.visual_cot" in done.output
