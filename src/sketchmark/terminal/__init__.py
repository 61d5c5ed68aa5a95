"""Safe lines for the terminal: control characters in them are spelled out.

Only this package writes to the terminal, because most printed text comes from elsewhere: models, servers, task files,
datasets, file names. `tests/terminal/test_terminal_source.py` checks that no other module prints.
"""

from __future__ import annotations

import codecs
import io
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TypeVar

import click

Item = TypeVar("Item")

_LONGEST = 2_000
"""A server may reply with a megabyte. The useful part is at the beginning."""

_LONGEST_LABEL = 36
"""Leaves room for a bar and its numbers in 80 columns."""

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # all controls but tab and line feed: escapes, carriage return, backspace
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u180e"  # what is not seen, and what turns the writing direction
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff"  # halves of a character, which cannot be encoded
    "\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    r"""Return the text with control characters spelled out, an escape as `\u001b`. This is JSON's spelling, so
    printed JSON stays the same JSON."""
    return _OBEYED.sub(lambda found: _spelled(found[0]), text)


def _spelled(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def one_line(text: str) -> str:
    """Return the text as `shown` does, on one line and shortened, so that it cannot look like another line of
    ours."""
    cut = f"{text[:_LONGEST]}… ({len(text):,} characters)" if len(text) > _LONGEST else text
    return shown(" ".join(cut.splitlines()))


def tell(line: object = "", *, err: bool = False, bold: bool = False) -> None:
    """Print one line. Lines on standard error are also kept in the log file, if there is one."""
    text = one_line(str(line))
    if err:
        _told_log().info(text)
    click.echo(click.style(text, bold=True) if bold else text, err=err)


def tell_all(text: str, *, err: bool = False) -> None:
    """Print a text of several lines, whole: a prompt, JSON, a table."""
    click.echo(shown(text.removesuffix("\n")), err=err)


def notice(line: str) -> None:
    """Print one line on standard error, for functions that take a `notify`."""
    tell(line, err=True)


_PLAIN = str.maketrans(
    {
        "─": "-",
        "−": "-",
        "–": "-",
        "—": "-",
        "→": "->",
        "…": "...",
        "·": "*",
        "×": "x",
        "±": "+-",
        "≤": "<=",
        "≥": ">=",
    }
    | {"“": '"', "”": '"', "‘": "'", "’": "'", "█": "#", "━": "=", "✓": "ok", "\xa0": " "}
)


def write_anywhere() -> None:
    """Let output go to any terminal. Characters that its encoding lacks are spelled out, and a closed stream
    (`>&-`) is replaced by nothing, or the next file opened would get its number."""
    codecs.register_error("sketchmark.plain", _spelled_out)
    with suppress(OSError):
        while (nothing := os.open(os.devnull, os.O_RDWR)) < 3:
            os.set_inheritable(nothing, True)
        os.close(nothing)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="sketchmark.plain")


def _spelled_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


def _told_log() -> logging.Logger:
    """Return the log of printed lines. It is discarded unless `keep_log` gives it a file."""
    return logging.getLogger("sketchmark.told")


def keep_log(path: Path) -> None:
    """Append log records, and all lines on standard error, to a file."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root, told = logging.getLogger(), _told_log()
    for shown in root.handlers:  # records that are only for the file are not printed
        shown.setLevel(max(shown.level, root.level))
    root.setLevel(min(root.level, logging.INFO))
    root.addHandler(handler)
    told.propagate = False
    told.setLevel(logging.INFO)
    told.addHandler(handler)


def show_progress(shown: bool = True) -> None:
    """Let a command print progress if it has a terminal. Python programs that use Sketchmark have their own
    output. The level is set on the logger itself, so that `--verbosity` does not change it."""
    progress_log().setLevel(logging.INFO if shown and sys.stderr.isatty() else logging.WARNING)


def progress_log() -> logging.Logger:
    """Return the log for the progress of long downloads, at level INFO. It is discarded unless a command shows
    progress."""
    return logging.getLogger("sketchmark.progress")


def someone_looks_on() -> bool:
    return progress_log().level == logging.INFO and sys.stderr.isatty()


def counted(items: Iterable[Item], total: int | None, label: str) -> AbstractContextManager[Iterable[Item]]:
    """Iterate with a progress bar on standard error, if a terminal shows it."""
    return click.progressbar(
        items,
        length=total,
        label=one_line(label)[:_LONGEST_LABEL],
        width=20,
        file=sys.stderr,
        hidden=not someone_looks_on(),
    )


def tell_of_the_rest() -> None:
    """Print log records, warnings and tracebacks in the same safe way: they can quote untrusted text too."""
    logging.basicConfig(handlers=[_Telling()], format="%(message)s")
    logging.captureWarnings(True)
    sys.excepthook = lambda kind, error, at: _tell_traceback(error)
    threading.excepthook = lambda ended: _tell_traceback(ended.exc_value)


class _Telling(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tell_all(self.format(record), err=True)


def _tell_traceback(error: BaseException | None) -> None:
    tell_all("".join(traceback.format_exception(error)), err=True)


__all__ = [
    "counted",
    "keep_log",
    "notice",
    "one_line",
    "progress_log",
    "show_progress",
    "shown",
    "tell",
    "tell_all",
    "tell_of_the_rest",
    "write_anywhere",
]
