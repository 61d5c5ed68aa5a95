"""A folder that `datasets.load_dataset(OUT, "maze.visual_cot")` opens, pictures embedded: a parquet file a cell.

Needs pyarrow alone; the column types that `datasets` looks for are written into the file.
"""

from __future__ import annotations

import json
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from sketchmark.errors import MissingExtra
from sketchmark.export.played import Record, drawings, episodes, inputs, said
from sketchmark.files.pictures import PictureStore
from sketchmark.runs.index import CellIndex, RunIndex

_ROWS = 32
"""A row group: few enough that its pictures fit in memory."""
_PICTURES = ("inputs", "drawings", "true_frames")
_TEXTS = ("sample", "task", "mode", "canvas", "model", "answer", "fields", "groups", "target", "scores", "transcript")


def write(run: RunIndex, out: Path) -> list[Path]:
    arrow, parquet = _arrow()
    schema = _schema(arrow)
    cells = [cell for cell in run.cells.values() if cell.episodes]
    files = []
    for cell in cells:
        path = out / "data" / f"{cell.name}.parquet"
        path.parent.mkdir(exist_ok=True)
        rows = (_row(run, cell, record, score) for record, score in episodes(cell))
        with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            while group := list(islice(rows, _ROWS)):
                writer.write_table(arrow.Table.from_pylist(group, schema=schema))
        files.append(path)
    card = out / "README.md"
    card.write_text(_card(run, cells), "utf-8")
    return [card, *files]


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise MissingExtra("export --to hf", "data") from error


def _schema(pa: Any) -> Any:
    picture = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    fields = {
        **{name: pa.string() for name in _TEXTS},
        "index": pa.int64(),
        "score": pa.float64(),
        "scored": pa.bool_(),
        "flags": pa.list_(pa.string()),
        "failure": pa.string(),
        "seconds": pa.float64(),
        "said": pa.list_(pa.string()),
        **{name: pa.list_(picture) for name in _PICTURES},
    }
    value = {"string": "string", "int64": "int64", "double": "float64", "bool": "bool"}
    features: dict[str, Any] = {}
    for name, kind in fields.items():
        if name in _PICTURES:
            features[name] = {"feature": {"_type": "Image"}, "_type": "List"}
        elif pa.types.is_list(kind):
            features[name] = {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"}
        else:
            features[name] = {"dtype": value[str(kind)], "_type": "Value"}
    described = json.dumps({"info": {"features": features}})
    return pa.schema(fields, metadata={"huggingface": described})


def _row(run: RunIndex, cell: CellIndex, record: Record, score: Record | None) -> dict[str, Any]:
    sample, failure, answers = record["sample"], record["failure"], said(record)
    pictures = run.folder.pictures
    return {
        "sample": sample["id"],
        "task": cell.task,
        "mode": cell.mode,
        "canvas": cell.canvas,
        "model": run.model,
        "index": record["index"],
        "answer": answers[-1] if answers and not failure else "",
        "said": answers,
        "score": score["values"].get(cell.headline) if score else None,
        "scored": bool(score and score["scored"]),
        "scores": _json(score["values"] if score else {}),
        "flags": list(score["flags"]) if score else [],
        "failure": failure["kind"] if failure else None,
        "seconds": record["seconds"],
        "fields": _json(sample["fields"]),
        "groups": _json(sample["groups"]),
        "target": _json(sample["target"]),
        "transcript": _json(record["turns"]),
        "inputs": _embedded(pictures, inputs(record)),
        "drawings": _embedded(pictures, drawings(record)),
        "true_frames": _embedded(pictures, sample.get("frames") or []),
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _embedded(pictures: PictureStore, names: list[str]) -> list[dict[str, Any]]:
    return [{"bytes": pictures.load(name).data, "path": name} for name in names]


def _card(run: RunIndex, cells: list[CellIndex]) -> str:
    """The dataset card; its YAML head tells the loader which file is which configuration."""
    head = ["---", "configs:"]
    for cell in cells:
        head += [f"- config_name: {cell.name}", f"  data_files: data/{cell.name}.parquet"]
    model = json.dumps(run.model, ensure_ascii=False)
    body = f"A Sketchmark run of the model {model}, started {run.about.get('started', '')}: one row an episode."
    return "\n".join([*head, "---", "", body, ""])
