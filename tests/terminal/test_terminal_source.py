"""Whatever is printed goes through `sketchmark.terminal`: nothing else may write to the terminal."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import sketchmark
from tests.tabled import tabled

ROOT = Path(sketchmark.__file__).parent

OWN_WORDS = {Path("tasks/__main__.py"), Path("media/_svg_process.py")}
"""`python -m` the first, and it prints the schema for the docs: a text of ours. What the second writes goes through a
pipe to the process that started it."""

_CLICK = {"echo", "secho", "echo_via_pager", "progressbar", "prompt", "confirm", "pause", "get_text_stream"}
_RICH = {"rich.table", "rich.box", "rich"}
"""A table prints nothing; a console does. Of `rich` itself, `box` alone."""


def breaches(path: Path, source: str) -> list[str]:
    """What in this file writes to the terminal by another way."""
    tree = ast.parse(source)
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    return [
        f"{path}:{line} {what}" for node in ast.walk(tree) if node not in typing_only for line, what in _ways(node)
    ]


def _ways(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Name) and node.id == "print":
        yield node.lineno, "print"
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner, name = node.value.id, node.attr
        if (owner == "click" and name in _CLICK) or (owner == "logging" and "Handler" in name):
            yield node.lineno, f"{owner}.{name}"
        if (owner == "sys" and name.strip("_") in ("stdout", "stderr")) or (owner, name) == (
            "warnings",
            "showwarning",
        ):
            yield node.lineno, f"{owner}.{name}"
    elif isinstance(node, ast.ImportFrom):
        module, names = node.module or "", {alias.name for alias in node.names}
        if module.split(".")[0] == "rich" and (module not in _RICH or (module == "rich" and names != {"box"})):
            yield node.lineno, f"from {module} import {', '.join(sorted(names))}"
        if (module == "click" and names & _CLICK) or (module == "sys" and names & {"stdout", "stderr"}):
            yield node.lineno, f"from {module} import {', '.join(sorted(names))}"
    elif isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == "rich")


def test_only_the_terminal_layer_prints() -> None:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT)
        if name.parts[0] == "terminal" or name in OWN_WORDS:
            continue
        # `sys.stderr.isatty()` asks, and prints nothing.
        source = path.read_text("utf-8").replace("sys.stderr.isatty()", "True").replace("sys.stdout.isatty()", "True")
        found += breaches(name, source)
    assert found == []


@tabled
def test_a_planted_way_round_is_found(source: str) -> None:
    assert len(breaches(Path("commands/planted.py"), source)) == 1


@tabled
def test_what_prints_nothing_is_allowed(source: str) -> None:
    assert breaches(Path("commands/planted.py"), source) == []
