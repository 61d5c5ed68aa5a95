"""Reports scored one by one, and what an empty one is worth."""

from __future__ import annotations

import pytest

from sketchmark.benchmarks.medical.scores import score_report
from sketchmark.episode import Grading, Scores
from sketchmark.episode.sample import Sample
from tests.episodes import episode


def _report(said: str, scoring: str = "strict") -> Scores:
    sample = Sample("x", target={"reference": "Findings: The heart is large. Impression: Large heart."})
    return score_report(sample, episode(said), Grading(scoring))


def test_a_report_is_scored_against_its_reference() -> None:
    reference = "Findings: The heart is large. Impression: Large heart."
    scores = _report(reference)
    assert scores.values["bleu1"] == pytest.approx(1.0)
    assert scores.values["rouge1"] == pytest.approx(1.0)
    assert scores.notes == {"reply": reference, "reference": reference}
    assert not scores.unparsed
    shorter = _report("The heart is large and red and wide and more.").values["bleu1"]
    assert shorter is not None and 0 < shorter < 1


def test_an_empty_report_is_worth_nothing_and_has_no_score_in_the_fork() -> None:
    empty = _report("  ")
    assert empty.unparsed and empty.values and set(empty.values.values()) == {0.0}
    assert _report("", "code-upstream").values == empty.values
    fork = _report("", "code-fork")
    assert (fork.values, fork.unparsed) == ({}, True)
    assert fork.notes["reply"] == ""
    assert _report("Clear.", "code-fork").values
