"""The first lines of a run and of a comparison: one table and one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import sketchmark
from sketchmark.comparison import compare, sorted_rows
from sketchmark.comparison.headlines import run_sentences, summary_tables, trouble_lines
from sketchmark.comparison.tables import tables, to_terminal
from sketchmark.errors import BadInput
from sketchmark.folder.results_format import CellResult
from tests.comparison.folders import rows, write_run

FEW, MOST = [0] * 24 + [1] * 6, [1] * 24 + [0] * 6


def test_a_run_begins_with_direct_drawn_and_the_gain_and_answers_in_a_sentence(tmp_path: Path) -> None:
    run = sketchmark.run(
        "player/sketcher", "maze", mode="direct,visual_cot", canvas="own,blank", limit=16, output_path=tmp_path,
        no_cache=True, engine="local",
    )  # fmt: skip
    headline, controls = summary_tables(run.results, compare(run), {"maze.direct": 1.0, "maze.visual_cot": 0.5})
    assert headline.columns == ("task", "direct", "drawn", "gain", "95%", "verdict", "n", "cost")
    (row,) = headline.rows
    assert row == ("maze", "31.3", "100.0", "+68.8", "[+36.1, +85.8]", "better", "16", "1.5000")
    said = "Drawing helps on maze: +68.8 points [+36.1, +85.8], 31.3 → 100.0 on 16 samples."
    assert headline.below == (said,) == tuple(run_sentences(run.results))
    assert controls.rows == [("maze", "blank", "31.3", "+68.8", "[+36.1, +85.8]", "better", "16")]
    assert "on a blank canvas it loses 68.8 points [36.1, 85.8]" in controls.below[0]


def test_a_run_of_one_mode_shows_its_scores(tmp_path: Path) -> None:
    run = sketchmark.run("player/solver", "maze", limit=3, output_path=tmp_path, no_cache=True)
    (table,) = summary_tables(run.results, None, {})
    assert table.rows == [("maze.direct", "100.0", "[43.9, 100.0]", "3")] and "maze_text_exact" in table.title


def test_no_helped_and_no_hurt_sample_is_no_change_seen(tmp_path: Path) -> None:
    found = compare(write_run(tmp_path / "a", {"maze.direct": rows(MOST), "maze.visual_cot": rows(MOST)}))
    text = to_terminal(found)
    assert "no change seen" in text and "unclear" not in text and "No change seen on maze (80.0)." in text
    assert found.rows[0].verdict == "unclear", "in JSON and CSV the verdict stays one of three words"


@pytest.mark.parametrize(
    ("models", "heads"),
    [
        (("lab/one", "lab/one"), ("before", "after")),
        (("lab/one", "lab/two"), ("one", "two")),
        (("lab/one", "other/one"), ("first", "second")),
    ],
)
def test_only_runs_of_one_model_are_before_and_after(
    tmp_path: Path, models: tuple[str, str], heads: tuple[str, str]
) -> None:
    runs = [
        write_run(tmp_path / name, {"maze.direct": rows(values)}, model=model)
        for name, values, model in zip("ab", (FEW, MOST), models, strict=True)
    ]
    table = next(tables(compare(runs)))
    assert table.columns[2:4] == heads
    first, second = models if models[0] != models[1] else ("a", "b")
    assert table.below[0].startswith(f"direct: {second} scores higher than {first} on maze: +60.0 points [")


def test_many_tasks_are_counted_in_the_sentence(tmp_path: Path) -> None:
    cells = {
        f"t{place}.{mode}": rows(one) for place in range(6) for mode, one in (("direct", FEW), ("visual_cot", MOST))
    }
    (table,) = tables(compare(write_run(tmp_path / "a", cells)))
    assert table.below == ("Drawing helps on 6 of 6 tasks.",)


def test_rows_are_sorted_as_asked(tmp_path: Path) -> None:
    cells = {"b.direct": rows([0] * 8), "b.visual_cot": rows([1] * 6 + [0] * 2), "a.direct": rows([1] * 6 + [0] * 2),
             "a.visual_cot": rows([1] * 8)}  # fmt: skip
    found = compare(write_run(tmp_path / "run", cells))
    orders = {sort: [row.task for row in sorted_rows(found, sort).rows] for sort in ("score", "gain", "name")}
    assert orders == {"score": ["a", "b"], "gain": ["b", "a"], "name": ["a", "b"]}
    with pytest.raises(BadInput, match="not sorted by cost"):
        sorted_rows(found, "cost")


def test_each_kind_of_failure_is_one_line_with_its_cells() -> None:
    made = {
        f"t{place}.direct": CellResult(
            n=4,
            episodes=4,
            metrics={},
            failures={"truncated": place},
            left_out=place // 5,
            calls_left_out=2,
            usage={},
        )
        for place in range(1, 7)
    }
    truncated, left = trouble_lines(made)
    assert truncated.startswith("truncated 21 of 24 episodes (reply truncated at the token limit): t6.direct 6, ")
    assert truncated.endswith(" and 2 more") and left == "context left out 2 (12 calls): t5.direct 1, t6.direct 1"
