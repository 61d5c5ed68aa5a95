from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.errors import BadInput, CannotPlay, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import Results
from tests.core.helpers import Recorder, episodes


def _run(model: str | Model, path: Path, **more: Any) -> RunFolder:
    settings: dict[str, Any] = {
        "tasks": "maze",
        "mode": "direct,visual_cot",
        "limit": 4,
        "engine": "local",
        "no_cache": "cache" not in more,
    }
    return sketchmark.run(model, output_path=path, **{**settings, **more}).folder


def test_results_have_the_promised_shape(tmp_path: Path) -> None:
    results = _run("player/solver", tmp_path / "run").results()
    cell = results.tasks["maze.visual_cot"]
    assert cell.n == 4 and cell.failures == {}
    found = cell.metrics["maze_text_exact"]
    assert found.mean == 1.0 and found.n == 4
    low, high = found.ci95
    assert low is not None and low < 1.0 == high


def test_concurrency_changes_no_result(tmp_path: Path) -> None:
    one = _run("player/sketcher", tmp_path / "one", concurrency=1, canvas="own,other")
    many = _run("player/sketcher", tmp_path / "many", concurrency=32, canvas="own,other")
    for cell in one.cells:
        assert episodes(one.path, cell) == episodes(many.path, cell)
    timeless = [_without_usage(folder.results()) for folder in (one, many)]
    assert timeless[0] == timeless[1]


def _without_usage(results: Results) -> Results:
    for cell in results.tasks.values():
        cell.usage = {}
    return results


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model_args": {"hand_error": 0.5}}, "hand_error"),
        ({"steps": "model"}, "steps"),
        ({"canvas": "blank"}, "canvas"),
        ({"seed": 3}, "seed"),
        ({"prompts": "unig2u"}, "plan"),
        ({"task_args": {"rows": 7}}, "rows"),
    ],
)
def test_a_changed_run_is_refused_and_what_changed_is_said(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    _run("player/sketcher", tmp_path / "run", limit=2)
    with pytest.raises(RunConflict, match=named) as refused:
        _run("player/sketcher", tmp_path / "run", limit=2, **change)
    assert "--fresh" in str(refused.value)
    _run("player/sketcher", tmp_path / "run", limit=2, fresh=True, **change)


def test_a_model_that_does_not_deliver_is_scored_as_wrong_and_counted(tmp_path: Path) -> None:
    mute = Recorder(drawing=lambda i, c: Reply(text="no picture today"))
    cell = _run(mute, tmp_path / "run", mode="visual_cot").results().tasks["maze.visual_cot"]
    assert cell.failures["no_picture"] == 4
    assert cell.metrics["maze_text_exact"].mean == 0.0 and cell.metrics["maze_text_exact"].n == 4


def test_an_answer_that_cannot_be_read_is_wrong_and_counted_as_unparsed(tmp_path: Path) -> None:
    cell = _run(Recorder(answer=lambda i, c: "up, I think"), tmp_path / "run", mode="direct").results()
    assert cell.tasks["maze.direct"].failures == {"unparsed": 4}
    assert cell.tasks["maze.direct"].metrics["maze_solved"].mean == 0.0


class OnlySays(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        raise AssertionError("a mode that cannot be played must be refused before the first call")


def test_a_mode_that_needs_drawing_is_refused_by_name_before_the_first_call(tmp_path: Path) -> None:
    with pytest.raises(CannotPlay, match=r"visual_cot.*maze.*onlysays"):
        _run(OnlySays(), tmp_path / "run")
    assert not (tmp_path / "run/run.json").exists()


def test_a_free_running_episode_ends_when_the_model_says_so_and_is_scored_like_any_other(tmp_path: Path) -> None:
    cell = _run("player/solver", tmp_path / "run", tasks="maze,sliding", mode="visual_cot", steps="model").results()
    for name in ("maze", "sliding"):
        metrics = cell.tasks[f"{name}.visual_cot"].metrics
        assert {found.mean for found in metrics.values()} == {1.0}


def test_scoring_again_needs_no_model_and_gives_the_same(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from sketchmark.cli import root

    folder = _run("player/sketcher", tmp_path / "run")
    before = folder.results()
    for path in (tmp_path / "run/scores").iterdir():
        path.unlink()
    outcome = CliRunner().invoke(root, ["score", str(tmp_path / "run")], standalone_mode=False)
    assert outcome.exception is None, outcome.output
    assert folder.results() == before


def test_scores_that_were_not_written_before_the_process_died_are_filled_in(tmp_path: Path) -> None:
    folder = _run("player/sketcher", tmp_path / "run")
    before = folder.results()
    path = folder.scores_file("maze.visual_cot")
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:1]))
    assert _run("player/sketcher", tmp_path / "run").results() == before


@pytest.mark.slow
def test_another_scoring_or_a_judge_given_later_scores_what_was_played_before(tmp_path: Path) -> None:
    loose = Recorder(answer=lambda i, c: 'I choose {"choice": 1}')
    settings: dict[str, Any] = {"tasks": "jigsaw", "mode": "direct", "limit": 12}
    cell = _run(loose, tmp_path / "run", scoring="official", **settings).results().tasks["jigsaw.direct"]
    assert cell.failures == {"unparsed": 12} and cell.metrics["jigsaw_text_acc"].mean == 0
    cell = _run(loose, tmp_path / "run", scoring="lenient", **settings).results().tasks["jigsaw.direct"]
    assert cell.scoring == "lenient" and cell.failures == {} and cell.metrics["jigsaw_text_acc"].mean > 0
    assert len(loose.calls) == 12, "nothing was played again"
    _run(loose, tmp_path / "run", scoring="lenient", judge=Recorder(), **settings)
    assert {row.judge for row in RunFolder(tmp_path / "run").scores("jigsaw.direct")} == {"recorder"}


def test_a_run_can_be_started_where_an_event_loop_is_running(tmp_path: Path) -> None:
    async def notebook() -> RunFolder:
        return _run("player/solver", tmp_path / "run", limit=2)

    assert asyncio.run(notebook()).results().tasks["maze.direct"].n == 2


def test_a_model_is_told_how_many_episodes_to_expect_at_once(tmp_path: Path) -> None:
    class Told(Recorder):
        at_once = 0

        def expect(self, at_once: int) -> None:
            self.at_once = at_once

    model = Told()
    _run(model, tmp_path / "run", limit=2, mode="direct", cache=tmp_path / "cache", concurrency=40)
    assert model.at_once == 40


def test_a_model_made_by_name_is_closed_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    async def close(self: Model) -> None:
        closed.append(self.name)

    monkeypatch.setattr(Model, "close", close)
    _run("player/solver", tmp_path / "run", limit=2)
    assert closed == ["player/solver"]


def test_a_run_folder_names_no_path_outside_itself(tmp_path: Path) -> None:
    folder = _run("player/solver", tmp_path / "run", limit=2)
    about = json.loads(folder.run_file.read_text())
    about["cells"]["../../etc/passwd"] = {}
    folder.run_file.write_text(json.dumps(about))
    assert folder.cells == ["maze.direct", "maze.visual_cot"]
    for name in ("../secret", "a/b.png", "0" * 64 + ".png/../../x"):
        with pytest.raises(sketchmark.SketchmarkError):
            folder.pictures.load(name)


def test_settings_for_a_model_by_name_are_refused_with_an_instance(tmp_path: Path) -> None:
    for settings in ({"model_args": "seed=1"}, {"batch_size": 2}, {"max_requests_per_minute": 5}):
        with pytest.raises(BadInput, match="given by name"):
            _run(Recorder(), tmp_path / "run", **settings)


def test_calls_of_an_instance_are_cached_only_where_a_folder_is_named(tmp_path: Path) -> None:
    """Two instances of one class may answer differently; a name says what answers."""
    for folder, calls in (("a", 2), ("b", 2)):
        again = Recorder()
        sketchmark.run(again, "maze", limit=2, output_path=tmp_path / folder)
        assert len(again.calls) == calls
    for folder, calls in (("c", 2), ("d", 0)):
        again = Recorder()
        sketchmark.run(again, "maze", limit=2, output_path=tmp_path / folder, cache=tmp_path / "cache")
        assert len(again.calls) == calls
