"""What is not whole is said to be so: scores of a part of the episodes, a results.json that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import sketchmark
from sketchmark.cli import root
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder

CELL = "maze.visual_cot"


def _played(path: Path, **more: Any) -> RunFolder:
    asked: dict[str, Any] = {"mode": "direct,visual_cot", "limit": 3, "no_cache": True, **more}
    return sketchmark.run("player/solver", "maze", output_path=path, **asked).folder


def _cut(folder: RunFolder) -> None:
    path = folder.scores_file(CELL)
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:1]))


def _command(*words: object) -> Result:
    return CliRunner().invoke(root, list(map(str, words)), standalone_mode=False)


@pytest.mark.parametrize(
    "words", [("compare",), ("report",), ("export", "--to", "hf"), ("report-metrics", "-m", "rate")]
)
def test_a_reader_refuses_scores_of_a_part_of_the_episodes_and_says_what_to_type(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = _played(tmp_path / "run")
    _cut(folder)
    refused = _command(words[0], folder.path, *words[1:])
    assert isinstance(refused.exception, BadInput), refused.output
    told = str(refused.exception)
    assert f"2 episodes of {CELL}" in told and f"sketchmark score {folder.path}" in told
    assert _command("score", folder.path).exception is None
    assert _command("compare", folder.path).exception is None


def test_a_score_of_another_try_is_no_score_of_this_one(tmp_path: Path) -> None:
    folder = _played(tmp_path / "run")
    path = folder.episodes_file(CELL)
    first = path.read_text().splitlines()[0]
    with path.open("a") as file:
        file.write(first.partition(',"crc":')[0].replace('"started":1', '"started":2', 1) + "}\n")
    with pytest.raises(BadInput, match=r"1 episodes of maze\.visual_cot"):
        sketchmark.compare([folder.path])


def test_the_same_command_completes_the_scores(tmp_path: Path) -> None:
    _cut(_played(tmp_path / "run"))
    sketchmark.compare([_played(tmp_path / "run").path])


def _as(text: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(text)


SPOILED = [_as(""), _as("{"), _as("[]"), _as('{"tasks": 3, "gains": []}'), _as("\x00"), _as("[" * 5000)]


@pytest.mark.parametrize("spoil", SPOILED)
def test_no_reader_needs_a_results_file_that_cannot_be_read(tmp_path: Path, spoil: Callable[[Path], Any]) -> None:
    folder = _played(tmp_path / "run")
    spoil(folder.path / "results.json")
    with pytest.raises(BadInput, match=r"cannot read .*results\.json \(sketchmark score .* makes it again\)"):
        folder.results()
    for words in (("compare", folder.path), ("report", folder.path)):
        assert _command(*words).exception is None
    assert _command("export", folder.path, "--to", "lmms-eval", "--out", tmp_path / "out").exception is None


@pytest.mark.parametrize("spoil", SPOILED)
def test_scoring_again_makes_the_results_again_and_says_so_once(tmp_path: Path, spoil: Callable[[Path], Any]) -> None:
    folder = _played(tmp_path / "run")
    before = folder.results()
    spoil(folder.path / "results.json")
    done = _command("score", folder.path)
    assert done.exception is None and done.stderr.count("could not be read and was made again") == 1
    assert folder.results() == before


def test_a_run_of_one_mode_makes_the_results_of_the_other_again(tmp_path: Path) -> None:
    folder = _played(tmp_path / "run")
    before = folder.results()
    (folder.path / "results.json").write_text("{")
    _played(tmp_path / "run", mode="direct")
    assert {name: (cell.n, cell.metrics, cell.scoring) for name, cell in folder.results().tasks.items()} == {
        name: (cell.n, cell.metrics, cell.scoring) for name, cell in before.tasks.items()
    }


def test_a_run_that_is_going_on_is_not_scored_by_another_process(tmp_path: Path) -> None:
    from sketchmark.folder.lock import RunLock

    folder = _played(tmp_path / "run")
    lock = RunLock(folder.path)
    refused = _command("score", folder.path)
    lock.release()
    assert "another process" in str(refused.exception)


def test_scoring_names_what_it_could_not_read(tmp_path: Path) -> None:
    folder = _played(tmp_path / "run")
    line = next(folder.episodes("maze.direct"))
    folder.pictures.path(str(line.sample.pictures["initial"])).write_bytes(b"spoiled")
    done = _command("score", folder.path)
    assert done.return_value == 1 and done.exception is None
    assert f"maze.direct: unreadable 1, the first: {line.sample.id}: " in done.stderr
    assert folder.results().tasks["maze.direct"].failures == {"unreadable": 1}
