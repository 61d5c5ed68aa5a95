"""Hugging Face dataset: a folder for `datasets.load_dataset(OUT, "maze.visual_cot")`, one parquet file per cell.

Media are embedded. It needs only pyarrow; the column types that `datasets` expects are written into the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from sketchmark.errors import MissingExtra
from sketchmark.export import answer_of, episodes, started
from sketchmark.files.jsonl import plain
from sketchmark.folder.format import EpisodeLine, ScoreRow
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import drawn_names, input_names, said, sound_names
from sketchmark.media import Picture
from sketchmark.media.sound import Sound

_ROWS = 32
"""Rows per row group: few enough that their images fit in memory."""
_ROWS_WITH_SOUNDS = 4
_PICTURES = ("inputs", "drawings", "true_frames")
_SOUNDS = "sounds"
"""A column only of runs with sounds."""
_TEXTS = (
    *("sample", "task", "mode", "canvas", "model", "answer", "fields", "groups", "target"),
    *("scoring", "scores", "transcript"),
)


def write(run: RunView, out: Path) -> list[Path]:
    arrow, parquet = _arrow()
    cells = [cell for cell in run.cells.values() if cell.episodes]
    heard = any(map(_has_sounds, cells))
    schema = _schema(arrow, (*_PICTURES, _SOUNDS) if heard else _PICTURES)
    files = []
    for cell in cells:
        path = out / "data" / f"{cell.name}.parquet"
        path.parent.mkdir(exist_ok=True)
        rows = (_row(run, cell, line, score) for line, score in episodes(cell))
        with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            while group := list(islice(rows, _ROWS_WITH_SOUNDS if heard else _ROWS)):
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


def _has_sounds(cell: CellView) -> bool:
    return any(line.sample.sounds for line, _ in cell.pairs())


def _schema(pa: Any, media: tuple[str, ...]) -> Any:
    file = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    fields = {
        **{name: pa.string() for name in _TEXTS},
        "index": pa.int64(),
        "repeat": pa.int64(),
        "branch": pa.int64(),
        "score": pa.float64(),
        "scored": pa.bool_(),
        "flags": pa.list_(pa.string()),
        "failure": pa.string(),
        "seconds": pa.float64(),
        "said": pa.list_(pa.string()),
        **{name: pa.list_(file) for name in media},
    }
    value = {"string": "string", "int64": "int64", "double": "float64", "bool": "bool"}
    features: dict[str, Any] = {}
    for name, kind in fields.items():
        if name in media:
            # Decoding a sound needs torch: with torch, cast the column to `Audio()`.
            kind_of_file = {"_type": "Audio", "decode": False} if name == _SOUNDS else {"_type": "Image"}
            features[name] = {"feature": kind_of_file, "_type": "List"}
        elif pa.types.is_list(kind):
            features[name] = {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"}
        else:
            features[name] = {"dtype": value[str(kind)], "_type": "Value"}
    described = json.dumps({"info": {"features": features}})
    return pa.schema(fields, metadata={"huggingface": described})


def _row(run: RunView, cell: CellView, line: EpisodeLine, score: ScoreRow | None) -> dict[str, Any]:
    sample, files = line.sample, run.folder.pictures
    return {
        "sample": sample.id,
        "repeat": line.repeat,
        "branch": line.branch,
        "task": cell.task,
        "mode": cell.mode,
        "canvas": cell.canvas,
        "model": run.model,
        "index": line.index,
        "answer": answer_of(line) or "",
        "said": said(line),
        "score": score.value(cell.headline) if score else None,
        "scored": bool(score and score.scored),
        "scores": _json(score.values if score else {}),
        "scoring": score.scoring if score else "",
        "flags": score.flags if score else [],
        "failure": line.failure.kind if line.failure else None,
        "seconds": line.seconds,
        "fields": _json(sample.fields),
        "groups": _json(sample.groups),
        "target": _json(sample.target),
        "transcript": _json(line.turns),
        "inputs": _embedded(files.load, input_names(sample)),
        "drawings": _embedded(files.load, drawn_names(line)),
        "true_frames": _embedded(files.load, sample.frames or []),
        _SOUNDS: _embedded(files.load_sound, sound_names(sample)),
    }


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _embedded(load: Callable[[str], Picture | Sound], names: Iterable[str]) -> list[dict[str, Any]]:
    return [{"bytes": load(name).data, "path": name} for name in names]


def _card(run: RunView, cells: list[CellView]) -> str:
    """Write the dataset card, whose YAML head maps configurations to files."""
    head = ["---", "configs:"]
    for cell in cells:
        head += [f'- config_name: "{cell.name}"', f'  data_files: "data/{cell.name}.parquet"']
    model = json.dumps(run.model, ensure_ascii=False)
    body = f"A Sketchmark run of the model {model}, started {started(run).isoformat()}: one row per episode."
    return "\n".join([*head, "---", "", body, ""])
