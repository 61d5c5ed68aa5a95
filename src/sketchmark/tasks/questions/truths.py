"""What is asked for and what is true: the type of a question, its options and its answer."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Literal, get_args

from sketchmark.errors import BadInput
from sketchmark.scoring.final_answer import plain
from sketchmark.scoring.listed import options_of
from sketchmark.scoring.numbers import number
from sketchmark.scoring.yesno import NO, YES
from sketchmark.tasks.questions.cells import listed, text

Type = Literal["choice", "yes_no", "number", "exact", "judged"]
TYPES: tuple[Type, ...] = get_args(Type)

_TYPES: dict[str, Type] = {name: name for name in TYPES} | {
    "multiple_choice": "choice",
    "mcq": "choice",
    "numeric": "number",
    "exact_match": "exact",
    "judge": "judged",
    "yes/no": "yes_no",
}
_OWN_LETTER = re.compile(r"\(?([A-Z])[.):]\s+(?=\S)|\(([A-Z])\)\s*(?=\S)")


@dataclass(frozen=True)
class Truth:
    """`options` are in their order, or by letter where the question itself lists them."""

    type: Type
    answer: str | bool | list[str]
    options: list[str] | dict[str, str] | None = None
    tolerance: float = 0.0

    @property
    def target(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": self.type, "answer": self.answer}
        if self.options:
            found["options"] = self.options
        if self.tolerance:
            found["tolerance"] = self.tolerance
        return found


def truth_of(values: Mapping[str, Any], question: str, *, type: str = "", tolerance: str = "") -> Truth:
    """By what the row holds: its `type`; else options, a number, yes or no, or text. `type` and `tolerance` are for
    rows that do not say."""
    if "answer" not in values:
        raise BadInput("no answer", "every question needs one; for `judged` it is what a right answer says")
    answer, options = values["answer"], _options(values.get("options"))
    lists = dict(options_of(question)) if options is None and isinstance(answer, str) else {}
    chooses = options is not None or _letter(answer) in lists or bool(_lettered(answer, lists))
    chosen = _type(values.get("type")) or ("choice" if chooses else _type(type) or _guessed(answer, values))
    if options and chosen != "choice":
        raise BadInput(f"options, but the type is {chosen}", "drop one of the two")
    if "tolerance" in values and chosen != "number":
        raise BadInput(f"a tolerance, but the type is {chosen}", "drop one of the two")
    if chosen == "choice":
        known = options or lists
        if not known:
            raise BadInput("a choice without options", "a column `options`: a JSON list, or separated by ` | `")
        return Truth("choice", _right_letter(answer, known), known)
    if chosen == "number":
        return _number(answer, values.get("tolerance", tolerance))
    if chosen == "yes_no":
        return Truth("yes_no", _yes(answer))
    accepted = [text(one, "answer") for one in _accepted(answer)]
    if not accepted or not all(map(plain, accepted)):
        raise BadInput(f"the answer {str(answer)[:80]!r} has no words", "write what a right answer says")
    return Truth(chosen, accepted if len(accepted) > 1 else accepted[0])


def _type(value: Any) -> Type | None:
    if not value:
        return None
    found = _TYPES.get(str(value).strip().lower().replace("-", "_").replace(" ", "_"))
    if found is None:
        raise BadInput(
            f"the type {str(value)[:80]!r} is not known",
            f"{', '.join(TYPES)}; a grouping of your own goes into a column `category`",
        )
    return found


def _guessed(answer: Any, values: Mapping[str, Any]) -> Type:
    if isinstance(answer, bool) or (isinstance(answer, str) and plain(answer) in ("yes", "no", "true", "false")):
        return "yes_no"
    if "tolerance" in values or (not isinstance(answer, (list, dict)) and number(str(answer)) is not None):
        return "number"
    return "exact"


def _options(value: Any) -> list[str] | None:
    """In their order. Letters of their own (`A. red`) are taken off, where all have theirs."""
    if value is None:
        return None
    if isinstance(value, dict):
        letters = [str(key).strip().upper() for key in value]
        if letters != list(ascii_uppercase[: len(letters)]):
            raise BadInput(f"options by the letters {', '.join(letters)[:80]}", "A, B, C … in their order, or a list")
        value = list(value.values())
    options = [text(one, "options") if one is not None else "" for one in listed(value, "options")]
    own = [_OWN_LETTER.match(option) for option in options]
    if [found and (found[1] or found[2]) for found in own] == list(ascii_uppercase[: len(options)]):
        options = [option[found.end() :] for option, found in zip(options, own, strict=True) if found]
    if not 2 <= len(options) <= len(ascii_uppercase):
        raise BadInput(
            f"{len(options)} option{'s' * (len(options) != 1)}", "2 to 26: a JSON list, or separated by ` | `"
        )
    if not all(options):
        raise BadInput("an option is empty")
    if twice := [option for at, option in enumerate(options) if option in options[:at]]:
        raise BadInput(f"the option {twice[0][:80]!r} is there twice")
    return options


def _letter(answer: Any) -> str:
    """The letter that an answer is, as `B`, `b`, `(B)` or `B.`; empty where it is none."""
    bare = answer.strip().strip("().:").upper() if isinstance(answer, str) else ""
    return bare if len(bare) == 1 and bare in ascii_uppercase else ""


def _lettered(answer: Any, options: Mapping[str, str]) -> str:
    """The letter of an answer that is an option with its letter before it, `B. green`."""
    own = _OWN_LETTER.match(answer) if isinstance(answer, str) else None
    letter = (own[1] or own[2]) if own else ""
    return letter if own and letter in options and plain(options[letter]) == plain(answer[own.end() :]) else ""


def _accepted(answer: Any) -> list[Any]:
    """The answers of which any is right. `[3, 4]` in a text may be two of them, or a place."""
    several = listed(answer, "answer")
    if isinstance(answer, str) and not all(isinstance(one, str) for one in several):
        raise BadInput(
            f"the answer {answer[:80]!r} can be one or a list", 'write ["3", "4"] for any of them, ["[3, 4]"] for one'
        )
    return several


def _right_letter(answer: Any, options: list[str] | dict[str, str]) -> str:
    known = options if isinstance(options, dict) else dict(zip(ascii_uppercase, options, strict=False))
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    said = text(answer, "answer") if not isinstance(answer, bool) else str(answer).lower()
    same = [letter for letter, option in known.items() if option == said]
    same = same or [letter for letter, option in known.items() if plain(option) == plain(said)]
    same = same or list(_lettered(said, known))
    found = {*same, *({_letter(said)} & known.keys())}
    if len(found) > 1:
        raise BadInput(
            f"the answer {said[:80]!r} can be the options {' and '.join(sorted(found))}",
            "it is the letter of one and the text of another: write the text of an option, or reorder them",
        )
    if not found:
        raise BadInput(
            f"the answer {said[:80]!r} is no letter of its {len(known)} options, nor the text of one",
            "numbers of options are not read: from 0 or from 1?",
        )
    return found.pop()


def _number(answer: Any, tolerance: Any) -> Truth:
    value = None if isinstance(answer, (bool, list, dict)) else number(str(answer))
    if value is None:
        raise BadInput(f"the answer {str(answer)[:80]!r} is no number")
    said = str(tolerance).strip() if tolerance is not None else ""
    if not said:
        return Truth("number", str(answer))
    size = number(said)
    if size is None or size < 0 or not math.isfinite(size):
        raise BadInput(f"the tolerance {said[:80]!r} is no number from 0 on", "0.5, or a share of the answer: 5%")
    return Truth("number", str(answer), tolerance=abs(value) * size / 100 if said.endswith("%") else size)


def _yes(answer: Any) -> bool:
    if isinstance(answer, bool):
        return answer
    said = plain(str(answer))
    if said in YES or said in NO:
        return said in YES
    raise BadInput(f"the answer {str(answer)[:80]!r} is neither yes nor no")
