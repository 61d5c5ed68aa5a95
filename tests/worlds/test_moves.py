"""Scores that worlds share: answers in the tags of Uni-MMMU by each scoring, and drawn frames against true ones.

`official` parses answers as the published evaluator does, `lenient` as the public port does. `strict` parses what a
person reads without doubt, with the tags or without: `@K` is the candidate that is meant, `@O` the other one.
"""

from __future__ import annotations

import pytest

from sketchmark.worlds import moves
from sketchmark.worlds.moves import Grid, frame_scores, share_legal, strict_choice, strict_moves

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
        ('{"text": "up"}', "up"), ('{"text": null}', ""), ('{"text": 5}', "5"),
        ('{"answer": "up"}', '{"answer": "up"}'), ('{"text": "up"', '{"text": "up"'),
        ('so {"text": "up"}', 'so {"text": "up"}'), (" plain ", " plain "),
    ],
)  # fmt: skip
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


CHOSEN = (
    '<FINAL_ANSWER_JSON>{"choice": @K, "rationale": "the seam fits"}</FINAL_ANSWER_JSON>',
    '<FINAL_ANSWER_JSON>\n{"choice": @K, "rationale": "candidate @O breaks the line"}\n</FINAL_ANSWER_JSON>',
    '<FINAL_ANSWER_JSON>{"choice": "@K"}</FINAL_ANSWER_JSON>',
    '{"choice": @K.0}',
    '<FINAL ANSWER JSON>{"choice": @K}</FINAL ANSWER JSON>',
    '<FINAL_ANSWER JSON>{"choice": @K}</FINAL_ANSWER JSON>',
    '<FINAL_ANSWER_JSON>\n```json\n{"choice": @K}\n```\n</FINAL_ANSWER_JSON>',
    '```json\n{"choice": @K, "rationale": "the colours match"}\n```',
    '{"choice": @K}',
    '{"choice": @K, "rationale": "@O is correct in colour only"}',
    "{'choice': @K}",
    '{"choice": "candidate @K"}',
    '{"rationale": "the seam fits", "choice": @K}',
    '<FINAL_ANSWER_JSON>{"choice": @K, "rationale": "cut off in the mid',
    'FINAL_ANSWER_JSON: {"choice": @K}',
    'First {"choice": @O}. On reflection the seam is off.\n<FINAL_ANSWER_JSON>{"choice": @K}</FINAL_ANSWER_JSON>',
    '<FINAL_ANSWER_JSON>{"choice": @O}</FINAL_ANSWER_JSON>\nWait, that is wrong.\n'
    '<FINAL_ANSWER_JSON>{"choice": @K}</FINAL_ANSWER_JSON>',
    'So "choice": @K, not "choice": @O',
    'Not {"choice": @O}: {"choice": @K}',
    'The form is {"choice": 0 or 1}.\n<FINAL_ANSWER_JSON>{"choice": @K}</FINAL_ANSWER_JSON>',
    '<think>{"choice": @O}?</think><FINAL_ANSWER_JSON>{"choice": @K}</FINAL_ANSWER_JSON>',
    '<FINAL_ANSWER_JSON>{"choice": @K}</FINAL_ANSWER_JSON>\nCandidate @K is the correct one.',
    "@K",
    "@K.",
    "**@K**",
    "candidate @K",
    "Candidate @K.",
    "CANDIDATE_@K",
    "The answer is @K.",
    "The answer is candidate @K.",
    "Answer: @K",
    "Final answer: Candidate @K",
    "I choose candidate @K.",
    "I choose @K",
    "So the correct completion is candidate @K.",
    "Candidate @K is the correct completion.",
    "Candidate @O has a seam in the sky. The correct completion is candidate @K.",
    "1) Analysis: the sky goes on in one of them.\n\n2) The answer is candidate @K.",
    "1. The horizon is at the same height.\n2. The colours are alike.\n\nAnswer: @K",
    "Candidate @K fits better than candidate @O.",
    "Not candidate @O. The answer is candidate @K.",
    "\\boxed{@K}",
    "<answer>@K</answer>",
    "Based on the seam continuity, candidate @K yields the correct completion.",
)
UNSURE = (
    '<FINAL_ANSWER_JSON>{"choice": 0 or 1, "rationale": ""}</FINAL_ANSWER_JSON>',
    '{"choice": 0 or 1}',
    '{"choice": "0 or 1"}',
    '{"choice": 0/1}',
    '{"choice": 2}',
    '{"choice": 10}',
    '{"choice": 1.5}',
    '{"choice": -1}',
    '{"choice": null}',
    '{"choice": [0, 1]}',
    '{"choice": true}',
    'not {"choice": 1}',
    '<think>{"choice": 1}</think>I cannot tell.',
    '<FINAL_ANSWER_JSON>{"choice": 1}</FINAL_ANSWER_JSON>\nWait, that is wrong.',
    '<FINAL_ANSWER_JSON>{"choice": 1}</FINAL_ANSWER_JSON>\nThe answer is candidate 0.',
    "Candidate 0 or candidate 1.",
    "0 or 1",
    "0/1",
    "Both candidate 0 and candidate 1 fit.",
    "Candidate 0 and candidate 1 are shown.",
    "Candidate 0 is darker. Candidate 1 is brighter.",
    "Neither candidate 0 nor candidate 1 fits.",
    "It is not candidate 1.",
    "It might be candidate 1.",
    "Is it candidate 1?",
    "1) Brief analysis comparing the two candidates",
    "1. The sky goes on.",
    "(1) The sky goes on.",
    "Image 1 is the reference.",
    "The 2x2 reference has 1 hidden cell.",
    "There is 1 way to complete it.",
    "Step 1: look at the seam.",
    "I cannot tell.",
    "",
    "up",
)


@pytest.mark.parametrize("meant", [0, 1])
@pytest.mark.parametrize("template", CHOSEN)
def test_a_choice_is_read_as_it_was_meant(template: str, meant: int) -> None:
    assert strict_choice(template.replace("@K", str(meant)).replace("@O", str(1 - meant))) == meant


@pytest.mark.parametrize("reply", UNSURE)
def test_a_choice_that_a_person_would_not_be_sure_of_is_none(reply: str) -> None:
    assert strict_choice(reply) is None


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('<ANSWER_JSON>["up", "left"]</ANSWER_JSON>', ["up", "left"]),
        ('<answer json>[" Up ", "LEFT"]</answer json>', ["up", "left"]),
        ("<ANSWER_JSON>['up', 'left']</ANSWER_JSON>", ["up", "left"]),
        ("<ANSWER_JSON>[up, left]</ANSWER_JSON>", ["up", "left"]),
        ('<ANSWER_JSON>\n```json\n["up"]\n```\n</ANSWER_JSON>', ["up"]),
        ('<ANSWER_JSON>["up", "left"]', ["up", "left"]),
        ('<ANSWER_JSON>["up"]</ANSWER_JSON> or rather <ANSWER_JSON>["down"]</ANSWER_JSON>', ["down"]),
        ('<think><ANSWER_JSON>["up"]</ANSWER_JSON></think><ANSWER_JSON>["down"]</ANSWER_JSON>', ["down"]),
        ("<ANSWER_JSON>[]</ANSWER_JSON>", []),
        ('<ANSWER_JSON>["jump"]</ANSWER_JSON>', ["jump"]),
        ('["up", "left"]', ["up", "left"]),
        ("The moves are ['right', 'down'].", ["right", "down"]),
        ('```json\n["right", "down"]\n```', ["right", "down"]),
        ('First ["up"], which hits a wall.\n\nAnswer: ["right", "down"]', ["right", "down"]),
        ('{"text": "[\\"up\\"]", "images": []}', ["up"]),
        ('<think><ANSWER_JSON>["up"]</ANSWER_JSON></think>There is no way.', None),
        ('["up"] is blocked, so there is no way.', None),
        ('The answer is not ["up"]', None),
        ('It could be ["up"]', None),
        ('["up"] or ["down"]', None),
        ('["jump"]', None),
        ("[]", None),
        ("[1, 2]", None),
        ('{"moves": "up"}', None),
        ("up, left", None),
        ("<ANSWER_JSON>up the wall</ANSWER_JSON>", None),
        ('<ANSWER_JSON>["up"]</ANSWER_JSON><ANSWER_JSON>[cut', None),
        ("Slide it down.", None),
        ("", None),
    ],
)
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
