"""Incomplete scores and unreadable results: readers refuse them, and scoring makes them again."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

import sketchmark
from sketchmark.cli import root
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.folder.lock import RunLock
from tests.runs.conftest import run_again

CELL = "maze.visual_cot"
SPOILED = ["", "{", "[]", '{"tasks": 3, "gains": []}', "\x00", "[" * 5000]


def _cut(folder: RunFolder) -> None:
    path = folder.scores_file(CELL)
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:1]))


def _command(*words: object) -> Result:
    return CliRunner().invoke(root, list(map(str, words)), standalone_mode=False)


def test_readers_refuse_partial_scores_and_scoring_completes_them(played: RunFolder) -> None:
    _cut(played)
    for command, *words in (["compare"], ["report"], ["export", "--to", "hf"], ["report-metrics", "-m", "rate"]):
        refused = _command(command, played.path, *words)
        assert isinstance(refused.exception, BadInput), refused.output
        said = str(refused.exception)
        assert f"1 episodes of {CELL}" in said and f"sketchmark score {played.path}" in said
    assert _command("score", played.path).exception is None
    assert _command("compare", played.path).exception is None


def test_the_score_of_another_attempt_does_not_count(played: RunFolder) -> None:
    path = played.episodes_file(CELL)
    first = path.read_text().splitlines()[0]
    with path.open("a") as file:
        file.write(first.partition(',"crc":')[0].replace('"started":1', '"started":2', 1) + "}\n")
    with pytest.raises(BadInput, match=r"1 episodes of maze\.visual_cot"):
        sketchmark.compare([played.path])


def test_the_same_command_completes_the_scores(played: RunFolder) -> None:
    _cut(played)
    sketchmark.compare([run_again(played.path).path])


@pytest.mark.parametrize("spoil", ["scores", "results too"])
def test_a_run_of_one_task_is_not_stopped_by_unscored_episodes_of_another(played: RunFolder, spoil: str) -> None:
    before = played.results()
    _cut(played)
    if spoil == "results too":
        played.results_file.unlink()
    words = "--model player/sketcher --mode direct,visual_cot --canvas own,blank --limit 2 -q --scoring"
    command = ("run", *words.split(), "strict,lenient", "-o", played.path, "--tasks")
    done = _command(*command, "sliding")
    assert done.exception is None and done.return_value == 0, done.output
    left_out = f"{CELL} is left out: 1 of its episodes have no scores; `sketchmark score {played.path}` adds them"
    assert left_out in played.results().warnings
    assert not any(gain.task == "maze" and gain.canvas == "own" for gain in played.results().gains)
    assert "sliding" in played.report_file.read_text("utf-8")
    assert isinstance(_command("report", played.path).exception, BadInput), "a reader still refuses them"
    assert _command(*command, "maze").exception is None
    assert played.results() == before


@pytest.mark.parametrize("content", SPOILED)
def test_unreadable_results_stop_no_other_reader_and_are_made_again_once(played: RunFolder, content: str) -> None:
    before = played.results()
    played.results_file.write_text(content)
    with pytest.raises(BadInput, match=r"cannot read .*results\.json \(sketchmark score .* makes it again\)"):
        played.results()
    for words in (["compare"], ["report"], ["export", "--to", "lmms-eval", "--out", played.path.parent / "out"]):
        assert _command(words[0], played.path, *words[1:]).exception is None
    done = _command("score", played.path, "--scoring", "strict,lenient")
    assert done.exception is None and done.stderr.count("could not be read and was made again") == 1
    assert played.results() == before


def test_a_run_of_one_mode_makes_the_results_of_the_other_again(played: RunFolder) -> None:
    before = played.results()
    played.results_file.write_text("{")
    run_again(played.path, mode="direct")
    assert {name: (cell.n, cell.metrics, cell.scoring) for name, cell in played.results().tasks.items()} == {
        name: (cell.n, cell.metrics, cell.scoring) for name, cell in before.tasks.items()
    }


def test_a_running_run_is_not_scored_by_another_process(played: RunFolder) -> None:
    lock = RunLock(played.path)
    refused = _command("score", played.path)
    lock.release()
    assert "another process" in str(refused.exception)


def test_scoring_names_unreadable_images(played: RunFolder) -> None:
    line = next(played.episodes("maze.direct"))
    played.pictures.path(str(line.sample.pictures["initial"])).write_bytes(b"spoiled")
    done = _command("score", played.path)
    assert done.return_value == 1 and done.exception is None
    assert f"maze.direct: unreadable 1, the first: {line.sample.id}: " in done.stderr
    assert played.results().tasks["maze.direct"].failures == {"unreadable": 1}
