"""YAML from strangers, read within bounds: nothing here runs code, hangs, or fills the memory."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput

MOST_BYTES = 4_000_000
MOST_ALIASES = 100
MOST_VALUES = 20_000
"""With every alias written out: a file of a few lines can stand for more values than there is memory."""

MOST_DEEP = 40


def load(path: Path) -> dict[Any, Any]:
    """The mapping in a YAML file. Whatever is wrong with it is one line that names the file."""
    import yaml

    try:
        if not path.is_file():
            raise BadInput(f"cannot read task file {path}: no such file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadInput(f"task file {path} is larger than {MOST_BYTES // 1_000_000} MB")
        text = data.decode("utf-8-sig")
        if excess := _excess(text):
            raise BadInput(f"task file {path} {excess}")
        config = yaml.load(text, Loader=_loader())
    except BadInput:
        raise
    except Exception as error:  # besides YAMLError, YAML's constructors raise whatever int() and date() do
        raise BadInput(f"cannot read task file {path}: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(config, dict):
        raise BadInput(f"task file {path} is not a mapping")
    return config


def _excess(text: str) -> str:
    """What makes a text too much to read, found without building any of it."""
    import yaml

    open_anchors: list[str | None] = []
    anchors: dict[str, int] = {}
    sizes = [0]
    aliases = 0
    for event in yaml.parse(text, Loader=_loader()):
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            if event.anchor in open_anchors:
                return f"refers to itself (*{event.anchor})"
            sizes[-1] += anchors.get(str(event.anchor), 1)
        elif isinstance(event, yaml.ScalarEvent):
            sizes[-1] += 1
            if event.anchor:
                anchors[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_anchors.append(event.anchor)
            sizes.append(1)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_anchors.pop(), sizes.pop()
            sizes[-1] += size
            if anchor:
                anchors[anchor] = size
        if len(open_anchors) > MOST_DEEP:
            return f"is nested more than {MOST_DEEP} deep"
        if aliases > MOST_ALIASES:
            return f"has more than {MOST_ALIASES} aliases"
        if sizes[-1] > MOST_VALUES:
            return f"stands for more than {MOST_VALUES} values"
    return ""


@cache
def _loader() -> Any:
    """The safe YAML loader, with lmms-eval's `!function` kept as plain text until the code is trusted."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    Loader.add_constructor("!function", lambda loader, node: {"!function": loader.construct_scalar(node)})
    return Loader
