"""Command lines in this process: starting one of their own takes longer than most commands do."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Mapping
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from sketchmark.cli import main


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def sketchmark(*words: object, cwd: Path | None = None, env: Mapping[str, str | None] | None = None) -> Done:
    """Run `sketchmark WORDS` as the shell would, in a folder and with other variables (None: without one). Signals,
    terminals and what a command imports need a process of their own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    loggers = [logging.getLogger(name) for name in (None, "sketchmark.told", "sketchmark.progress")]
    before = [(one.level, one.propagate, list(one.handlers)) for one in loggers]
    logging.getLogger().handlers = []  # pytest's own would keep `main` from adding one
    try:
        with patch.dict(os.environ), chdir(cwd) if cwd else nullcontext(), redirect_stdout(out), redirect_stderr(err):
            _set(env or {})
            main([str(word) for word in words])
    except SystemExit as ended:
        code = ended.code
    finally:
        for one, (level, propagate, handlers) in zip(loggers, before, strict=True):
            for added in set(one.handlers) - set(handlers):
                added.close()
            one.level, one.propagate, one.handlers = level, propagate, handlers
    return Done(code if isinstance(code, int) else 0, *(_text(stream) for stream in (out, err)))


def _set(env: Mapping[str, str | None]) -> None:
    for name, value in env.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    data = stream.buffer
    assert isinstance(data, io.BytesIO)
    return data.getvalue().decode("utf-8")
