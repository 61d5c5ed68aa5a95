"""Every labelled reply is parsed as its label says."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.answers.cases import GENERAL, LETTERS, Case, Template, filled, replies, templates
from tests.answers.reading import PARSERS, SCORINGS, Tally, answer, mmsi_letter, tally

PAGE = (Path(__file__).parents[2] / "docs/scorings.md").read_text("utf-8")


def _where(case: Case | Template) -> str:
    return case.where


@pytest.mark.parametrize("case", replies(), ids=_where)
def test_a_reply_is_parsed_as_its_label_says(case: Case) -> None:
    got = answer(case)
    assert (got, type(got)) == (case.answer, type(case.answer)), case.why
    if case.how:
        assert PARSERS[case.kind](case).how == case.how, case.why


@cache
def _fillings(name: str) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {template.where: [] for template in templates(name)}
    for case in filled(name):
        found[case.where].append(case)
    return found


@pytest.mark.parametrize("template", [row for name in GENERAL for row in templates(name)], ids=_where)
def test_each_filling_of_a_template_is_parsed_as_its_label_says(template: Template) -> None:
    name = Path(template.where).stem
    read = tally(_fillings(name)[template.where])
    assert not read.wrong, template.why
    assert len(read.unparsed) == template.unparsed, read.unparsed


@pytest.mark.parametrize("scoring", SCORINGS)
def test_mmsi_templates_are_parsed_as_the_documentation_says(scoring: str) -> None:
    cases = filled("mmsi")
    read = tally(cases, lambda case: mmsi_letter(case, scoring))
    assert f"{len(cases)} | {len(read.wrong)} | {len(read.unparsed)} |" in PAGE
    if scoring == "strict":
        assert not read.wrong and not read.unparsed
    else:
        assert len(read.wrong) > 50, "the corpus separates the published programs from strict"


def test_the_documentation_gives_the_size_of_the_corpus() -> None:
    cases = [case for name in GENERAL for case in filled(name)]
    for known in (True, False):
        assert f" {sum((case.answer is not None) is known for case in cases):,} |" in PAGE
    unparsed = sum(row.unparsed for name in GENERAL for row in templates(name))
    assert f" | 0 | {unparsed} |" in PAGE


def test_a_parser_that_takes_the_first_letter_fails_on_a_third_of_the_replies() -> None:
    hasty = Tally()
    for case in filled("choice"):
        hasty.add(case, next((sign for sign in case.reply if sign in LETTERS), None))
    assert len(hasty.wrong) > hasty.replies / 3
