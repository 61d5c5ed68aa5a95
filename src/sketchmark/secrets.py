"""Keys: read from the environment or a .env file, passed to an SDK, and kept out of everything else.

Every key that is read is remembered while the process lives, so that `redact` can remove it from any text that a
server sends back (some echo the key they refuse). Log records are redacted too: HTTP libraries log response headers.
The environment's other secrets are also remembered, for users' own models that read their keys themselves.
"""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import scrypt
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

from sketchmark.errors import BadInput

HIDDEN = "[key]"
_SHORTEST = 8
"""Shorter values are placeholders ("EMPTY", "none") that would turn ordinary words into [key]."""
_MADE_UP = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])\S{12,1000}")
"""Values of other variables that may be keys: DB_PASSWORD may hold an ordinary word."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:key|pass|pwd|pat|auth|authorization|bearer|cookie|jwt)$"
    r"|(?:api|access|secret|auth|private|signing)_?keys?$"
    r"|(?:token|secrets?|passw(?:or)?ds?|passphrase|credentials?)$"
)
_KEY_FORM = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|pk|rk|gsk|r8|hf|glpat|nvapi|xai|xox[abprs]|gh[opsru]|github_pat)[-_](?=[\w-]*\d)[\w-]{16,}"  # by maker
    r"|AIza[\w-]{30,}|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"  # a JSON web token
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    r")"
)

_known: dict[str, tuple[str, ...]] = {}
_spellings: tuple[str, ...] = ()


def remember(secret: str, shortest: int = _SHORTEST) -> str:
    """Make `redact` hide this text in any spelling. Returns it without surrounding white space."""
    global _spellings
    secret = secret.strip()
    if len(secret) >= shortest and secret not in _known:
        if not _known:
            _redact_log_records()
        _known[secret] = tuple(_spelt(secret))
        _spellings = tuple(sorted({form for forms in _known.values() for form in forms}, key=len, reverse=True))
    return secret


def _spelt(secret: str) -> Iterator[str]:
    """Yield its spellings: plain, and in URLs, Python, JSON, HTML and base64 (also after `user:` or `Bearer `)."""
    yield from (secret, quote(secret, safe=""), quote(secret), quote_plus(secret), html.escape(secret))
    yield from (repr(secret)[1:-1], repr(secret.encode())[2:-1], json.dumps(secret)[1:-1])
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    for before in range(3):
        # Three bytes are four letters: text before the key shifts it, and it shares the letters at its ends.
        letters = base64.b64encode(bytes(before) + secret.encode()).decode()
        inner = letters[(0, 2, 3)[before] : 4 * ((before + len(secret.encode())) // 3)]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))


def redact(text: str) -> str:
    """Remove every known key from a text, longest first, so that no tail of a longer key remains."""
    for spelling in _spellings:
        text = text.replace(spelling, HIDDEN)
    return text


def redact_all(value: Any) -> Any:
    """Remove the keys from every text in a JSON value."""
    if isinstance(value, str):
        return redact(value)
    if not isinstance(value, dict | list | tuple):
        return value
    # Hardly any reply holds a key, and one long text is searched faster than many short ones.
    everything = "\0".join(texts_in(value)) if _spellings else ""
    if not any(spelling in everything for spelling in _spellings):
        return list(value) if isinstance(value, tuple) else value
    if isinstance(value, dict):
        return {redact_all(name): redact_all(item) for name, item in value.items()}
    return [redact_all(item) for item in value]


def holds_key(data: bytes) -> bool:
    """Return whether bytes, such as the metadata of an image, hold a known key."""
    forms = ((form.encode("utf-8", "replace"), form.encode("utf-16-le", "replace")) for form in _spellings)
    return any(form in data or wide in data for form, wide in forms)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, names of mappings too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from texts_in(name)
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def _redact_log_records() -> None:
    make_record = logging.getLogRecordFactory()

    def make_redacted(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make_record(*args, **kwargs)
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            return record  # the logging module reports a badly formatted record
        if redact(message) != message:
            record.msg, record.args = redact(message), ()
        return record

    logging.setLogRecordFactory(make_redacted)


def find_key(names: Sequence[str], env_file: Path | None = None) -> str | None:
    """Return the first of these variables that is set, in the environment or else in `.env` of the working folder.

    The file's values are not put into the environment: child processes and crash reports would inherit them. White
    space around a key (usually a line end from a file) is removed: no server would accept it.
    """
    kept = _read_env_file(env_file or Path(".env"))
    for source in (os.environ, kept):
        for name in names:
            if key := source.get(name, "").strip():
                remember(key)
                if not (key.isascii() and key.isprintable()):
                    what = (
                        "a line end or another control character"
                        if key.isascii()
                        else "a character that is not ASCII"
                    )
                    raise BadInput(f"the key in {name} holds {what}", "copy it again, as one line of plain letters")
                return key
    return None


_UNNEEDED: list[str] = []


@contextmanager
def keys_not_needed() -> Iterator[None]:
    """Accept models without a key: a dry run makes no call."""
    _UNNEEDED.append("no-key-needed")
    try:
        yield
    finally:
        _UNNEEDED.pop()


def require_key(owner: str, names: Sequence[str]) -> str:
    key = find_key(names)
    if key is None and _UNNEEDED:
        return _UNNEEDED[-1]
    if key is None:
        raise BadInput(
            f"{owner} needs a key and {' or '.join(names)} is not set",
            f"export {names[0]}=… or put it into .env; api_key_env=NAME names another variable",
        )
    return key


def _remember_environment() -> None:
    """Remember the values of all variables with secret names: a user's own model reads its key itself."""
    for name, value in {**_read_env_file(Path(".env")), **os.environ}.items():
        if _is_secret_name(name) and _MADE_UP.fullmatch(value.strip()) and not Path(value.strip()).exists():
            remember(value)


def without_credentials(url: str) -> str:
    """Return a URL without user, password, query and fragment. The removed parts are remembered as secrets."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise BadInput(f"{url!r} is not an address: {error}") from error
    login, _, host = parts.netloc.rpartition("@")
    asked = (value for name, value in parse_qsl(parts.query) if name != "api-version")
    for secret in (parts.password or "", unquote(parts.password or ""), parts.fragment, *asked):
        remember(secret)
    for name in filter(None, {login.partition(":")[0], unquote(login.partition(":")[0])}):
        # An ordinary short word ("user") stays in replies, unless it is next to the password or the host.
        remember(name, 4 if any(map(str.isdigit, name)) else _SHORTEST)
        remember(f"{name}@{host}")
    remember(unquote(login))
    path = redacted(parts.path.rstrip("/"))
    return urlunsplit((parts.scheme, host, path, "", ""))


def address_digests(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return `base_url_digest` and the like for addresses that `without_credentials` shortens. Two such addresses are
    two models. The digest is slow to compute, so that a short password cannot be guessed from it."""
    texts = {name: value for name, value in settings.items() if isinstance(value, str) and "://" in value}
    return {f"{name}_digest": found for name, value in texts.items() if (found := address_digest(value))}


@lru_cache(maxsize=100)
def address_digest(value: str) -> str:
    """Return a digest of an address, or of several with bars, keyed by the part that may be shown. Empty if all of it
    may be shown."""
    shown = _addresses(value)
    if "|".join(one.rstrip("/") for one in value.split("|")) == shown:
        return ""
    return scrypt(value.encode(), salt=f"sketchmark {shown}".encode(), n=2**14, r=8, p=1, dklen=8).hex()


def to_write_down(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's arguments or identity for a run folder: addresses have no secrets, and keys are refused.

    A setting is a key by its name or by its value. Keys belong in the environment.
    """
    _remember_environment()
    written = {
        name: _addresses(value) if isinstance(value, str) and "://" in value else value
        for name, value in settings.items()
    }
    for name in keys_in(written):
        raise BadInput(
            f"{name}=… is a key or looks like one, and would be written down for others to see",
            "put it in the environment, where the model reads it; if it is not a key, give the setting another name",
        )
    return written


def _addresses(value: str) -> str:
    """Clean an address, or several with bars between them."""
    several = value.split("|")
    return "|".join(map(without_credentials, several if all("://" in one for one in several) else [value]))


def redacted(value: object) -> str:
    """Return a setting's value for an error message: a key may have been given in the wrong place."""
    return redact(_KEY_FORM.sub(HIDDEN, str(value)))


def keys_in(settings: Mapping[str, Any], inside: str = "") -> Iterator[str]:
    """Yield the settings that are keys, by name or by value: `model_args.api_key`."""
    for name, value in settings.items():
        where = f"{inside}{name}"
        if isinstance(value, Mapping):
            yield from keys_in(value, f"{where}.")
        elif isinstance(value, list | tuple):
            yield from keys_in({str(i): item for i, item in enumerate(value)}, f"{where}.")
        elif redacted(value) != str(value) or (_is_secret_name(str(name)) and _may_be_key(value)):
            yield where


def _is_secret_name(name: str) -> bool:
    """Match `my_token`, `apiKey`, `DB_PASSWORD2`, but not `max_tokens`, `tokenizer`, `key_frames`, `api_key_env`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower()
    return _SECRET_NAME.search(words.rstrip("0123456789_")) is not None


def _may_be_key(value: object) -> bool:
    """Exclude switches, small numbers and a tokenizer's marks: `eos_token=</s>`, `image_token=<image>`."""
    if isinstance(value, str):
        return bool(value) and re.fullmatch(r"<.*>|\[.*\]", value) is None
    return not isinstance(value, bool) and value is not None and len(str(value)) >= _SHORTEST


def _read_env_file(path: Path) -> dict[str, str]:
    """Read a .env file. `$` stays `$`: a key may hold one, and it must not be expanded."""
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: value for name, value in values.items() if value}
