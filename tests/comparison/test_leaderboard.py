"""A folder of runs as a leaderboard: its numbers, its warnings, its formats."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest

from sketchmark.comparison import SORTS
from sketchmark.comparison.formats import BOARD_COLUMNS, BOARD_FORMATS
from sketchmark.comparison.leaderboard import Prices, is_shelf, leaderboard
from sketchmark.errors import BadInput
from tests.comparison.folders import printed, row, rows, write_run


def write_board(folder: Path, models: int = 3, tasks: tuple[str, ...] = ("maze", "sliding")) -> Path:
    """Models of rising strength, each helped by its drawings."""
    for number in range(models):
        write_run(
            folder / f"model-{number}",
            {
                f"{task}.{mode}": rows([float(place < 2 * number + more) for place in range(12)], usage=usage)
                for task in tasks
                for mode, more, usage in (
                    ("direct", 1, {"calls": 1, "tokens_in": 1000}),
                    ("visual_cot", 4, {"calls": 2, "tokens_in": 3000}),
                )
            },
            model=f"provider/model-{number}",
        )
    return folder


def test_a_row_has_score_gain_n_and_cost_of_a_model(tmp_path: Path) -> None:
    board = leaderboard(write_board(tmp_path), prices=lambda model: lambda usage: usage["tokens_in"] / 1000)
    assert board.tasks == ["maze", "sliding"] and board.notes == []
    assert [row.model for row in board.rows] == ["provider/model-2", "provider/model-1", "provider/model-0"]
    best = {one.cell: one for one in board.rows[0].standings}
    drawn = best["maze.visual_cot"]
    assert drawn.score and drawn.gain
    assert (drawn.score.mean, drawn.n) == (8 / 12, 12) and drawn.gain.gain == pytest.approx(3 / 12)
    assert best["maze.direct"].gain is None
    assert board.rows[0].costs["maze.visual_cot"] == pytest.approx(36)


def test_a_cost_without_the_judge_makes_a_note(tmp_path: Path) -> None:
    def notes(prices: Prices) -> list[str]:
        return leaderboard(tmp_path, prices=prices).notes

    write_run(tmp_path / "a", {"maze.direct": rows([1, 0])})
    assert notes(lambda model: lambda usage: 1.0) == []
    write_run(tmp_path / "b", {"maze.direct": rows([1, 0], judge="provider/judge")})
    assert notes(lambda model: None) == []
    assert notes(lambda model: lambda usage: 1.0) == ["the cost is without the judge (provider/judge)"]


def test_another_score_than_the_headline_can_be_chosen(tmp_path: Path) -> None:
    values = [row(place, 0.0, values={"close": 0.5}) for place in range(4)]
    write_run(tmp_path / "a", {"maze.direct": values, "maze.visual_cot": values})
    (found,) = leaderboard(tmp_path, metric="close").rows
    assert [one.score.mean if one.score else None for one in found.standings] == [0.5, 0.5]
    assert found.standings[1].gain and found.standings[1].gain.metric == "close"
    with pytest.raises(BadInput, match=r"nothing in .* is scored by far"):
        leaderboard(tmp_path, metric="far")


def test_failures_are_counted_and_not_scored_ones_left_out_of_n(tmp_path: Path) -> None:
    failed = row(2, None, scored=False, flags=["timeout"])
    write_run(tmp_path / "a", {"maze.direct": [row(0, 1), row(1, 0, flags=["unparsed"]), failed]})
    board = leaderboard(tmp_path)
    (one,) = board.rows[0].standings
    assert (one.n, one.played, one.failures) == (2, 3, {"timeout": 1, "unparsed": 1})
    text = BOARD_FORMATS["table"](board, True)
    assert "Failures in maze.direct of player/one: timeout 1, unparsed 1." in text


def test_runs_on_different_samples_make_a_note(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"maze.direct": rows([1, 1, 0, 0])})
    write_run(tmp_path / "b", {"maze.direct": rows([1, 1])})
    write_run(tmp_path / "c", {"maze.direct": [row(place, 1, sample=f"other{place}") for place in range(4)]})
    write_run(tmp_path / "d", {"maze.direct": rows([1, 1, 0, 0])}, play={"prompts": {"ask": "How?"}})
    write_run(tmp_path / "e", {"maze.direct": rows([1, 1, 0, 0], scoring="official")})
    notes = leaderboard(tmp_path).notes
    assert len(notes) == 4
    assert "maze.direct: b and a are scored on different samples (2 and 4, 2 of them shared)" in notes[0]
    assert "c and a are not the same test: data: no sample in common" in notes[1]
    assert "d and a are not the same test: prompts.ask" in notes[2]
    assert "e and a are not the same test: scoring" in notes[3]


def test_cells_and_runs_with_the_same_difference_share_a_note(tmp_path: Path) -> None:
    for name, values in {"a": [1, 1, 0, 0], "b": [1, 1], "c": [0, 1]}.items():
        write_run(tmp_path / name, {"maze.direct": rows(values), "maze.visual_cot": rows(values)})
    (note,) = leaderboard(tmp_path).notes
    assert note.startswith(
        "maze.direct, maze.visual_cot: b, c and a are scored on different samples (2 and 4, 2 of them"
    )


def test_an_empty_cell_is_not_another_test(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"maze.direct": rows([1, 0], scoring="official")})
    write_run(tmp_path / "b", {"maze.direct": []})
    assert not [note for note in leaderboard(tmp_path).notes if "not the same test" in note]


def test_a_broken_run_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    write_board(tmp_path, 2)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/run.json").write_text("{")
    board = leaderboard(tmp_path)
    assert len(board.rows) == 2 and board.notes[0].startswith("broken cannot be read: ")


def test_scores_that_are_withheld_are_not_shown(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"maze.direct": [row(0, 1), row(1, None, flags=["scorer_failed"], scored=False)]})
    board = leaderboard(tmp_path)
    assert board.rows[0].standings[0].score is None and "1 scorer failure" in board.notes[0]


def test_two_runs_of_one_model_are_named_by_their_folders(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_run(tmp_path / name, {"maze.direct": rows([1, 0])})
    text = BOARD_FORMATS["table"](leaderboard(tmp_path))
    assert "player/one (a)" in text and "player/one (b)" in text


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("tasks", [2, 12])
def test_the_table_fits_and_no_number_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, tasks: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    names = tuple(f"benchmark_subset_{number}" for number in range(tasks))
    board = leaderboard(write_board(tmp_path, tasks=names), prices=lambda model: lambda usage: 1234.5678)
    text = BOARD_FORMATS["table"](board, True)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    for name in names:
        assert name in text
    overview = text[: text.index("The same with")]
    assert overview.count("66.7  +25.0") == tasks and text.count("[39.1, 86.2]") >= tasks


def test_every_format_holds_every_model_and_csv_and_json_all_digits(tmp_path: Path) -> None:
    board = leaderboard(write_board(tmp_path))
    for make in BOARD_FORMATS.values():
        text = make(board)
        assert all(f"model-{number}" in text for number in range(3))
    lines = list(csv.DictReader(io.StringIO(BOARD_FORMATS["csv"](board))))
    assert tuple(lines[0]) == BOARD_COLUMNS and len(lines) == 3 * 2 * 2
    assert float(lines[1]["score_mean"]) == 8 / 12 and lines[1]["gain_n"] == "12"
    found = json.loads(BOARD_FORMATS["json"](board))
    assert found["rows"][0]["standings"][1]["score"]["mean"] == 8 / 12
    assert [BOARD_FORMATS["latex"](board, details).count(r"\begin{table") for details in (False, True)] == [1, 3]


def test_rows_are_sorted_as_asked_and_equal_ones_by_model_and_run(tmp_path: Path) -> None:
    made = {"b": ([1, 1, 0, 0], [1, 1, 1, 0]), "a": ([1, 1, 0, 0], [1, 1, 1, 0]), "c": ([0, 0, 0, 0], [1, 1, 0, 0])}
    for name, (direct, drawn) in made.items():
        write_run(tmp_path / name, {"maze.direct": rows(direct), "maze.visual_cot": rows(drawn)}, model=f"m/{name}")
    costs = {"m/a": 3.0, "m/b": 1.0, "m/c": 2.0}
    orders = {
        sort: [row.run for row in leaderboard(tmp_path, sort=sort, prices=lambda m: lambda usage: costs[m]).rows]
        for sort in SORTS
    }
    expected = {"score": ["a", "b", "c"], "gain": ["c", "a", "b"], "name": ["a", "b", "c"], "cost": ["b", "c", "a"]}
    expected["tag"] = expected["score"]
    assert orders == expected
    with pytest.raises(BadInput, match="no cost is known"):
        leaderboard(tmp_path, sort="cost")


def test_untrusted_names_become_no_formula_or_control_sequence(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {"maze.direct": rows([1, 0])}, model="=1+1\x1b[2J")
    board = leaderboard(tmp_path)
    assert "\x1b" not in BOARD_FORMATS["table"](board)
    (line,) = csv.DictReader(io.StringIO(BOARD_FORMATS["csv"](board)))
    assert line["model"].startswith("'=")


def test_the_command_prints_the_leaderboard_of_a_folder_of_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_board(tmp_path / "runs")
    (tmp_path / "prices.yaml").write_text("".join(f"provider/model-{n}: {{input: 1}}\n" for n in range(3)))
    say = partial(printed, capsys)
    code, text = say(tmp_path / "runs", "--prices", tmp_path / "prices.yaml")
    assert code == 0 and "Leaderboard" in text and "0.0720" in text
    assert say(tmp_path / "runs", "--format", "json", "-o", tmp_path / "board.json")[0] == 0
    assert len(json.loads((tmp_path / "board.json").read_text())["rows"]) == 3
    code, text = say(tmp_path / "runs", "--power", "0.1")
    assert code == 2 and "are for comparing runs" in text
    code, text = say(tmp_path / "runs/model-0", "--prices", tmp_path / "prices.yaml")
    assert code == 2 and "--prices is for the leaderboard" in text
    assert is_shelf(tmp_path / "runs") and not is_shelf(tmp_path / "runs/model-0")
