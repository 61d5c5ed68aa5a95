"""Replies from the cache: everything shows what the episodes used, and next to it what was paid for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark.cli import root
from sketchmark.comparison.formats import BOARD_FORMATS
from sketchmark.comparison.leaderboard import leaderboard
from sketchmark.export import export
from sketchmark.folder import RunFolder
from sketchmark.models.wrappers import Price
from sketchmark.report.card import card

CELL = "maze.visual_cot"
SMALL = "rows=4,cols=4,min_steps=2,max_steps=4"
FILE = """
models: [player/solver, player/random]
tasks: [maze]
mode: visual_cot
limit: 3
task_args: {rows: 4, cols: 4, min_steps: 2, max_steps: 4}
prices: {player/solver: {picture: 0.5}, player/random: {picture: 1}}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, RunFolder]:
    """The same run twice, in two folders with one cache: the second asks nothing."""
    root = tmp_path_factory.mktemp("cached")
    paid, kept = (
        sketchmark.run(
            "player/solver", "maze", mode="visual_cot", limit=3, task_args=SMALL, cache=root / "calls",
            output_path=root / "runs" / name,
        ).folder
        for name in ("paid", "kept")
    )  # fmt: skip
    return paid, kept


def test_results_have_the_same_usage_and_say_that_none_of_it_was_paid(runs: tuple[RunFolder, RunFolder]) -> None:
    paid, kept = (folder.results().tasks[CELL] for folder in runs)
    assert paid.usage == kept.usage and paid.usage["calls"] > 3 and paid.usage["pictures_out"] > 3
    assert (paid.paid, paid.spent) == (None, paid.usage) and kept.paid == kept.spent == {}
    rows = list(runs[1].scored(CELL).values())
    assert all(row.spent == {} and row.usage["tokens_out"] > 0 for row in rows)


def test_the_card_and_the_leaderboard_show_both(runs: tuple[RunFolder, RunFolder]) -> None:
    calls = runs[0].results().tasks[CELL].usage["calls"]
    assert f"| {CELL} | {calls} | 0 |" in card(runs[0], "run").replace("\\", "")
    assert f"| {calls} (0 paid for, the rest from the cache) |" in card(runs[1], "run")
    board = leaderboard(runs[0].path.parent, prices=lambda model: Price(picture=0.5))
    drawn = runs[0].results().tasks[CELL].usage["pictures_out"]
    costs = {row.run: (row.costs[CELL], row.paid[CELL]) for row in board.rows}
    assert costs == {"paid": (drawn / 2, drawn / 2), "kept": (drawn / 2, 0.0)}
    usage = BOARD_FORMATS["table"](board, True).partition("Usage")[2]
    assert "calls paid  cost paid" in usage and f"{drawn / 2:.4f}           0     0.0000" in usage
    first, *lines = BOARD_FORMATS["csv"](board).splitlines()
    assert first.endswith("cost,calls_paid,cost_paid")
    assert sorted(line.split(",")[-2:] for line in lines) == [["0", "0.0"], [str(calls), str(drawn / 2)]]


@pytest.mark.parametrize("to", ["inspect", "lmms-eval"])
def test_exports_have_the_tokens_that_the_episodes_used(
    runs: tuple[RunFolder, RunFolder], tmp_path: Path, to: str
) -> None:
    said = runs[0].results().tasks[CELL].usage["tokens_out"]
    files = [path for path in export(runs[1], to, tmp_path / "out") if "results" not in path.name]
    if to == "inspect":
        log = json.loads(files[0].read_text("utf-8"))
        found = [log["stats"]["model_usage"]["player/solver"]["output_tokens"]]
        found.append(sum(one["model_usage"]["player/solver"]["output_tokens"] for one in log["samples"]))
    else:
        rows = [json.loads(line) for line in files[0].read_text("utf-8").splitlines()]
        found = [sum(row["token_counts"][0]["output_tokens"] for row in rows)]
    assert said > 0 and set(found) == {said}


def test_a_run_file_that_runs_again_says_what_was_paid_for_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "file.yaml").write_text(FILE, "utf-8")

    def run(out: str) -> list[str]:
        asked = ["run", str(tmp_path / "file.yaml"), "--output-path", str(tmp_path / out)]
        done = CliRunner().invoke(root, asked, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return [line.strip() for line in done.stdout.splitlines() if line.startswith(("calls:", "cost:"))]

    (first,) = run("one")
    _, now, in_all = first.replace(",", "").split()[:3]
    assert now and first == f"cost:        {now} now, {now} for all episodes" and float(now) > 0 and in_all
    calls, cost = run("two")
    assert cost == f"cost:        0.0000 now, {now} for all episodes"
    used = calls.split()[1]
    assert calls == f"calls:       {used} for all episodes, {used} of them from the cache; 0 paid for now"
    calls, cost = run("one")
    assert calls == f"calls:       {used} for all episodes, 0 of them from the cache; 0 paid for now", "resumed"
    assert cost == f"cost:        0.0000 now, {now} for all episodes"
