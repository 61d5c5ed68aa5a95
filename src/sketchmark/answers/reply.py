"""Clean-up of a reply before parsing: no thinking, bounded length, no wrapping.

Answers that a reply marks itself (`\\boxed{…}`, `<answer>…</answer>`, `{"answer": …}`) become slots. A slot is one
character of the text, so the sentence around a marked answer can still deny it. `boxed` and `tagged` parse marked
answers by the rules of published programs.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

_MARK = re.compile(
    r"<(?P<shut>/)?(?:think|thinking|thought|reasoning)>"
    r"|◁(?P<shut_kimi>/)?think▷"
    r"|<\|(?:begin|(?P<shut_long>end))_of_thought\|>",
    re.IGNORECASE,
)


def without_thinking(text: str) -> str:
    """Return the text outside thinking marks.

    Unclosed thinking runs to the end of the text. Text before an end mark without a start is thinking too: some
    templates put the opening mark into the prompt.
    """
    kept: list[str] = []
    start, thinking = 0, False
    for mark in _MARK.finditer(text):
        ends = any(mark.groups())
        if not thinking and ends:
            kept.clear()
        elif not thinking:
            kept.append(text[start : mark.start()])
        if ends or not thinking:
            thinking, start = not ends, mark.end()
    if not thinking:
        kept.append(text[start:])
    return " ".join(kept)


T = TypeVar("T")


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """The answer parsed from a reply, and how. `value` is None if the reply is unparsed: wrong, and counted so."""

    value: T | None
    how: str


UNREAD: Parsed[Any] = Parsed(None, "unparsed")

HEAD, TAIL = 2_000, 8_000
"""Characters of a long reply that are parsed: the answer is at the beginning or at the end."""

FIRST_SLOT = 0xF0000
"""Slots are characters of a private plane; the reply's own characters of that plane are removed."""

_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_GAP = re.compile(r"[^\S\n]{2,}|\n{3,}")
_PIECE = re.compile(
    r"\\(?P<box>boxed|fbox)[ ]?\{|\\(?:boxed|fbox)\s(?P<word>[^\s{}\\]{1,40})"
    r"|\\(?P<wrap>text|textbf|textit|textrm|textsf|mathrm|mathbf|mathit|mathsf|mbox|operatorname|bf|rm)[ ]?\{"
    r"|<(?P<tag>/?)(?:final_?)?answer>|<\|(?:begin|(?P<end>end))_of_box\|>"
    r"|(?P<json>[\"'](?:final[_ ]?)?(?:answer|choice|option|prediction)[\"'][ ]?:\s?"
    r"(?:\"(?P<said>[^\"\n]{0,400})\"|'(?P<quoted>[^'\n]{0,400})'|(?P<plain>[^\s\"',{}\[\]]{1,40})))"
    r"|\\[()\[\],;! ]|\\(?:quad|qquad|displaystyle)\b|\$(?=\d[\d.,]{0,20}\$)|(?<=\d)\$|\$(?!\d)"
    r"|\*\*|(?<![\w)])\*(?=\S)|(?<=\S)\*(?![\w(])|`|__|~~|(?-i:</?(?:b|i|u|p|em|br|strong|span|center)>)"
    r"|(?P<brace>[{}])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Said:
    """The text of a reply and the contents of its slots; the character of slot n is `chr(FIRST_SLOT + n)`."""

    text: str
    slots: tuple[str, ...]


def said(response: Any) -> Said:
    """Clean up a reply for parsing. A reply that is not text (null, an error object) becomes empty."""
    if not isinstance(response, str):
        return Said("", ())
    text = without_thinking(response)
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n\n{text[-TAIL:]}"
    text = _PRIVATE.sub(" ", unicodedata.normalize("NFKC", text).expandtabs(1))
    return unwrapped(_GAP.sub(lambda gap: "\n\n" if gap[0][0] == "\n" else " ", text))


def unwrapped(text: str) -> Said:
    """Remove wrappers and their braces and turn marked answers into slots, in one pass.

    An unclosed mark holds the rest of the text. A mark inside another is part of it.
    """
    out: list[str] = []
    slots: list[str] = []
    braces: list[str] = []
    opened: int | None = None
    start = 0

    def close() -> None:
        nonlocal opened
        if opened is not None:
            slots.append("".join(out[opened:]).strip())
            del out[opened:]
            out.append(chr(FIRST_SLOT + len(slots) - 1))
            opened = None

    for piece in _PIECE.finditer(text):
        out.append(text[start : piece.start()])
        start = piece.end()
        if piece["box"]:
            braces.append("box" if opened is None else "wrap")
            opened = len(out) if opened is None else opened
        elif piece["wrap"]:
            braces.append("wrap")
        elif piece["tag"] is not None or "_of_box" in piece[0]:
            close()
            if not (piece["tag"] or piece["end"]):
                repeated = "".join(out[-2:]).strip() == chr(FIRST_SLOT + len(slots) - 1)
                out.append("\n" if repeated else "")
                opened = len(out)
        elif piece["word"] or piece["json"]:
            content = next(
                (part for part in (piece["word"], piece["said"], piece["quoted"], piece["plain"]) if part), ""
            )
            if opened is None:
                out.append("\n" if piece["json"] else "")
                opened = len(out)
                out.append(content)
                close()
                out.append("\n" if piece["json"] else "")
            else:
                out.append(content)
        elif piece["brace"] == "{":
            braces.append("brace")
            out.append("{")
        elif piece["brace"]:
            kind = braces.pop() if braces else "brace"
            if kind == "box":
                close()
            elif kind == "brace":
                out.append("}")
    out.append(text[start:])
    close()
    return Said("".join(out).strip(), tuple(slots))


def plain(text: str) -> str:
    """Normalise a text for comparison: NFKC, lower case, single spaces, no punctuation around it."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.strip(" .,;:!?。，；：！？、*_`\"'“”‘’()[]{}")


NO_BOX = "None"
"""Result for a missing or unbalanced box. The published programs treat this word as the reply."""


def boxed(text: str) -> str:
    """Return the brace-balanced content of the last box, stripped (mathruler's rule)."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return NO_BOX
    start += len("\\boxed{")
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position].strip()
    return NO_BOX


def tagged(text: str | None, tag: str) -> str:
    """Join all contents of `<tag>…</tag>` with spaces: two answers become `A B`. Without content, return the text."""
    if not text:
        return ""
    opening, closing = f"<{tag}>", f"</{tag}>"
    found, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        found.append(text[start + len(opening) : end])
        at = end + len(closing)
    return " ".join(found).strip() or text
