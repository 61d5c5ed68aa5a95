"""How a run ended, for whoever looks at it later: written into run.json while the run still has the folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sketchmark.errors import SketchmarkError
from sketchmark.files.atomic import write_json
from sketchmark.models.secrets import redact
from sketchmark.runs.format import Ended
from sketchmark.runs.options import Budget
from sketchmark.runs.store import RunFolder
from sketchmark.terminal import one_line


@contextmanager
def ending_noted(folder: RunFolder, budget: Budget) -> Iterator[None]:
    """A run that is killed notes nothing: its process is gone, and still named as who holds the lock."""
    ended = Ended("finished")
    try:
        yield
        if budget.used_up:
            ended = Ended("stopped", "at the cost limit")
    except (asyncio.CancelledError, KeyboardInterrupt):
        ended = Ended("stopped", "by a signal or an interrupt")
        raise
    except Exception as error:
        ended = Ended("failed", one_line(redact(str(error) or type(error).__name__)))
        raise
    finally:
        with suppress(OSError, SketchmarkError):  # a full disk: what ended the run is more important
            about = folder.about()
            about.ended = ended
            write_json(folder.run_file, about)
