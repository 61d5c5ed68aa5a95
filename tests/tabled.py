"""Tests whose rows are data: `test_x.cases` by `test_x.py` has a section per test, one Python literal per row."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])


def tabled(test: Test) -> Test:
    """Run a test once for every row of its section."""
    found: Test = pytest.mark.parametrize(*_section(test.__code__.co_filename, test.__name__))(test)
    return found


def rows(file: str, name: str) -> list[Any]:
    """Return the rows of a section of the file next to a test."""
    return _section(file, name)[1]


def _section(file: str, name: str) -> tuple[str, list[Any]]:
    names, *found = _sections(Path(file).with_suffix(".cases"))[name]
    return names, [literal_eval(row) for row in found]


@cache
def _sections(file: Path) -> dict[str, list[str]]:
    """Section name → names of the columns, then the rows."""
    return {head[0]: [",".join(head[1:]), *rows] for head, rows in _read(file)}


def _read(file: Path) -> Iterator[tuple[list[str], list[str]]]:
    for section in file.read_text("utf-8").split("\n\n"):
        head, *rows = section.strip("\n").split("\n")
        yield head.split(), rows
