"""MMSI-Bench's two published readings of the answer letter, accidents included."""

from __future__ import annotations

import pytest

from sketchmark.benchmarks.mmsi import letter


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
def test_official_reads_the_first_committed_letter_from_a_to_d(response: str, found: str | None) -> None:
    assert letter(response, "official") == found


@pytest.mark.parametrize(
    ("response", "found"), [("E", "E"), ("b", "B"), ("``f``", "F"), ("e.g. C", "E"), ("G", None)]
)
def test_lenient_reads_a_to_f_in_either_case_with_its_known_fault(response: str, found: str | None) -> None:
    assert letter(response, "lenient") == found


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ("A, or rather B", "A"),
        ("``A`` or ``B``", "A"),
        ("`A` or `B`", "A"),
        ("{A} or {B}", "A"),
        ("`A`, no: ``B``", "B"),
        ("{A}, no: `B`", "B"),
        ("A: {nothing}", None),
        ("AB", None),
        ("D", "D"),
        ("A\tcat or C", "C"),
        ("A 1", "A"),
        ("B is right", None),
        ("B; yes", "B"),
    ],
)
def test_the_first_letter_of_the_narrowest_mark_counts(response: str, found: str | None) -> None:
    assert letter(response, "official") == found
