"""Generated samples on disk: JSONL with image files, parquet in the published schema, the published folders.

Samples are written one by one and never held. Tables and indexes get their final name only when they are complete, so
an interrupted dataset is not mistaken for a finished one. Field names are those of Uni-MMMU
(docs/benchmarks/uni-mmmu.md, "Rows"); each world's `making` gives the fields and the folders.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, MissingExtra
from sketchmark.media import Picture
from sketchmark.worlds import Add, Making

_ROWS_A_GROUP = 100


def writer(name: str, making: Making, form: str, out: Path) -> AbstractContextManager[Add]:
    """Return a writer of `jsonl`, `parquet` (with the JSONL and the images) or `folder`."""
    if form == "folder":
        if making.folder is None:
            raise BadInput(f"there are no published folders of {name}", "choose --format jsonl or parquet")
        return making.folder(out)
    return {"jsonl": _jsonl, "parquet": _jsonl_and_parquet}[form](name, making, out)


def picture_of(sample: Sample, name: str) -> Picture:
    picture = sample.pictures[name]
    assert isinstance(picture, Picture)
    return picture


def frames_of(sample: Sample) -> list[Picture]:
    return sample.frames() if sample.frames else []


def save(root: Path, name: str, picture: Picture) -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture.data)
    return name


def save_steps(root: Path, pattern: str, pictures: Sequence[Picture], first: int = 0) -> list[str]:
    """Pictures under numbered names: `steps/step_{:04d}.png`."""
    return [save(root, pattern.format(step), picture) for step, picture in enumerate(pictures, first)]


def save_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def refuse_existing(folder: Path) -> None:
    """Published folders are never written into older ones."""
    if folder.exists():
        raise BadInput(f"{folder} is already there", "choose another --out, or remove it")


@contextmanager
def index(path: Path) -> Iterator[Callable[..., None]]:
    """A JSON file `{"items": [...]}` written item by item."""
    with _finished(path) as part, part.open("w", encoding="utf-8") as file:
        mark = '{"items": ['

        def enter(**item: Any) -> None:
            nonlocal mark
            file.write(f"{mark}\n{json.dumps(item)}")
            mark = ","

        yield enter
        file.write(f"{mark.rstrip(',')}\n]}}\n")


@contextmanager
def _finished(path: Path) -> Iterator[Path]:
    """A file to write that takes its name when all went well. An existing one is never touched."""
    refuse_existing(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        yield part
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    part.replace(path)


@contextmanager
def _jsonl(name: str, making: Making, out: Path) -> Iterator[Add]:
    """Write one line per sample; its images and ground-truth step images go into one folder."""
    with _finished(out / f"{name}.jsonl") as path, path.open("w", encoding="utf-8") as lines:

        def add(number: int, sample: Sample) -> None:
            pictures = {
                f"{shown}_image": save(out, f"{sample.id}/{shown}_image.png", picture_of(sample, shown))
                for shown in making.pictures
            }
            steps = save_steps(out, f"{sample.id}/step_{{:04d}}.png", frames_of(sample), first=1)
            truth = {making.column or making.answer: sample.target[making.answer]}
            row = {"id": sample.id, **pictures, **truth, "step_images": steps}
            lines.write(json.dumps({**row, "groups": dict(sample.groups)}) + "\n")

        yield add


@contextmanager
def _parquet(name: str, making: Making, out: Path) -> Iterator[Add]:
    """The published schema: images as {bytes, path}, moves as a JSON string. Row groups are written as they fill."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("writing parquet files", "data") from error
    images, truth = [f"{shown}_image" for shown in making.pictures], making.column or making.answer
    kinds = {"id": "string", **dict.fromkeys(images, "image"), truth: making.column_type}
    features = {n: {"_type": "Image"} if k == "image" else {"dtype": k, "_type": "Value"} for n, k in kinds.items()}
    types = {
        "string": arrow.string(),
        "int64": arrow.int64(),
        "image": arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())]),
    }
    schema = arrow.schema(
        [(column, types[kind]) for column, kind in kinds.items()],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )
    rows: list[dict[str, Any]] = []
    with _finished(out / f"{name}.parquet") as path, parquet.ParquetWriter(path, schema) as table:

        def flush() -> None:
            if rows:
                table.write_table(arrow.Table.from_pylist(rows, schema=schema))
                rows.clear()

        def add(number: int, sample: Sample) -> None:
            pictures = {
                f"{shown}_image": {"bytes": picture_of(sample, shown).data, "path": f"{sample.id}_{shown}_image.png"}
                for shown in making.pictures
            }
            answer = sample.target[making.answer]
            told = answer if making.column_type == "int64" else json.dumps(answer)
            rows.append({"id": sample.id, **pictures, truth: told})
            if len(rows) == _ROWS_A_GROUP:
                flush()

        yield add
        flush()


@contextmanager
def _jsonl_and_parquet(name: str, making: Making, out: Path) -> Iterator[Add]:
    with ExitStack() as stack:
        adders = [stack.enter_context(opened(name, making, out)) for opened in (_parquet, _jsonl)]

        def add(number: int, sample: Sample) -> None:
            for adder in adders:
                adder(number, sample)

        yield add
