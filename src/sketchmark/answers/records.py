"""The part of a reply that is about what the question names: a field of a record, or a clause about the thing."""

from __future__ import annotations

import re

from sketchmark.answers.equality import folded
from sketchmark.answers.vocabulary import word_set, written_out

UNLIKE = re.compile(
    r"(?:^|(?<=[.!?] ))(?:unlike|in contrast to|contrary to)\b[^.;\n]{3,120}?, (?=(?:this|the|it|he|she|here)\b)",
    re.I | re.M,
)
_ABOUT = re.compile(
    r"(?:^|(?<=[.;!?] )|(?<=, )|(?<=, and )|\b(?:whereas|while) |(?<=but ))"
    r"(?:the|his|her|its|their) (?P<subject>[\w' -]{2,40}?) (?:is|are|was|were|has|have) [^.,;!?\n]{2,60}",
    re.I | re.M,
)
"""A clause about one thing: `the bag is white`."""


def about(text: str, asked: frozenset[str]) -> str:
    """Drop clauses about other things than the question names: `The coat is black, whereas the bag is white.`"""
    clauses = [(found, bool(asked.intersection(written_out(found["subject"])))) for found in _ABOUT.finditer(text)]
    if len({about for _, about in clauses}) < 2:
        return text
    for found, about in reversed(clauses):
        text = text if about else f"{text[: found.start()]} {text[found.end() :]}"
    return _LEFT_OVER.sub("", text)


_FIELD = re.compile(
    r"[ ]{0,9}(?:[-*|][ ]?)?[\"']?(?P<key>[^\W\d][\w ]{0,30})[\"']?[ ]?[:=|][ ]?"
    r"(?P<value>[^|\n]{1,200}?)[ ]?\|?[ ]{0,9}"
)
_TAGGED = re.compile(r"\s?<(\w{2,20})>([^<>]{1,200})</\1>\s?")
_ANSWERS = word_set("answer correction edit")
_SPLIT = re.compile(r"[|,;\t]")
_IDENTITY = word_set("object item thing label name class material prediction identification result value tag")


def chosen(text: str, question: str) -> str:
    """Return the field of a record that answers the question: `object: toaster`, or a table of one row."""
    if tagged := _TAGGED.fullmatch(text):
        return tagged[2]
    lines = [line for line in text.splitlines() if line.strip(" |")]
    fields = [(found["key"], found["value"]) for found in map(_FIELD.fullmatch, lines) if found]
    rows = [[cell.strip() for cell in _SPLIT.split(line.strip(" |"))] for line in lines]
    if len(rows) == 2 and len(rows[0]) == len(rows[1]) > 1 and all(map(str.isidentifier, rows[0])):
        fields = list(zip(*rows, strict=True))
    elif len(lines) < 2 or len(fields) + sum(line.endswith(":") for line in lines) < len(lines):
        return text
    if not fields or _ANSWERS.intersection((key.casefold().split() or [""])[-1] for key, _ in fields):
        return text
    asked = {folded(word) for word in written_out(question)}
    for wanted in (asked, _IDENTITY):
        shares = [
            (len({*map(folded, key.lower().replace("_", " ").split())} & wanted), value) for key, value in fields
        ]
        best = max(share for share, _ in shares)
        values = [value for share, value in shares if share == best]
        if best and len(values) == 1:
            return f"answer: {values[0]}"
    return text


_LEFT_OVER = re.compile(r"^\W+(?:and |but |whereas |while )?|[,;]?\s+(?:and|but|whereas|while)?\s*(?=[.;!?]|$)", re.M)
