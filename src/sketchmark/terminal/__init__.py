"""The one place that writes to the terminal, because most of what is printed others wrote: models, servers, task
files, data sets, file names. `tests/core/test_terminal_source.py` sees to it that nothing else prints."""

from sketchmark.terminal.telling import (
    counted,
    one_line,
    show_progress,
    shown,
    tell,
    tell_all,
    tell_of_the_rest,
    tell_progress,
)

__all__ = [
    "counted",
    "one_line",
    "show_progress",
    "shown",
    "tell",
    "tell_all",
    "tell_of_the_rest",
    "tell_progress",
]
