"""Texts of a task file with places for a document's columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from sketchmark.errors import BadInput, MissingExtra

_COLUMN = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_NEW_LINE = re.compile(r"\r\n|\r")


def is_plain(template: str) -> bool:
    """Whether there is nothing in it but `{{column}}`. Anything more is a small program."""
    rest = _COLUMN.sub("", template)
    return not any(sign in rest for sign in ("{{", "{%", "{#"))


def filled(template: str, doc: Mapping[str, Any], where: str) -> str:
    """As Jinja does it, also where it is not needed: a template loses one new line at its end."""
    if not is_plain(template):
        return _rendered(template, doc, where)

    def column(match: re.Match[str]) -> str:
        if match[1] not in doc:
            raise BadInput(f"{where} has no column {match[1]!r}", f"it has: {', '.join(doc)}")
        return str(doc[match[1]])

    return _COLUMN.sub(column, _NEW_LINE.sub("\n", template).removesuffix("\n"))


def _rendered(template: str, doc: Mapping[str, Any], where: str) -> str:
    """By Jinja, as lmms-eval does it. Only for files whose code is trusted: a template can run for ever."""
    try:
        jinja, sandbox = import_module("jinja2"), import_module("jinja2.sandbox")
    except ImportError as error:
        raise MissingExtra(f"{where}, whose template is more than columns,", "templates") from error
    environment = sandbox.SandboxedEnvironment(undefined=jinja.StrictUndefined)
    environment.filters["regex_replace"] = lambda text, pattern, repl, count=0: re.sub(
        pattern, repl, text, count=count
    )
    try:
        return str(environment.from_string(template).render(**doc))
    except (jinja.TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{where}: its template fails: {type(error).__name__}: {error}") from error
