"""A drawing prompt that contains an answer option gives the answer away: find such samples before the first call."""

from __future__ import annotations

import re

from sketchmark.runs.plan import Cell

_OPTION = re.compile(r"(?:^|[\s(,;])([A-L])[.):]\s*([^\n;,]+)")


def leaks(cell: Cell, most: int = 1000) -> list[str]:
    """One line a sample whose `generation_prompt` holds one of its options. Looks at the first `most` samples."""
    if not cell.mode.prompts.get("generation_prompt") or cell.mode.name == "direct":
        return []
    found = []
    for number, sample in enumerate(cell.samples()):
        if number >= most:
            break
        prompt = cell.mode.script(sample, cell.steps).text("generation_prompt").lower()
        for letter, option in options_of(sample.fields.get("question", "") + "\n" + sample.fields.get("options", "")):
            if len(option) > 2 and re.search(rf"(?<!\w){re.escape(option.lower())}(?!\w)", prompt):
                found.append(f"the generation prompt of sample {sample.id} contains its option {letter} ({option!r})")
                break
    return found


def options_of(question: str) -> list[tuple[str, str]]:
    """`A. left  B. right` or `(A) left` inside a question, as (letter, text)."""
    return [(letter, text.strip(" .'\"")) for letter, text in _OPTION.findall(question)]
