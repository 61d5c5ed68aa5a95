"""The two corpora: replies of known intent, and replies that a careful person would not credit.

Generated from templates with fixed seeds, so every run reads the same replies. The templates came first, then the
reader; those in `*_later.py` were written when the reader was done (docs/scorings.md tells how many failed at first).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.reading import meant, meant_otherwise, unclear
from tests.reading.filling import OPTION_SETS, Family, Reply, filled, replies

_NUMBERS = ("36", "7.5", "128", "64", "19")
_DISEASES = ("pneumonia", "osteosarcoma", "aortic stenosis", "exploitation", "Red-green blindness")
_OTHERS = ("measles", "asthma", "mitral valve prolapse")


@dataclass(frozen=True)
class Open:
    """An open reply and the gold it is right for (or must not be credited with)."""

    text: str
    gold: str
    family: str


def meant_choices() -> Iterator[Reply]:
    yield from replies(meant.TERSE, each=16, seed=1, before=meant.THOUGHTS)
    yield from replies(meant.FINAL, each=30, seed=2, before=meant.BEFORE)
    yield from replies(meant.WHOLE, each=18, seed=3)


def unclear_choices() -> Iterator[Reply]:
    yield from replies(unclear.CHOICE, each=12, seed=4)


def meant_yes_no() -> Iterator[tuple[str, bool, str]]:
    for family, templates in meant_otherwise.YES_NO.items():
        for template in templates:
            for value in (True, False):
                yield _yes_no(template, value), value, family
    yield from ((text, True, "Chinese") for text in meant_otherwise.CHINESE_YES)
    yield from ((text, False, "Chinese") for text in meant_otherwise.CHINESE_NO)


def unclear_yes_no() -> Iterator[tuple[str, str]]:
    for family, templates in unclear.YES_NO.items():
        for template in templates:
            for text in (template, template.upper(), f"{template}\n", f"<think>Hm.</think>{template}"):
                yield text, family


def meant_open() -> Iterator[Open]:
    yield from _open(meant_otherwise.NUMBERS, "NM", _NUMBERS, _NUMBERS[::-1])
    yield from _open(meant_otherwise.WORDS, "WV", _DISEASES, _OTHERS)


def unclear_open() -> Iterator[Open]:
    yield from _open(unclear.NUMBERS, "NM", _NUMBERS, _NUMBERS[::-1])
    yield from _open(unclear.WORDS, "WV", _DISEASES, _OTHERS)
    for family, one, other, golds in (("NUMBERS", "N", "M", _NUMBERS), ("WORDS", "W", "V", _DISEASES)):
        turned = {"several": [_swapped(text, one, other) for text in getattr(unclear, family)["several"]]}
        yield from _open(turned, one + other, golds, _NUMBERS[::-1] if one == "N" else _OTHERS)


def _swapped(text: str, one: str, other: str) -> str:
    return re.sub(f"@([{one}{other}])", lambda mark: "@" + (other if mark[1] == one else one), text)


def _open(families: Family, marks: str, golds: Sequence[str], others: Sequence[str]) -> Iterator[Open]:
    for family, templates in families.items():
        for template in templates:
            for gold in golds:
                for other in others:
                    if other != gold:
                        text = template.replace(f"@{marks[0]}", gold).replace(f"@{marks[1]}", other)
                        yield Open(text, gold, f"{family} ({'numbers' if marks == 'NM' else 'words'})")


def _yes_no(template: str, value: bool) -> str:
    words = {"Y": "Yes" if value else "No", "N": "No" if value else "Yes"}
    return re.sub("@([YNyn])", lambda m: words[m[1].upper()] if m[1].isupper() else words[m[1].upper()].lower(), template)
