"""`loguru.logger` as tasks use it: messages with `{}` places, passed on to Python's own logging."""

from __future__ import annotations

import logging
from typing import Any

_LEVELS = {"TRACE": 5, "SUCCESS": 25}


class _Logger:
    def __init__(self) -> None:
        self._log = logging.getLogger("lmms_eval")

    def log(self, level: str | int, message: object, *args: object, **kwargs: object) -> None:
        number = level if isinstance(level, int) else _LEVELS.get(level) or logging.getLevelName(level)
        self._log.log(number if isinstance(number, int) else logging.INFO, "%s", _filled(message, args, kwargs))

    def trace(self, message: object, *args: object, **kwargs: object) -> None:
        self.log("TRACE", message, *args, **kwargs)

    def debug(self, message: object, *args: object, **kwargs: object) -> None:
        self.log("DEBUG", message, *args, **kwargs)

    def info(self, message: object, *args: object, **kwargs: object) -> None:
        self.log("INFO", message, *args, **kwargs)

    def success(self, message: object, *args: object, **kwargs: object) -> None:
        self.log("SUCCESS", message, *args, **kwargs)

    def warning(self, message: object, *args: object, **kwargs: object) -> None:
        self.log("WARNING", message, *args, **kwargs)

    def error(self, message: object, *args: object, **kwargs: object) -> None:
        self.log("ERROR", message, *args, **kwargs)

    exception = critical = error

    def opt(self, *args: Any, **kwargs: Any) -> _Logger:
        return self

    bind = opt

    def add(self, *args: Any, **kwargs: Any) -> int:
        """Where messages go is for whoever started the program to say."""
        return 0

    def remove(self, *args: Any, **kwargs: Any) -> None:
        """As `add`."""


def _filled(message: object, args: tuple[object, ...], kwargs: dict[str, object]) -> str:
    """A message without values is no template: it may be a reply, full of braces."""
    if not args and not kwargs:
        return str(message)
    try:
        return str(message).format(*args, **kwargs)
    except (IndexError, KeyError, ValueError, AttributeError):
        return str(message)


logger = eval_logger = _Logger()
