"""Fill the tables of docs/run-folder.md from the types that read and write a run folder.

python docs/make_run_folder.py

Between `<!-- fields of NAME -->` and `<!-- end -->` there is one row per field of that type, with the text under the
field in the source.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import msgspec

from sketchmark.folder import format as run_format
from sketchmark.folder import results_format
from sketchmark.models import cache as reply_record
from sketchmark.settings import Field, Settings, fields

PAGE = Path(__file__).with_name("run-folder.md")
_TABLE = re.compile(r"(<!-- fields of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def kinds() -> dict[str, type[msgspec.Struct]]:
    """Return every type of a run folder by name."""
    found = {**vars(reply_record), **vars(run_format), **vars(results_format)}
    return {
        name: kind
        for name, kind in found.items()
        if inspect.isclass(kind) and issubclass(kind, msgspec.Struct) and kind is not msgspec.Struct
    }


def meanings(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Return the text under each field in the source, also of inherited fields."""
    if kind is Settings:
        return {field.name: _said(field) for field in fields("J")}
    told: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if one.__module__.startswith("sketchmark."):
            told |= _told(one)
    return {name: told.get(name, "") for name in kind.__struct_encode_fields__}


def _said(field: Field) -> str:
    return f"`{field.option}`: {field.about.help}" if "C" in field.about.where else field.about.help


def _told(kind: type) -> dict[str, str]:
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    told = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            told[field.target.id] = " ".join(inspect.cleandoc(ast.literal_eval(below.value)).split())
    return told


def page(text: str) -> str:
    """Return the page with its tables filled again."""

    def table(found: re.Match[str]) -> str:
        rows = [f"| `{name}` | {meaning} |" for name, meaning in meanings(kinds()[found[2]]).items()]
        return "\n".join([found[1] + "| key | meaning |", "|---|---|", *rows, found[3]])

    return _TABLE.sub(table, text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
