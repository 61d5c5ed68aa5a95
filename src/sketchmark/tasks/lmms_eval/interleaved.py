"""`lmms_eval_specific_kwargs: bagel_interleaved:` in a task file, in the words of Sketchmark's task files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sketchmark.task_files.reading import lineage, merged
from sketchmark.task_files.schema import TaskFile

_KWARGS, _BLOCK = "lmms_eval_specific_kwargs", "bagel_interleaved"
_COUNTS = ("task_type", "num_images")
"""The protocol's settings among them; the drawing calls get all but the first."""


def translated(config: Mapping[str, Any], declared: TaskFile, where: str) -> Mapping[str, Any]:
    """The file with that block as `settings` and `drawing` of its modes, which win where they say the same."""
    modes = {name: _mode(config, lineage(declared.modes, name, where)) for name in declared.modes}
    return {**config, "modes": modes}


def _mode(config: Mapping[str, Any], names: list[str]) -> Mapping[str, Any]:
    own: Mapping[str, Any] = config["modes"][names[0]]
    whole: dict[str, Any] = {_KWARGS: config.get(_KWARGS, {})}
    for name in reversed(names):
        whole = merged(whole, config["modes"][name])
    given: Mapping[str, Any] = whole[_KWARGS].get(_BLOCK, {})
    if not given:
        return own
    settings = {key: given[key] for key in given if key in _COUNTS} | whole.get("settings", {})
    drawing = {key: given[key] for key in given if key != _COUNTS[0]} | whole.get("drawing", {})
    return {**own, "settings": settings, "drawing": drawing}
