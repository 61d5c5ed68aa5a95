"""Keys: found in the environment or a .env file, handed to an SDK, and kept out of everything else.

Every key that is read is remembered here for as long as the process lives, so that `redact` can take it out of any
text a far server sends back (some echo the key they refuse), and the process's log records are redacted likewise:
HTTP libraries log response headers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from sketchmark.errors import BadInput

HIDDEN = "[key]"
_SHORTEST = 8
"""Shorter values are stand-ins ("EMPTY", "none") that would turn ordinary words into [key]."""

_known: set[str] = set()


def remember(secret: str) -> str:
    """Make `redact` hide this text, and its URL-quoted spelling, from now on."""
    if len(secret) >= _SHORTEST:
        if not _known:
            _redact_log_records()
        _known.update((secret, quote(secret, safe="")))
    return secret


def redact(text: str) -> str:
    """The text with every key read so far taken out; longest first, so that no tail of a longer key remains."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _redact_log_records() -> None:
    make_record = logging.getLogRecordFactory()

    def make_redacted(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make_record(*args, **kwargs)
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            return record  # a badly formatted record is for the logging module to complain about
        if redact(message) != message:
            record.msg, record.args = redact(message), ()
        return record

    logging.setLogRecordFactory(make_redacted)


def find_key(names: Sequence[str], env_file: Path | None = None) -> str | None:
    """The first of these variables that is set, in the environment or else in `.env` of the working folder.

    The file's values are not put into the environment: child processes and crash reports would inherit them.
    """
    for name in names:
        if os.environ.get(name):
            return remember(os.environ[name])
    kept = _read_env_file(env_file or Path(".env"))
    for name in names:
        if kept.get(name):
            return remember(kept[name])
    return None


def require_key(owner: str, names: Sequence[str]) -> str:
    key = find_key(names)
    if key is None:
        raise BadInput(
            f"{owner} needs a key and {' or '.join(names)} is not set",
            f"export {names[0]}=… or put it into .env; api_key_env=NAME names another variable",
        )
    return key


def without_credentials(url: str) -> str:
    """A URL as it may be written down: no user, password, query or fragment. What is cut is remembered as secret."""
    parts = urlsplit(url)
    for secret in (parts.password or "", *(value for _, value in parse_qsl(parts.query))):
        remember(secret)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def to_write_down(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A model's arguments without what may be in its addresses."""
    return {
        name: without_credentials(value) if isinstance(value, str) and "://" in value else value
        for name, value in arguments.items()
    }


def _read_env_file(path: Path) -> dict[str, str]:
    """As python-dotenv reads it, but `$` stays `$`: a key may hold one, and it must not be filled from elsewhere."""
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: value for name, value in values.items() if value}
