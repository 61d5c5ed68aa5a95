"""What a server says is wrong, out of the body of its answer: every framework has a place of its own for it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

_WHERE = ("error", "detail", "message", "msg", "error_description", "error_msg", "errors", "title")
"""OpenAI and its imitators `{"error": {"message"}}` or `{"error": "text"}`, FastAPI `{"detail"}`, others the rest."""

_DEEPEST = 5
_MOST = 3
_LONGEST_PAGE = 5_000
_LETTER = re.compile(r"[^\W\d_]")
"""A page whose title is the number alone says nothing."""
_TAG = re.compile(r"<[^<>]*>?")
_UNSEEN = (("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->"))


def told(status: int, body: Any) -> str:
    """`404: no such model`: the status, and the words that came with it or what the status means."""
    words = words_in(body)
    return f"HTTP {status}: {words if _LETTER.search(words) else _phrase(status)}"


def words_in(body: Any, depth: int = 0) -> str:
    """The sentence in it; all of it where no place is known. Empty where nothing was said."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _out_of_page(body) if body.lstrip()[:1] == "<" else body.strip()
    if depth < _DEEPEST and isinstance(body, Mapping):
        for name in _WHERE:
            if body.get(name) and (words := words_in(body[name], depth + 1)):
                return _with_place(words, body)
    if depth < _DEEPEST and isinstance(body, list):
        return "; ".join(filter(None, (words_in(one, depth + 1) for one in body[:_MOST])))
    return str(body) if body else ""


def _with_place(words: str, body: Mapping[Any, Any]) -> str:
    """FastAPI says beside it which field it means (`loc`), and OpenAI which kind of error it is (`code`)."""
    place = body.get("loc")
    if isinstance(place, list | tuple):
        return f"{'.'.join(map(str, place))}: {words}"
    code = body.get("code")
    return f"{words} ({code})" if isinstance(code, str) and code and code not in words else words


def _out_of_page(page: str) -> str:
    """The title of a proxy's error page, or what is to be read on it."""
    page = page[:_LONGEST_PAGE]
    start = page.lower().find("<title")
    if start >= 0:
        page = page[start:].partition("</title")[0]
    for opening, closing in _UNSEEN:
        page = _without(page, opening, closing)
    return html.unescape(" ".join(_TAG.sub(" ", page).split()))


def _without(page: str, opening: str, closing: str) -> str:
    """All but what stands between the two; what is never closed goes on to the end. Each character is looked at once:
    a page may be made to be read for ever."""
    kept, place, lowered = [], 0, page.lower()
    while (start := lowered.find(opening, place)) >= 0:
        kept.append(page[place:start])
        end = lowered.find(closing, start)
        place = len(page) if end < 0 else end + len(closing)
    return " ".join([*kept, page[place:]])


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "the server does not say why"
