"""Uni-MMMU's tagged answers: <ANSWER_JSON>[...]</ANSWER_JSON> and <FINAL_ANSWER_JSON>{...}</FINAL_ANSWER_JSON>.

`strict` is the official evaluator's reading and the default; `lenient` is the public port's
(docs/benchmarks/uni-mmmu.md, "Reading answers"). No answer is no answer, never a guess.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

_MOVES = re.compile(r"<ANSWER_JSON>\s*(\[.*?\])\s*</ANSWER_JSON>", re.DOTALL | re.IGNORECASE)
_CHOICE = re.compile(r"<FINAL_ANSWER_JSON>\s*(\{.*?\})\s*</FINAL_ANSWER_JSON>", re.DOTALL | re.IGNORECASE)
_CHOICE_LENIENT = re.compile(
    r"<FINAL_ANSWER[_\s]+JSON>\s*(\{.*?\})\s*</FINAL_ANSWER[_\s]+JSON>", re.DOTALL | re.IGNORECASE
)
_CHOICE_ANYWHERE = re.compile(r'"choice"\s*:\s*"?(\d)')
_ANY_LIST = re.compile(r"\[.*?\]", re.DOTALL)
_TEMPLATE = re.compile(r'"choice"\s*:\s*0 or 1')


def unwrap(response: str) -> str:
    """Interleaved models of lmms-eval answer with a JSON object whose `text` is the answer."""
    stripped = response.strip()
    if stripped.startswith("{"):
        try:
            body = json.loads(stripped)
        except ValueError:
            return response
        if isinstance(body, dict) and "text" in body:
            return str(body["text"] or "")
    return response


def moves(response: str, scoring: str = "strict") -> list[str] | None:
    """The LAST tagged list, entries trimmed and lower-cased. None: there is none, or it cannot be read.

    `lenient` also takes Python-literal lists, and without tags the last list in the text that is valid.
    """
    text = unwrap(response)
    tagged = _MOVES.findall(text)
    if tagged:
        return _as_list(tagged[-1], literal=scoring == "lenient")
    if scoring == "lenient":
        for candidate in reversed(_ANY_LIST.findall(text)):
            found = _as_list(candidate, literal=True)
            if found is not None:
                return found
    return None


def choice(response: str, scoring: str = "strict") -> int | None:
    """The FIRST tagged object's `choice`, 0 or 1.

    `lenient` also takes the spelling `FINAL_ANSWER JSON`, a choice given as text, and failing all that the first
    `"choice": d` anywhere, which an echo of the prompt's template satisfies (see `echoes_template`).
    """
    text = unwrap(response)
    if scoring == "strict":
        match = _CHOICE.search(text)
        value = _choice_in(match[1]) if match else None
        return value if value in (0, 1) and not isinstance(value, (bool, float, str)) else None
    match = _CHOICE.search(text) or _CHOICE_LENIENT.search(text)
    value = _choice_in(match[1]) if match else None
    if value is None or isinstance(value, bool):
        anywhere = _CHOICE_ANYWHERE.search(text)
        value = anywhere[1] if anywhere else None
    return int(str(value)) if str(value) in ("0", "1") else None


def echoes_template(response: str) -> bool:
    """The model repeated the prompt's own `{"choice": 0 or 1}` instead of choosing."""
    return _TEMPLATE.search(response) is not None


def _choice_in(text: str) -> Any:
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return body.get("choice") if isinstance(body, dict) else None


def _as_list(text: str, *, literal: bool) -> list[str] | None:
    try:
        found = json.loads(text)
    except ValueError:
        if not literal:
            return None
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return [str(entry).strip().lower() for entry in found] if isinstance(found, list) else None
