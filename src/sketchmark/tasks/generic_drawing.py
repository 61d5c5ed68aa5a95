"""The modes of a question that brings no prompts of its own, from `_generic_drawing.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.task_files.checking import nearly
from sketchmark.task_files.reading import merged
from sketchmark.task_files.yaml_text import load

NAME = "_generic_drawing.yaml"

OWN_PROMPT = "own"
"""The `variant` of a sample that brings a `generation_prompt`."""


def modes(beside: Path) -> dict[str, Any]:
    """direct, visual_cot and text_cot for samples with the field `question` and the pictures `visuals`; a file of the
    same name in the folder `beside` goes over ours."""
    found = _ours()
    own = beside / NAME
    if own.is_file():
        given = load(own)
        if set(given) != {"modes"} or not isinstance(given["modes"], dict):
            raise BadInput(f"{own} must hold `modes` and nothing else", "with the prompts that differ from ours")
        _refuse_near_misses(given["modes"], own)
        found = merged(found, given["modes"])
    return found


@cache
def _ours() -> dict[str, Any]:
    found: dict[str, Any] = load(Path(__file__).with_name(NAME))["modes"]
    return found


def _refuse_near_misses(given: Mapping[str, Any], own: Path) -> None:
    """Modes and prompts of other names may be there, for a protocol or a prompt that asks for them; nearly the same
    name is meant to be ours, and would not be read."""
    prompts = {prompt for mode in _ours().values() for prompt in mode["prompts"]}
    for mode, block in given.items():
        if meant := nearly(str(mode), _ours()):
            raise BadInput(f"{own}: unknown mode {mode}", f"did you mean {meant}?")
        for prompt in block.get("prompts", ()) if isinstance(block, Mapping) else ():
            if meant := nearly(str(prompt), prompts):
                raise BadInput(f"{own}: unknown prompt modes.{mode}.prompts.{prompt}", f"did you mean {meant}?")
