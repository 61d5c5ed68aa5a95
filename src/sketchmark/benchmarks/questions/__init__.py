"""Questions of your own: a JSONL, CSV or parquet file is a task (docs/your-own-questions.md).

Cells that hold several things: a list, a JSON list in a text, or parts with ` | ` between them.

Which column is which: documented names, others that mean the same, and near misses, which are refused.

A column of the documented name counts, whatever else there is. Of two others that mean the same neither does.

The rows of a file of questions, one by one, with their numbers: a row that cannot be read does not hide the rest.

Rows are counted from 1. In a JSONL file that is the line, as an editor shows it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files import tables

ALIASES = {
    "samples": "sketchmark.benchmarks.questions.survey:questions",
    "right": "sketchmark.benchmarks.questions.survey:right",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""


BETWEEN = " | "
LONGEST_TEXT = 100_000


def listed(value: Any, column: str) -> list[Any]:
    """What stands in a cell, one by one. A text that may or may not be a list is refused."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    if value.lstrip().startswith("["):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{column} begins with [ and is no JSON list", 'write ["a", "b"], or a | b') from error
        return list(found)
    if BETWEEN in value:
        return [part.strip() for part in value.split(BETWEEN)]
    if "|" in value:
        raise BadInput(f"{column} has | without blanks around it", "separate parts by ` | `, or write a JSON list")
    return [value.strip()]


def text(value: Any, column: str) -> str:
    """A text, or a number that is meant as one."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise BadInput(f"{column} is no text, but {_kind(value)}")
    found = str(value).strip()
    if len(found) > LONGEST_TEXT:
        raise BadInput(f"{column} has {len(found)} characters", f"at most {LONGEST_TEXT}")
    return found


def _kind(value: object) -> str:
    names = {bool: "true or false", list: "a list", dict: "an object", bytes: "bytes"}
    return names.get(type(value), f"a {type(value).__name__}")


COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("question_id", "sample_id", "qid", "uid", "idx", "index"),
    "question": ("prompt", "query"),
    "pictures": ("picture", "image", "images", "image_path", "image_paths"),
    "options": ("choices",),
    "answer": ("answers", "label", "gt", "gold", "target", "ground_truth", "groundtruth", "correct_answer"),
    "type": ("answer_type",),
    "tolerance": ("tol",),
    "category": ("subject",),
    "cluster": (),
    "generation_prompt": ("drawing_prompt",),
}
"""Our name -> others that are taken for it."""

_MEANING = {other: name for name, others in COLUMNS.items() for other in (name, *others)}
_LONGEST_NAME = 40
"""Of a column that may be a misspelt one."""

_ONE_OPTION = re.compile(r"(?:(?:option|choice)s?_?)?[a-e]|(?:option|choice)s?_?[1-5]")


@dataclass(frozen=True)
class Columns:
    """Our names -> the file's, and the file's columns that are not used."""

    named: Mapping[str, str]
    unused: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Columns:
        """Of those in which the row has something."""
        return _columns(tuple(name for name, value in row.items() if _is_there(value)))

    def values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What the row has, by our names."""
        return {ours: row[theirs] for ours, theirs in self.named.items()}


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> Columns:
    meant: dict[str, list[str]] = {}
    unused = []
    for name in names:
        if ours := _MEANING.get(_bare(name)):
            meant.setdefault(ours, []).append(name)
        else:
            unused.append(name)
    named: dict[str, str] = {}
    for ours, theirs in meant.items():
        counted = [name for name in theirs if _bare(name) == ours] or theirs
        if len(counted) > 1:
            both = " and ".join(map(repr, counted[:3]))
            raise BadInput(f"the columns {both} can each be the {ours}", f"call the right one `{ours}`, or drop one")
        named[ours] = counted[0]
        unused += [name for name in theirs if name != counted[0]]
    _refuse_near_misses(named, unused)
    return Columns(named, tuple(unused))


def _is_there(value: object) -> bool:
    """An empty cell is None, an empty text or list, or what pandas writes for it, which is not equal to itself."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value == value and value != [] and value != {}


def _refuse_near_misses(named: Mapping[str, str], unused: Iterable[str]) -> None:
    bare = {_bare(name): name for name in unused}
    single = [name for short, name in bare.items() if _ONE_OPTION.fullmatch(short)]
    if len(single) > 1 and "options" not in named:
        raise BadInput(
            f"the columns {', '.join(map(repr, single[:5]))} seem to hold one option each",
            "put them into one column `options`: a JSON list, or separated by ` | `",
        )
    missing = {other: ours for other, ours in _MEANING.items() if ours not in named}
    for short, name in bare.items():
        like = [other for other in missing if not short.startswith(f"{other}_")]  # `answer_id` is something else
        if len(short) <= _LONGEST_NAME and (close := get_close_matches(short, like, n=1, cutoff=0.8)):
            raise BadInput(f"there is no column {name!r} here", f"did you mean {missing[close[0]]}?")


def _bare(name: str) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


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
