"""The rows of a file of questions, one by one, with their numbers: a row that cannot be read does not hide the rest.

Rows are counted from 1. In a JSONL file that is the line, as an editor shows it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files import tables

SOURCE = "questions"
"""What task files call the function that yields the samples."""

SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet")

_LONGEST_LINE = 20_000_000
"""Bytes of one line of JSON."""

NumberedRow = tuple[int, tables.Row | BadInput]


def is_questions(name: str) -> bool:
    """Whether a task's name is that of a file of questions."""
    return Path(name).suffix.lower() in SUFFIXES


def task_name(path: Path) -> str:
    """The file's name without its ending, in the letters that a run's files may have in their names. Of a name
    without any of them nothing would be left, and all such files would be one task."""
    found = re.sub(r"[^A-Za-z0-9_-]+", "_", path.stem)
    if found.strip("_-"):
        return found
    return f"questions_{hashlib.sha256(path.stem.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def rows(path: Path) -> Iterator[NumberedRow]:
    """What each row holds, or what is wrong with it. Nothing holds the whole file."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder", f"a file of questions ends in {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise BadInput(f"there is no file {path}", _nearest(path))
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return _json_lines(path)
    if suffix in (".csv", ".tsv"):
        _check_header(path)
    numbered = enumerate(tables.file_rows(path), start=1)
    return ((number, _whole(row)) for number, row in numbered if not _is_empty(row))


def _nearest(path: Path) -> str:
    beside = {one.stem: one.name for one in path.parent.glob("*") if is_questions(one.name) and one.is_file()}
    close = [beside[stem] for stem in get_close_matches(path.stem, beside, n=3)]
    return f"did you mean {' or '.join(close)}?" if close else f"a file of questions ends in {', '.join(SUFFIXES)}"


def _json_lines(path: Path) -> Iterator[NumberedRow]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE:
                raise BadInput(f"{path}: line {number} is longer than {_LONGEST_LINE} bytes", "one question a line")
            if line.strip():
                yield number, _parsed(line)


def _parsed(line: bytes) -> tables.Row | BadInput:
    try:
        found = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return BadInput(f"no valid JSON: {str(error)[:200]}", "a line is one object: {…}")
    if not isinstance(found, dict):
        return BadInput(f"a {type(found).__name__}, not an object", 'a line is one object: {"question": …}')
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that is there twice, JSON's reader would keep the last."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key[:80]!r} is there twice")
        found[key] = value
    return found


def _check_header(path: Path) -> None:
    """A column that is there twice would be read once; one that is all columns, not at all."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=tables.delimiter(path), strict=True), [])
    except (csv.Error, ValueError) as error:
        raise tables.not_a_table(path, "the first line", error) from error
    if len(header) == 1 and (other := next((one for one in ";\t,|" if one in header[0]), "")):
        names = {"\t": "tabs", ",": "commas"}
        told = f"{path}: its columns are separated by {names.get(other, other)}"
        raise BadInput(told, f"{path.suffix} is read with {names[tables.delimiter(path)]}: save it with these")
    if twice := [name for at, name in enumerate(header) if name in header[:at]]:
        raise BadInput(f"{path}: two columns are called {twice[0]!r}", "rename or drop one")


def _is_empty(row: dict[Any, Any]) -> bool:
    """Spreadsheets write `,,,` for lines below the last."""
    return all(cell in (None, "") or (isinstance(cell, str) and not cell.strip()) for cell in row.values())


def _whole(row: dict[Any, Any]) -> tables.Row | BadInput:
    """A row of a table has as many cells as there are columns."""
    if None in row:
        return BadInput("more cells than there are columns", "a cell that holds the separator stands in quotes")
    return row
