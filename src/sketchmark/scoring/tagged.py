"""Uni-MMMU's tagged answers: <ANSWER_JSON>[...]</ANSWER_JSON> and <FINAL_ANSWER_JSON>{...}</FINAL_ANSWER_JSON>.

The two published readings (docs/benchmarks/uni-mmmu.md, "Reading answers"): `official` is the official evaluator's,
`lenient` the public port's. No answer is no answer, never a guess.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

Ends = tuple[re.Pattern[str], re.Pattern[str]]


def _tagged(tag: str, opening: str, closing: str) -> Ends:
    """How a tagged answer begins and ends, its brackets included."""
    return re.compile(rf"<{tag}>\s*{opening}", re.IGNORECASE), re.compile(rf"{closing}\s*</{tag}>", re.IGNORECASE)


_MOVES = _tagged("ANSWER_JSON", r"\[", r"\]")
_CHOICE = _tagged("FINAL_ANSWER_JSON", r"\{", r"\}")
_CHOICE_LENIENT = _tagged(r"FINAL_ANSWER[_\s]+JSON", r"\{", r"\}")
_ANY_LIST = re.compile(r"\["), re.compile(r"\]")
_CHOICE_ANYWHERE = re.compile(r'"choice"\s*:\s*"?(\d)')
_TEMPLATE = re.compile(r'"choice"\s*:\s*0 or 1')


def unwrap(response: str) -> str:
    """Interleaved models of lmms-eval answer with a JSON object whose `text` is the answer."""
    stripped = response.strip()
    if stripped.startswith("{"):
        try:
            body = json.loads(stripped)
        except (ValueError, RecursionError):
            return response
        if isinstance(body, dict) and "text" in body:
            return str(body["text"] or "")
    return response


def moves(response: str, scoring: str) -> list[str] | None:
    """The LAST tagged list, entries trimmed and lower-cased. None: there is none, or it cannot be read.

    `lenient` also takes Python-literal lists, and without tags the last list in the text that is valid.
    """
    text = unwrap(response)
    tagged = list(_between(text, _MOVES))
    if tagged:
        return _as_list(tagged[-1], literal=scoring == "lenient")
    if scoring == "lenient":
        for candidate in reversed(list(_between(text, _ANY_LIST))):
            found = _as_list(candidate, literal=True)
            if found is not None:
                return found
    return None


def choice(response: str, scoring: str) -> int | None:
    """The FIRST tagged object's `choice`, 0 or 1, or for `official` what equals them in Python: `true`, `1.0`.

    `lenient` also takes the spelling `FINAL_ANSWER JSON`, a choice given as text, and failing all that the first
    `"choice": d` anywhere, which an echo of the prompt's template satisfies (see `echoes_template`).
    """
    text = unwrap(response)
    if scoring != "lenient":
        value = _choice_in(text, _CHOICE)
        return int(value) if value in (0, 1) else None
    ends = _CHOICE if next(_between(text, _CHOICE), None) else _CHOICE_LENIENT
    value = _choice_in(text, ends)
    if value is None or isinstance(value, bool):
        anywhere = _CHOICE_ANYWHERE.search(text)
        value = anywhere[1] if anywhere else None
    return int(str(value)) if str(value) in ("0", "1") else None


def echoes_template(response: str) -> bool:
    """The model repeated the prompt's own `{"choice": 0 or 1}` instead of choosing."""
    return _TEMPLATE.search(response) is not None


def _between(text: str, ends: Ends) -> Iterator[str]:
    """Each `[…]` or `{…}` from an opening to the first closing behind it, brackets included.

    As `opening.*?closing` would find them, but in one pass: where no closing is left, that pattern would look for one
    behind every later opening too, and a reply of nothing but openings would take hours.
    """
    opening, closing = ends
    at = 0
    while (start := opening.search(text, at)) and (end := closing.search(text, start.end())):
        yield text[start.end() - 1 : end.start() + 1]
        at = end.end()


def _choice_in(text: str, ends: Ends) -> Any:
    try:
        body = json.loads(next(_between(text, ends), ""))
    except (ValueError, RecursionError):
        return None
    return body.get("choice") if isinstance(body, dict) else None


def _as_list(text: str, *, literal: bool) -> list[str] | None:
    try:
        try:
            found = json.loads(text)
        except ValueError:
            if not literal:
                return None
            found = ast.literal_eval(text)
        return [str(entry).strip().lower() for entry in found] if isinstance(found, list) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # also of a number too long to be written out
        return None
