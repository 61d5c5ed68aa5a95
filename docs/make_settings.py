"""Writes what is generated from the settings record: the keywords of `sketchmark.run` and the tables of two pages.

python docs/make_settings.py

`src/sketchmark/settings/__init__.py` is the only place to edit. `tests/core/test_settings.py` compares.
"""

from __future__ import annotations

import re
from pathlib import Path

from sketchmark.settings import FIELDS, Field, fields
from sketchmark.settings.run_file import ModelEntry, RunFile, TaskEntry

DOCS = Path(__file__).parent
API = DOCS.parent / "src/sketchmark/api.py"
PAGE = DOCS / "settings.md"
RUN_FILES = DOCS / "several-models.md"

_TYPES = {
    "names": "Names",
    "words": "Names",
    "arguments": "Arguments",
    "path": "Folder",
    "output": "Folder",
    "paths": "Name | Sequence[Name]",
    "prices": "Prices",
    "model": "str | Model",
    "limit": "Limit",
    "text": "str",
    "shard": "str",
    "batch size": "int | str",
    "whole": "int",
    "number": "float",
    "flag": "bool",
}
_OPTIONAL = ("path", "output", "prices")
"""Kinds whose Python type includes None."""
_PLACES = {"F": "file", "T": "task", "M": "model"}


def keyword(field: Field) -> str:
    """Write a keyword of `sketchmark.run`, with its type and default."""
    kind, default = _TYPES[field.kind], field.default
    if field.kind in _OPTIONAL:
        default = None
    elif field.kind == "arguments":
        default = ""
    elif default is None:
        kind += " | None"
    written = f'"{default}"' if isinstance(default, str) else repr(default)
    return f"    {field.name}: {kind} = {written},"


def row(field: Field) -> str:
    option = ", ".join(f"`{name}`" for name in (field.option, field.about.flag) if name)
    places = ", ".join(name for letter, name in _PLACES.items() if letter in field.about.where)
    default = f"`{field.default}`" if field.default or field.kind in ("whole", "number") else ""
    default = "" if field.default is None else default
    return f"| {option} | {places} | {default} | {field.about.help.replace('|', chr(92) + '|')} |"


def api(text: str) -> str:
    """Return the module with its keywords made from the record."""
    keywords = [keyword(field) for field in fields("P") if field.name not in ("model", "tasks")]
    return _between(text, "    # settings", "    # end of settings", keywords)


def page(text: str) -> str:
    """Return the page with its table made from the record."""
    rows = [row(field) for field in fields("C") if not field.about.hidden]
    head = ["| option | run file | default | meaning |", "|---|---|---|---|"]
    return _between(text, "<!-- settings -->", "<!-- end -->", [*head, *rows])


def run_files(text: str) -> str:
    """Return the page with the keys of run files made from the record."""
    rows = ["| mapping | keys |", "|---|---|"]
    for name, block in (("the file", RunFile), ("a task", TaskEntry), ("a model", ModelEntry)):
        keys = [key for key in block.__struct_fields__ if key not in FIELDS or not FIELDS[key].about.hidden]
        rows.append(f"| {name} | {' '.join(f'`{key}`' for key in keys)} |")
    return _between(text, "<!-- settings -->", "<!-- end -->", rows)


def _between(text: str, start: str, end: str, lines: list[str]) -> str:
    made = "\n".join([start, *lines, end])
    return re.sub(f"{re.escape(start)}\n.*?{re.escape(end)}", lambda found: made, text, count=1, flags=re.DOTALL)


MADE = {API: api, PAGE: page, RUN_FILES: run_files}

if __name__ == "__main__":
    for path, make in MADE.items():
        path.write_text(make(path.read_text("utf-8")), "utf-8")
