"""The SVG in what a model said: fenced or not, with or without words around it."""

from __future__ import annotations

import re

from sketchmark.errors import BadPicture
from sketchmark.svg import MOST_CHARACTERS

_TAG = re.compile(r"<(?P<closes>/?)svg(?![\w:.-])[^<>]*?(?P<empty>/?)>")
"""Ends before the next tag begins, so that a long text is gone through once."""


def svg_in(text: str) -> str:
    """The document that ends last: what comes before is thinking or a draft. BadPicture: there is none."""
    if len(text) > 2 * MOST_CHARACTERS:
        raise BadPicture(f"a reply of {len(text)} characters", f"an SVG has at most {MOST_CHARACTERS}")
    found, begun = "", list[int]()
    for tag in _TAG.finditer(text):
        if not tag["closes"]:
            begun.append(tag.start())
        if begun and (tag["closes"] or tag["empty"]):
            found = text[begun.pop() : tag.end()]
    if found:
        return found
    raise BadPicture("the SVG has no end: </svg> is missing" if begun else "there is no SVG in the reply")
