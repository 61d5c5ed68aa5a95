"""The whole path of a drawing by code: asked for, rendered, shown, scored, named in the results; and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark.cli import root
from sketchmark.comparison import compare
from sketchmark.errors import BadInput, CannotPlay, RunConflict, UnknownName
from sketchmark.folder import RunFolder
from sketchmark.models.code_drawing import ByCode, DrawsByCode
from sketchmark.report.card import card
from sketchmark.runs import prepare
from sketchmark.runs.checks import estimate
from tests.core.playing import Talker
from tests.media.players import Careless, Says


def played(model: Any, folder: Path, tasks: str = "sliding", **more: Any) -> RunFolder:
    chosen = {"mode": "visual_cot", "limit": 2, "no_cache": True, "engine": "local", **more}
    return sketchmark.run(model, tasks, output_path=folder, **chosen).folder


@pytest.mark.parametrize("canvas", ["own", "source"])
def test_the_solver_scores_1_in_every_way_through_svg(tmp_path: Path, canvas: str) -> None:
    folder = played("player/solver", tmp_path, "maze,sliding,jigsaw", draw="svg", canvas=canvas)
    results = folder.results().tasks
    assert {name: cell.n for name, cell in results.items()} == dict.fromkeys(results, 2) and len(results) == 3
    for cell in results.values():
        assert {metric: found.mean for metric, found in cell.metrics.items()} == dict.fromkeys(cell.metrics, 1.0)
    for name in folder.cells:
        for _, episode in folder.played(name):
            draws = [turn.reply for turn in episode.turns if turn.act == "draw" and turn.reply]
            assert draws and all(reply.text.startswith("<svg") and "picture:" in reply.text for reply in draws)
            assert all(len(turn.added) <= 2 for turn in episode.turns if turn.act == "draw")


def test_the_model_sees_its_picture_or_its_code_and_never_both(tmp_path: Path) -> None:
    folder = played("player/solver", tmp_path, draw="svg", canvas="own,source", limit=1)
    seen = {}
    for name in folder.cells:
        [(_, episode)] = folder.played(name)
        turn = next(turn for turn in episode.turns if turn.act == "draw")
        [part] = turn.added
        assert turn.reply and part.by == "model"
        seen[name] = part.content == turn.reply.picture, part.content == turn.reply.text
    assert seen == {"sliding.visual_cot": (True, False), "sliding.visual_cot.source": (False, True)}


def test_seeing_the_picture_helps_the_sketcher_and_its_code_does_not(tmp_path: Path) -> None:
    args = {"hand_error": 0}
    folder = played("player/sketcher", tmp_path, "maze", draw="svg", canvas="own,source", limit=4, model_args=args)
    [table] = compare([folder.path]).canvases
    own, source = table.scores
    assert (own.canvas, source.canvas) == ("own", "source") and "own − source" in table.sentence
    assert own.score.mean == 1.0 and source.score.mean is not None and source.score.mean < 1


def test_what_was_drawn_by_code_says_so_everywhere(tmp_path: Path) -> None:
    coded = played("player/solver", tmp_path / "coded", draw="svg", mode="direct,visual_cot", limit=3)
    about, results = coded.about(), coded.results()
    assert {name: cell.draw_with for name, cell in about.cells.items()} == {
        "sliding.direct": "",
        "sliding.visual_cot": "svg",
    }
    assert about.model.args["draw_with"] == about.cells["sliding.visual_cot"].model["draw_with"] == "svg"
    assert results.tasks["sliding.visual_cot"].draw_with == "svg" and results.tasks["sliding.direct"].draw_with == ""
    assert "drawn by svg" in card(coded, "runs/x") and "draw_with=svg" in card(coded, "runs/x")
    assert "visual_cot by svg" in coded.report_file.read_text("utf-8")
    assert "visual_cot by svg − direct" in [row.label for row in compare([coded.path]).rows]


def test_a_comparison_of_code_with_pixels_says_that_they_are_two_abilities(tmp_path: Path) -> None:
    coded, pixels = (
        played("player/solver", tmp_path / str(draw), draw=draw, mode="direct,visual_cot") for draw in ("svg", None)
    )
    notes = [note for note in compare([coded.path, pixels.path]).notes if "abilities" in note]
    assert len(notes) == 1 and "one side draws by svg, the other pixels" in notes[0] and "visual_cot" in notes[0]
    assert not [note for note in compare([coded.path, coded.path]).notes if "abilities" in note]


def test_a_run_by_code_is_not_carried_on_with_pixels(tmp_path: Path) -> None:
    played("player/solver", tmp_path, draw="svg", limit=1)
    with pytest.raises(RunConflict, match="draw_with"):
        played("player/solver", tmp_path, limit=1)


def test_a_model_that_returns_no_pictures_draws_by_code_only_when_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotPlay, match=r"needs a model that draws, and talker does not .*--draw svg"):
        played(Talker(), tmp_path)
    assert not tmp_path.joinpath("run.json").exists()
    folder = played(Careless(), tmp_path, draw="svg", limit=1)
    assert folder.about().cells["sliding.visual_cot"].draw_with == "svg"


def test_code_can_be_shown_only_where_there_is_code(tmp_path: Path) -> None:
    with pytest.raises(CannotPlay, match=r"canvas `source` shows the code .*draws pixels .*--draw svg"):
        played("player/solver", tmp_path, canvas="source")


@pytest.mark.parametrize(
    ("drawing", "why"),
    [("I cannot draw.", "there is no SVG in the reply"), ("<svg><rect></svg>", "the SVG is not well-formed")],
)
def test_bad_svg_fails_the_episode_as_the_models_own_doing_with_the_reason(
    tmp_path: Path, drawing: str, why: str
) -> None:
    folder = played(Says(drawing), tmp_path, draw="svg", limit=1)
    [line] = folder.episodes("sliding.visual_cot")
    assert line.failure and (line.failure.kind, line.failure.blames_model) == ("no_picture", True)
    assert line.failure.message.startswith(f"drawing 1 returned no picture: {why}")
    reply = line.turns[-1].reply
    assert reply and (reply.text, reply.finish, reply.picture) == (drawing, "no_picture", None)
    assert reply.trouble.startswith(why) and reply.usage["calls"] == 1
    [row] = folder.scores("sliding.visual_cot")
    assert row.scored and "no_picture" in row.flags and not any(row.values.values())
    assert why in folder.report_file.read_text("utf-8")


def test_an_episode_may_go_on_without_the_drawing(tmp_path: Path) -> None:
    folder = played(Says("no"), tmp_path, draw="svg", limit=1, on_draw_failure="continue")
    [(_, episode)] = folder.played("sliding.visual_cot")
    assert episode.failure is None and episode.answer and not episode.drawings
    assert all(turn.added == () for turn in episode.turns if turn.act == "draw")


def test_what_was_asked_again_is_in_the_episode_and_in_its_bill(tmp_path: Path) -> None:
    once = played(DrawsByCode(Careless(), ByCode(retries=1)), tmp_path, limit=1)
    [line] = once.episodes("sliding.visual_cot")
    draws = [turn.reply for turn in line.turns if turn.act == "draw" and turn.reply]
    assert line.failure is None and draws
    for reply in draws:
        [failed] = reply.raw["svg"]["failed"]
        assert "not well-formed" in failed["why"] and reply.usage["calls"] == 2
    [row] = once.scores("sliding.visual_cot")
    assert row.usage["calls"] == len(draws) * 3 + 1, "for each drawing a plan and two tries, and the answer"
    assert row.values["sliding_img_exact"] == 1.0


def test_a_drawing_comes_from_the_cache_with_its_code(tmp_path: Path) -> None:
    first, second = (
        played("player/solver", tmp_path / name, draw="svg", limit=1, no_cache=False, cache=tmp_path / "cache")
        for name in ("a", "b")
    )
    [one], [two] = (list(folder.played("sliding.visual_cot")) for folder in (first, second))
    assert one[1].drawings == two[1].drawings
    again = [turn.reply for turn in two[1].turns if turn.reply]
    assert {reply.usage.calls for reply in again} == {0} and any(reply.text.startswith("<svg") for reply in again)


def test_a_dry_run_counts_every_try_and_no_pictures_that_come_back(tmp_path: Path) -> None:
    folder = played("player/solver", tmp_path, draw="svg", limit=1)
    [row] = folder.scores("sliding.visual_cot")
    counted = {}
    for retries in (0, 2):
        args = f"draw_with=svg,svg_retries={retries},svg_tokens=1000"
        prepared = prepare("player/solver", "sliding", mode="visual_cot", limit=1, model_args=args, no_cache=True)
        counted[retries] = estimate(prepared.cells)["sliding.visual_cot"].usage
    drawings = (row.usage["calls"] - 1) // 2
    assert counted[0]["calls"] == row.usage["calls"]
    assert counted[2]["calls"] == row.usage["calls"] + 2 * drawings
    assert counted[2]["tokens_out"] == counted[0]["tokens_out"] + 2 * 1000 * drawings
    assert "pictures_out" not in counted[0]


def test_workers_draw_by_code_too(tmp_path: Path) -> None:
    folder = played("player/solver", tmp_path, draw="svg", engine="processes", replicas=2)
    assert folder.results().tasks["sliding.visual_cot"].metrics["sliding_img_exact"].mean == 1.0


def test_the_command_says_it_and_what_contradicts_it_is_refused(tmp_path: Path) -> None:
    command = ["run", "-m", "player/solver", "-t", "sliding", "--mode", "visual_cot", "--limit", "1", "--no-cache"]
    done = CliRunner().invoke(root, [*command, "-o", str(tmp_path), "--draw", "svg"])
    assert done.exit_code == 0, done.output
    assert "drawn by code (svg), not by pixels: sliding.visual_cot" in done.output
    assert json.loads((tmp_path / "run.json").read_text("utf-8"))["model"]["args"] == {"draw_with": "svg"}
    with pytest.raises(BadInput, match="--draw svg, and draw_with=edit"):
        sketchmark.run("openai/m", "maze", draw="svg", model_args="draw_with=edit")
    with pytest.raises(UnknownName, match="no way to draw named 'crayon'"):
        sketchmark.run("player/solver", "maze", draw="crayon")
