"""The modes of a question that brings no prompts of its own, from `_generic_drawing.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.task_files.reading import merged
from sketchmark.task_files.yaml_text import load

NAME = "_generic_drawing.yaml"

OWN_PROMPT = "own"
"""The `variant` of a sample that brings a `generation_prompt`."""


def modes(beside: Path) -> dict[str, Any]:
    """direct, visual_cot and text_cot for samples with the field `question` and the pictures `visuals`; a file of the
    same name in the folder `beside` goes over ours."""
    found: dict[str, Any] = load(Path(__file__).with_name(NAME))["modes"]
    own = beside / NAME
    if own.is_file():
        given = load(own)
        if set(given) != {"modes"} or not isinstance(given["modes"], dict):
            raise BadInput(f"{own} must hold `modes` and nothing else", "with the prompts that differ from ours")
        found = merged(found, given["modes"])
    return found
