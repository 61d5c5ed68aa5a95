"""YAML files, read within bounds and checked against a schema, with errors in one line.

msgspec says what is wrong. This module adds the place (msgspec does not name the key of a mapping), checks open
mappings (`use` and its arguments), and suggests similar names. Untrusted YAML can run no code, block the program or
fill the memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
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

KeyPath = tuple[object, ...]
"""The keys and indices that lead to a value."""


def checked(
    config: object,
    kind: type[T],
    where: str,
    known: Iterable[str] = (),
    line_of: Callable[[KeyPath], int] | None = None,
) -> T:
    """Return `config` as `kind`. `known`: keys of other files, to suggest. `line_of` finds the line of an error."""
    try:
        _check(config, kind, (), tuple(known))
        return msgspec.convert(config, kind)
    except _Wrong as wrong:
        line = f", line {line_of(wrong.path)}" if line_of else ""
        raise BadInput(f"{where}{line}: {wrong}", wrong.hint) from None
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: {_told((), error)}") from None


def nearly(name: str, known: Iterable[str]) -> str:
    """Return the known name that was probably meant; empty if the name is known or resembles none."""
    known = list(known)
    close = [] if name in known else get_close_matches(name, known, n=1, cutoff=0.8)
    return close[0] if close else ""


class _Wrong(Exception):
    def __init__(self, message: str, path: KeyPath, hint: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.hint = hint


def _check(value: Any, kind: Any, path: KeyPath, known: tuple[str, ...] = ()) -> None:
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
        raise _Wrong(f"{dotted(path)} must be written as {extra['written as']}", path)


@cache
def _hints(kind: type[Struct]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _check_struct(value: Mapping[Any, Any], kind: type[Struct], path: KeyPath, known: tuple[str, ...]) -> None:
    hints = _hints(kind)
    keys = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    for key, one in value.items():
        if key in keys:
            _check(one, hints[keys[key]], (*path, key))
        elif kind.__struct_config__.forbid_unknown_fields:
            close = _nearest(str(key), [*keys, *known])
            raise _Wrong(
                f"unknown key {dotted((*path, key))}",
                (*path, key),
                f"did you mean {close}?" if close else f"known: {', '.join(keys)}",
            )
    _convert(value, kind, path)


def _nearest(key: str, known: list[str]) -> str:
    """Return the most similar key. A missing or extra `s` is the likeliest slip: `modes` is `mode`, not `models`."""
    number = [one for one in (key.removesuffix("s"), f"{key}s") if one in known]
    return next(iter(number or get_close_matches(key, known, n=1, cutoff=0.5)), "")


def _check_plain(value: Any, path: KeyPath) -> None:
    """Check that arguments and settings are JSON values, because run.json keeps them."""
    if isinstance(value, dict):
        for key, one in value.items():
            if not isinstance(key, str):
                raise _Wrong(f"the name {dotted((*path, key))} must be a text", (*path, key), "write it in quotes")
            _check_plain(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            _check_plain(one, (*path, number))
    elif not isinstance(value, _PLAIN) and not (isinstance(value, float) and math.isfinite(value)):
        raise _Wrong(
            f"{dotted(path)} must be a text or a number, not {type(value).__name__}", path, "write it in quotes"
        )


def _check_name(key: Any, kind: Any, path: KeyPath) -> None:
    try:
        _check(key, kind, path)
    except _Wrong as wrong:
        hint = "write it in quotes" if not isinstance(key, str) else ""
        raise _Wrong(f"the name {wrong}", path, hint) from None


def _convert(value: Any, kind: Any, path: KeyPath) -> None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _Wrong(_told(path, error), path) from None


def _unwrapped(kind: Any) -> tuple[Any, dict[str, Any]]:
    """Return the type inside `Annotated`, and the shape or pattern that schema.py adds to it."""
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


def dotted(path: KeyPath) -> str:
    """Return `modes.visual_cot.prompts.inputs[2]`; unusual keys are quoted and shortened."""
    text = ""
    for key in path:
        if isinstance(key, int) and not isinstance(key, bool) and text:
            text += f"[{key}]"
            continue
        word = key if isinstance(key, str) and re.fullmatch(r"[\w@\-]{1,60}", key) else repr(key)[:60]
        text += f".{word}" if text else word
    return text or "the file"


def _told(path: KeyPath, error: msgspec.ValidationError) -> str:
    text = str(error)
    if missing := re.search(r"missing required field `(.+?)`", text):
        return f"{dotted((*path, missing[1]))} is missing"
    if match := _EXPECTED.fullmatch(text):
        wanted = " or ".join(dict.fromkeys(_WORDS.get(word, word) for word in match[1].split(" | ")))
        got = f", not {_WORDS.get(match[3], match[3])}" if match[3] else ""
        return f"{dotted(path)} must be {wanted}{got}"
    return f"{dotted(path)}: {text.partition(' - at ')[0]}"


MOST_BYTES = 4_000_000
MOST_ALIASES = 100
MOST_VALUES = 20_000
"""Counted with every alias expanded: a few lines can expand to more values than fit in memory."""

MOST_DEEP = 40

_MAPPING = True
"""A level of a text that is a mapping and not a list."""


def load(path: Path, what: str = "task file") -> dict[Any, Any]:
    """Read the mapping in a YAML file. Any error is one line that names the file."""
    config, repeated = load_with_repeats(path, what)
    if repeated:
        raise BadInput(repeated)
    return config


def load_with_repeats(path: Path, what: str = "task file") -> tuple[dict[Any, Any], str]:
    """Read a file whose mappings may repeat a key (the last counts), and return where it was repeated."""
    import yaml

    try:
        text = _text(path, what)
        trouble, repeated = _trouble(text)
        if trouble:
            raise BadInput(f"{what} {path} {trouble}")
        config = yaml.load(text, Loader=_loader())
    except BadInput:
        raise
    except Exception as error:  # besides YAMLError, constructors raise the errors of int() and date()
        raise BadInput(f"cannot read {what} {path}: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(config, dict):
        raise BadInput(f"{what} {path} is not a mapping")
    return config, f"{what} {path} {repeated}" if repeated else ""


def _text(path: Path, what: str) -> str:
    if not path.is_file():
        raise BadInput(f"cannot read {what} {path}: no such file")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BadInput(f"{what} {path} is larger than {MOST_BYTES // 1_000_000} MB")
    return data.decode("utf-8-sig")


@dataclass
class Glance:
    """The top-level keys of a YAML file, each with its texts. `broken` if these could not be read to the end."""

    keys: dict[str, list[str]] = field(default_factory=dict)
    broken: bool = False


def glance(path: Path) -> Glance:
    """Scan any YAML without building values, even with several documents or unknown tags."""
    import yaml

    seen = Glance()
    levels: list[bool] = []
    key, at_key = "", True
    try:
        for event in islice(yaml.parse(_text(path, "file"), Loader=_loader()), MOST_VALUES):
            if isinstance(event, yaml.NodeEvent):
                text = event.value if isinstance(event, yaml.ScalarEvent) else ""
                if levels == [_MAPPING]:
                    key, at_key = (text, False) if at_key else (key, True)
                    seen.keys.setdefault(key, []).extend([text] if at_key and text else [])
                elif len(levels) == 2 and levels[0] is _MAPPING and text:
                    seen.keys[key].append(text)
                if isinstance(event, yaml.CollectionStartEvent):
                    levels.append(isinstance(event, yaml.MappingStartEvent))
            elif isinstance(event, yaml.CollectionEndEvent):
                levels.pop()
    except (BadInput, OSError, ValueError, yaml.YAMLError):
        seen.broken = True
    return seen


def line_of(path: Path, keys: Sequence[object]) -> int:
    """Return the line of the value under `keys` in a file that `load` has read, or of the nearest one around it."""
    import yaml

    node = yaml.compose(path.read_text("utf-8-sig"), Loader=_loader())
    line = 0
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = next(((name, value) for name, value in node.value if name.value == str(key)), None)
            at, node = found or (None, None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            at = node = node.value[key]
        else:
            break
        line = at.start_mark.line if at is not None and at.start_mark else line
    return int(line) + 1


@dataclass
class _Level:
    """A list or mapping that is being read: the number of values it expands to, and its keys so far."""

    anchor: str | None
    keys: set[str] | None
    size: int = 1
    at_key: bool = True

    def twice(self, event: Any) -> str:
        """Return the key that `event` repeats, if it does. `<<` merges, and may appear more than once."""
        if self.keys is None:
            return ""
        self.at_key, is_key = not self.at_key, self.at_key
        key = getattr(event, "value", "") if is_key else ""
        if key in self.keys and key != "<<":
            return str(key)
        self.keys.update([key] if key else [])
        return ""


def _trouble(text: str) -> tuple[str, str]:
    """Return why a text is too large to read, and which key it has twice, without building values."""
    import yaml

    levels = [_Level(None, None)]
    anchors: dict[str, int] = {}
    aliases, repeated = 0, ""
    for event in yaml.parse(text, Loader=_loader()):
        if isinstance(event, yaml.NodeEvent) and (twice := levels[-1].twice(event)) and not repeated:
            line = event.start_mark.line + 1 if event.start_mark else 0
            repeated = f"has the key {twice[:60]!r} twice in one mapping, again in line {line}"
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            if any(level.anchor == event.anchor for level in levels):
                return f"refers to itself (*{event.anchor})", ""
            levels[-1].size += anchors.get(str(event.anchor), 1)
        elif isinstance(event, yaml.ScalarEvent):
            levels[-1].size += 1
            if event.anchor:
                anchors[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            levels.append(_Level(event.anchor, set() if isinstance(event, yaml.MappingStartEvent) else None))
        elif isinstance(event, yaml.CollectionEndEvent):
            done = levels.pop()
            levels[-1].size += done.size
            if done.anchor:
                anchors[done.anchor] = done.size
        if len(levels) - 1 > MOST_DEEP:
            return f"is nested more than {MOST_DEEP} deep", ""
        if aliases > MOST_ALIASES:
            return f"has more than {MOST_ALIASES} aliases", ""
        if levels[-1].size > MOST_VALUES:
            return f"stands for more than {MOST_VALUES} values", ""
    return "", repeated


@cache
def _loader() -> Any:
    """Return the safe YAML loader. lmms-eval's `!function` is kept as plain text until the code is trusted."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    Loader.add_constructor("!function", lambda loader, node: {"!function": loader.construct_scalar(node)})
    return Loader
