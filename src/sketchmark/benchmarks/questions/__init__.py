"""Your own questions: a JSONL, CSV or parquet file is a task (docs/your-own-questions.md). Rows, columns, cells.

Columns have documented names or synonyms; near misses are refused. A column with the documented name wins. Two
synonyms for one name are refused. A broken row does not hide the rest. Rows are counted from 1; in a JSONL file this
is the line number.
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
"""Stable names of this code in task files and run folders."""

BETWEEN = " | "
LONGEST_TEXT = 100_000


def listed(value: Any, column: str) -> list[Any]:
    """Split a cell: a list, a JSON list as text, or parts separated by ` | `. Ambiguous texts are refused."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    if value.lstrip().startswith("["):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{column} begins with [ but is not a JSON list", 'write ["a", "b"], or a | b') from error
        return list(found)
    if BETWEEN in value:
        return [part.strip() for part in value.split(BETWEEN)]
    if "|" in value:
        raise BadInput(f"{column} has | without blanks around it", "separate parts by ` | `, or write a JSON list")
    return [value.strip()]


def text(value: Any, column: str) -> str:
    """Return a cell as text; numbers count as text."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise BadInput(f"{column} is {_kind(value)}, not text")
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
"""Documented name -> accepted synonyms."""

_MEANING = {other: name for name, others in COLUMNS.items() for other in (name, *others)}
_LONGEST_NAME = 40
"""Characters of a column name that is compared with known names."""

_ONE_OPTION = re.compile(r"(?:(?:option|choice)s?_?)?[a-e]|(?:option|choice)s?_?[1-5]")


@dataclass(frozen=True)
class Columns:
    """Documented names -> names in the file, and unused columns of the file."""

    named: Mapping[str, str]
    unused: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Columns:
        """Return the columns that are not empty in a row."""
        return _columns(tuple(name for name, value in row.items() if _is_there(value)))

    def values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row's values by documented names."""
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
    """Return whether a cell has a value. Empty cells are None, an empty text or list, or NaN (from pandas)."""
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
        like = [other for other in missing if not short.startswith(f"{other}_")]  # `answer_id` has another meaning
        if len(short) <= _LONGEST_NAME and (close := get_close_matches(short, like, n=1, cutoff=0.8)):
            raise BadInput(f"unknown column {name!r}", f"did you mean {missing[close[0]]}?")


def _bare(name: str) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


SOURCE = "questions"
"""Name in task files of the function that yields the samples."""

SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet")

_LONGEST_LINE = 20_000_000
"""Most bytes of one line of JSON."""

NumberedRow = tuple[int, tables.Row | BadInput]


def is_questions(name: str) -> bool:
    """Return whether a task's name is the name of a question file."""
    return Path(name).suffix.lower() in SUFFIXES


def task_name(path: Path) -> str:
    """Return the file's stem with only the letters allowed in a run's file names.

    A stem without such letters gets a hash, so that these files stay different tasks.
    """
    found = re.sub(r"[^A-Za-z0-9_-]+", "_", path.stem)
    if found.strip("_-"):
        return found
    return f"questions_{hashlib.sha256(path.stem.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def rows(path: Path) -> Iterator[NumberedRow]:
    """Yield each row, or what is wrong with it, numbered from 1. The file is never held in memory."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder", f"a question file ends in {', '.join(SUFFIXES)}")
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
    return f"did you mean {' or '.join(close)}?" if close else f"a question file ends in {', '.join(SUFFIXES)}"


def _json_lines(path: Path) -> Iterator[NumberedRow]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE:
                raise BadInput(f"{path}: line {number} is longer than {_LONGEST_LINE} bytes", "one question per line")
            if line.strip():
                yield number, _parsed(line)


def _parsed(line: bytes) -> tables.Row | BadInput:
    try:
        found = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return BadInput(f"not valid JSON: {str(error)[:200]}", "a line is one object: {…}")
    if not isinstance(found, dict):
        return BadInput(f"a {type(found).__name__}, not an object", 'a line is one object: {"question": …}')
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse duplicate names, of which JSON's parser would keep the last."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key[:80]!r} appears twice")
        found[key] = value
    return found


def _check_header(path: Path) -> None:
    """Refuse duplicate columns and a wrong separator, which gives a single column."""
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
    """Return whether a row is empty. Spreadsheets write `,,,` below the last row."""
    return all(cell in (None, "") or (isinstance(cell, str) and not cell.strip()) for cell in row.values())


def _whole(row: dict[Any, Any]) -> tables.Row | BadInput:
    """Refuse a row with more cells than columns."""
    if None in row:
        return BadInput("more cells than there are columns", "quote a cell that contains the separator")
    return row
