"""A drawing prompt that contains an answer option gives the answer away: find such samples before the first call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sketchmark.errors import BadInput
from sketchmark.runs.plan import Cell

_MARK = re.compile(r"(?:^|(?<=[\s(,;:]))\(?([A-L])\s?[.):：]\s*", re.MULTILINE)


def leaks(cell: Cell, most: int = 1000) -> list[str]:
    """One line per sample whose generation prompt holds one of its options. Looks at the first `most` samples."""
    if not cell.mode.prompts.get("generation_prompt") or not cell.mode.protocol.must_draw:
        return []
    found = []
    for number, sample in enumerate(cell.samples()):
        if number >= most:
            break
        prompt = cell.mode.fill(sample, cell.steps).text("generation_prompt").lower()
        for letter, option in options_of(sample.fields.get("question", "") + "\n" + sample.fields.get("options", "")):
            if len(option) > 2 and re.search(rf"(?<!\w){re.escape(option.lower())}(?!\w)", prompt):
                found.append(f"the generation prompt of sample {sample.id} contains its option {letter} ({option!r})")
                break
    return found


def warn_of_leaks(cells: Sequence[Cell], *, strict: bool = False) -> list[str]:
    """One warning per cell, for the run's summary; an error instead if the run is to be strict about it."""
    warnings = []
    for cell in cells:
        found = leaks(cell)
        if found and strict:
            raise BadInput(f"{cell.name}: {found[0]}", "change generation_prompt, or drop --strict-leaks")
        if found:
            warnings.append(f"{cell.name}: {found[0]} ({len(found)} samples in all)")
    return warnings


def options_of(question: str) -> list[tuple[str, str]]:
    """`Options: A: left, B: right` (MMSI-Bench), `A. left` a line, or `(A) left`, as (letter, text).

    An option runs to the next letter in order, so that commas inside it stay. Of several such lists the longest
    counts, and of equal ones the last: a "point A:" in the question is no option.
    """
    marks = list(_MARK.finditer(question))
    starts = [place for place, mark in enumerate(marks) if mark[1] == "A"]
    options: list[tuple[str, str]] = []
    for start in starts:
        chain = [marks[start]]
        for mark in marks[start + 1 :]:
            if ord(mark[1]) == ord(chain[-1][1]) + 1:
                chain.append(mark)
        if len(chain) < len(options):
            continue
        ends = [mark.start() for mark in chain[1:]] + [len(question)]
        options = [(mark[1], _trimmed(question[mark.end() : end])) for mark, end in zip(chain, ends, strict=True)]
    return options if len(options) > 1 else []


def _trimmed(option: str) -> str:
    return option.strip().partition("\n")[0].strip(" \t.,;'\"")
