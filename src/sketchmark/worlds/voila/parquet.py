"""VOILA rows with their pictures inside, as parquet that a dataset hub shows as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.picture import Picture
from sketchmark.worlds.voila.table import SPELLINGS, Columns, QuestionRow

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
