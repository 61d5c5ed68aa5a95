"""Answers in a reply to Uni-MMMU, parsed as by the official evaluator or by the public port (lenient)."""

from __future__ import annotations

import pytest

from sketchmark.worlds import moves

UP = '<ANSWER_JSON>["up"]</ANSWER_JSON>'
DOWN = '<ANSWER_JSON>["down"]</ANSWER_JSON>'


def _in_tags(text: str, tag: str = "ANSWER_JSON") -> str:
    return f"<{tag}>{text}</{tag}>"


@pytest.mark.parametrize(
    ("reply", "official", "lenient"),
    [
        (f"{UP} or rather {DOWN}", ["down"], ["down"]),
        (f"{DOWN} or rather {UP}", ["up"], ["up"]),
        (f"{UP}{_in_tags('[up, down]')}", None, None),
        ('<answer_json>\n [" Up ",\n "LEFT"] \n</Answer_Json>', ["up", "left"], ["up", "left"]),
        (_in_tags("[]"), [], []),
        (_in_tags('[1, "up"]'), ["1", "up"], ["1", "up"]),
        (' {"text": "<ANSWER_JSON>[\\"up\\"]</ANSWER_JSON>", "images": []}\n', ["up"], ["up"]),
        ('["up", "down"]', None, ["up", "down"]),
        (_in_tags("['up', 'down']"), None, ["up", "down"]),
        (_in_tags('"up"'), None, None),
        ("", None, None),
        *(
            (_in_tags(broken), None, None)
            for broken in ("[up]", "['up'", "[1 +]", '["up"], ["down"]', "[up(), 2]", "[{[]: 1}]")
        ),
        ("first ['up'], then ['down'], as in [fig 1]", None, ["down"]),
        ("no [list here]", None, None),
        (f"{UP} and not ['down']", ["up"], ["up"]),
    ],
)
def test_the_last_list_of_moves_is_the_answer(
    reply: str, official: list[str] | None, lenient: list[str] | None
) -> None:
    assert (moves.tagged_moves(reply, "official"), moves.tagged_moves(reply, "lenient")) == (official, lenient)


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
    assert moves.unwrap(reply) == text


def _choice(value: str, tag: str = "FINAL_ANSWER_JSON") -> str:
    return _in_tags(f'\n{{"choice": {value},\n "rationale": "it fits"}} ', tag)


@pytest.mark.parametrize(
    ("reply", "official", "lenient"),
    [
        (_choice("0") + _choice("1"), 0, 0),
        (_choice("1") + _choice("0"), 1, 1),
        ('It fits ("choice": 0 does not).\n' + _choice("1") + "\nThat is all.", 1, 1),
        ('{"text": "<FINAL_ANSWER_JSON>{\\"choice\\": 1}</FINAL_ANSWER_JSON>"}', 1, 1),
        (_choice("1", "final_answer_json"), 1, 1),
        *((_choice(value), None, None) for value in ("2", "-1", "10", "null", "[1]", "{}", '"2"')),
        (_choice("1.5"), None, None),
        *(
            (_choice(value), int(value in ("true", "1.0")), int(value in ("true", "1.0")))
            for value in ("true", "false", "1.0", "0.0")
        ),
        (_choice('"1"'), None, 1),
        (_choice('"0"'), None, 0),
        (_choice("1", "FINAL_ANSWER JSON"), None, 1),
        (_choice('"1"', "FINAL_ANSWER_ JSON"), None, 1),
        (_choice('"0"', "FINAL_ANSWER JSON") + _choice("1"), 1, 1),
        ('not "choice": 0 but ' + _choice("1", "final_answer json"), None, 1),
        ('So "choice": 1, not "choice": 0', None, 1),
        ('So "choice" : "0"', None, 0),
        ('"choice": 7', None, None),
        (_choice("true") + '"choice": 0', 1, 1),
        ("I choose 1", None, None),
        ("<FINAL_ANSWER_JSON>{choice: 1}</FINAL_ANSWER_JSON>", None, None),
        ('<FINAL_ANSWER_JSON>{"answer": 1}</FINAL_ANSWER_JSON>', None, None),
        ('<FINAL_ANSWER_JSON>{"choice": 1}', None, 1),
    ],
)
def test_the_first_choice_is_the_answer(reply: str, official: int | None, lenient: int | None) -> None:
    for scoring, expected in (("official", official), ("lenient", lenient)):
        found = moves.tagged_choice(reply, scoring)
        assert found == expected and type(found) is type(expected), scoring


def test_the_prompts_template_is_recognised_only_as_it_is_written_there() -> None:
    assert moves.echoes_template('<FINAL_ANSWER_JSON>{"choice" : 0 or 1}</FINAL_ANSWER_JSON>')
    assert not moves.echoes_template(_choice("0"))
    assert not moves.echoes_template("choose 0 or 1")
