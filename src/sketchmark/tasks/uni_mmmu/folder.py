"""The extracted `data.tar` of Vchitect/Uni-MMMU-Eval (docs/benchmarks/uni-mmmu.md, "The extracted folder")."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from sketchmark.errors import BadInput, DataMissing
from sketchmark.files.tables import Row, inside
from sketchmark.picture import Picture
from sketchmark.tasks.uni_mmmu.puzzle import Puzzle
from sketchmark.tasks.uni_mmmu.values import moves_of

_STEPS = re.compile(r"(?P<kind>maze|demo)_(?P<rows>\d+)x(?P<cols>\d+)_(?P<id>\d+)_steps")
_JIGSAW = "jigsaw_dataset_2x2ref"
_SUMMARY = "summary_steps_le_8.json"


def puzzles(data: Path | None, kind: str, example: str = "") -> Iterator[Puzzle] | None:
    """The puzzles of `maze` or `sliding` in this layout, by number; None if `data` is not such a folder.

    Where a summary lists the puzzles of the benchmark, others that lie beside them are left out, but for `example`.
    """
    prefix = {"maze": "maze", "sliding": "demo"}[kind]
    folder = find(data, kind, lambda place: any(place.glob(f"{prefix}_*_steps")))
    if folder is None:
        return None
    matches = (_STEPS.fullmatch(entry.name) for entry in sorted(folder.glob(f"{prefix}_*_steps")))
    listed = _listed(folder / _SUMMARY)
    chosen = (
        match for match in matches if match and (listed is None or match[0] in listed or match["id"] == example)
    )
    return (_puzzle(folder, match) for match in chosen)


def _listed(summary: Path) -> set[str] | None:
    if not summary.exists():
        return None
    body = read_json(summary)
    items = body.get("items") if isinstance(body, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) and item.get("steps_dir") for item in items):
        raise BadInput(f"{summary} has no list of items, each with its steps_dir")
    return {PurePosixPath(str(item["steps_dir"]).replace("\\", "/")).name for item in items}


def jigsaws(data: Path | None) -> Iterator[Row] | None:
    """The items of metadata.json as rows with the parquet's names, and `completions`: the right and the wrong one."""
    folder = find(data, _JIGSAW, lambda place: (place / "metadata.json").is_file())
    return _jigsaw_rows(folder) if folder else None


def find(data: Path | None, name: str, fits: Callable[[Path], bool]) -> Path | None:
    """The folder `name` of the extracted data.tar: `data` itself, or in it, or in its `data`."""
    if data is None or not data.is_dir():
        return None
    places = (data, data / name, data / "data" / name)
    return next((place for place in places if place.is_dir() and fits(place)), None)


def _puzzle(folder: Path, match: re.Match[str]) -> Puzzle:
    """Frame 0 is the input, then comes one frame a move. Without its JSON file a puzzle still has its length."""
    kind, rows, cols, number = match["kind"], match["rows"], match["cols"], match["id"]
    first, *later = sorted((folder / match[0]).glob(f"{kind}_step_*.png")) or [
        folder / match[0] / f"{kind}_step_0000"
    ]
    words = "steps_words" if kind == "demo" else "steps"
    file = folder / f"{kind}_{rows}x{cols}_{words}_{number}.json"
    moves = None
    if file.exists():
        body = read_json(file)
        names = ("steps_words",) if kind == "demo" else ("steps_long", "steps")
        given = next((body[name] for name in names if body.get(name)), None) if isinstance(body, dict) else body
        moves = moves_of(given, str(file))
    if moves is not None and len(moves) != len(later):
        raise BadInput(f"{folder / match[0]} holds {len(later)} step frames for {len(moves)} moves")
    return Puzzle(number, Picture.from_file(first), moves, int(rows), int(cols), partial(_load, later), len(later))


def _load(files: list[Path]) -> list[Picture]:
    return [Picture.from_file(file) for file in files]


def _jigsaw_rows(folder: Path) -> Iterator[Row]:
    file = folder / "metadata.json"
    items = read_json(file)
    items = items.get("items") if isinstance(items, dict) else items
    if not isinstance(items, list):
        raise BadInput(f"{file} has no list of items")
    for number, item in enumerate(items):
        where = f"{file}, item {number}"
        try:
            first, second = item["candidate_paths"]
            names = (item["ref_panel"]["ref_image_path"], first, second)
            completions = (item["gt_completed_2x2_path"], item["gt_wrong_2x2_path"])
            row = {"id": item.get("id", f"{number:05d}"), "label": item["label"]}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"{where}: {type(error).__name__}: {error}") from error
        pictures = [Picture.from_file(path_in(folder, name, where)) for name in names]
        row |= dict(zip(("ref_image", "cand0_image", "cand1_image"), pictures, strict=True))
        yield {**row, "completions": partial(_load, [path_in(folder, name, where) for name in completions])}


def path_in(folder: Path, name: object, where: str) -> Path:
    """A path that metadata.json names, inside the data folder. The published paths begin wherever their maker stood
    (`data/jigsaw_dataset_2x2ref/images/…`), so leading folders are dropped until the file is there."""
    parts = PurePosixPath(str(name).replace("\\", "/")).parts
    if ".." in parts:
        raise BadInput(f"{where}: the path {name!r} leads out of {folder}")
    for start in range(len(parts)):
        tail = PurePosixPath(*parts[start:])
        if not tail.is_absolute() and (folder / tail).is_file():
            return inside(folder, str(tail), where)
    raise BadInput(f"{where}: there is no file {name!r} in {folder}")


def read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from error


def missing(data: Path | None, hub: str, file: str) -> DataMissing:
    """For the sets that exist in this layout alone."""
    found = f"{data} holds no {file}" if data else f"there is no data for {hub} here"
    return DataMissing(found, f"extract data.tar of {hub} and give --data FOLDER, or set SKETCHMARK_DATA=FOLDER")
