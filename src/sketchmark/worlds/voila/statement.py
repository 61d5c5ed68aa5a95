"""`number = two, subject = cats, action = any`: how VOILA's third step states a scene, read back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sketchmark.worlds.voila.words import actions_in, numbers_in, only, subjects_in

_ANSWER = re.compile(
    r"number\W{0,9}[=:]\s{0,9}(?P<number>[^=\n]{1,99}?)(?:\s|[,;.]|\band\b)\W{0,9}"
    r"subject(?: type)?\W{0,9}[=:]\s{0,9}(?P<subject>[^=\n]{1,99}?)(?:\s|[,;.]|\band\b)\W{0,9}"
    r"action\W{0,9}[=:]\s{0,9}(?P<action>[^\n.]+)",
    re.IGNORECASE,
)
"""Every repeat is bounded: a reply may be thousands of blanks long, and must not take minutes to read."""


def read_statement(text: str) -> Mapping[str, int | str | None] | None:
    """The last `number = …, subject = …, action = …`: values, `any`, or None for what is not in the vocabulary.
    None for all: the form was not found."""
    matches = list(_ANSWER.finditer(text))
    if not matches:
        return None
    found = matches[-1]
    return {
        "number": _value("number", found["number"]),
        "subject": _value("subject", found["subject"]),
        "action": _value("action", found["action"]),
    }


def _value(name: str, text: str) -> int | str | None:
    text = text.strip(" '\"{}*`")
    if re.fullmatch(r"any(?:thing| \w+)?", text, re.IGNORECASE):
        return "any"
    found = {"number": numbers_in, "subject": subjects_in, "action": actions_in}[name](text)
    return only(found)
