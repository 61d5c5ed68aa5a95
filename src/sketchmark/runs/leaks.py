"""A drawing prompt that contains an answer option gives the answer away: find such samples before the first call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sketchmark.errors import BadInput
from sketchmark.runs.plan import Cell
from sketchmark.scoring.listed import options_of

_LONGEST = 200
"""Of an option, as many characters are looked for: a prompt that holds these holds the answer."""


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
            if len(option) > 2 and _holds(prompt, option.lower()):
                found.append(f"the generation prompt of sample {sample.id} contains its option {letter} ({option!r})")
                break
    return found


def _holds(prompt: str, option: str) -> bool:
    """Whether the option stands in the prompt as whole words."""
    end = r"(?!\w)" if len(option) <= _LONGEST else ""
    return re.search(rf"(?<!\w){re.escape(option[:_LONGEST])}{end}", prompt) is not None


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
