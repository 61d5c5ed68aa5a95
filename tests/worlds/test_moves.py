"""Scores that worlds share: answers in the tags of Uni-MMMU by each scoring, and drawn frames against true ones.

`official` parses answers as the published evaluator does, `lenient` as the public port does. `strict` parses what a
person reads without doubt, with the tags or without: `@K` is the candidate that is meant, `@O` the other one.
"""

from __future__ import annotations

import pytest

from sketchmark.worlds import moves
from sketchmark.worlds.moves import Grid, frame_scores, share_legal, strict_choice, strict_moves
from tests.tabled import rows, tabled

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


@tabled
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
        *((_choice(value), 1, 1) for value in ("true", "1.0")),
        *((_choice(value), 0, 0) for value in ("false", "0.0")),
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


@pytest.mark.parametrize("meant", [0, 1])
@pytest.mark.parametrize("template", rows(__file__, "chosen"))
def test_a_choice_is_read_as_it_was_meant(template: str, meant: int) -> None:
    assert strict_choice(template.replace("@K", str(meant)).replace("@O", str(1 - meant))) == meant


@pytest.mark.parametrize("reply", rows(__file__, "unsure"))
def test_a_choice_that_a_person_would_not_be_sure_of_is_none(reply: str) -> None:
    assert strict_choice(reply) is None


@tabled
def test_moves_are_read_from_the_tags_or_from_a_list_that_ends_the_reply(reply: str, read: list[str] | None) -> None:
    assert strict_moves(reply) == read


A: Grid = [["S", " "], ["#", "G"]]
B: Grid = [[" ", "S"], ["#", "G"]]
C: Grid = [[" ", " "], ["#", "SG"]]


def _scored(drawn: list[Grid], expected: list[Grid]) -> tuple[float | None, float | None, list[bool]]:
    values, right = frame_scores("x", drawn, expected, 0.0, [])
    return values["x_img_exact"], values["x_img_frame_acc"], right


@pytest.mark.parametrize(
    ("drawn", "exact", "share", "right"),
    [
        ([A, B, C], 1.0, 1.0, [True, True, True]), ([A, C, C], 0.0, 2 / 3, [True, False, True]),
        ([C, B, A], 0.0, 1 / 3, [False, True, False]), ([A, B], 0.0, 2 / 3, [True, True]),
        ([B, C], 0.0, 0.0, [False, False]), ([A, B, C, C], 0.0, 1.0, [True, True, True, False]),
        ([A, B, A, C, C], 0.0, 2 / 3, [True, True, False, False, False]), ([], 0.0, 0.0, []),
    ],
)  # fmt: skip
def test_frames_are_paired_by_index_and_the_share_is_of_those_expected(
    drawn: list[Grid], exact: float, share: float, right: list[bool]
) -> None:
    assert _scored(drawn, [A, B, C]) == (exact, share, right)


def test_where_nothing_is_expected_nothing_is_right() -> None:
    assert _scored([], []) == (0.0, 0.0, [])
    assert _scored([A, B], []) == (0.0, 0.0, [False, False])


def _next(before: int, after: int) -> bool:
    return after == before + 1


@pytest.mark.parametrize(
    ("first", "drawn", "share"),
    [
        (0, [1, 2, 3], 1.0), (0, [2, 3, 4], 2 / 3), (0, [1, 2, 2], 2 / 3), (0, [1, 3, 4, 5], 3 / 4),
        (0, [5], 0.0), (0, [1, None, 3, 4], 2 / 4), (0, [None, 2, 3], 1 / 3), (0, [None, None], 0.0),
        (0, [1, 2, None], 2 / 3), (None, [1, 2, 3], 2 / 3), (None, [1], 0.0), (0, [], 0.0), (3, [2, 1], 0.0),
    ],
)  # fmt: skip
def test_a_frame_is_legal_when_it_follows_from_the_one_before(
    first: int | None, drawn: list[int | None], share: float
) -> None:
    assert share_legal(first, drawn, _next) == pytest.approx(share)
