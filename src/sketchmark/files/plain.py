"""Records as plain JSON values: what is written to disk and sent to a browser.

What a model, a data set or a plug-in put into a record is written somehow, always: a run that has cost money does not
end because of one odd value. It is written as what it is wherever JSON can say it, else as a text that shows it:
numbers that JSON does not know by their names, lone surrogates as `well_formed` puts them, the rest by its `repr`,
cut.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import msgspec

DEEPEST = 100
"""Levels of lists and dicts that are looked into; what is written down goes no deeper."""

_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def well_formed(value: Any, depth: int = 0) -> Any:
    """The value with texts that can be written as UTF-8, also inside dicts and lists.

    Half a character (a lone surrogate: a reply cut in the middle of an emoji, a file name in another encoding) has no
    UTF-8. It becomes the six characters by which JSON and Python write it, `\\ud83d`: seen by whoever looks, and not
    lost. Two halves that belong together become their character. This is done where texts come in (a sample, a part,
    a reply), so that what is asked, scored and shown is what is written down.
    """
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub(_whole, value)
    if depth > DEEPEST:
        return value
    if isinstance(value, dict):
        return {well_formed(key): well_formed(item, depth + 1) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(well_formed(item, depth + 1) for item in value)
    return value


def _whole(found: re.Match[str]) -> str:
    if len(found[0]) == 2:
        return found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return f"\\u{ord(found[0]):04x}"


_LONGEST = 500
"""Characters of a value that JSON cannot say."""

_MOST_BITS = 4096
"""Of a whole number: Python refuses to write much longer ones."""


def plain(value: Any, depth: int = 0) -> Any:
    """Structs and dataclasses become dicts, sets and tuples lists, and numpy's numbers Python's."""
    kind = type(value)
    if kind is str:  # most values of most records are one of these, and every episode has hundreds
        return value if value.isascii() else well_formed(value)
    if kind is dict and depth <= DEEPEST:
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return well_formed(str(value))
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _MOST_BITS else _shown(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _name(value)
    if depth > DEEPEST:
        return _shown(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, depth + 1) for item in value), key=str)
    if isinstance(value, msgspec.Struct):
        return {name: plain(item, depth + 1) for name, item in _told(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth + 1) for field in fields(value)}
    return _foreign(value, depth)


def _told(record: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """Names and values, without those that go without saying."""
    brief = record.__struct_config__.omit_defaults
    for name, encoded, default in _fields(type(record)):
        value = getattr(record, name)
        if value is msgspec.UNSET or (brief and type(value) is type(default) and bool(value == default)):
            continue
        yield encoded, value


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Of each field its name, its name in the file, and its default."""
    return tuple((field.name, field.encode_name, _default(field)) for field in msgspec.structs.fields(kind))


def _default(field: msgspec.structs.FieldInfo) -> Any:
    made = field.default_factory is not msgspec.NODEFAULT
    return field.default_factory() if made else field.default


def _key(key: Any) -> Any:
    if type(key) is str and key.isascii():
        return key
    found = plain(key)
    return found if found is None or isinstance(found, (str, int, float)) else _shown(key)


def _foreign(value: Any, depth: int) -> Any:
    """Numpy's scalars and arrays by their `tolist`; dates and the like as msgspec writes them."""
    try:
        found = value.tolist() if hasattr(value, "tolist") else msgspec.to_builtins(value)
        return plain(found, depth + 1)
    except Exception:  # whatever a stranger's object does when it is looked at
        return _shown(value)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # also a RecursionError, and a number too long for Python to write
        text = f"<{type(value).__name__} that cannot be shown>"
    shown: str = well_formed(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
    return shown


def _name(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
