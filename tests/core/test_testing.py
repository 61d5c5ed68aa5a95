"""`sketchmark.testing`: what its docstring promises to plug-in authors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import sketchmark
from sketchmark import Desk, Grading, Options, RunFolder, Sample, testing
from sketchmark.answers.phrases import choice
from sketchmark.episode.sample import of
from sketchmark.testing import Judge, Recorder, colour, episode, maze_board, serving
from sketchmark.worlds import installed_worlds

Played = Callable[..., RunFolder]


def test_a_scorer_is_tested_on_a_finished_episode() -> None:
    sample = Sample("s", target={"options": ["x", "y"], "answer": "B"})
    assert choice(sample, episode("The answer is B"), Grading()).values == {"right": 1.0}
    assert choice(sample, episode("A", failed=True), Grading()).values == {"right": 0.0}
    assert episode("a", drawings=[colour("red"), None]).draw_attempts == 2


async def test_doubles_keep_what_they_were_asked() -> None:
    model, judge = Recorder(), Judge("yes")
    desk = Desk(model)
    await desk.draw("draw")
    await desk.say("say")
    assert [(act, context.texts) for act, context, _ in model.calls] == [("draw", ["draw"]), ("say", ["say"])]
    assert (await judge.say(of("right?"), Options())).text == "yes"
    assert (judge.asked, judge.shown) == (["right?"], [of("right?")])


def test_a_board_can_be_read_by_its_world() -> None:
    board = installed_worlds()["maze"].board
    assert board is not None
    seen = board.read(maze_board("S #", " #G", "   "), 3, 3)
    assert seen.places == {"start": (0, 0), "goal": (1, 2)} and len({seen.grid[0][2], seen.grid[1][1]}) == 1


def test_a_served_model_is_reached_at_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed-here")
    with serving(Recorder(answer=lambda i, c: "served")) as url:
        run = sketchmark.run("openai/recorder", "maze", limit=1, model_args={"base_url": url}, output_path=tmp_path)
    [episode] = run.folder.episodes("maze.direct")
    assert [turn.reply.text for turn in episode.turns if turn.reply] == ["served"]


def test_a_run_is_executed_once_for_equal_settings(played: Played, tmp_path: Path) -> None:
    first = played("player/solver", "maze", limit=2)
    before = first.run_file.stat().st_mtime_ns
    assert played("player/solver", "maze", limit=2).run_file.stat().st_mtime_ns == before
    other = testing.played(tmp_path, "player/solver", "maze", limit=2)
    assert other.path != first.path and other.results().tasks["maze.direct"].n == 2
    with pytest.raises(TypeError):
        played("player/solver", "maze", no_such_setting=1)


def test_every_public_double_is_documented() -> None:
    page = inspect.getdoc(testing) or ""
    for name in ("colour", "maze_board", "tone", "episode", "Recorder", "Judge", "serving", "played"):
        assert name in page and inspect.getdoc(getattr(testing, name))
