"""How a run ended, for whoever looks at it later: written into run.json while the run still has the folder."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from sketchmark.errors import SketchmarkError
from sketchmark.files.atomic import write_json
from sketchmark.models.secrets import redact
from sketchmark.runs.format import Ended
from sketchmark.runs.store import RunFolder
from sketchmark.terminal import one_line


def note_ending(path: Path, error: BaseException | None = None, *, at_cost_limit: bool = False) -> None:
    """A run that is killed notes nothing: its process is gone, and still named as who holds the lock."""
    with suppress(OSError, SketchmarkError):  # a full disk: what ended the run is more important
        folder = RunFolder(path)
        about = folder.about()
        about.ended = _ended(error, at_cost_limit)
        write_json(folder.run_file, about)


def _ended(error: BaseException | None, at_cost_limit: bool) -> Ended:
    if error is None:
        return Ended("stopped", "at the cost limit") if at_cost_limit else Ended("finished")
    if isinstance(error, (asyncio.CancelledError, KeyboardInterrupt)):
        return Ended("stopped", "by a signal or an interrupt")
    return Ended("failed", one_line(redact(str(error) or type(error).__name__)))
