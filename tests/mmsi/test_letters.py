from __future__ import annotations

import pytest

from sketchmark.errors import UnknownName
from sketchmark.scoring.letters import letter


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ("``B``", "B"),
        ("The answer is `C`.", "C"),
        ("{D}", "D"),
        ("B", "B"),
        ("It is B.", "B"),
        ("(A)", "A"),
        ("A cat is seen, so C", "C"),
        ("Not ``A`` in `B`", "A"),
        ("`the {B} one`", "B"),
        ("", None),
        ("I cannot tell.", None),
        ("E", None),
        ("b", None),
        ("``none``, so B", None),
    ],
)
def test_strict_reads_the_first_committed_letter_from_a_to_d(response: str, found: str | None) -> None:
    assert letter(response) == found


@pytest.mark.parametrize(
    ("response", "found"), [("E", "E"), ("b", "B"), ("``f``", "F"), ("e.g. C", "E"), ("G", None)]
)
def test_lenient_reads_a_to_f_in_either_case_with_its_known_fault(response: str, found: str | None) -> None:
    assert letter(response, "lenient") == found


def test_other_rules_are_refused() -> None:
    with pytest.raises(UnknownName, match="strict or lenient"):
        letter("A", "loose")
