"""YAML from strangers, read within bounds: nothing here runs code, hangs, or fills the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput

MOST_BYTES = 4_000_000
MOST_ALIASES = 100
MOST_VALUES = 20_000
"""With every alias written out: a file of a few lines can stand for more values than there is memory."""

MOST_DEEP = 40

_MAPPING = True
"""A level of a text that is a mapping and not a list."""


def load(path: Path, what: str = "task file") -> dict[Any, Any]:
    """The mapping in a YAML file. Whatever is wrong with it is one line that names the file."""
    config, repeated = load_with_repeats(path, what)
    if repeated:
        raise BadInput(repeated)
    return config


def load_with_repeats(path: Path, what: str = "task file") -> tuple[dict[Any, Any], str]:
    """The same, where a key may stand twice in one mapping: the last one counts, and beside it is said where."""
    import yaml

    try:
        text = _text(path, what)
        trouble, repeated = _trouble(text)
        if trouble:
            raise BadInput(f"{what} {path} {trouble}")
        config = yaml.load(text, Loader=_loader())
    except BadInput:
        raise
    except Exception as error:  # besides YAMLError, YAML's constructors raise whatever int() and date() do
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
    """What stands at the top of a YAML file, whatever is wrong with it further down: its keys, each with its texts.
    `broken` where not even that could be read to the end."""

    keys: dict[str, list[str]] = field(default_factory=dict)
    broken: bool = False


def glance(path: Path) -> Glance:
    """Nothing is built of it, so that any YAML may be looked at: of several documents, or with tags of its own."""
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
    """In which line of a file that `load` has read the value under `keys` stands, or the nearest around it."""
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
    """A list or mapping that is being read: how many values it stands for, and which keys it has had."""

    anchor: str | None
    keys: set[str] | None
    size: int = 1
    at_key: bool = True

    def twice(self, event: Any) -> str:
        """The key that `event` repeats, if it does. `<<` merges, and may do so more than once."""
        if self.keys is None:
            return ""
        self.at_key, is_key = not self.at_key, self.at_key
        key = getattr(event, "value", "") if is_key else ""
        if key in self.keys and key != "<<":
            return str(key)
        self.keys.update([key] if key else [])
        return ""


def _trouble(text: str) -> tuple[str, str]:
    """What makes a text too much to read, and which key it has twice, found without building any of it."""
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
    """The safe YAML loader, with lmms-eval's `!function` kept as plain text until the code is trusted."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    Loader.add_constructor("!function", lambda loader, node: {"!function": loader.construct_scalar(node)})
    return Loader
