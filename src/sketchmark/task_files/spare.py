"""Imports of a file that what is wanted of it can do without.

The Python file of a task often serves many: at its top it imports what any of them needs, and one such package that
is not installed, or cannot be, would keep all of them from running.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NoReturn

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def spare_imports(file: Path, wanted: frozenset[str]) -> frozenset[int]:
    """The lines of imports at the top of a file whose names neither the `wanted` functions use, nor anything of the
    file that these use in turn, nor what runs when the file is imported. Imports inside `try` are never spare: their
    author has seen to it."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return frozenset()
    defined: dict[str, set[str]] = {}
    used = set(wanted)
    for node in body:
        if isinstance(node, Definition):
            defined[node.name] = set(_names(node))
            used.update(name for part in _run_at_once(node) for name in _names(part))
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            used.update(_names(node))
    waiting = list(used)
    while waiting:
        new = defined.get(waiting.pop(), set()) - used
        used |= new
        waiting += new
    return frozenset(
        line
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom) and (used | {"*"}).isdisjoint(_bound(node))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _names(node: ast.AST) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _run_at_once(node: Definition) -> list[ast.expr]:
    """Of a definition: decorators, default values, bases and a class's own statements run when the file is."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases]
    arguments = node.args
    return [*node.decorator_list, *arguments.defaults, *(one for one in arguments.kw_defaults if one)]


def _bound(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for alias in node.names}


class NotInstalled(ModuleType):
    """What stands in for such a module, and for all that is imported from it, until somebody does use it."""

    def __init__(self, name: str, missing: str) -> None:
        super().__init__(name)
        self.__missing = missing

    def __getattr__(self, name: str) -> NotInstalled:
        if name.startswith("__"):
            raise AttributeError(name)
        return NotInstalled(f"{self.__name__}.{name}", self.__missing)

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise ModuleNotFoundError(f"No module named {self.__missing!r}", name=self.__missing)

    __iter__ = __getitem__ = __enter__ = __mro_entries__ = __call__
