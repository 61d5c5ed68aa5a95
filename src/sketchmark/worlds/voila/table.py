"""VOILA files: CSV in both published spellings, JSONL, or parquet with the images inside, which dataset hubs display
(docs/benchmarks/voila.md, "The CSV").
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Literal, NamedTuple

from sketchmark.errors import BadInput, DataMissing, MissingExtra
from sketchmark.media import Picture
from sketchmark.worlds.voila.questions import Question, answer_without_any, combined_text, relations_text
from sketchmark.worlds.voila.scenes import Scene

Columns = Literal["released", "generator"]

MAX_FIELD = 100_000
"""Greatest length of a VOILA text: a file with a longer field is refused instead of filling memory."""


class QuestionRow(NamedTuple):
    """One line of a VOILA file, in column order. Consumers go by position, so the order is the format."""

    image1: str
    image2: str
    image3: str
    image4: str
    text1: str
    text2: str
    text3: str
    text4: str
    combined: str
    collage: str
    rule: str
    relations: str


@dataclass(frozen=True)
class Spelling:
    """Differences of the released file and the published generator (docs/benchmarks/voila.md, "Two spellings")."""

    header: tuple[str, ...]
    first_gap: str
    trailing_space: bool

    def combined(self, question: Question) -> str:
        return combined_text(question, first_gap=self.first_gap)

    def answer(self, answer: Scene) -> str:
        return answer_without_any(answer, trailing_space=self.trailing_space)


_SHARED = ("img1", "img2", "img3", "img4", "desc_img1", "desc_img2", "desc_img3")

SPELLINGS: dict[Columns, Spelling] = {
    "released": Spelling(
        (*_SHARED, "desc_im4", "combined_description", "question", "rule", "Real_relations"),
        " ",
        trailing_space=False,
    ),
    "generator": Spelling(
        (*_SHARED, "desc_img4", "combined_descriptions", "image_question", "rule", "relations"),
        "",
        trailing_space=True,
    ),
}


def make_row(
    question: Question, files: tuple[str, str, str], file4: str | None, collage: str, columns: Columns
) -> QuestionRow:
    """A question as a row. `file4` is the fourth picture of a training set; a testing set has the answer's words."""
    spelling = SPELLINGS[columns]
    fourth = file4 if file4 is not None else spelling.answer(question.answer)
    texts = (*(scene.describe() for scene in (*question.scenes, question.answer)), spelling.combined(question))
    return QuestionRow._make((*files, fourth, *texts, collage, str(question.rule), relations_text(question)))


def spelling_of(header: Iterable[str]) -> Columns | None:
    """Which spelling a header is, or None."""
    names = tuple(header)
    return next((columns for columns, spelling in SPELLINGS.items() if spelling.header == names), None)


def write_csv(rows: Iterable[QuestionRow], file: IO[str], columns: Columns) -> None:
    """`file` must be opened with newline="": the line ends are CRLF on every system."""
    writer = csv.writer(file, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(SPELLINGS[columns].header)
    writer.writerows(rows)


def write_jsonl(rows: Iterable[tuple[int, QuestionRow]], file: IO[str], columns: Columns) -> None:
    """The CSV's columns by name, each line led by the question's index."""
    header = SPELLINGS[columns].header
    for index, row in rows:
        file.write(json.dumps({"index": index, **dict(zip(header, row, strict=True))}) + "\n")


def read_table(path: Path) -> tuple[list[str], Iterator[list[str]]]:
    """Header and rows of a VOILA file of any kind, as strings, streaming. Rows may be ragged: the checker says so."""
    if not path.is_file():
        raise DataMissing(f"there is no file {path}")
    if path.suffix == ".jsonl":
        return _read_jsonl(path)
    if path.suffix == ".parquet":
        return read_parquet(path)
    return _read_csv(path)


def _read_csv(path: Path) -> tuple[list[str], Iterator[list[str]]]:
    lines = _csv_lines(path)
    header = next(lines, None)
    if header is None:
        raise BadInput(f"{path} is empty")
    return header, lines


def _csv_lines(path: Path) -> Iterator[list[str]]:
    before = csv.field_size_limit(MAX_FIELD)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            try:
                yield from reader
            except (csv.Error, UnicodeDecodeError) as error:
                raise BadInput(f"{path}, line {reader.line_num}: not CSV: {error}") from error
    finally:
        csv.field_size_limit(before)


def _read_jsonl(path: Path) -> tuple[list[str], Iterator[list[str]]]:
    objects = _json_objects(path)
    first = next(objects, None)
    if first is None:
        raise BadInput(f"{path} is empty")
    header = [name for name in first if name != "index"]

    def rows() -> Iterator[list[str]]:
        for item in chain([first], objects):
            yield [str(item.get(name, "")) for name in header]

    return header, rows()


def _json_objects(path: Path) -> Iterator[dict[str, object]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                item = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInput(f"{path}, line {number}: not JSON: {error}") from error
            if not isinstance(item, dict):
                raise BadInput(f"{path}, line {number}: not a JSON object")
            yield item


ROWS_PER_GROUP = 100
"""Rows held in memory at once; also what a hub viewer loads per page."""

_PICTURE_COLUMNS = ("image1", "image2", "image3", "image4", "collage")


@dataclass(frozen=True)
class PicturedRow:
    """A row with the pictures it names; the fourth exists in training sets, the collage when one was asked for."""

    index: int
    row: QuestionRow
    pictures: tuple[Picture, Picture, Picture]
    picture4: Picture | None
    collage: Picture | None


def write_parquet(rows: Iterable[PicturedRow], path: Path, columns: Columns, training: bool, collage: bool) -> None:
    pa, pq = _pyarrow()
    shown = [*_PICTURE_COLUMNS[:3], *(["image4"] if training else []), *(["collage"] if collage else [])]
    header = SPELLINGS[columns].header
    picture_type = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    features: dict[str, Any] = {name: {"_type": "Image"} for name in shown}
    features["index"] = {"dtype": "int64", "_type": "Value"}
    features.update({name: {"dtype": "string", "_type": "Value"} for name in header})
    schema = pa.schema(
        [(name, picture_type) for name in shown] + [("index", pa.int64())] + [(name, pa.string()) for name in header],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )
    with pq.ParquetWriter(path, schema) as writer:
        stream = iter(rows)
        while group := list(islice(stream, ROWS_PER_GROUP)):
            records = [_record(item, shown, header) for item in group]
            writer.write_table(pa.Table.from_pylist(records, schema=schema))


def _record(item: PicturedRow, shown: list[str], header: tuple[str, ...]) -> dict[str, Any]:
    pictures = dict(zip(_PICTURE_COLUMNS, (*item.pictures, item.picture4, item.collage), strict=True))
    names = dict(zip(_PICTURE_COLUMNS, (*item.row[:4], item.row.collage), strict=True))
    record: dict[str, Any] = {"index": item.index, **dict(zip(header, item.row, strict=True))}
    for name in shown:
        picture = pictures[name]
        record[name] = {"bytes": picture.data, "path": names[name]} if picture else None
    return record


def read_parquet(path: Path) -> tuple[list[str], Iterator[list[str]]]:
    """The text columns only; pictures stay on disk."""
    pa, pq = _pyarrow()
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowException as error:
        raise BadInput(f"{path} is not parquet: {error}") from error
    header = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]

    def rows() -> Iterator[list[str]]:
        for batch in file.iter_batches(columns=header):
            for record in batch.to_pylist():
                yield [record[name] or "" for name in header]

    return header, rows()


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("a parquet file", "data") from error
