"""The one place that writes to the terminal, because most of what is printed others wrote: models, servers, task
files, data sets, file names. `tests/core/test_terminal_source.py` sees to it that nothing else prints."""

from sketchmark.terminal.telling import (
    counted,
    notice,
    one_line,
    progress_log,
    show_progress,
    shown,
    tell,
    tell_all,
    tell_of_the_rest,
)

__all__ = [
    "counted",
    "notice",
    "one_line",
    "progress_log",
    "show_progress",
    "shown",
    "tell",
    "tell_all",
    "tell_of_the_rest",
]
