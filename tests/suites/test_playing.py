"""A suite as a whole: `sketchmark run suite.yaml` and `sketchmark run --model a,b`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sketchmark.cli import main
from sketchmark.suites import run_suite
from tests.benchmarks.uni_mmmu import published_rest
from tests.models.broken_server import Broken, answer, broken

THREE = """
models: [player/random, player/solver, player/sketcher]
tasks: maze
mode: [direct, visual_cot]
limit: 4
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str


Say = Callable[..., Done]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """A command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def say(*words: object) -> Done:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, words)])
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return say


def episodes(folder: Path) -> dict[str, int]:
    """Lines of every cell of every run below."""
    found = sorted(folder.rglob("episodes/*.jsonl"))
    return {f"{path.parents[1].name}/{path.stem}": len(path.read_text().splitlines()) for path in found}


def test_three_players_have_a_folder_each_and_one_leaderboard(say: Say, tmp_path: Path) -> None:
    Path("suite.yaml").write_text(THREE)
    done = say("run", "suite.yaml")
    assert done.code == 0, done.err
    names = [
        f"player-{name}/maze.{mode}" for name in ("random", "sketcher", "solver") for mode in ("direct", "visual_cot")
    ]
    assert episodes(tmp_path / "runs/suite") == dict.fromkeys(names, 4)
    assert [line.split()[0] for line in done.out.splitlines() if line.startswith("player/")][:3] == [
        "player/solver",
        "player/sketcher",
        "player/random",
    ]
    assert "[2/3] player/solver → runs/suite/player-solver" in done.err
    board = done.out[: done.out.index("run folders:")]
    assert say("compare", "runs/suite").out.strip() == board.strip()


def test_the_same_command_resumes_the_whole_suite_and_plays_nothing_twice(say: Say, tmp_path: Path) -> None:
    Path("suite.yaml").write_text(THREE.replace("limit: 4", "limit: 2"))
    assert say("run", "suite.yaml", "--no-cache", "-q").code == 0
    before = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("episodes/*.jsonl")}
    Path("suite.yaml").write_text(THREE.replace("limit: 4", "limit: 3"))
    again = say("run", "suite.yaml", "--no-cache", "-q")
    assert (again.code, again.out) == (0, "")
    for path, lines in before.items():
        now = path.read_bytes()
        assert now.startswith(lines) and len(now.splitlines()) == 3


def test_a_refused_key_stops_its_model_and_no_other(
    say: Say, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-planted-7f3a9c1e5b2d8046")
    no = {"error": {"message": "no such key", "type": "invalid_api_key", "param": None, "code": "invalid_api_key"}}
    with broken({"said": Broken(answer(401, no))}) as far:
        Path("suite.yaml").write_text(
            "models:\n  - model: openai/gpt-4o\n    model_args:\n"
            f"      base_url: http://127.0.0.1:{far.port}/said\n      api_key_env: MY_KEY\n"
            "  - player/solver\ntasks: maze\nlimit: 2\n"
        )
        done = say("run", "suite.yaml", "--allow-env", "MY_KEY")
    assert done.code == 2
    assert "openai-gpt-4o did not finish: maze.direct: stopped after 0" in done.err.splitlines()[-1]
    assert json.loads(Path("runs/suite/player-solver/results.json").read_text())["tasks"]["maze.direct"]["n"] == 2
    assert "player/solver" in done.out and "sk-planted" not in done.out + done.err


def test_a_key_that_is_not_set_is_said_before_the_others_play(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = say("run", "--model", "openai/gpt-4o,player/solver", "--tasks", "maze", "--limit", "2")
    assert done.code == 2
    lines = done.err.splitlines()
    assert "openai-gpt-4o: openai/gpt-4o needs a key" in lines[0] and "the others go on" in lines[0]
    assert "openai-gpt-4o did not finish" in lines[-1]
    assert Path("runs/player-solver/results.json").exists() and not Path("runs/openai-gpt-4o").exists()


def test_a_mistake_that_all_models_share_is_one_line(say: Say) -> None:
    done = say("run", "--model", "player/random,player/solver", "--tasks", "mazze")
    assert (done.code, done.err.count("\n")) == (2, 1) and "did you mean maze" in done.err


def test_the_cost_limit_is_of_all_models_together(say: Say, tmp_path: Path) -> None:
    Path("suite.yaml").write_text(
        "models: [player/random, player/solver, player/sketcher]\ntasks: jigsaw\nmode: visual_cot\nlimit: 3\n"
        "prices: {player/random: {picture: 1}, player/solver: {picture: 1}, player/sketcher: {picture: 1}}\n"
    )
    stopped = say("run", "suite.yaml", "--max-cost", "8", "-c", "1", "--engine", "local")
    assert stopped.code == 3
    assert "at the cost limit (8.0000 spent now); to be resumed: player-solver, player-sketcher" in stopped.err
    assert episodes(tmp_path) == {"player-random/jigsaw.visual_cot": 3, "player-solver/jigsaw.visual_cot": 1}
    costs = [line.split()[-1] for line in stopped.out.splitlines() if line.startswith("player/")]
    assert costs[:2] == ["2.0000", "6.0000"], "two pictures an episode"
    assert "player/sketcher →" not in stopped.err
    assert say("run", "suite.yaml", "--max-cost", "100", "-q").code == 0
    assert set(episodes(tmp_path).values()) == {3}


PRICED = """
models: [player/random, player/solver]
tasks: jigsaw
mode: visual_cot
limit: 3
prices: {player/random: {picture: 1}, player/solver: {picture: 1}}
max_cost: 4
"""
"""Two pictures an episode: two episodes a start."""


def test_the_cost_limit_is_of_one_start_and_the_last_start_says_that_all_is_done(say: Say) -> None:
    Path("suite.yaml").write_text(PRICED)
    command = ("run", "suite.yaml", "-c", "1", "--engine", "local")
    first, second, third = say(*command), say(*command), say(*command)
    assert (first.code, second.code) == (3, 3)
    assert "(4.0000 spent now); to be resumed: player-random, player-solver" in first.err
    assert second.err.endswith("(4.0000 spent now); to be resumed: player-solver\n")
    assert "cost:        4.0000 now" in third.out, "it reached the limit, too"
    assert (third.code, set(episodes(Path("runs")).values())) == (0, {3})
    assert "cost limit" not in third.err


def test_a_model_that_has_nothing_left_to_play_is_not_to_be_resumed_at_the_limit(say: Say) -> None:
    Path("suite.yaml").write_text(PRICED.replace("max_cost: 4", "max_cost: 6"))
    jigsaw = ("--tasks", "jigsaw", "--mode", "visual_cot", "--limit", "3", "-o", "runs/suite/player-solver", "-q")
    assert say("run", "--model", "player/solver", *jigsaw).code == 0
    done = say("run", "suite.yaml", "-c", "1", "--engine", "local")
    assert done.code == 0 and "cost:        6.0000 now" in done.out
    assert "player/solver" in done.out
    fresh = say("run", "suite.yaml", "-c", "1", "--engine", "local", "--fresh", "--no-cache")
    assert fresh.code == 3 and "to be resumed: player-solver" in fresh.err
    assert episodes(Path("runs"))["player-solver/jigsaw.visual_cot"] == 3, "not thrown away before it can be played"


def test_a_start_that_was_cut_short_is_not_forgotten_over_the_next_one(say: Say) -> None:
    Path("suite.yaml").write_text(
        "models: [player/solver]\ntasks: [{task: maze, limit: 2}, {task: jigsaw, limit: 2}]\nmode: visual_cot\n"
        "prices: {player/solver: {picture: 1}}\n"
    )
    jigsaw = ("--tasks", "jigsaw", "--mode", "visual_cot", "--limit", "2", "-o", "runs/suite/player-solver", "-q")
    assert say("run", "--model", "player/solver", *jigsaw).code == 0
    done = say("run", "suite.yaml", "-q", "--max-cost", "1", "-c", "1", "--engine", "local", "--no-cache")
    assert done.code == 3 and "to be resumed: player-solver" in done.err


def test_what_was_played_differently_stands_in_no_leaderboard(say: Say) -> None:
    Path("suite.yaml").write_text(THREE)
    assert say("run", "suite.yaml", "-q").code == 0
    Path("suite.yaml").write_text(
        THREE.replace("player/random", "{model: player/flawed, name: player-random, model_args: {knows: 1}}")
    )
    done = say("run", "suite.yaml")
    assert done.code == 2
    board = [line.split()[0] for line in done.out.splitlines() if line.startswith("player/")]
    assert set(board) == {"player/solver", "player/sketcher"}
    assert "not in the leaderboard, since run with other settings: player-random" in done.out
    lines = done.err.splitlines()
    at_once = next(place for place, line in enumerate(lines) if "with other settings; changed" in line)
    assert lines[at_once].endswith("the others go on") and "[2/3]" in lines[at_once + 1]
    assert "player-random did not finish" in lines[-1]
    outcomes = run_suite("suite.yaml", "runs/suite")
    assert [outcome.folder is not None for outcome in outcomes] == [False, True, True]
    assert not any(line.startswith("player/") for line in say("run", "suite.yaml", "--seed", "9").out.splitlines())


def test_where_no_model_can_be_played_none_is_said_to_go_on(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = say("run", "--model", "openai/gpt-4o,player/nobody", "--tasks", "maze")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 2), "each said once"
    assert "openai-gpt-4o: openai/gpt-4o needs a key" in done.err and "go on" not in done.err


def test_what_the_judge_cost_is_told_and_said_to_stand_in_no_leaderboard(say: Say, tmp_path: Path) -> None:
    published_rest.science(tmp_path / "science")
    Path("suite.yaml").write_text(
        "models: [player/solver]\ntasks: uni_mmmu_science\ndata: science\nlimit: 1\njudge: player/random\n"
        "prices: {player/solver: {picture: 1}, player/random: {output: 1000000}}\n"
    )
    done = say("run", "suite.yaml", "--no-cache")
    assert re.search(r"cost: +\d+\.0000 now \([1-9]\d*\.0000 of it the judge's\)", done.out), done.out + done.err
    note = "the cost is without the judge (player/random)"
    assert note in done.out
    assert note in say("compare", "runs/suite", "--prices", "suite.yaml").out
    assert note not in say("compare", "runs/suite").out


def test_prices_of_the_run_file_are_found_again_by_the_line_that_is_printed(say: Say) -> None:
    Path("suite.yaml").write_text(PRICED.replace("max_cost: 4", ""))
    done = say("run", "suite.yaml")
    (told,) = [line for line in done.out.splitlines() if line.startswith("leaderboard: ")]
    assert told == "leaderboard: sketchmark compare runs/suite --prices suite.yaml"
    board = done.out[: done.out.index("run folders:")]
    assert "6.0000" in board and say(*told.split()[2:]).out.strip() == board.strip()


def test_a_run_folder_is_no_folder_for_several_models(say: Say) -> None:
    assert say("run", "--model", "player/solver", "--tasks", "maze", "--limit", "1", "-o", "one", "-q").code == 0
    Path("suite.yaml").write_text(THREE)
    two = ("--model", "player/random,player/solver", "--tasks", "maze")
    for words in (("suite.yaml",), ("suite.yaml", "--dry-run"), two):
        done = say("run", *words, "-o", "one")
        assert (done.code, done.out) == (2, "") and done.err.startswith("sketchmark: one is a run folder")
    assert sorted(path.name for path in Path("one").iterdir() if path.is_dir()) == ["episodes", "pictures", "scores"]


def test_a_dry_run_shows_which_address_is_asked_with_which_key(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-planted-7f3a9c1e5b2d8046")
    Path("suite.yaml").write_text(
        "models:\n  - model: openai/m\n"
        "    model_args: {base_url: 'http://me:secret@127.0.0.1:1/v1', api_key_env: MY_KEY}\n"
        "tasks: maze\nlimit: 1\n"
    )
    done = say("run", "suite.yaml", "--dry-run", "--allow-env", "MY_KEY")
    assert done.code == 0 and "base_url=http://127.0.0.1:1/v1, api_key_env=MY_KEY" in done.out
    assert "secret" not in done.out and "sk-" not in done.out


def test_a_dry_run_shows_models_cells_and_the_cost_of_all(say: Say, tmp_path: Path) -> None:
    Path("suite.yaml").write_text(
        "models:\n  - player/random\n  - {model: player/sketcher, model_args: {lookahead: 2}}\n"
        "tasks: [jigsaw, {task: maze, mode: direct, limit: 5}]\nmode: visual_cot\nlimit: 3\n"
        "prices: {player/random: {picture: 1}, player/sketcher: {picture: 2}}\nmax_cost: 9\n"
    )
    done = say("run", "suite.yaml", "--dry-run")
    assert done.code == 0, done.err
    assert "player/sketcher → runs/suite/player-sketcher" in done.out
    assert "jigsaw.visual_cot (3); lookahead=2" in done.out and "maze.direct (5)" in done.out
    total = next(line for line in done.out.splitlines() if line.startswith("all models"))
    assert total.split()[2:4] == ["16", "28"] and total.split()[-1] == "18.00"
    assert "A start of this suite stops once it has cost 9, all models together" in done.out
    assert not (tmp_path / "runs").exists()


def test_tasks_with_settings_of_their_own_share_the_models_folder(say: Say) -> None:
    Path("suite.yaml").write_text("models: [player/solver]\ntasks: [maze, {task: jigsaw, limit: 3}]\nlimit: 2\n")
    assert say("run", "suite.yaml", "-q").code == 0
    results = json.loads(Path("runs/suite/player-solver/results.json").read_text())["tasks"]
    assert {name: cell["n"] for name, cell in results.items()} == {"maze.direct": 2, "jigsaw.direct": 3}
    assert say("run", "suite.yaml", "-q", "--fresh", "--limit", "1").code == 0
    assert episodes(Path("runs")) == {"player-solver/maze.direct": 1, "player-solver/jigsaw.direct": 1}


def test_a_run_file_that_was_killed_while_scoring_is_finished_by_the_next_command(say: Say) -> None:
    """The first task set must not be refused for the episodes that the second is going to score."""
    Path("suite.yaml").write_text("models: [player/solver]\ntasks: [maze, {task: jigsaw, limit: 3}]\nlimit: 2\n")
    assert say("run", "suite.yaml", "-q").code == 0
    folder = Path("runs/suite/player-solver")
    results, scores = (folder / "results.json").read_bytes(), folder / "scores/jigsaw.direct.jsonl"
    scores.write_bytes(b"".join(scores.read_bytes().splitlines(keepends=True)[:1]))
    again = say("run", "suite.yaml", "-q")
    assert (again.code, again.err) == (0, "")
    assert (folder / "results.json").read_bytes() == results and len(scores.read_bytes().splitlines()) == 3


def test_what_the_file_names_is_not_named_on_the_command_line(say: Say) -> None:
    Path("suite.yaml").write_text(THREE)
    for option, value in (("--model", "player/random"), ("--tasks", "maze"), ("--model-args", "seed=1")):
        done = say("run", "suite.yaml", option, value)
        assert done.code == 2 and done.err.startswith(f"sketchmark: {option} and a run file")
    assert say("run", "suite.yaml", "--limit", "1", "--dry-run").out.count("maze.direct (1)") == 3


def test_a_suite_is_played_from_python(say: Say, tmp_path: Path) -> None:
    Path("suite.yaml").write_text(THREE)
    outcomes = run_suite("suite.yaml", tmp_path / "there", limit=1, mode="direct")
    assert [outcome.entry.model for outcome in outcomes] == ["player/random", "player/solver", "player/sketcher"]
    assert all(outcome.folder and outcome.folder.results().tasks["maze.direct"].n == 1 for outcome in outcomes)
