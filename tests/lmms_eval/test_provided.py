"""What is provided in place of lmms-eval does what lmms-eval does; where that is installed, it is asked."""

from __future__ import annotations

import itertools
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from sketchmark.lmms_eval import filters
from sketchmark.lmms_eval import filters as reasoning
from sketchmark.lmms_eval import stand_ins as log
from sketchmark.lmms_eval import stand_ins as metrics
from sketchmark.lmms_eval.stand_ins import MODULES, generate_submission_file
from tests.tabled import tabled

DOC = {"choices": ["a red cat", "Dog", "bird"], "question": "Which?\nA. a red cat\nB. Dog\nC. bird"}
REPLIES = ["(B)", "The answer is: C", "a red cat", "dog", " B. Dog!", "#### 42", "x #### 1 #### 2,3", "", "neither"]

IGNORED: list[dict[str, Any]] = [{}, {"ignore_case": True}, {"ignore_punctuation": True}, {"ignore_numbers": True}]


def filtered(name: str, reply: str, **settings: Any) -> Any:
    return next(iter(getattr(filters, name)(**settings).apply([[reply]], [DOC])))


@tabled
def test_a_filter_makes_of_a_reply(name: str, reply: str, settings: dict[str, Any], found: Any) -> None:
    assert filtered(name, reply, **settings) == found


def test_a_task_makes_its_own_filter_of_one() -> None:
    """As lmms-eval's own tasks do: they look for a match in three ways, with a table of what it means."""
    base = filters.ExtendedRegexFilter(r"\(([A-C])\)", ignore_case=True, ignore_punctuation=True)
    assert base.find_match(base.regex, "it is (B)", {"B": "dog"}) == "dog"
    assert base.find_match(base.regex, "it is B") == []
    assert base.filter_ignores("«Yes», it IS!") == "yes it is"


def test_too_few_replies_to_choose_from_are_an_error() -> None:
    with pytest.raises(ValueError, match="first 2 of 1"):
        filters.TakeKFilter(k=2).apply([["x"]], [DOC])


@pytest.mark.parametrize(
    ("said", "true", "score"),
    [("Brasilia", ["brasilia"], 1.0), ("brasilla", ["x", "brasilia"], 0.875), ("x", ["y"], 0)],
)
def test_anls_is_the_best_references_and_nothing_below_a_half(said: str, true: list[str], score: float) -> None:
    assert metrics.anls(true, [said]) == metrics.anls(true, [[said]]) == {"anls": score}


def test_exact_match_ignores_what_it_is_told_to() -> None:
    assert metrics.exact_match_hf_evaluate(["Yes."], ["yes"])["exact_match"] == 0
    assert metrics.exact_match_hf_evaluate(["Yes."], ["yes"], ignore_case=True, ignore_punctuation=True) == {
        "exact_match": 1
    }
    assert metrics.exact_match_hf_evaluate(["$12"], ["x"], ["[$x]"], ignore_numbers=True)["exact_match"] == 1


def test_reasoning_goes_and_an_answer_that_has_not_come_stays_away() -> None:
    strip = reasoning.strip_reasoning_tags
    assert strip("<think>a</think>b<think>c</think> d", reasoning.THINKING) == "b d"
    assert strip("begun before</think> b", reasoning.THINKING) == "b"
    assert strip("<think>never ended", reasoning.THINKING) == "<think>never ended"
    assert strip("<think></think>" * 200_000 + "b", reasoning.THINKING) == "b", "in one pass: this would take minutes"


def test_the_logger_fills_in_braces_only_where_there_are_values(caplog: pytest.LogCaptureFixture) -> None:
    log.logger.warning("{} of {n}", 1, n=2)
    log.logger.opt(lazy=True).error('a reply: {"x": 1}')
    log.eval_logger.log("SUCCESS", "quietly")
    assert [record.getMessage() for record in caplog.records if record.levelno >= 30] == [
        "1 of 2",
        'a reply: {"x": 1}',
    ]


def test_a_submission_goes_into_the_folder_of_the_run(tmp_path: Any) -> None:
    from argparse import Namespace

    path = generate_submission_file("x.json", Namespace(output_path=str(tmp_path)))
    assert path == str(tmp_path / "submissions" / "x.json") and (tmp_path / "submissions").is_dir()


real = pytest.mark.skipif(find_spec("lmms_eval") is None, reason="lmms-eval is not installed: make lmms-eval-tasks")


@real
@pytest.mark.parametrize("settings", [{}, {"ignore_case": True}, {"ignore_case": True, "ignore_punctuation": True}])
@pytest.mark.parametrize("name", ["RegexFilter", "MultiChoiceRegexFilter", "SimpleMultiChoiceRegexFilter"])
def test_the_real_filters_say_the_same(name: str, settings: dict[str, Any]) -> None:
    if name == "RegexFilter" and settings:
        pytest.skip("it ignores nothing")
    theirs = getattr(import_module("lmms_eval.filters.extraction"), name)(**settings)
    for reply in REPLIES:
        assert list(theirs.apply([[reply]], [DOC])) == [filtered(name, reply, **settings)], reply


@real
def test_the_real_metrics_say_the_same() -> None:
    theirs = import_module("lmms_eval.api.metrics")
    for one, other in itertools.product(REPLIES, REPLIES):
        assert theirs.levenshtein_distance(one, other) == metrics.levenshtein_distance(one, other)
        assert theirs.anls([one, "cat"], [other]) == pytest.approx(metrics.anls([one, "cat"], [other]))
        for ignored in IGNORED:
            said = theirs.exact_match_hf_evaluate([one], [other], **ignored)["exact_match"]
            assert said == metrics.exact_match_hf_evaluate([one], [other], **ignored)["exact_match"]


@real
def test_the_real_reasoning_says_the_same() -> None:
    theirs = import_module("lmms_eval.api.reasoning")
    pieces = ["<think>", "</think>", "a", " b "]
    for text in map("".join, itertools.product(pieces, repeat=5)):
        assert theirs.strip_reasoning_tags(text, reasoning.THINKING) == reasoning.strip_reasoning_tags(
            text, reasoning.THINKING
        )


@real
def test_all_that_is_provided_is_really_there() -> None:
    for name, ours in MODULES.items():
        theirs = import_module(name)
        public = [one for one in vars(import_module(ours)) if one[0].isupper() and one.endswith("Filter")]
        assert find_spec(name) is not None and (not public or any(hasattr(theirs, one) for one in public))
