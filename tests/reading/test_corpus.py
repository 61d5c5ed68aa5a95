"""The two figures of the strict reader: what it reads wrongly, and what it leaves unread that a person can read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reading import corpus, mmsi_style
from tests.reading.cases import Case
from tests.reading.reading import Tally, read_mmsi, tally

PAGE = (Path(__file__).parents[2] / "docs/scorings.md").read_text("utf-8")
Record = Callable[[str, object], None]


@pytest.mark.parametrize("name", corpus.MEANT)
def test_what_is_meant_is_never_read_as_something_else_and_hardly_ever_unread(
    name: str, record_property: Record
) -> None:
    read = tally(corpus.MEANT[name]())
    record_property(name, read.told())
    assert not read.wrong, read.wrong[:10]
    assert len(read.unread) <= read.replies / 100, read.unread[:10]


@pytest.mark.parametrize("name", corpus.UNCLEAR)
def test_what_a_careful_person_would_not_credit_is_not_credited(name: str, record_property: Record) -> None:
    read = tally(corpus.UNCLEAR[name]())
    record_property(name, read.told())
    assert not read.wrong, read.wrong[:10]


def test_the_corpora_are_as_large_as_promised_and_say_what_they_mean() -> None:
    meant = [case for make in corpus.MEANT.values() for case in make()]
    unclear = [case for make in corpus.UNCLEAR.values() for case in make()]
    assert len({case.key for case in meant}) >= 5000
    assert len({case.key for case in unclear}) >= 3000
    later = {case.template for case in (*meant, *unclear) if "later" in case.family}
    for cases in (meant, unclear):
        assert f" {len(cases):,} |" in PAGE, "docs/scorings.md tells another number"
    assert 3 * len(later) >= len({case.template for case in (*meant, *unclear)}), "a third was written afterwards"


def test_a_reader_that_takes_the_first_letter_would_be_found_out() -> None:
    """The corpora can tell a bad reader from a good one."""

    def first_letter(case: Case) -> object:
        return next((sign for sign in case.text if sign in "ABCDEFGHIJ"), None)

    hasty = Tally()
    for case in (*corpus.meant_choices(), *corpus.unclear_choices()):
        hasty.add(case, first_letter(case))
    assert len(hasty.wrong) > hasty.replies / 3


def test_mmsi_replies_are_read_as_meant_by_strict_and_by_the_published_programs_as_they_do(
    record_property: Record,
) -> None:
    cases = list(mmsi_style.cases())
    assert len({case.key for case in cases}) >= 500
    tallies = {name: Tally() for name in ("strict", "official", "lenient")}
    for name, read in tallies.items():
        for case in cases:
            read.add(case, read_mmsi(case, name))
        record_property(f"MMSI-Bench, {name}", read.told())
        assert f"{len(cases)} | {len(read.wrong)} | {len(read.unread)} |" in PAGE, "docs/scorings.md says otherwise"
    strict, official, lenient = tallies.values()
    assert not strict.wrong and len(strict.unread) <= len(cases) / 100
    assert min(len(official.wrong), len(lenient.wrong)) > 50, "the corpus can tell them apart"
