"""The strict reader of yes/no replies: by word (docs/benchmarks/medical.md, "Yes and no by substring").

`no` counts as an answer, not as a determiner: what "no pneumothorax" answers depends on the question, and where that
is known, `findings` reads it.
"""

from __future__ import annotations

import re
from typing import Any

from sketchmark.scoring.final_answer import FIRST_SLOT, UNREAD, Parsed, Said, said
from sketchmark.scoring.findings import read_finding
from sketchmark.scoring.mentions import FIRST_WORDS, Words
from sketchmark.scoring.reader import Reader
from sketchmark.scoring.vocabulary import word_set

YES = word_set("yes yeah yep true correct 是 对 有 是的 对的 正确")
NO = word_set("no nope false incorrect 否 不是 没有 不对 无 错 不 错误 不正确")
_SAID = re.compile(
    r"\b(?P<yes>yes|yeah|yep|yup)\b"
    r"|\b(?P<no>no|nope|nah)\b(?=\s?(?:[^\w\s]|\Z)|\s?\n|\s(?:it|there|this|that|the|i|we|he|she|they|because|since|as"
    r"|but|and|or|not|is|was|are|if|in|on|at|to)\b)"
    r"|^[^\w\n]{0,4}(?:(?P<true>true|correct)|(?P<false>false|incorrect))(?=[^\w\n]{0,4}$)"
    r"|(?:^[^\w\n]{0,4}|答案(?:[是为][ ]?:?|[ ]?:)[ ]?)"
    r"(?:(?P<shi>是的|是|对的|对|有|正确)|(?P<fou>不是|没有|不对|不正确|错误|否|无|错|不))(?=\W|$)",
    re.IGNORECASE | re.MULTILINE,
)


class _YesNo(Words):
    """Marks yes and no where they are answers; other uses of the same words stay as they are."""

    def __init__(self) -> None:
        super().__init__({"Y": "yes", "N": "no"})

    def marked(self, text: str) -> str:
        return _SAID.sub(self._said, text)

    def _said(self, found: re.Match[str]) -> str:
        name = found.lastgroup or ""
        mark = chr(FIRST_WORDS + (name not in ("yes", "true", "shi")))
        return f"{found[0][: found.start(name) - found.start()]} {mark} "


_READER = Reader("YN", _YesNo(), opening=True)


def read_yes_no(response: Any, question: str = "") -> Parsed[bool]:
    """True for yes, False for no, None when the reply is neither or both.

    With the question it was asked, a reply may also say what is there: "There is no pneumothorax."
    """
    heard = said(response)
    verdict = _READER.read(heard)
    if verdict.letters:
        return Parsed(verdict.letters == {"Y"}, verdict.how)
    marked = heard.text.rpartition("\n")[2].strip() == chr(FIRST_SLOT + len(heard.slots) - 1)
    if marked and not _READER.read(Said(heard.slots[-1], ())).claimed:
        found = read_finding(heard.slots[-1], question)
    else:
        found = None if verdict.claimed or heard.slots else read_finding(heard.text, question)
    return UNREAD if found is None else Parsed(found, "marked" if marked else "reply")
