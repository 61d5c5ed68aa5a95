"""What counts as an answer in a reply to Uni-MMMU, read as the official evaluator does or the public port."""

from __future__ import annotations

import pytest

from sketchmark.worlds import moves as tagged

UP = '<ANSWER_JSON>["up"]</ANSWER_JSON>'
DOWN = '<ANSWER_JSON>["down"]</ANSWER_JSON>'
BOTH = pytest.mark.parametrize("scoring", ["official", "lenient"])


@BOTH
def test_the_last_list_counts_not_the_first(scoring: str) -> None:
    assert tagged.tagged_moves(f"{UP} or rather {DOWN}", scoring) == ["down"]
    assert tagged.tagged_moves(f"{DOWN} or rather {UP}", scoring) == ["up"]


@BOTH
def test_a_last_list_that_cannot_be_read_is_not_replaced_by_an_earlier_one(scoring: str) -> None:
    assert tagged.tagged_moves(f"{UP}<ANSWER_JSON>[up, down]</ANSWER_JSON>", scoring) is None


@BOTH
def test_entries_are_trimmed_and_lower_cased_and_tags_may_be_too(scoring: str) -> None:
    reply = '<answer_json>\n [" Up ",\n "LEFT"] \n</Answer_Json>'
    assert tagged.tagged_moves(reply, scoring) == ["up", "left"]


@BOTH
def test_an_empty_list_is_an_answer_and_entries_that_are_no_texts_are_kept_as_such(scoring: str) -> None:
    assert tagged.tagged_moves("<ANSWER_JSON>[]</ANSWER_JSON>", scoring) == []
    assert tagged.tagged_moves('<ANSWER_JSON>[1, "up"]</ANSWER_JSON>', scoring) == ["1", "up"]


@pytest.mark.parametrize(
    "reply", ['["up", "down"]', "<ANSWER_JSON>['up', 'down']</ANSWER_JSON>", '<ANSWER_JSON>"up"</ANSWER_JSON>', ""]
)
def test_official_reads_json_lists_in_tags_and_nothing_else(reply: str) -> None:
    assert tagged.tagged_moves(reply, "official") is None


def test_lenient_reads_python_lists_too() -> None:
    assert tagged.tagged_moves("<ANSWER_JSON>['up', 'down']</ANSWER_JSON>", "lenient") == ["up", "down"]


@pytest.mark.parametrize("broken", ["[up]", "['up'", "[1 +]", '["up"], ["down"]', "[up(), 2]"])
def test_what_is_no_list_at_all_is_no_answer_for_lenient_either(broken: str) -> None:
    assert tagged.tagged_moves(f"<ANSWER_JSON>{broken}</ANSWER_JSON>", "lenient") is None


def test_lenient_takes_the_last_valid_list_of_a_text_without_tags() -> None:
    assert tagged.tagged_moves("first ['up'], then ['down'], as in [fig 1]", "lenient") == ["down"]
    assert tagged.tagged_moves("no [list here]", "lenient") is None


def test_a_tagged_list_counts_before_any_other_for_lenient() -> None:
    assert tagged.tagged_moves(f"{UP} and not ['down']", "lenient") == ["up"]


@BOTH
def test_the_answer_of_an_interleaved_model_is_unwrapped_from_its_json(scoring: str) -> None:
    wrapped = ' {"text": "<ANSWER_JSON>[\\"up\\"]</ANSWER_JSON>", "images": []}\n'
    assert tagged.tagged_moves(wrapped, scoring) == ["up"]
    assert tagged.tagged_choice('{"text": "<FINAL_ANSWER_JSON>{\\"choice\\": 1}</FINAL_ANSWER_JSON>"}', scoring) == 1


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('{"text": "up"}', "up"),
        ('{"text": null}', ""),
        ('{"text": 5}', "5"),
        ('{"answer": "up"}', '{"answer": "up"}'),
        ('{"text": "up"', '{"text": "up"'),
        ('so {"text": "up"}', 'so {"text": "up"}'),
        (" plain ", " plain "),
    ],
)
def test_only_a_whole_object_with_a_text_is_unwrapped(reply: str, text: str) -> None:
    assert tagged.unwrap(reply) == text


def _tagged(value: str, tag: str = "FINAL_ANSWER_JSON") -> str:
    return f'<{tag}>\n{{"choice": {value},\n "rationale": "it fits"}} </{tag}>'


@BOTH
def test_the_first_choice_counts(scoring: str) -> None:
    assert tagged.tagged_choice(_tagged("0") + _tagged("1"), scoring) == 0
    assert tagged.tagged_choice(_tagged("1") + _tagged("0"), scoring) == 1


@BOTH
def test_words_around_the_tagged_choice_do_not_matter(scoring: str) -> None:
    assert tagged.tagged_choice('It fits ("choice": 0 does not).\n' + _tagged("1") + "\nThat is all.", scoring) == 1


@BOTH
def test_a_choice_is_zero_or_one_and_the_number_itself(scoring: str) -> None:
    found = tagged.tagged_choice(_tagged("1", "final_answer_json"), scoring)
    assert found == 1 and type(found) is int
    for value in ("2", "-1", "10", "null", "[1]", "{}"):
        assert tagged.tagged_choice(_tagged(value), scoring) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [("true", 1), ("false", 0), ("1.0", 1), ("0.0", 0), ('"1"', None), ("1.5", None), ("null", None), ("[1]", None)],
)
def test_official_takes_what_equals_zero_or_one_in_python(value: str, found: int | None) -> None:
    read = tagged.tagged_choice(_tagged(value), "official")
    assert read == found and type(read) is type(found)


@pytest.mark.parametrize(("value", "found"), [('"1"', 1), ('"0"', 0), ("true", None), ("1.0", None), ('"2"', None)])
def test_lenient_takes_a_choice_given_as_text_too(value: str, found: int | None) -> None:
    assert tagged.tagged_choice(_tagged(value), "lenient") == found


def test_the_other_spelling_of_the_tag_is_for_lenient_alone() -> None:
    for tag in ("FINAL_ANSWER JSON", "FINAL_ANSWER_ JSON"):
        assert tagged.tagged_choice(_tagged("1", tag), "official") is None
        assert tagged.tagged_choice(_tagged('"1"', tag), "lenient") == 1
    assert tagged.tagged_choice(_tagged('"0"', "FINAL_ANSWER JSON") + _tagged("1"), "lenient") == 1
    assert tagged.tagged_choice('not "choice": 0 but ' + _tagged("1", "final_answer json"), "lenient") == 1


def test_failing_all_that_lenient_takes_the_first_choice_anywhere() -> None:
    assert tagged.tagged_choice('So "choice": 1, not "choice": 0', "official") is None
    assert tagged.tagged_choice('So "choice": 1, not "choice": 0', "lenient") == 1
    assert tagged.tagged_choice('So "choice" : "0"', "lenient") == 0
    assert tagged.tagged_choice('"choice": 7', "lenient") is None
    assert tagged.tagged_choice(_tagged("true") + '"choice": 0', "lenient") == 0
    assert tagged.tagged_choice("I choose 1", "lenient") is None


def test_a_broken_object_is_no_choice_for_official() -> None:
    assert tagged.tagged_choice("<FINAL_ANSWER_JSON>{choice: 1}</FINAL_ANSWER_JSON>", "official") is None
    assert tagged.tagged_choice('<FINAL_ANSWER_JSON>{"answer": 1}</FINAL_ANSWER_JSON>', "official") is None
    assert tagged.tagged_choice('<FINAL_ANSWER_JSON>{"choice": 1}', "official") is None


def test_the_prompts_template_is_recognised_only_as_it_is_written_there() -> None:
    assert tagged.echoes_template('<FINAL_ANSWER_JSON>{"choice" : 0 or 1}</FINAL_ANSWER_JSON>')
    assert not tagged.echoes_template(_tagged("0"))
    assert not tagged.echoes_template("choose 0 or 1")
