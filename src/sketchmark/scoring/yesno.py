"""The strict reader of yes/no replies: by word (docs/benchmarks/medical.md, "Yes and no by substring")."""

from __future__ import annotations

import re
from typing import Any

from sketchmark.scoring.final_answer import UNREAD, Parsed, announced, final_zone

_YES = r"yes|yeah|yep|true|correct"
_NO = r"no|nope|false|incorrect"
_FIRST = re.compile(rf"[\W_]*(?:(?P<yes>{_YES})|(?P<no>{_NO}))\b", re.IGNORECASE)
_BOTH = re.compile(r"[\W_]*(?:yes\W*(?:and|or|/)?\W*no|no\W*(?:and|or|/)?\W*yes)\b", re.IGNORECASE)
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_CHINESE = re.compile(r"[\W_]*(?:(?P<no>否|不是|不对|没有|错|无)|(?P<yes>是|对|正确|有))")
_CHINESE_BOTH = re.compile(r"[\W_]*(?:是还是否|是或否|是否|有没有|是不是)")


def read_yes_no(response: Any) -> Parsed[bool]:
    """True for yes, False for no, None when the reply is neither or both.

    The first word decides, of the announced answer if there is one. Otherwise the words yes and no are looked for,
    and one of them alone counts: `normal`, `nothing`, `know` and `eyes` are not among them.
    """
    zone = final_zone(response)
    tail = announced(zone.text)
    mark = zone.mark if zone.mark != "reply" else "first word"
    for text, how in ((tail, "announced"), (zone.text, mark)):
        if text is None:
            continue
        if _BOTH.match(text) or _CHINESE_BOTH.match(text):
            return UNREAD
        if match := _FIRST.match(text) or _CHINESE.match(text):
            return Parsed(match["yes"] is not None, how)
    said = {word.casefold() for word in _WORD.findall(zone.text)}
    return Parsed(said == {"yes"}, "only word") if len(said) == 1 else UNREAD
