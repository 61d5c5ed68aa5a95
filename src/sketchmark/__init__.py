"""Sketchmark: does drawing help a multimodal model think?

These are the public names. Everything else may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sketchmark.answers.choices import read_choice as read_choice
    from sketchmark.answers.numbers import read_number as read_number
    from sketchmark.answers.yes_no import read_yes_no as read_yes_no
    from sketchmark.api import run as run
    from sketchmark.benchmarks import get_image_index_info as get_image_index_info
    from sketchmark.comparison import compare as compare
    from sketchmark.episode import Episode as Episode
    from sketchmark.episode import Grading as Grading
    from sketchmark.episode import Scores as Scores
    from sketchmark.episode.desk import Desk as Desk
    from sketchmark.episode.model import Model as Model
    from sketchmark.episode.model import Options as Options
    from sketchmark.episode.model import Reply as Reply
    from sketchmark.episode.model import Usage as Usage
    from sketchmark.episode.protocol import FilledPrompts as FilledPrompts
    from sketchmark.episode.protocol import Protocol as Protocol
    from sketchmark.episode.sample import Context as Context
    from sketchmark.episode.sample import Part as Part
    from sketchmark.episode.sample import Sample as Sample
    from sketchmark.errors import CallFailed as CallFailed
    from sketchmark.errors import SketchmarkError as SketchmarkError
    from sketchmark.folder import RunFolder as RunFolder
    from sketchmark.media import Picture as Picture
    from sketchmark.media.sound import Sound as Sound
    from sketchmark.notebook import Run as Run
    from sketchmark.tasks import Task as Task


__version__ = "0.1.0"

_NAMES = {
    "sketchmark.answers.choices": "read_choice",
    "sketchmark.answers.numbers": "read_number",
    "sketchmark.answers.yes_no": "read_yes_no",
    "sketchmark.api": "run",
    "sketchmark.benchmarks": "get_image_index_info",
    "sketchmark.comparison": "compare",
    "sketchmark.episode": "Episode Grading Scores",
    "sketchmark.episode.desk": "Desk",
    "sketchmark.episode.model": "Model Options Reply Usage",
    "sketchmark.episode.protocol": "FilledPrompts Protocol",
    "sketchmark.episode.sample": "Context Part Sample",
    "sketchmark.errors": "CallFailed SketchmarkError",
    "sketchmark.folder": "RunFolder",
    "sketchmark.media": "Picture",
    "sketchmark.media.sound": "Sound",
    "sketchmark.notebook": "Run",
    "sketchmark.tasks": "Task",
}
"""Module → its public names."""

_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_PLACES), "__version__"]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that `import sketchmark` and `sketchmark --help` stay quick."""
    if name not in _PLACES:
        raise AttributeError(f"module 'sketchmark' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """List the public names before they are used, for completion in a notebook."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
