"""Where in a reply its answer stands: the part the strict parsers read.

A reply may think aloud, box its answer, tag it, or announce it. Whatever it commits to in the most explicit way
counts, and the last one if it commits twice. Nothing is ever guessed from the rest.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """What a reply was read as, and how. `value` is None when it could not be read: wrong, counted as unparsed."""

    value: T | None
    how: str


UNREAD: Parsed[Any] = Parsed(None, "unparsed")

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*")
_LATEX_WRAPPER = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|rm|bf)\s*\{([^{}]*)\}")
_ANNOUNCED = re.compile(
    r"(?:\banswer\b[*_`\"')\]]*\s*(?:\b(?:is|was|would be|should be|must be|will be)\b|[:=→]|->|[-–—]\s)"
    r"|答案\s*(?:是|为|[:=]))"
    r"[\s:*_`\"'=]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Zone:
    """The text an answer is to be read from, and what marked it: `answer tag`, `boxed`, or `reply` (all of it)."""

    text: str
    mark: str


def final_zone(response: Any) -> Zone:
    """The committed part of a reply: the last answer tag, else the last box, else everything but the thinking.

    A reply that is not text (null, an error object) has an empty zone.
    """
    if not isinstance(response, str):
        return Zone("", "reply")
    text = unicodedata.normalize("NFKC", response)
    text = _THOUGHT_END.sub("", _THOUGHT.sub(" ", text)) if "think" in text else text
    if tags := _TAG.findall(text):
        return Zone(_unwrapped(tags[-1]), "answer tag")
    if boxes := list(_BOX.finditer(text)):
        return Zone(_unwrapped(_box_content(text[boxes[-1].end() :])), "boxed")
    return Zone(_unwrapped(text), "reply")


def _box_content(rest: str) -> str:
    """The balanced braces that open `rest`; without braces, as in `\\boxed B`, the first word."""
    if not rest.startswith("{"):
        return rest.split(maxsplit=1)[0] if rest.strip() else ""
    depth = 0
    for position, mark in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if depth == 0:
            return rest[1:position]
    return rest[1:]


def _unwrapped(text: str) -> str:
    """Without LaTeX text wrappers and dollar signs around the answer: `$\\text{B}$` is B."""
    while (bare := _LATEX_WRAPPER.sub(r"\1", text)) != text:
        text = bare
    return re.sub(r"\$([^$\d][^$]*)\$", r"\1", text).strip()


def announced(text: str) -> str | None:
    """What follows the last "answer is", "Answer:" or "答案:"; None when nothing is announced."""
    places = list(_ANNOUNCED.finditer(text))
    return text[places[-1].end() :] if places else None


def plain(text: str) -> str:
    """A text for comparing: compatibility forms, lower case, single spaces, no punctuation around it."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.strip(" .,;:!?。，；：！？、*_`\"'“”‘’()[]{}")
