"""The two figures of the strict reader: what it reads wrongly, and what it leaves unread that a person can read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.reading import corpus
from tests.reading.reading import Tally, tally

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
    assert 3 * len(later) >= len({case.template for case in (*meant, *unclear)}), "a third was written afterwards"


def test_a_reader_that_takes_the_first_letter_would_be_found_out() -> None:
    """The corpora can tell a bad reader from a good one."""

    def first_letter(case: corpus.Case) -> object:
        return next((sign for sign in case.text if sign in "ABCDEFGHIJ"), None)

    hasty = Tally()
    for case in (*corpus.meant_choices(), *corpus.unclear_choices()):
        hasty.add(case, first_letter(case))
    assert len(hasty.wrong) > hasty.replies / 3
