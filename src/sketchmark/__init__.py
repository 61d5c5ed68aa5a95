"""Sketchmark: does drawing help a multimodal model think?

The public face. Everything else may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES = {
    "run": "sketchmark.api",
    "compare": "sketchmark.comparison",
    "Desk": "sketchmark.desk",
    "Episode": "sketchmark.episode",
    "CallFailed": "sketchmark.errors",
    "SketchmarkError": "sketchmark.errors",
    "Model": "sketchmark.models.base",
    "Options": "sketchmark.models.base",
    "Reply": "sketchmark.models.base",
    "Usage": "sketchmark.models.base",
    "Run": "sketchmark.notebook",
    "Context": "sketchmark.parts",
    "Part": "sketchmark.parts",
    "Picture": "sketchmark.picture",
    "Sample": "sketchmark.parts",
    "Protocol": "sketchmark.protocols",
    "RunFolder": "sketchmark.runs.store",
    "read_choice": "sketchmark.scoring.choices",
    "read_number": "sketchmark.scoring.numbers",
    "read_yes_no": "sketchmark.scoring.yesno",
    "Sound": "sketchmark.sounds",
    "Grading": "sketchmark.scores",
    "Scores": "sketchmark.scores",
    "Task": "sketchmark.task",
    "FilledPrompts": "sketchmark.task_files.prompts",
    "get_image_index_info": "sketchmark.tasks.image_index",
}

__all__ = [*sorted(_PLACES), "__version__"]

if TYPE_CHECKING:
    from sketchmark.api import run as run
    from sketchmark.comparison import compare as compare
    from sketchmark.desk import Desk as Desk
    from sketchmark.episode import Episode as Episode
    from sketchmark.errors import CallFailed as CallFailed
    from sketchmark.errors import SketchmarkError as SketchmarkError
    from sketchmark.models.base import Model as Model
    from sketchmark.models.base import Options as Options
    from sketchmark.models.base import Reply as Reply
    from sketchmark.models.base import Usage as Usage
    from sketchmark.notebook import Run as Run
    from sketchmark.parts import Context as Context
    from sketchmark.parts import Part as Part
    from sketchmark.parts import Sample as Sample
    from sketchmark.picture import Picture as Picture
    from sketchmark.protocols import Protocol as Protocol
    from sketchmark.runs.store import RunFolder as RunFolder
    from sketchmark.scores import Grading as Grading
    from sketchmark.scores import Scores as Scores
    from sketchmark.scoring.choices import read_choice as read_choice
    from sketchmark.scoring.numbers import read_number as read_number
    from sketchmark.scoring.yesno import read_yes_no as read_yes_no
    from sketchmark.sounds import Sound as Sound
    from sketchmark.task import Task as Task
    from sketchmark.task_files.prompts import FilledPrompts as FilledPrompts
    from sketchmark.tasks.image_index import get_image_index_info as get_image_index_info


def __getattr__(name: str) -> Any:
    """Names are imported when first used: `import sketchmark` and `sketchmark --help` stay quick."""
    if name not in _PLACES:
        raise AttributeError(f"module 'sketchmark' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """Completion in a notebook shows the public names before any of them was used."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
