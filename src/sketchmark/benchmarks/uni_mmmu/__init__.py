"""Uni-MMMU (https://arxiv.org/abs/2510.13759): puzzles, code, geometry and science, each with drawings.

One published maze or sliding puzzle, from whichever file it came.

Labels and moves as the published files have them: numbers, texts, JSON texts or lists. Anything else is an error
that names the row.

The extracted `data.tar` of Vchitect/Uni-MMMU-Eval (docs/benchmarks/uni-mmmu.md, "The extracted folder").

The published questions to the judges, and two readings of what they reply.

`strict`: the first JSON object outside the thinking; a label is 0 or 1 as it is written; anything else is no verdict,
and the judge is asked again by the next start. `official`: the published program's, accidents included
(docs/benchmarks/uni-mmmu.md, "Accidents of the official evaluator"): the object is looked for from the first brace
on, also in a thought, and a reply without one is a verdict of 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from sketchmark.answers.judge import Judged, ask, first_json_object, label
from sketchmark.episode import Grading, Scores
from sketchmark.episode.model import Options
from sketchmark.episode.sample import Content
from sketchmark.errors import BadInput, DataMissing
from sketchmark.files.tables import Row, inside
from sketchmark.media import Picture
from sketchmark.worlds.boards import MOVES

ALIASES = {
    "mazes": "sketchmark.benchmarks.uni_mmmu.puzzles:mazes",
    "slidings": "sketchmark.benchmarks.uni_mmmu.puzzles:slidings",
    "jigsaws": "sketchmark.benchmarks.uni_mmmu.puzzles:jigsaws",
    "code": "sketchmark.benchmarks.uni_mmmu.code:sources",
    "code_text": "sketchmark.benchmarks.uni_mmmu.code:text",
    "code_image": "sketchmark.benchmarks.uni_mmmu.code:image",
    "code_pixels": "sketchmark.benchmarks.uni_mmmu.code:pixels",
    "geometry": "sketchmark.benchmarks.uni_mmmu.geometry:problems",
    "geometry_number": "sketchmark.benchmarks.uni_mmmu.geometry:number",
    "geometry_overlay": "sketchmark.benchmarks.uni_mmmu.geometry:overlay",
    "geometry_solution": "sketchmark.benchmarks.uni_mmmu.geometry:solution",
    "science": "sketchmark.benchmarks.uni_mmmu.science:scenes",
    "science_form": "sketchmark.benchmarks.uni_mmmu.science:form",
    "science_image": "sketchmark.benchmarks.uni_mmmu.science:image",
    "science_text": "sketchmark.benchmarks.uni_mmmu.science:text",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""


@dataclass(frozen=True)
class Puzzle:
    """`moves` is None where the file gives no ground truth; `frames` loads the step frames where there are any."""

    id: str
    picture: Picture
    moves: list[str] | None
    rows: int
    cols: int
    frames: Callable[[], list[Picture]] | None = None
    frame_count: int | None = None

    @property
    def steps(self) -> int | None:
        return self.frame_count if self.moves is None else len(self.moves)


def label_of(value: object, where: str) -> int:
    """0 or 1, from `0`, `"0"`, `"[0]"` or `[0]`."""
    found = _parsed(value)
    if isinstance(found, (list, tuple)) and len(found) == 1:
        found = _parsed(found[0])
    if isinstance(found, bool) or found not in (0, 1):
        raise BadInput(f"{where}: the label is {value!r}", "0 or 1")
    return int(found)


def moves_of(value: object, where: str) -> list[str] | None:
    """Move words from a list, a JSON list or plain words; None where the file gives no ground truth at all."""
    if value is None or value == "":
        return None
    found = _parsed(value)
    if isinstance(found, str):
        found = re.findall(r"[^\s,;]+", found)
    if not isinstance(found, (list, tuple)) or not all(isinstance(move, str) for move in found):
        raise BadInput(f"{where}: the moves are {value!r}", "a list of up, down, left and right")
    moves = [move.strip().lower() for move in found]
    if unknown := [move for move in moves if move not in MOVES]:
        raise BadInput(f"{where}: {unknown[0]!r} is no move", "up, down, left and right")
    return moves


def _parsed(value: object) -> Any:
    """A text that holds JSON, opened; twice where a JSON text holds JSON again."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value


_STEPS = re.compile(r"(?P<kind>maze|demo)_(?P<rows>\d+)x(?P<cols>\d+)_(?P<id>\d+)_steps")
_JIGSAW = "jigsaw_dataset_2x2ref"
_SUMMARY = "summary_steps_le_8.json"


def read_puzzles(data: Path | None, kind: str, example: str = "") -> Iterator[Puzzle] | None:
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


OFFICIAL = "official"
T = TypeVar("T")
_PROMPTS = Path(__file__).with_name("judge_prompts")

Labels = tuple[bool, ...]
Truth = Callable[[Any], bool]
"""When the published program takes a label for 1."""


@cache
def published(name: str) -> str:
    """To the byte: blanks and newlines at either end belong to the string."""
    return (_PROMPTS / f"{name}.txt").read_bytes().decode("utf-8")


def unscored(*names: str) -> Scores:
    return Scores(dict.fromkeys(names), {"unscored": "this score is a judge's verdict: add --judge MODEL"})


def no_truth(what: str, *names: str) -> Scores:
    return Scores(dict.fromkeys(names), {"no_truth": f"the data has no {what}"})


async def labels(
    grading: Grading, parts: Sequence[Content], tokens: int, fields: Sequence[str], truth: Truth
) -> Judged[Labels]:
    """0 or 1 for each of the fields that the judge is asked to fill in."""

    def strict(reply: str) -> Labels | None:
        found = first_json_object(reply) or {}
        read = [label(found.get(name)) for name in fields]
        known = tuple(one for one in read if one is not None)
        return known if len(known) == len(read) else None

    def official(reply: str) -> Labels:
        found = object_from_the_first_brace(reply)
        return tuple(truth(found.get(name)) for name in fields)

    return await asked(grading, parts, tokens, strict, official)


async def asked(
    grading: Grading,
    parts: Sequence[Content],
    tokens: int,
    strict: Callable[[str], T | None],
    official: Callable[[str], T | None],
) -> Judged[T]:
    assert grading.judge is not None
    read = official if grading.scoring == OFFICIAL else strict
    return await ask(grading.judge, parts, Options(max_new_tokens=tokens), read)


def object_from_the_first_brace(reply: str) -> dict[str, Any]:
    """The text from the first brace to the one that closes it, as JSON; empty where that is none."""
    start = reply.find("{")
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(reply)) if start >= 0 else ():
        character = reply[at]
        if quoted:
            quoted, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                try:
                    return dict(json.loads(reply[start : at + 1]))
                except (ValueError, RecursionError):
                    return {}
    return {}


def whole_number_one(value: Any) -> bool:
    """Geometry's labels: what Python's `int` makes 1 of."""
    try:
        return int(value) == 1
    except (TypeError, ValueError, OverflowError):
        return False
