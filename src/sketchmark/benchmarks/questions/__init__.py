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
from importlib import import_module
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.files import tables
from sketchmark.files.jsonl import python_literal

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
            found = _python_list(value)
            if found is None:
                why = f"{column} begins with [ but is not a JSON list"
                raise BadInput(why, 'write ["a", "b"], or a | b') from error
        return list(found)
    if BETWEEN in value:
        return [part.strip() for part in value.split(BETWEEN)]
    if "|" in value:
        raise BadInput(f"{column} has | without blanks around it", "separate parts by ` | `, or write a JSON list")
    return [value.strip()]


def _python_list(value: str) -> list[Any] | None:
    """Parse a list as Python prints it, `['a', 'b']`, as pandas writes it into a CSV file; None if it is not one."""
    try:
        found = python_literal(value)
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def text(value: Any, column: str) -> str:
    """Return a cell as text; numbers count as text."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise BadInput(f"{column} is {_kind(value)}, not text")
    try:
        found = str(value).strip()
    except ValueError as error:  # a number of thousands of digits
        raise BadInput(f"{column} is a number with too many digits") from error
    if len(found) > LONGEST_TEXT:
        raise BadInput(f"{column} has {len(found)} characters", f"at most {LONGEST_TEXT}")
    return found


def _kind(value: object) -> str:
    names = {bool: "true or false", list: "a list", dict: "an object", bytes: "bytes"}
    return names.get(type(value), f"a {type(value).__name__}")


COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("question_id", "sample_id", "qid", "uid", "idx", "index"),
    "question": ("prompt", "query"),
    "hint": (),
    "pictures": ("picture", "image", "images", "image_path", "image_paths"),
    "options": ("choices",),
    "answer": ("answers", "label", "gt", "gold", "target", "ground_truth", "groundtruth", "correct_answer"),
    "type": ("answer_type", "question_type"),
    "tolerance": ("tol",),
    "category": ("subject",),
    "cluster": (),
    "generation_prompt": ("drawing_prompt",),
}
"""Documented name -> accepted synonyms."""

_MEANING = {other: name for name, others in COLUMNS.items() for other in (name, *others)}
_LONGEST_NAME = 40
"""Characters of a column name that is compared with known names."""

_ONE_OPTION = re.compile(r"(?:(?:option|choice)s?_?)?([a-z])|(?:option|choice)s?_?(\d{1,2})")
_PATHS = ("image_path", "image_paths")


@dataclass(frozen=True)
class Columns:
    """Documented names -> names in the file, unused columns of the file, and columns that hold one option each."""

    named: Mapping[str, str]
    unused: tuple[str, ...]
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Columns:
        """Return the columns that are not empty in a row."""
        return _columns(tuple(name for name, value in row.items() if _is_there(value)))

    def values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row's values by documented names."""
        found = {ours: row[theirs] for ours, theirs in self.named.items() if theirs in row}
        return found | ({"options": [row[name] for name in self.options]} if self.options else {})


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
        if ours == "pictures" and len(counted) > 1:  # other tools give the image and the name of its file
            counted = [name for name in counted if _bare(name) not in _PATHS] or counted
        if len(counted) > 1:
            both = " and ".join(map(repr, counted[:3]))
            raise BadInput(f"the columns {both} can each be the {ours}", f"call the right one `{ours}`, or drop one")
        named[ours] = counted[0]
        unused += [name for name in theirs if name != counted[0]]
    options = _option_columns(unused) if "options" not in named else ()
    unused = [name for name in unused if name not in options]
    _refuse_near_misses(named, unused)
    if options:
        named["options"] = ", ".join(options)
    return Columns(named, tuple(unused), options)


def _option_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Return the columns A, B, C … or option_1, option_2 … in this order; none with gaps or fewer than two."""
    placed: dict[int, str] = {}
    for name in names:
        if found := _ONE_OPTION.fullmatch(_bare(name)):
            placed.setdefault(ord(found[1]) - ord("a") if found[1] else int(found[2]), name)
    first = min(placed, default=0)
    together = [placed[at] for at in range(first, first + len(placed)) if at in placed]
    return tuple(together) if first in (0, 1) and len(together) == len(placed) >= 2 else ()


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
            f"the columns {', '.join(map(repr, single[:5]))} seem to hold one option each, with gaps",
            "name them A, B, C … or option_1, option_2 …, without gaps, or use one column `options`",
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

SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet", ".xlsx")

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
    if suffix == ".xlsx":
        found = _sheet(path)
    else:
        if suffix in (".csv", ".tsv"):
            _check_header(path)
        found = _with_shared_images(path) if suffix in (".csv", ".tsv") else tables.file_rows(path)
    return ((number, _whole(row)) for number, row in enumerate(found, start=1) if not _is_empty(row))


_LONGEST_INDEX = 64
"""Characters of an image cell that can be the index of another row, as in VLMEvalKit's files."""


def _with_shared_images(path: Path) -> Iterator[tables.Row]:
    """Yield the rows of a table. An image cell that holds the index of another row becomes that row's image.

    VLMEvalKit writes an image that several questions share only once. Only such images are kept in memory.
    """
    wanted: set[str] = set()
    for row in tables.file_rows(path):
        if row.get("index") is None or "image" not in row:
            break
        if _is_index(row["image"]):
            wanted.add(str(row["image"]).strip())
    kept: dict[str, str] = {}
    if wanted:
        found = ((str(row["index"]).strip(), row["image"]) for row in tables.file_rows(path))
        kept = {index: image for index, image in found if index in wanted and image and not _is_index(image)}
    for row in tables.file_rows(path):
        shared = kept.get(str(row.get("image") or "").strip())
        yield {**row, "image": shared} if shared else row


def _is_index(cell: Any) -> bool:
    return isinstance(cell, str) and len(cell) <= _LONGEST_INDEX and cell.strip().isdigit()


_LARGEST_SHEET = 500_000_000
"""Most bytes of a workbook after unpacking."""


def _sheet(path: Path) -> Iterator[tables.Row]:
    """Yield the rows of a workbook's first sheet. Formulas count by their stored results."""
    import zipfile

    try:
        load_workbook = import_module("openpyxl").load_workbook
    except ImportError as error:
        raise MissingExtra("reading .xlsx files", "xlsx") from error
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > _LARGEST_SHEET:
                raise BadInput(f"{path} unpacks to more than {_LARGEST_SHEET:,} bytes", "save it as CSV")
        book = load_workbook(path, read_only=True, data_only=True)
    except BadInput:
        raise
    except Exception as error:  # a damaged workbook raises all kinds of exceptions
        raise BadInput(f"{path} cannot be read as a workbook: {error}", "save it as .xlsx or as CSV") from error
    try:
        lines = book.worksheets[0].iter_rows(values_only=True)
        header = [str(name).strip() if name is not None else "" for name in next(lines, ())]
        if twice := [name for at, name in enumerate(header) if name and name in header[:at]]:
            raise BadInput(f"{path}: two columns are called {twice[0]!r}", "rename or drop one")
        for line in lines:
            yield {name: value for name, value in zip(header, line, strict=False) if name}
    finally:
        book.close()


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
