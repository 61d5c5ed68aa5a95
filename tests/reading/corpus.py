"""The two corpora: replies of known intent, and replies that a careful person would not credit.

Generated from templates with fixed seeds, so every run reads the same replies. The templates of the first go were
written before the reader, those of the second go (`*_later.py`) when it was done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.reading import asked, meant, meant_later, meant_otherwise, unclear, unclear_later
from tests.reading.cases import Case
from tests.reading.filling import Family, replies

_NUMBERS = ("36", "7.5", "128", "64", "19")
_WORDS = ("pneumonia", "osteosarcoma", "aortic stenosis", "exploitation", "Red-green blindness")
_OTHER_WORDS = ("measles", "asthma", "mitral valve prolapse")


def meant_choices() -> Iterator[Case]:
    yield from _choices(meant.TERSE, 12, 1, meant.THOUGHTS)
    yield from _choices(meant.FINAL, 18, 2, meant.BEFORE)
    yield from _choices(meant.WHOLE, 12, 3)
    yield from _choices(meant_later.TERSE, 6, 5, meant.THOUGHTS)
    yield from _choices(meant_later.FINAL, 9, 6, meant.BEFORE)
    yield from _choices(meant_later.WHOLE, 6, 7)


def unclear_choices() -> Iterator[Case]:
    yield from _choices(unclear.CHOICE, 9, 4, clear=False)
    yield from _choices(unclear_later.CHOICE, 7, 8, clear=False)


def _choices(
    families: Family, each: int, seed: int, before: Sequence[str] = ("",), clear: bool = True
) -> Iterator[Case]:
    made: set[tuple[str, tuple[str, ...]]] = set()
    for reply in replies(families, each, seed, before):
        if (reply.text, reply.options) not in made:
            made.add((reply.text, reply.options))
            letter = reply.letter if clear else None
            yield Case("choice", reply.text, reply.options, letter, reply.family, reply.template)


def meant_yes_no() -> Iterator[Case]:
    for families in (meant_otherwise.YES_NO, meant_later.YES_NO):
        for family, templates in families.items():
            for template in templates:
                for value in (True, False):
                    yield Case("yes/no", _yes_no(template, value), (), value, f"yes/no, {family}", template)
    for value, texts in ((True, meant_otherwise.CHINESE_YES), (False, meant_otherwise.CHINESE_NO)):
        yield from (Case("yes/no", text, (), value, "yes/no, Chinese", text) for text in texts)


def unclear_yes_no() -> Iterator[Case]:
    made: set[str] = set()
    for families in (unclear.YES_NO, unclear_later.YES_NO):
        for family, templates in families.items():
            for template in templates:
                for text in (template, template.lower(), f"{template}\n", f"<think>Hm.</think>{template}"):
                    if text not in made:
                        made.add(text)
                        yield Case("yes/no", text, (), None, f"yes/no, {family}", template)


def meant_open() -> Iterator[Case]:
    for go in (meant_otherwise, meant_later):
        yield from _open(go.NUMBERS, "NM", True)
        yield from _open(go.WORDS, "WV", True)


def unclear_open() -> Iterator[Case]:
    """What names several is to be credited for none of them, so it is tried for both."""
    made: set[tuple[str, tuple[str, ...]]] = set()
    for go in (unclear, unclear_later):
        for families, marks in ((go.NUMBERS, "NM"), (go.WORDS, "WV")):
            for case in (*_open(families, marks, None), *_open(_swapped(families, marks), marks, None)):
                if (case.text, case.options) not in made:
                    made.add((case.text, case.options))
                    yield case


Corpus = Mapping[str, Callable[[], Iterator[Case]]]
MEANT: Corpus = {
    "options": meant_choices,
    "yes and no": meant_yes_no,
    "what was asked": asked.meant,
    "open answers": meant_open,
}
UNCLEAR: Corpus = {
    "options": unclear_choices,
    "yes and no": unclear_yes_no,
    "what was asked": asked.unclear,
    "open answers": unclear_open,
}


def _swapped(families: Family, marks: str) -> Family:
    other = {f"@{marks[0]}": f"@{marks[1]}", f"@{marks[1]}": f"@{marks[0]}"}
    return {
        family: [re.sub(f"@[{marks}]", lambda mark: other[mark[0]], text) for text in texts if "@" + marks[1] in text]
        for family, texts in families.items()
        if family.startswith("several")
    }


def _open(families: Family, marks: str, clear: bool | None) -> Iterator[Case]:
    numbers = marks == "NM"
    golds, others = (_NUMBERS, _NUMBERS[::-2]) if numbers else (_WORDS, _OTHER_WORDS)
    for family, templates in families.items():
        for template in templates:
            for gold in golds:
                for other in others if f"@{marks[1]}" in template else ("",):
                    if other != gold:
                        text = template.replace(f"@{marks[0]}", gold).replace(f"@{marks[1]}", other)
                        name = f"{'numbers' if numbers else 'words'}, {family}"
                        yield Case("open", text, (gold,), clear, name, template)


def _yes_no(template: str, value: bool) -> str:
    words = {"Y": "Yes" if value else "No", "N": "No" if value else "Yes"}

    def word(mark: re.Match[str]) -> str:
        return words[mark[1]] if mark[1].isupper() else words[mark[1].upper()].lower()

    return re.sub("@([YNyn])", word, template)
