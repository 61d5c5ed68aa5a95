"""Scores that only a file's own aggregation makes: a number, its interval, and their place in comparisons."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.commands.tables import print_results
from sketchmark.comparison import compare
from sketchmark.comparison.findings import span
from sketchmark.comparison.leaderboard import board_tables, leaderboard
from sketchmark.errors import BadInput
from sketchmark.export import export
from sketchmark.folder import RunFolder
from sketchmark.lmms_eval import scores as aggregating
from sketchmark.lmms_eval.functions import Functions
from sketchmark.notebook import Run
from sketchmark.report import write_report
from sketchmark.report.card import card
from sketchmark.stats.intervals import as_percent

FILE = """
task: sums
dataset_path: rows.jsonl
test_split: test
doc_to_text: !function utils.asked
doc_to_target: answer
process_results: !function utils.results
cluster_key: picture
metric_list:
  - {metric: score, aggregation: !function utils.AGGREGATION}
"""
CODE = """
import logging
import numpy

def asked(doc):
    return doc["question"]

def results(doc, results):
    return {"score": {"kind": doc["kind"], "picture": doc["picture"], "right": results[0] == doc["answer"]}}

def share(results):
    return sum(r["right"] for r in results) / len(results)

def by_kind(results):
    kinds = sorted({r["kind"] for r in results})
    return 100 * sum(share([r for r in results if r["kind"] == kind]) for kind in kinds) / len(kinds)

def f1(results):
    hits = sum(r["right"] for r in results if r["kind"] == "a")
    wrong = sum(not r["right"] for r in results)
    return 2 * hits / (2 * hits + wrong)

def pairs(results):
    assert len(results) % 2 == 0, "only pairs"
    return share(results)

def told(results):
    return "see the table"

def undefined(results):
    return float("nan")

def categories(results):
    return {"a": share(results), "b": float("nan"), "each": [numpy.float32(0.5), numpy.zeros(2)], 3: {"set"}}

def divided(results):
    print("a table")
    return 1 / 0

def emptied(results):
    return sum(r.pop("right") for r in results) / len(results)

def noted(results):
    logging.getLogger("own").warning(f"{len(results)} results")
    return share(results)

def judged(results):
    print(len(results))
    return share(results)

def sent(results, args):
    with open(f"{args.output_path}/{args.tasks}.json", "w") as file:
        file.write(str(len(results)))
    return share(results)
"""


class Guesses(Model):
    """Right for a given share of the questions, always the same ones."""

    def __init__(self, share: float) -> None:
        super().__init__(f"guesses/{share}")
        self.share = share

    async def say(self, context: Context, options: Options) -> Reply:
        number = int(str([*context][-1].content).split()[-1])
        return Reply(text="yes" if random.Random(number).random() < self.share else "no")

    async def draw(self, context: Context, options: Options) -> Reply:
        raise NotImplementedError


def task(tmp_path: Path, aggregation: str, n: int = 40) -> Path:
    folder = tmp_path / "sums"
    folder.mkdir(exist_ok=True)
    file = folder / f"{aggregation}.yaml"
    file.write_text(FILE.replace("AGGREGATION", aggregation))
    (folder / "utils.py").write_text(CODE)
    rows = [
        {"question": f"number {i}", "answer": "yes", "kind": "ab"[i % 3 == 0], "picture": i // 4} for i in range(n)
    ]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def play(tmp_path: Path, aggregation: str, share: float = 0.7, out: str = "out", n: int = 40) -> RunFolder:
    file = task(tmp_path, aggregation, n)
    return sketchmark.run(Guesses(share), "sums", include=(file,), trust_code=True, output_path=tmp_path / out).folder


def results_of(folder: RunFolder) -> list[dict[str, Any]]:
    return [row.notes["results"]["score"] for row in folder.scores("sums.direct")]


def test_a_share_is_what_its_samples_are(tmp_path: Path) -> None:
    folder = play(tmp_path, "share")
    values = [row.value("score") or 0.0 for row in folder.scores("sums.direct")]
    assert values == [float(result["right"]) for result in results_of(folder)]
    found = folder.results().tasks["sums.direct"].metrics["score"]
    assert found.mean == pytest.approx(fmean(values)) and (found.n, found.method) == (40, "wilson-clustered")


def resampled(function: Callable[[Sequence[Any]], float], results: list[dict[str, Any]]) -> float:
    """The standard error by drawing whole pictures anew, two thousand times, through the function."""
    drawn, numbers = random.Random(0), []
    clusters = [[r for r in results if r["picture"] == picture] for picture in {r["picture"] for r in results}]
    for _ in range(2000):
        numbers.append(function([r for cluster in drawn.choices(clusters, k=len(clusters)) for r in cluster]))
    return stdev(numbers)


@pytest.mark.parametrize("aggregation", ["share", "by_kind", "f1"])
def test_the_interval_is_as_wide_as_drawing_the_samples_anew_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aggregation: str
) -> None:
    monkeypatch.setattr(aggregating, "LONGEST", 1e9)
    folder = play(tmp_path, aggregation, n=400)
    found = folder.results().tasks["sums.direct"].metrics["score"]
    function = Functions([f"utils.{aggregation}"], tmp_path / "sums", {})[{"!function": f"utils.{aggregation}"}]
    assert found.mean == pytest.approx(function(results_of(folder)))
    low, high = found.ci95
    assert low is not None and high is not None and low < found.mean < high
    assert (high - low) / (2 * 1.96) == pytest.approx(resampled(function, results_of(folder)), rel=0.12)


def test_it_stands_in_comparisons_and_exports(tmp_path: Path) -> None:
    for share in (0.4, 0.8):
        play(tmp_path, "by_kind", share, f"out{share}", n=120)
    [row] = compare([tmp_path / "out0.4", tmp_path / "out0.8"]).rows
    numbers = [
        RunFolder(tmp_path / f"out{s}").results().tasks["sums.direct"].metrics["score"].mean for s in (0.4, 0.8)
    ]
    assert row.difference.mean == pytest.approx(numbers[1] - numbers[0])
    assert row.difference.low is not None and row.difference.low > 0 and row.difference.p is not None
    files = export(RunFolder(tmp_path / "out0.8"), "lmms-eval", tmp_path / "exported")
    sums = json.loads(files[0].read_text())["results"]["sums"]
    assert sums["score,none"] == pytest.approx(numbers[1]) and sums["score_stderr,none"] > 0


@pytest.mark.parametrize(
    ("aggregation", "made"),
    [
        ("told", "see the table"),
        ("undefined", "nan"),
        ("categories", {"a": 0.7, "b": "nan", "each": [0.5, [0.0, 0.0]], "3": "{'set'}"}),
        ("pairs", 0.7),
    ],
)
def test_a_summary_that_is_not_a_number_or_needs_all_results_has_no_interval(
    tmp_path: Path, aggregation: str, made: Any
) -> None:
    cell = play(tmp_path, aggregation).results().tasks["sums.direct"]
    found = cell.aggregate["score"]
    if isinstance(made, dict):
        found, made = found | {"a": round(found["a"], 0)}, made | {"a": 1.0}
    assert (cell.metrics, cell.problem) == ({}, "")
    assert found == made or found == pytest.approx(made, abs=0.2)


def test_an_aggregation_may_change_its_results(tmp_path: Path) -> None:
    cell = play(tmp_path, "emptied").results().tasks["sums.direct"]
    assert cell.metrics["score"] == play(tmp_path, "share", out="as").results().tasks["sums.direct"].metrics["score"]


@pytest.mark.parametrize(
    ("aggregation", "shown"),
    [("categories", "score / a"), ("pairs", "score"), ("told", "its own summary is not a number")],
)
def test_a_number_is_shown_where_it_is_found_and_where_there_is_none_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], aggregation: str, shown: str
) -> None:
    folder = play(tmp_path, aggregation)
    print_results(folder.results())
    for text in (capsys.readouterr().out, str(Run(folder.path)), card(folder, "out")):
        assert shown in text and "nothing scored" not in text


def test_an_aggregation_that_fails_is_told_once_and_not_asked_for_every_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = play(tmp_path, "divided").results().tasks["sums.direct"]
    assert cell.problem.endswith("ZeroDivisionError: division by zero") and cell.n == 40
    assert capsys.readouterr().out == "a table\n"


def test_an_aggregation_is_quiet_the_other_times_and_nothing_else_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    play(tmp_path, "noted")
    logging.getLogger("later").warning("heard")
    assert [record.message for record in caplog.records] == ["40 results", "heard"]


@pytest.mark.parametrize("rule", ["LONGEST", "SLOW"])
def test_one_that_takes_long_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rule: str
) -> None:
    monkeypatch.setattr(aggregating, rule, 0.0)
    cell = play(tmp_path, "judged").results().tasks["sums.direct"]
    assert "score" not in cell.metrics and cell.aggregate["score"] == pytest.approx(0.7, abs=0.2)
    assert capsys.readouterr().out == "40\n"


def test_with_little_time_blocks_of_samples_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = play(tmp_path, "by_kind", n=410).results().tasks["sums.direct"].metrics["score"]
    ticks = iter(range(10**6))
    monkeypatch.setattr("time.perf_counter", lambda: next(ticks) * 1.0)
    monkeypatch.setattr(aggregating, "LONGEST", 200.0)
    found = play(tmp_path, "by_kind", out="blocks", n=410).results().tasks["sums.direct"].metrics["score"]
    assert found.mean == pytest.approx(wide.mean)
    widths = [
        one.ci95[1] - one.ci95[0] for one in (wide, found) if one.ci95[0] is not None and one.ci95[1] is not None
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.35)


def test_what_an_aggregation_writes_for_a_server_lies_with_the_run(tmp_path: Path) -> None:
    folder = play(tmp_path, "sent")
    assert (folder.path / "submission" / "sums.direct" / "sums.json").read_text() == "40"
    assert "score" in folder.results().tasks["sums.direct"].metrics


def test_scoring_again_finds_the_same_values(tmp_path: Path) -> None:
    folder = play(tmp_path, "by_kind")
    before = (folder.path / "results.json").read_bytes()
    again = play(tmp_path, "by_kind")
    assert (again.path / "results.json").read_bytes() == before


def test_no_gain_is_measured_in_a_score_where_less_is_better(tmp_path: Path) -> None:
    file = task(tmp_path, "share")
    error_rate = "{metric: score, higher_is_better: false, aggregation: !function utils.share}"
    file.write_text(f"{FILE.partition('metric_list')[0]}metric_list: [{error_rate}]\n")
    asked: dict[str, Any] = {"include": (file,), "trust_code": True, "mode": ["direct", "text_cot"]}
    folder = sketchmark.run(Guesses(0.5), "sums", output_path=tmp_path / "runs" / "out", **asked).folder
    cell, results = folder.about().cells["sums.text_cot"], folder.results()
    assert (cell.headline, cell.less_is_better, results.gains) == ("", ["score"], [])
    assert 0 < results.tasks["sums.text_cot"].metrics["score"].mean < 1
    for metric in ("", "score"):
        with pytest.raises(BadInput, match="in score less is better, and no gain is measured in it"):
            compare(folder.path, metric=metric)
    [row] = leaderboard(tmp_path / "runs", metric="score").rows
    assert all(one.score and one.gain is None for one in row.standings)
    [written, *_] = export(folder, "lmms-eval", tmp_path / "exported")
    assert json.loads(written.read_text())["higher_is_better"]["sums"] == {"score": False}


def test_a_score_in_per_cent_is_shown_in_per_cent(tmp_path: Path) -> None:
    """`by_kind` gives 0..100: 6667 % and +10000 points were shown of it."""
    ran = [play(tmp_path, "by_kind", share, f"runs/{share}", n=120) for share in (0.4, 0.8)]
    low, high = (folder.results().tasks["sums.direct"].metrics["score"].mean for folder in ran)
    board = "\n".join(str(row) for table in board_tables(leaderboard(tmp_path / "runs")) for row in table.rows)
    assert f"'{low:.1f}'" in board and f"'{high:.1f}'" in board
    assert f">{as_percent(high, (0, 100))} [" in write_report(ran[1]).read_text("utf-8")
    apart = compare([folder.path for folder in ran]).rows[0].difference
    assert span(apart).startswith(f"{high - low:+.1f} points [")
