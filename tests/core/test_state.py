"""Modules hold no state that changes at run time, and library code does not print."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sketchmark

ROOT = Path(sketchmark.__file__).parent

KNOWN = {
    "secrets.py": {"global _spellings", "_known", "_UNNEEDED"},  # keys are known to the whole process
}
"""Exceptions by file, each with its reason."""

PRINTERS = ("terminal/", "commands/", "cli.py", "progress.py")
"""The terminal, progress displays and commands."""

_PRINTING = {"tell", "tell_all", "tell_wrapped", "notice", "print"}
_MUTATING = {
    *("append", "add", "update", "pop", "setdefault", "clear", "extend", "remove", "discard", "insert", "popitem"),
    *("appendleft", "popleft", "extendleft", "difference_update", "intersection_update", "sort", "reverse"),
}


def state_in(source: str) -> set[str]:
    """Find the module state of a file that changes at run time."""
    tree = ast.parse(source)
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="contextvars") if any(name.name != "copy_context" for name in node.names):
                found.add("ContextVar")
            case ast.Import() if any(name.name == "contextvars" for name in node.names):
                found.add("ContextVar")
            case ast.Global():
                found.update(f"global {name}" for name in node.names)
            case ast.Attribute(attr="__signature__", ctx=ast.Store()):
                found.add("__signature__")
            case ast.Subscript(slice=ast.Constant(value="__signature__"), ctx=ast.Store()):
                found.add("__signature__")
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value="__signature__"), *_]):
                found.add("__signature__")
    top = set(_bound(tree))
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found.update(top & set(_mutated(function)) - _own_names(function))
    return found


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names that the module's top level binds to values, in blocks like `if` too."""
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _own_names(function: ast.AST) -> set[str]:
    own, declared = set(), set()
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                own.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if node is not function:
                own.add(name)
            case ast.Global(names=names):
                declared.update(names)
    return own - declared


def _mutated(function: ast.AST) -> Iterator[str]:
    """Names whose value the function changes: by a method, an item, an attribute or an operator like `|=`."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _MUTATING:
                yield name
            case ast.Subscript() | ast.Attribute() if isinstance(node.ctx, (ast.Store, ast.Del)):
                if isinstance(node.value, ast.Name):
                    yield node.value.id


def prints_in(source: str) -> set[str]:
    """Find calls of functions that print. A file may take a `tell` as an argument: its caller owns that one."""
    tree = ast.parse(source)
    taken = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _PRINTING - taken:
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="terminal" | "telling"), attr=name)):
                if name in _PRINTING:
                    found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="warnings"), attr="warn")):
                found.add("warnings.warn")
            case ast.ImportFrom(module="warnings") if any(name.name == "warn" for name in node.names):
                found.add("warnings.warn")
    return found


def _files() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_no_module_holds_state_that_changes() -> None:
    found = {name: state for name, source in _files() if (state := state_in(source))}
    assert found == KNOWN


def test_no_library_code_prints() -> None:
    library = [(name, source) for name, source in _files() if not name.startswith(PRINTERS)]
    assert {name: calls for name, source in library if (calls := prints_in(source))} == {}


@pytest.mark.parametrize(
    ("source", "state"),
    [
        ("from contextvars import ContextVar", "ContextVar"),
        ("import contextvars", "ContextVar"),
        ("_on = False\ndef f():\n    global _on\n    _on = True", "global _on"),
        ("_seen = set()\ndef f(x):\n    _seen.add(x)", "_seen"),
        ("_kept: dict[str, int] = {}\ndef f(x):\n    _kept[x] = 1", "_kept"),
        ("_kept = {}\nclass C:\n    async def f(self, x):\n        del _kept[x]", "_kept"),
        ("_all = []\ndef f(x):\n    _all[:] = x", "_all"),
        ("_n = {}\ndef f(x):\n    _n[x] += 1", "_n"),
        ("if True:\n    _all = []\nf = lambda x: _all.append(x)", "_all"),
        ("box = Box()\ndef f(x):\n    box.value = x", "box"),
        ("def f(run):\n    run.__signature__ = None", "__signature__"),
        ("def f(run):\n    vars(run)['__signature__'] = None", "__signature__"),
        ("def f(run):\n    setattr(run, '__signature__', None)", "__signature__"),
    ],
)
def test_planted_state_is_found(source: str, state: str) -> None:
    assert state_in(source) == {state}


@pytest.mark.parametrize(
    "source",
    [
        "from contextvars import copy_context",
        "TABLE = {1: 2}\ndef f(x):\n    return TABLE[x]",
        "kept = {}\ndef f(x):\n    kept = {}\n    kept[x] = 1",
        "kept = {}\ndef f(kept):\n    kept.clear()",
        "class C:\n    def __init__(self):\n        self.kept = {}\n    def f(self):\n        self.kept.clear()",
        "ALL = []\nALL.append(1)",
    ],
)
def test_constants_and_objects_are_allowed(source: str) -> None:
    assert state_in(source) == set()


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("from sketchmark.terminal import tell\ndef f():\n    tell('x')", "tell"),
        ("def f():\n    from sketchmark.terminal import notice\n    notice('x')", "notice"),
        ("from sketchmark import terminal\nterminal.tell_all('x')", "tell_all"),
        ("print('x')", "print"),
        ("import warnings\nwarnings.warn('x')", "warnings.warn"),
    ],
)
def test_planted_prints_are_found(source: str, call: str) -> None:
    assert prints_in(source) == {call}


def test_a_function_that_was_passed_in_may_be_called() -> None:
    assert prints_in("def f(tell):\n    tell('x')") == set()
