"""The labelled corpus in `corpus/new`: its format, its size, and how the strict parsers read its `dev` half."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from bench.parsing import KINDS, SPLITS, Template, measure, replies, templates

LEAST = {"choice": 600, "number": 320, "yes_no": 240, "phrase": 340}
BOUNDS = {
    "choice": (0.0, 0.02, 0),
    "number": (0.0, 0.021, 3),
    "yes_no": (0.0, 0.061, 2),
    "phrase": (0.0, 0.03, 7),
}
"""Wrong, unparsed (shares of the clear replies) and credited in `dev`, at most."""

LANGUAGES = {"en", "de", "fr", "es", "it", "pt", "nl", "tr", "ru", "zh", "ja", "ko", "ar", "hi"}
_EMPTY = re.compile(r"\$(\{|([lf]?[RWVU]|[rwvunmkstfgxyX]|[fg]c|[TU][txy]|thing|big[cdsntl]?|[wW]ord)(?![A-Za-z]))")
EVERY = [template for split in SPLITS for kind in KINDS for template in templates(split, kind)]


def test_the_corpus_has_at_least_1500_templates_of_four_kinds() -> None:
    counts = Counter(template.kind for template in EVERY)
    assert {kind: counts[kind] for kind in KINDS if counts[kind] < LEAST[kind]} == {}
    assert len(EVERY) >= 1500
    assert {template.lang for template in EVERY} == LANGUAGES


def test_no_template_is_in_the_corpus_twice() -> None:
    assert [name for name, count in Counter(template.id for template in EVERY).items() if count > 1] == []


@pytest.mark.parametrize("kind", KINDS)
def test_at_least_a_hundred_templates_are_held_out(kind: str) -> None:
    assert len(templates("held", kind)) >= 100


@pytest.mark.parametrize("kind", KINDS)
def test_between_a_tenth_and_two_fifths_of_the_templates_must_not_be_credited(kind: str) -> None:
    found = [template.clear for template in EVERY if template.kind == kind]
    assert 0.1 <= found.count(False) / len(found) <= 0.4


def test_every_template_gives_replies_without_empty_slots_and_with_a_possible_answer() -> None:
    for template in EVERY:
        found = replies(template)
        assert 1 <= len(found) <= 5, template.id
        for labelled in found:
            assert not _EMPTY.search(labelled.text + labelled.question), labelled.text
            assert _possible(template, labelled.expected, set(labelled.options)), template.id


def _possible(template: Template, expected: object, labels: set[str]) -> bool:
    if not template.clear:
        return expected is None
    match template.kind:
        case "choice":
            return expected in labels
        case "number":
            return isinstance(expected, int | float) and not isinstance(expected, bool)
        case _:
            return isinstance(expected, bool)


@pytest.mark.parametrize("kind", KINDS)
def test_the_strict_parser_reads_the_dev_half_within_its_bounds(kind: str) -> None:
    wrong, unparsed, credited = BOUNDS[kind]
    found = measure("dev", kind)
    assert found.shares["wrong"] <= wrong
    assert found.shares["unparsed"] <= unparsed
    assert found.credited <= credited
