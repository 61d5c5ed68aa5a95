"""Two scorings of the same replies: answers parsed differently, and their effect on the score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark import Reply, Sample
from sketchmark.cli import root as cli
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.folder import RunFolder
from sketchmark.folder.format import ScoreRow
from sketchmark.folder.results_format import CellResult, ScoringDifference
from sketchmark.results.scorings import disagreements, held_against, in_words, sentences, told
from tests.runs.making import Speaker, make_config, make_row, make_samples, planned, run
from tests.tabled import tabled

SILENT = object()
CELL = "shades.direct"


def _rows(scoring: str, *read: tuple[Any, float | None]) -> list[ScoreRow]:
    """Rows of samples s0, s1, …, each with what was read (SILENT: the scorer does not say) and its score."""
    return [
        make_row(
            f"s{number}",
            value,
            number,
            scoring=scoring,
            notes={} if answer is SILENT else {"answer": answer},
            flags=["unparsed"] if answer is None else [],
        )
        for number, (answer, value) in enumerate(read)
    ]


def _held(own: list[ScoreRow], other: list[ScoreRow]) -> ScoringDifference:
    return held_against(own, other, "right")


def test_replies_parsed_differently_are_counted_by_kind_and_their_points_add_up() -> None:
    own = _rows("strict", ("A", 1.0), ("B", 1.0), (None, 0.0), ("C", 0.0), ("D", 1.0))
    other = _rows("official", ("A", 1.0), (None, 0.0), ("B", 1.0), ("A", 0.0), ("A", 0.0))
    found = _held(own, other)
    assert (found.unparsed, found.unparsed_own, found.read_otherwise) == (1, 1, 2)
    assert found.read_differently == 4 and found.scored_differently == 0 and found.n == 5
    assert found.difference == pytest.approx(0.2) == found.from_readings
    assert [reply.sample for reply in found.replies] == ["s1", "s2", "s4", "s3"], "those that change a score first"
    assert found.replies[0].readings == {"strict": "B", "official": None}
    assert found.replies[0].values == {"strict": 1.0, "official": 0.0}


def test_replies_with_equal_answers_and_different_scores_are_counted_separately() -> None:
    """As when a published program guesses at random what it cannot parse."""
    own = _rows("strict", (None, 0.0), ("B", 1.0), (SILENT, 1.0))
    other = _rows("official", (None, 0.25), (None, 0.25), (SILENT, 0.0))
    found = _held(own, other)
    assert (found.read_differently, found.scored_differently) == (1, 2)
    assert found.from_readings == pytest.approx(0.25) and found.difference == pytest.approx(0.5)
    own, other = _rows("a", (SILENT, 0.0), ("B", 0.0)), _rows("b", (None, 0.0), (SILENT, 0.0))
    found = _held(own, other)
    assert [reply.sample for reply in found.replies] == ["s0"] and found.unparsed == 1, "without an answer to compare"
    assert found.replies[0].readings == {"b": None}


@tabled
def test_the_same_answer_in_another_form_is_no_difference(one: Any, two: Any, same: bool) -> None:
    found = _held(_rows("a", (one, 1.0)), _rows("b", (two, 1.0)))
    assert (found.read_differently == 0) == same


def test_a_long_answer_is_compared_whole_and_shown_short() -> None:
    one, two = "up, " * 200 + "left", "up, " * 200 + "right"
    (reply,) = _held(_rows("a", (one, 1.0)), _rows("b", (two, 0.0))).replies
    assert reply.readings["a"] is not None and len(reply.readings["a"]) == 200
    assert in_words({"number": 2, "subject": "dog"}) == "number 2, subject dog"
    assert in_words([]) is None and in_words(None) is None and in_words("  ") is None


def test_another_attempt_at_a_sample_is_another_reply() -> None:
    own, other = _rows("a", ("A", 1.0), ("A", 1.0)), _rows("b", ("B", 0.0), ("A", 1.0))
    other[0].started = 2.0
    found = _held(own, other)
    assert found.n == 1 and found.read_differently == 0


def _told(own: list[ScoreRow], other: list[ScoreRow]) -> str:
    from sketchmark.results.summary import summarise

    cell, beside = summarise(own, None), summarise(other, None)
    cell.headline, cell.scoring = "right", "strict"
    beside.against = _held(own, other)
    cell.scorings = {"official": beside}
    (line,) = sentences({"quiz.direct": cell})
    return line


def test_the_difference_is_one_sentence() -> None:
    right, read = ("A", 1.0), [("B", 1.0), ("B", 1.0), ("C", 1.0)]
    own = _rows("strict", right, *read)
    assert _told(own, _rows("official", right, (None, 0.0), (None, 0.0), ("D", 0.0))) == (
        "quiz.direct: official 25.0, strict 100.0: +75.0 points, all from 3 replies read differently "
        "(2 unparsed by official, 1 read as another answer)"
    )
    assert _told(own, _rows("official", right, (None, 0.0), ("B", 0.5), read[2])) == (
        "quiz.direct: official 62.5, strict 100.0: +37.5 points: +25.0 from 1 reply read differently "
        "(1 unparsed by official); +12.5 from 1 reply read alike and scored differently"
    )
    assert _told(own, _rows("official", right, *read)) == (
        "quiz.direct: strict and official read and score every reply alike"
    )
    assert _told(own, _rows("official", right, ("B", None), *read[1:])) == (
        "quiz.direct: official 100.0, strict 100.0: ±0.0 points on the 3 replies that both score, all from 1 reply "
        "read alike and scored differently"
    )


def test_a_score_that_is_not_a_mean_of_rows_gives_only_counts() -> None:
    cell = CellResult(n=1, episodes=1, metrics={}, failures={}, left_out=0, calls_left_out=0, usage={})
    cell.headline, cell.scoring = "cider", "strict"
    beside = CellResult(n=1, episodes=1, metrics={}, failures={}, left_out=0, calls_left_out=0, usage={})
    beside.against = held_against(_rows("strict", ("A", 1.0)), _rows("b", (None, 1.0)), "cider")
    cell.scorings = {"b": beside}
    assert list(sentences({"x.direct": cell})) == [
        "x.direct: strict and b: 1 reply read differently (1 unparsed by b)"
    ]


def by_scoring(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`other` reads nothing in the answers of every third sample."""
    read = None if grading.scoring == "other" and int(sample.id[1:]) % 3 == 0 else episode.answer
    return Scores({"right": float(read == "yes")}, {"answer": read}, unparsed=read is None)


async def _played(path: Path, count: int = 6) -> tuple[RunFolder, Path]:
    """A run scored two ways, and where its task is."""
    config = make_config(make_samples(count), scorer=by_scoring, scorings={"strict": None, "other": None})
    model = Speaker(lambda id: Reply("yes", finish="length" if id == "s1" else "stop"))
    cells = planned(path, config, model)
    folder = await run(path / "run", cells, model, scoring="strict,other")
    return folder, path / "shades.yaml"


async def test_results_of_several_scorings_contain_their_differences(tmp_path: Path) -> None:
    folder, _ = await _played(tmp_path)
    cell = folder.results().tasks[CELL]
    against = cell.scorings["other"].against
    assert against is not None and (against.read_differently, against.unparsed) == (2, 2)
    assert against.replies == [], "they are in the score rows"
    assert (cell.cut, cell.unparsed, cell.scorings["other"].unparsed) == (1 / 6, 0.0, 2 / 6)
    found = disagreements(folder)[CELL]["other"]
    assert [reply.sample for reply in found.replies] == ["s0", "s3"]
    assert told(folder) == [
        f"{CELL}: other 66.7, strict 100.0: +33.3 points, all from 2 replies read differently (2 unparsed by other)"
    ]
    folder.scores_file(CELL, "other").write_text("{nonsense\n")
    assert disagreements(folder) == {}, "a viewer shows everything else"
    folder.results_file.write_text("{nonsense")
    assert disagreements(folder) == {} and told(folder) == []


async def test_score_lists_the_replies_that_are_parsed_differently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sketchmark.results.rescore.cores", lambda: 1)  # only this process has the scorer
    folder, task = await _played(tmp_path, 60)
    asked = ["score", str(folder.path), "--scoring", "strict,other", "--include", str(task), "--trust-code"]
    lines = _output(asked).splitlines()
    listed = [line.split() for line in lines if "yes" in line or "(unparsed)" in line]
    assert listed[:2] == [["s0", "strict", "yes", "100.0"], ["other", "(unparsed)", "0.0"]] and len(listed) == 20
    assert any("+33.3 points, all from 20 replies read differently (20 unparsed by other)" in line for line in lines)
    assert any(line.startswith("10 more replies are parsed or scored differently: --json lists") for line in lines)
    printed = json.loads(_output([*asked, "--json"]))
    replies = printed["tasks"][CELL]["scorings"]["other"]["against"]["replies"]
    assert [reply["sample"] for reply in replies] == [f"s{number}" for number in range(0, 60, 3)]
    assert "replies" not in folder.results_file.read_text()


def _output(asked: list[str]) -> str:
    """Run in a separate thread: the command has an event loop, and so has this test."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(CliRunner(env={"COLUMNS": "300"}).invoke, cli, asked).result()
    assert done.exit_code == 0, done.output
    return done.stdout
