"""How strict reads Uni-MMMU's answers: what a person reads without doubt, with the tags or without, and nothing else.

`@K` is the candidate that is meant, `@O` the other one.
"""

from __future__ import annotations

import pytest

from sketchmark.worlds.moves import strict_choice, strict_moves

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
