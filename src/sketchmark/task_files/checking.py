"""A task file against its schema: what is wrong, where, and what was probably meant, in one line.

msgspec says what is wrong; this says where (msgspec does not name the key of a mapping), looks into open mappings
(`use` and its arguments), and knows the near misses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from sketchmark.errors import BadInput

_EXPECTED = re.compile(r"Expected `(.+?)`(, got `(.+?)`)?(?: - at .*)?$")
_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}
_PLAIN = (str, int, bool, NoneType)

T = TypeVar("T", bound=Struct)

Count = Annotated[int, Meta(ge=1)]

Path = tuple[object, ...]
"""The keys and places that lead to a value."""


def checked(
    config: object,
    kind: type[T],
    where: str,
    known: Iterable[str] = (),
    line_of: Callable[[Path], int] | None = None,
) -> T:
    """`config` as `kind`. `known` are keys of other kinds of file, for suggestions only; `line_of` names the line of
    what is wrong, where all of it stands in one file."""
    try:
        _check(config, kind, (), tuple(known))
        return msgspec.convert(config, kind)
    except _Wrong as wrong:
        line = f", line {line_of(wrong.path)}" if line_of else ""
        raise BadInput(f"{where}{line}: {wrong}", wrong.hint) from None
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: {_told((), error)}") from None


def nearly(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, "" where the name is known itself or resembles none."""
    known = list(known)
    close = [] if name in known else get_close_matches(name, known, n=1, cutoff=0.8)
    return close[0] if close else ""


class _Wrong(Exception):
    def __init__(self, message: str, path: Path, hint: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.hint = hint


def _check(value: Any, kind: Any, path: Path, known: tuple[str, ...] = ()) -> None:
    base, extra = _unwrapped(kind)
    if get_origin(base) in (Union, UnionType):
        arm = next((one for one in get_args(base) if _fits(value, one)), None)
        if arm is not None:
            _check(value, arm, path)
            return
    elif isinstance(base, type) and issubclass(base, Struct) and isinstance(value, dict):
        _check_struct(value, base, path, known)
    elif get_origin(base) is dict and isinstance(value, dict):
        key_kind, inner = get_args(base)
        for key, one in value.items():
            if key_kind is not Any:
                _check_name(key, key_kind, (*path, key))
            _check(one, inner, (*path, key))
    elif get_origin(base) is list and isinstance(value, list):
        for number, one in enumerate(value):
            _check(one, get_args(base)[0], (*path, number))
    elif base is Any:
        _check_plain(value, path)
        return
    _convert(value, kind, path)
    if "shape" in extra:
        _check_struct(value, extra["shape"], path, ())
    if "pattern" in extra and not re.fullmatch(extra["pattern"], value):
        raise _Wrong(f"{shown(path)} must be written as {extra['written as']}", path)


@cache
def _hints(kind: type[Struct]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _check_struct(value: Mapping[Any, Any], kind: type[Struct], path: Path, known: tuple[str, ...]) -> None:
    hints = _hints(kind)
    keys = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    for key, one in value.items():
        if key in keys:
            _check(one, hints[keys[key]], (*path, key))
        elif kind.__struct_config__.forbid_unknown_fields:
            close = _nearest(str(key), [*keys, *known])
            raise _Wrong(
                f"unknown key {shown((*path, key))}",
                (*path, key),
                f"did you mean {close}?" if close else f"known: {', '.join(keys)}",
            )
    _convert(value, kind, path)


def _nearest(key: str, known: list[str]) -> str:
    """One for several, or several for one, is the likeliest slip: `modes` is `mode`, however near `models` is."""
    number = [one for one in (key.removesuffix("s"), f"{key}s") if one in known]
    return next(iter(number or get_close_matches(key, known, n=1, cutoff=0.5)), "")


def _check_plain(value: Any, path: Path) -> None:
    """Arguments and settings end up in run.json, so they are what JSON knows."""
    if isinstance(value, dict):
        for key, one in value.items():
            if not isinstance(key, str):
                raise _Wrong(f"the name {shown((*path, key))} must be a text", (*path, key), "write it in quotes")
            _check_plain(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            _check_plain(one, (*path, number))
    elif not isinstance(value, _PLAIN) and not (isinstance(value, float) and math.isfinite(value)):
        raise _Wrong(
            f"{shown(path)} must be a text or a number, not {type(value).__name__}", path, "write it in quotes"
        )


def _check_name(key: Any, kind: Any, path: Path) -> None:
    try:
        _check(key, kind, path)
    except _Wrong as wrong:
        hint = "write it in quotes" if not isinstance(key, str) else ""
        raise _Wrong(f"the name {wrong}", path, hint) from None


def _convert(value: Any, kind: Any, path: Path) -> None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _Wrong(_told(path, error), path) from None


def _unwrapped(kind: Any) -> tuple[Any, dict[str, Any]]:
    """The type inside `Annotated`, and what schema.py says of it beyond msgspec: a shape or a pattern."""
    if get_origin(kind) is not Annotated:
        return kind, {}
    return kind.__origin__, {key: value for meta in kind.__metadata__ for key, value in (meta.extra or {}).items()}


def _fits(value: object, kind: Any) -> bool:
    base, _ = _unwrapped(kind)
    base = get_origin(base) or base
    if isinstance(base, type) and issubclass(base, Struct):
        return isinstance(value, dict)
    if isinstance(value, bool):
        return base is bool
    return isinstance(value, (int, float) if base is float else base)


def shown(path: Path) -> str:
    """`modes.visual_cot.prompts.inputs[2]`; keys that are not plain words are quoted and cut."""
    text = ""
    for key in path:
        if isinstance(key, int) and not isinstance(key, bool) and text:
            text += f"[{key}]"
            continue
        word = key if isinstance(key, str) and re.fullmatch(r"[\w@\-]{1,60}", key) else repr(key)[:60]
        text += f".{word}" if text else word
    return text or "the file"


def _told(path: Path, error: msgspec.ValidationError) -> str:
    text = str(error)
    if missing := re.search(r"missing required field `(.+?)`", text):
        return f"{shown((*path, missing[1]))} is missing"
    if match := _EXPECTED.fullmatch(text):
        wanted = " or ".join(dict.fromkeys(_WORDS.get(word, word) for word in match[1].split(" | ")))
        got = f", not {_WORDS.get(match[3], match[3])}" if match[3] else ""
        return f"{shown(path)} must be {wanted}{got}"
    return f"{shown(path)}: {text.partition(' - at ')[0]}"
