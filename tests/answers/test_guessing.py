"""The answers that guessing can choose from."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark import Sample
from sketchmark.answers.choices import offered


@pytest.mark.parametrize(
    ("target", "question", "expected"),
    [
        ({"answer": "B", "options": ["left", "right", "up"]}, "", ["A", "B", "C"]),
        ({"gold": "B", "kind": "choice", "options": {"A": "x", "B": "y"}}, "", ["A", "B"]),
        ({"answer": "City", "options": ["cat", "City"]}, "", ["cat", "City"]),
        ({"answer": "A", "options": ["A", "B"]}, "", ["A", "B"]),
        ({"answer": "B"}, "Where to? Options: A: left, B: right, C: up", ["A", "B", "C"]),
        ({"answer": "left"}, "Where to? A: left, B: right", []),
        ({"gold": "no", "kind": "yes_no"}, "", ["yes", "no"]),
        ({"answer": True}, "", ["yes", "no"]),
        ({"answer": 3.5}, "", []),
        ({"moves": ["up"]}, "", []),
        ({"answer": "B", "options": 7}, "", []),
        ({"answer": "B", "options": ["x"] * 99}, "", []),
    ],
)
def test_replies_are_letters_words_or_none(target: dict[str, Any], question: str, expected: list[str]) -> None:
    assert list(offered(Sample("s", {}, fields={"question": question}, target=target))) == expected
