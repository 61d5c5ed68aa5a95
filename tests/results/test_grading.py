"""Scoring of one episode as a row: values, flags, usage and failures of scorers and judges."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sketchmark import Options, Reply, Sample
from sketchmark.episode import Episode, Failure, Grading, Scorer, Scores
from sketchmark.episode.model import Finish
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.files.jsonl import encode, plain
from sketchmark.folder.format import ScoreRow
from sketchmark.results import grade, paid_by, usage_of
from sketchmark.tasks import Task
from tests.runs.making import Speaker, cost, make_episode, make_sample, make_task, right

STRICT = Grading()
NO_NUMBERS: list[Any] = [math.nan, -math.inf, "1.0", b"1", [1], 1j, 10**400]


async def _row(episode: Episode, scorer: Scorer = right, grading: Grading = STRICT) -> ScoreRow:
    return await grade(make_task([], scorer=scorer), episode, 3, grading)


async def test_a_row_says_what_was_scored_and_how() -> None:
    sample = make_sample("s7", groups={"kind": "easy"})
    row = await _row(make_episode(sample, Reply("yes"), started=12.34567, seconds=1.23456789))
    assert plain(row) == {
        "index": 3,
        "sample": "s7",
        "fingerprint": sample.fingerprint(),
        "groups": {"kind": "easy"},
        "scored": True,
        "values": {"right": 1.0},
        "notes": {"said": "yes"},
        "flags": [],
        "calls_left_out": 0,
        "scoring": "strict",
        "judge": None,
        "usage": {"tokens_in": 0, "tokens_out": 0, "pictures_in": 0, "pictures_out": 0, "calls": 1},
        "started": 12.346,
        "seconds": 1.2346,
    }


@pytest.mark.parametrize(
    ("failure", "scored", "flags"),
    [
        (None, True, ["unparsed"]),
        (Failure("no_picture", "none came", True), True, ["no_picture"]),
        (Failure("connection", "dead"), False, ["connection"]),
    ],
)
async def test_only_a_failure_of_the_network_is_not_scored(
    failure: Failure | None, scored: bool, flags: list[str]
) -> None:
    asked: list[str] = []

    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        asked.append(sample.id)
        return Scores({"right": 0.0}, {"note": 1}, unparsed=True)

    row = await _row(make_episode(None, Reply("mumble"), failure=failure), scorer)
    assert (row.scored, row.flags, asked) == (scored, flags, ["s0"] * scored)
    assert (row.values, row.notes) == (({"right": 0.0}, {"note": 1}) if scored else ({}, {}))


@pytest.mark.parametrize(
    ("finish", "flags"),
    [("stop", []), ("length", ["truncated"]), *((kind, [kind]) for kind in ("refused", "empty", "no_picture"))],
)
async def test_a_reply_that_did_not_end_well_is_flagged(finish: Finish, flags: list[str]) -> None:
    row = await _row(make_episode(None, Reply("yes", finish=finish), Reply("yes")))
    assert row.flags == flags


async def test_each_flag_occurs_once_and_calls_that_left_something_out_are_counted() -> None:
    cut, part = Reply("a", finish="length"), Reply("b", left_out=("1 of 2 pictures", "a video"))
    row = await _row(make_episode(None, cut, part, part, cut, Reply("yes"), failure=Failure("timeout", "slow")))
    assert row.flags == ["left_out", "timeout", "truncated"]
    assert row.calls_left_out == 2


async def test_the_scores_of_several_scorers_are_merged() -> None:
    def first(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        return Scores({"a": 1.0, "both": 0.0}, {"one": 1}, unparsed=True)

    async def second(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        return Scores({"b": None, "both": 1.0}, {"two": 2})

    one, two = make_task([], "first", first), make_task([], "second", second)
    scorers = [*one.config["scorers"], *two.config["scorers"]]
    task = Task("both", {**one.config, "headline": "a", "scorers": scorers})
    row = await grade(task, make_episode(None, Reply("yes")), 0, STRICT)
    assert row.values == {"a": 1.0, "both": 1.0, "b": None}
    assert row.notes == {"one": 1, "two": 2}
    assert row.flags == ["unparsed"], "one scorer that could not read the answer is enough"


async def test_a_scorer_gets_the_scoring_and_the_judge_and_the_row_names_both() -> None:
    async def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        assert grading.judge is not None
        verdict = await grading.judge.say(of(sample.id), Options())
        return Scores({"right": float(verdict.text == "yes" and grading.scoring == "lenient")})

    row = await _row(make_episode(None, Reply("x")), scorer, Grading("lenient", Speaker(name="judge/one")))
    assert row.values == {"right": 1.0} and (row.scoring, row.judge) == ("lenient", "judge/one")


@pytest.mark.parametrize("wrong", [ZeroDivisionError("by zero"), None])
async def test_a_scorers_bug_leaves_the_episode_unscored(wrong: Exception | None) -> None:
    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores | Awaitable[Scores]:
        if wrong:
            raise wrong
        return {"right": 1.0}  # type: ignore[return-value]

    row = await _row(make_episode(None, Reply("yes")), scorer)
    assert not row.scored and row.values == {} and row.flags == ["scorer_failed"]
    said = "ZeroDivisionError: by zero" if wrong else "TypeError: a scorer returns Scores, not dict"
    assert row.notes["scorer_failed"] == said


@pytest.mark.parametrize("value", [1, 1.0, True, np.float32(1), np.int64(1), np.bool_(True), Decimal(1), Fraction(1)])
async def test_a_score_of_any_numeric_type_becomes_a_plain_number(value: Any) -> None:
    row = await _row(make_episode(None, Reply("yes")), lambda *_: Scores({"right": value, "else": None}))
    assert row.scored and row.values == {"right": 1.0, "else": None} and type(row.values["right"]) is float
    assert json.loads(encode(row))["values"] == {"right": 1.0, "else": None}


@pytest.mark.parametrize(
    "scores", [*(Scores({"right": 1.0, "else": value}) for value in NO_NUMBERS), Scores({"else": 1.0})]
)
async def test_a_score_that_is_no_number_is_the_scorers_failure(scores: Scores) -> None:
    row = await _row(make_episode(None, Reply("yes")), lambda *_: scores)
    assert (row.scored, row.values, row.flags) == (False, {}, ["scorer_failed"])
    assert row.notes["scorer_failed"] and encode(row)


async def test_a_note_that_json_cannot_say_is_written_as_text() -> None:
    row = await _row(
        make_episode(None, Reply("yes")), lambda *_: Scores({"right": 1.0}, {"far": math.nan, "thing": object})
    )
    assert row.scored and json.loads(encode(row))["notes"] == {"far": "NaN", "thing": "<class 'object'>"}


async def test_a_headline_that_does_not_apply_is_none_and_no_failure() -> None:
    row = await _row(make_episode(None, Reply("yes")), lambda *_: Scores({"right": None}))
    assert row.scored and row.flags == []


async def test_a_judge_that_does_not_reply_costs_only_its_own_scores() -> None:
    async def judged(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        raise CallFailed("connection", "the judge is out")

    row = await _row(make_episode(None, Reply("mumble", finish="length")), judged)
    assert not row.scored and row.values == {} and row.flags == ["judge_failed", "truncated"]
    assert row.notes == {"judge_failed": "the judge is out"}
    one, two = make_task([], "ruled"), make_task([], "judged", judged)
    task = Task("both", {**one.config, "scorers": [*two.config["scorers"], *one.config["scorers"]]})
    row = await grade(task, make_episode(None, Reply("yes")), 0, STRICT)
    assert (row.scored, row.values, row.flags) == (True, {"right": 1.0}, ["judge_failed"])


async def test_a_refused_key_of_the_judge_ends_the_scoring() -> None:
    async def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        raise CallFailed("auth", "no such key", stops_run=True)

    with pytest.raises(CallFailed, match="no such key"):
        await _row(make_episode(None, Reply("yes")), scorer)


def test_usage_is_summed_with_cache_hits_and_what_was_paid_for_without() -> None:
    replies = [
        Reply("a", usage=cost(1, tokens_in=10, tokens_out=1)),
        Reply("b", usage=cost(0, tokens_in=100, tokens_out=100, pictures_out=9, cached=4)),
        Reply("c", usage=cost(2, tokens_in=5, pictures_in=1, pictures_out=3)),
    ]
    whole = make_episode(None, *replies)
    assert usage_of(whole) == {"tokens_in": 115, "tokens_out": 101, "pictures_in": 1, "pictures_out": 12, "calls": 7}
    assert paid_by(whole) == {"tokens_in": 15, "tokens_out": 1, "pictures_in": 1, "pictures_out": 3, "calls": 3}
    kept = {"tokens_in": 100, "tokens_out": 100, "pictures_in": 0, "pictures_out": 9, "calls": 4}
    assert (usage_of(make_episode(None, replies[1])), paid_by(make_episode(None, replies[1]))) == (kept, {})
    free = make_episode(None, Reply("d", usage=cost(0)))
    assert usage_of(free) == paid_by(free) == usage_of(make_episode(None)) == {}


async def test_a_row_has_what_was_paid_for_only_if_the_cache_had_a_part() -> None:
    row = await _row(make_episode(None, Reply("yes", usage=cost(0, tokens_out=3, cached=1))))
    assert (row.usage["tokens_out"], row.usage["calls"], row.paid, row.spent) == (3, 1, {}, {})
    row = await _row(make_episode(None, Reply("yes")))
    assert "paid" not in plain(row) and row.spent == row.usage
