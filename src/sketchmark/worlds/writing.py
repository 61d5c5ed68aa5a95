"""Writing generated samples: JSONL with picture files, parquet in the published schema, the published folders.

Samples are written as they come and never held. Tables and indexes get their name only when they are complete, so an
interrupted set is not mistaken for a finished one. Field names are those of Uni-MMMU
(docs/benchmarks/uni-mmmu.md, "Rows").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.parts import Picture, Sample

Add = Callable[[int, Sample], None]
"""Writes one sample, given its number in the set."""

MOVES_FIELD = {"maze": "steps", "sliding": "steps_words"}
_ROWS_A_GROUP = 100


def writer(world: str, form: str, out: Path) -> AbstractContextManager[Add]:
    """A writer of `jsonl`, `parquet` (with the JSONL and the pictures beside it) or `folder`."""
    return {"jsonl": _jsonl, "parquet": _jsonl_and_parquet, "folder": _folder}[form](world, out)


def _shown(world: str, sample: Sample) -> dict[str, Picture]:
    """The pictures of the published schema by field name."""
    names = ("ref", "cand0", "cand1") if world == "jigsaw" else ("initial",)
    pictures = {f"{name}_image": sample.pictures[name] for name in names}
    return {name: picture for name, picture in pictures.items() if isinstance(picture, Picture)}


def _truth(world: str, sample: Sample) -> dict[str, Any]:
    if world == "jigsaw":
        return {"label": sample.target["label"]}
    return {MOVES_FIELD[world]: sample.target["moves"]}


def _frames(sample: Sample) -> list[Picture]:
    return sample.frames() if sample.frames else []


def _save(root: Path, name: str, picture: Picture) -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture.data)
    return name


@contextmanager
def _finished(path: Path) -> Iterator[Path]:
    """A file to write that takes its name when all went well. An existing one is never touched."""
    if path.exists():
        raise BadInput(f"{path} is already there", "choose another --out, or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        yield part
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    part.replace(path)


@contextmanager
def _jsonl(world: str, out: Path) -> Iterator[Add]:
    """One line a sample; its pictures and the true step pictures in a folder of its own."""
    with _finished(out / f"{world}.jsonl") as path, path.open("w", encoding="utf-8") as lines:

        def add(number: int, sample: Sample) -> None:
            pictures = {name: _save(out, f"{sample.id}/{name}.png", p) for name, p in _shown(world, sample).items()}
            steps = [
                _save(out, f"{sample.id}/step_{step:04d}.png", picture)
                for step, picture in enumerate(_frames(sample), start=1)
            ]
            row = {"id": sample.id, **pictures, **_truth(world, sample), "step_images": steps}
            lines.write(json.dumps({**row, "groups": dict(sample.groups)}) + "\n")

        yield add


@contextmanager
def _parquet(world: str, out: Path) -> Iterator[Add]:
    """The published schema: images as {bytes, path}, moves as a JSON string. Row groups are written as they fill."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("writing parquet files", "data") from error
    shown = ["ref_image", "cand0_image", "cand1_image"] if world == "jigsaw" else ["initial_image"]
    truth = "label" if world == "jigsaw" else MOVES_FIELD[world]
    kinds = {"id": "string", **dict.fromkeys(shown, "image"), truth: "int64" if world == "jigsaw" else "string"}
    features = {n: {"_type": "Image"} if k == "image" else {"dtype": k, "_type": "Value"} for n, k in kinds.items()}
    types = {
        "string": arrow.string(),
        "int64": arrow.int64(),
        "image": arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())]),
    }
    schema = arrow.schema(
        [(name, types[kind]) for name, kind in kinds.items()],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )
    rows: list[dict[str, Any]] = []
    with _finished(out / f"{world}.parquet") as path, parquet.ParquetWriter(path, schema) as table:

        def flush() -> None:
            if rows:
                table.write_table(arrow.Table.from_pylist(rows, schema=schema))
                rows.clear()

        def add(number: int, sample: Sample) -> None:
            images = {
                name: {"bytes": picture.data, "path": f"{sample.id}_{name}.png"}
                for name, picture in _shown(world, sample).items()
            }
            facts = {n: v if isinstance(v, int) else json.dumps(v) for n, v in _truth(world, sample).items()}
            rows.append({"id": sample.id, **images, **facts})
            if len(rows) == _ROWS_A_GROUP:
                flush()

        yield add
        flush()


@contextmanager
def _jsonl_and_parquet(world: str, out: Path) -> Iterator[Add]:
    with ExitStack() as stack:
        adders = [stack.enter_context(opened(world, out)) for opened in (_parquet, _jsonl)]

        def add(number: int, sample: Sample) -> None:
            for adder in adders:
                adder(number, sample)

        yield add


def _folder(world: str, out: Path) -> AbstractContextManager[Add]:
    """The folders of the published `data.tar`. Paths in the index files are relative to `out`."""
    if (out / _FOLDERS[world]).exists():
        raise BadInput(f"{out / _FOLDERS[world]} is already there", "choose another --out, or remove it")
    return {"maze": _maze_folder, "sliding": _sliding_folder, "jigsaw": _jigsaw_folder}[world](out)


_FOLDERS = {"maze": "maze", "sliding": "sliding", "jigsaw": "jigsaw_dataset_2x2ref"}


@contextmanager
def _maze_folder(out: Path) -> Iterator[Add]:
    def add(number: int, sample: Sample) -> None:
        size = f"{sample.target['rows']}x{sample.target['cols']}"
        for step, picture in enumerate([*_shown("maze", sample).values(), *_frames(sample)]):
            _save(out, f"maze/maze_{size}_{number:05d}_steps/maze_step_{step:04d}.png", picture)
        _write_json(out / f"maze/maze_{size}_steps_{number:05d}.json", {"steps_long": sample.target["moves"]})

    yield add


@contextmanager
def _sliding_folder(out: Path) -> Iterator[Add]:
    with _index(out / "sliding/summary_steps_le_8.json") as enter:

        def add(number: int, sample: Sample) -> None:
            size = f"{sample.target['n']}x{sample.target['n']}"
            steps, words = (
                f"sliding/demo_{size}_{number:05d}_steps",
                f"sliding/demo_{size}_steps_words_{number:05d}.json",
            )
            pictures = [*_shown("sliding", sample).values(), *_frames(sample)]
            saved = [_save(out, f"{steps}/demo_step_{i:04d}.png", picture) for i, picture in enumerate(pictures)]
            _write_json(out / words, {"steps_words": sample.target["moves"]})
            enter(steps_dir=steps, steps_words_json=words, initial_png=saved[0], final_png=saved[-1])

        yield add


@contextmanager
def _jigsaw_folder(out: Path) -> Iterator[Add]:
    root = _FOLDERS["jigsaw"]
    with _index(out / root / "metadata.json") as enter:

        def add(number: int, sample: Sample) -> None:
            ref, *candidates = _shown("jigsaw", sample).values()
            label, frames = sample.target["label"], _frames(sample)
            name = f"{root}/{number:05d}"
            enter(
                id=f"{number:05d}",
                label=label,
                ref_panel={"ref_image_path": _save(out, f"{name}/ref.png", ref)},
                candidate_paths=[_save(out, f"{name}/cand{i}.png", one) for i, one in enumerate(candidates)],
                gt_completed_2x2_path=_save(out, f"{name}/gt_completed.png", frames[label]),
                gt_wrong_2x2_path=_save(out, f"{name}/gt_wrong.png", frames[1 - label]),
            )

        yield add


@contextmanager
def _index(path: Path) -> Iterator[Callable[..., None]]:
    """A JSON file `{"items": [...]}` written item by item."""
    with _finished(path) as part, part.open("w", encoding="utf-8") as file:
        file.write('{"items": [')
        yield _commas(file)
        file.write("\n]}\n")


def _commas(file: IO[str]) -> Callable[..., None]:
    mark = ""

    def enter(**item: Any) -> None:
        nonlocal mark
        file.write(f"{mark}\n{json.dumps(item)}")
        mark = ","

    return enter


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
