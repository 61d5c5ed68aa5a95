"""The extractor's quote: where it may come from, and what is asked."""

from __future__ import annotations

import pytest

from sketchmark.answers.extractor import Quote, occurrences, read_quote


@pytest.mark.parametrize(
    ("quote", "reply"),
    [
        ("B", "I take B."),
        ("(B)", "I take (B)."),
        ("B", "答案是B吧"),
        ("deep blue", "It is\ndeep  blue."),
        ("5", "5.\nThat is all"),
        ("5", "from 3-5 I take 5, of course"),
        ("-5", "about -5 degrees"),
    ],
)
def test_a_quote_occurs_as_whole_words(quote: str, reply: str) -> None:
    assert occurrences(quote, reply)


@pytest.mark.parametrize(
    ("quote", "reply"),
    [
        ("B", "B12 deficiency"),
        ("B", "an Ab fragment: AB"),
        ("5", "5.2"),
        ("5", "-5"),
        ("5", "1,500 and 0.5"),
        ("2", "1/2"),
        ("A", "N/A"),
        ("B", "A/B"),
        ("B", "see https://example.org/options/B for it"),
        ("blue", "bluebird"),
        ("b", "I take B."),
        ("Answer: B", "B"),
        ("", "B"),
        (" ", "a b"),
    ],
)
def test_a_part_of_a_word_or_number_is_not_an_occurrence(quote: str, reply: str) -> None:
    assert not occurrences(quote, reply)


@pytest.mark.parametrize(
    ("reply", "quote"),
    [
        ('{"quote": "B"}', Quote("B")),
        ('```json\n{"quote": "B"}\n```', Quote("B")),
        ('<think>{"quote": "A"}</think>{"quote": "B"}', Quote("B")),
        ('{"quote": null}', Quote(None)),
        ('{"quote": ""}', Quote(None)),
        ('{"quote": 5}', Quote("5")),
        ('"deep blue"', Quote("deep blue")),
        ("NONE", Quote(None)),
        ("", None),
        ("<think>B", None),
    ],
)
def test_the_extractors_reply_is_json_or_only_the_quote(reply: str, quote: Quote | None) -> None:
    assert read_quote(reply) == quote
