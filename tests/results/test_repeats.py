"""Results of repeated episodes: pass@k, votes, image scores, headroom, and their tables."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.cli import root
from sketchmark.commands.compare import _plans
from sketchmark.comparison.headlines import repeats_table
from sketchmark.comparison.leaderboard import leaderboard
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.folder.builders import as_rows
from sketchmark.folder.format import ScoreRow
from sketchmark.folder.results_format import Repeats
from sketchmark.report.card import card
from sketchmark.results.repeats import answer_codes, nested, summarise_repeats
from sketchmark.results.summary import drawing_and_answer
from sketchmark.view.runs import run_row
from sketchmark.view.views import Views
from tests.runs.making import make_row


def rows_of(**samples: list[list[tuple[float, str]]]) -> list[ScoreRow]:
    """Make rows from sample → drawings → answers, each a score and the parsed answer; `?` is unparsed."""
    return [
        make_row(
            sample, value, index, repeat=repeat, branch=branch, notes={} if answer == "?" else {"answer": answer},
            flags=["unparsed"] if answer == "?" else [],
        )
        for index, (sample, drawings) in enumerate(samples.items())
        for repeat, answers in enumerate(drawings)
        for branch, (value, answer) in enumerate(answers)
    ]  # fmt: skip


def summarised(rows: list[ScoreRow]) -> Repeats | None:
    return summarise_repeats(as_rows(rows), answer_codes(rows), "right")


def scores_of(rows: list[ScoreRow]) -> list[tuple[int, float]]:
    """Return the scores by drawing."""
    _, found = nested(as_rows(rows), "right")
    return list(zip(found.drawing.of.tolist(), found.scores.tolist(), strict=True))


def test_chances_votes_agreement_and_headroom_of_a_small_cell() -> None:
    rows = rows_of(
        x=[[(1, "a"), (0, "b")], [(0, "b"), (0, "b")], [(0, "b"), (1, "a")]],
        y=[[(1, "a"), (1, "a")], [(0, "b"), (1, "a")], [(0, "?"), (0, "?")]],
    )
    found = summarised(rows)
    assert found and (found.repeats, found.answers, found.ties) == (3, 2, 1)
    assert {k: one.mean for k, one in found.pass_at.items()} == pytest.approx({"1": 1 / 3, "2": 2 / 3, "3": 1})
    assert {k: one.mean for k, one in found.pass_all.items()} == pytest.approx({"1": 1 / 3, "2": 0, "3": 0})
    assert found.majority and found.majority.mean == pytest.approx((0 + 0.5) / 2)
    assert found.agreement and found.agreement.mean == pytest.approx((1 / 3 + 0) / 2)
    room = found.headroom
    assert room and room.best_drawing and room.best_answer and room.best
    assert room.random.mean == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert room.best_drawing.mean == pytest.approx((0.5 + 1) / 2)
    assert room.best_answer.mean == pytest.approx(2 / 3) and room.best.mean == 1
    assert summarised(rows_of(x=[[(1, "a")]])) is None


def test_a_table_says_if_few_samples_have_all_repeats() -> None:
    rows = rows_of(x=[[(1, "a")]] * 3, y=[[(1, "a")]] * 2, z=[[(0, "b")]] * 2)
    found = summarised(rows)
    assert found and found.pass_at["3"].n == 1 and found.pass_at["2"].n == 3
    table = repeats_table({("maze.direct",): found})
    assert table and table.below[0] == ("maze.direct: 1 of 3 samples have 3 repeats; pass@k and pass^k are of these.")
    whole = summarised(rows_of(x=[[(1, "a")]] * 2, y=[[(1, "a")]] * 2))
    assert whole and not any("pass@k" in line for line in repeats_table({("maze.direct",): whole}).below)  # type: ignore[union-attr]


def test_two_runs_are_compared_with_the_mode_of_each_row(repeated: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(repeated, other)
    said = " ".join(str(sketchmark.compare(repeated, other)).split())
    assert "maze.direct: 10 samples with 3 repeats" in said and "maze.visual_cot: 10 samples with" in said


def test_a_failed_drawing_counts_as_often_as_the_others_have_answers() -> None:
    rows = rows_of(x=[[(1, "a"), (1, "a"), (0, "b")], [(0, "?")]])
    assert scores_of(rows) == [(0, 1), (0, 1), (0, 0), (1, 0), (1, 0), (1, 0)]
    rows[1].scored = False  # a network failure is not an answer
    assert scores_of(rows) == [(0, 1), (0, 0), (1, 0), (1, 0), (1, 0)]


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given: dict[str, Any] = {"mode": "direct,visual_cot", "limit": 10, "repeats": 3, "answers": 2, "no_cache": True}
    faults = "draw_error=0.2,draw_slip=0.4,read_slip=0.2,knows=0.5"
    path = tmp_path_factory.mktemp("repeats") / "run"
    sketchmark.run("player/flawed", "maze", model_args=faults, output_path=path, quiet=True, engine="local", **given)
    return path


def test_a_run_reports_repeats_in_results_and_in_a_table(repeated: Path) -> None:
    results = sketchmark.notebook.Run(repeated).results
    cell = results.tasks["maze.visual_cot"]
    assert cell.repeats and cell.repeats.variance and cell.repeats.best_by == "maze_img_frame_acc"
    mean = cell.metrics["maze_text_exact"]
    assert (mean.n, cell.episodes) == (10, 60)
    assert cell.repeats.headroom and cell.repeats.headroom.random.mean == pytest.approx(mean.mean)
    assert "which drawing the model made" in cell.repeats.variance.sentence
    assert "chance within a sample" in results.tasks["maze.direct"].repeats.variance.sentence  # type: ignore[union-attr]
    table = repeats_table({(name,): one.repeats for name, one in results.tasks.items() if one.repeats})
    assert table and [row[:2] for row in table.rows] == [("maze.direct", "3"), ("maze.visual_cot", "3")]


def test_compare_says_what_more_repeats_would_gain(repeated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = sketchmark.compare(repeated).rows
    assert row.further and row.further.half_width > row.further.twice_repeats >= row.further.twice_samples
    found = row.difference
    assert found.low is not None and found.high is not None, "the sentence and the table show the same interval"
    assert row.further.half_width == pytest.approx((found.high - found.low) / 2)
    root.main(["compare", str(repeated)], standalone_mode=False)
    said = " ".join(capsys.readouterr().out.split())
    assert "10 samples with 3 repeats give" in said and "more samples gain more" in said


def test_a_gain_that_is_the_same_on_every_sample_is_not_called_exact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sketchmark.run(
        "player/flawed", "gears", mode="direct,visual_cot", limit=3, repeats=2, output_path=tmp_path / "run"
    )
    root.main(["compare", str(tmp_path / "run")], standalone_mode=False)
    said = " ".join(capsys.readouterr().out.split())
    assert "The gain is the same on all 3 samples" in said and "±0.0" not in said
    root.main(["audit", str(tmp_path / "run"), "--plan", "900"], standalone_mode=False)
    said = " ".join(capsys.readouterr().out.split())
    assert "Plan for gears: the gain is the same on every sample" in said and "1 more samples" not in said


def test_an_audit_plans_a_budget_of_calls_or_money(
    repeated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("player/flawed: {output: 1000000, picture: 5}\n")

    def planned(*words: str) -> Any:
        root.main(["audit", str(repeated), "--json", "--plan", *words], standalone_mode=False)
        return json.loads(capsys.readouterr().out)["plan"]["maze"]

    calls, capped, money = planned("3000"), planned("3000", "--limit", "20"), planned("9000", "--prices", str(prices))
    assert calls["repeats"] == 1 and capped["samples"] <= 20 and capped["repeats"] > 1
    assert calls["half_width"] < capped["half_width"] and calls["cost"] <= 3000 and money["cost"] <= 9000
    assert planned("1") == "the budget does not pay for two samples"
    for budget in ("nan", "inf"):
        with pytest.raises(BadInput, match="is not a budget"):
            root.main(["audit", str(repeated), "--plan", budget], standalone_mode=False)
    prepared = sketchmark.run(
        "player/flawed",
        "maze",
        mode="direct,visual_cot",
        limit=1,
        repeats=2,
        output_path=tmp_path / "one",
        quiet=True,
    )
    assert "a plan needs two samples" in _plans(prepared.path, 900, None, None)["maze"]  # type: ignore[operator]


def test_samples_and_episodes_are_not_taken_for_each_other(
    repeated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = leaderboard(repeated.parent)
    assert [(one.n, one.played, one.unscored) for one in board.rows[0].standings] == [(10, 30, 0), (10, 60, 0)]
    made = card(RunFolder(repeated), "run")
    assert "| 10 (--limit 10), 60 episodes |" in made and "| 60 | 0 |" in made
    view = Views(repeated)
    found = view.compare({"a": ".", "b": "."})
    assert sum(found["counts"].values()) == found["total"] == found["difference"]["n"] == 10
    gain = sketchmark.notebook.Run(repeated).results.gains[0]
    assert (found["counts"]["helped"], found["counts"]["hurt"]) == (gain.helped, gain.hurt)
    assert view.several({"r1": "."})["shared"] == 10
    drawn = drawing_and_answer(view.open(".").cells["maze.visual_cot"])
    assert drawn and sum((drawn.right.right, drawn.right.other, drawn.wrong.right, drawn.wrong.other)) == 60
    root.main(["audit", str(repeated)], standalone_mode=False)
    assert "of the episodes of 10 samples" in " ".join(capsys.readouterr().out.split())


def test_progress_counts_repeats(repeated: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(repeated, path)
    assert run_row(Views(path).open("."))["progress"] == 1
    episodes = path / "episodes" / "maze.direct.jsonl"
    episodes.write_bytes(b"".join(episodes.read_bytes().splitlines(True)[:12]))
    assert run_row(Views(path).open("."))["progress"] == (12 + 30) / 60
    (path / "run.json").write_text((path / "run.json").read_text().replace('"finished"', '"stopped"'))
    assert "maze.direct 12 of 30 episodes" in str(sketchmark.notebook.Run(path))


def test_a_shard_counts_its_samples_and_not_their_repeats(tmp_path: Path) -> None:
    run = sketchmark.run("player/random", "maze", limit=6, repeats=3, shard="0/2", output_path=tmp_path, quiet=True)
    assert "3 of 6 samples" in run.results.part
    assert "3 of 6 samples" in (tmp_path / "report.html").read_text()


def test_compare_the_leaderboard_and_the_report_show_scores_of_repeats(
    repeated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(*words: str) -> str:
        root.main(["compare", *words], standalone_mode=False)
        return capsys.readouterr().out

    stored = json.loads((repeated / "results.json").read_text())["tasks"]["maze.visual_cot"]["repeats"]
    (one,) = (
        one for one in json.loads(asked(str(repeated), "--format", "json"))["repeats"] if "visual" in one["cell"]
    )
    assert one["found"] == stored and one["model"] == "player/flawed"
    for text in (asked(str(repeated)), asked(str(repeated.parent))):
        assert "Repeated episodes, in percent" in text and "which drawing the model made" in " ".join(text.split())
    rows = list(csv.DictReader(io.StringIO(asked(str(repeated.parent), "--format", "csv"))))
    (row,) = (row for row in rows if row["mode"] == "visual_cot")
    found = {name: float(row[name]) for name in ("repeats", "answers", "pass_at", "pass_all", "vote", "ties")}
    assert found == {
        "repeats": 3, "answers": 2, "vote": stored["majority"]["mean"], "ties": stored.get("ties", 0),
        "pass_at": stored["pass_at"]["3"]["mean"], "pass_all": stored["pass_all"]["3"]["mean"],
    }  # fmt: skip
    assert float(row["agreement"]) == stored["agreement"]["mean"] and row["best_image"] and row["best_of_all"]
    assert "Repeated episodes" not in asked(str(repeated.parent), "--metric", "maze_img_exact")
    report = (repeated / "report.html").read_text()
    section = report[report.index('<section id="repeats"') :]
    for words in (
        "pass^k",
        "Best by image score",
        "Between drawings",
        "Headroom",
        "maze: pass@k by k",
        stored["variance"]["sentence"],
    ):
        assert words in section, words
    low, high = stored["variance"]["drawings"]["ci95"]
    assert f"{stored['variance']['drawings']['mean']:.3f} [{low:.3f}, {high:.3f}]" in section
