"""Uni-MMMU (https://arxiv.org/abs/2510.13759): puzzles, code, geometry and science, each with drawings.

Here is what its parts share: files of the extracted `data.tar` of Vchitect/Uni-MMMU-Eval
(docs/benchmarks/uni-mmmu.md, "The extracted folder"), the published questions to the judges, and two parsers of
their replies.

`strict`: the first JSON object outside the thinking; a label is 0 or 1 as it is written. Anything else is not a
verdict, and the next invocation asks the judge again. `official`: the published program's parser, accidents included
(docs/benchmarks/uni-mmmu.md, "Accidents of the official evaluator"). It searches the object from the first brace on,
also in a thought, and takes a reply without one as a verdict of 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from sketchmark.answers.judge import Judged, ask, first_json_object, label
from sketchmark.episode import Grading, Scores
from sketchmark.episode.model import Options
from sketchmark.episode.sample import Content
from sketchmark.errors import BadInput, DataMissing
from sketchmark.files.tables import inside

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


def find(data: Path | None, name: str, fits: Callable[[Path], bool]) -> Path | None:
    """The folder `name` of the extracted data.tar: `data` itself, or in it, or in its `data`."""
    if data is None or not data.is_dir():
        return None
    places = (data, data / name, data / "data" / name)
    return next((place for place in places if place.is_dir() and fits(place)), None)


def path_in(folder: Path, name: object, where: str) -> Path:
    """A path that metadata.json names, inside the data folder. The published paths begin in their maker's folder
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
    """Return the error for datasets that exist only in this layout."""
    found = f"{data} holds no {file}" if data else f"there is no data for {hub} here"
    return DataMissing(found, f"extract data.tar of {hub} and give --data FOLDER, or set SKETCHMARK_DATA=FOLDER")


OFFICIAL = "official"
T = TypeVar("T")
_PROMPTS = Path(__file__).with_name("judge_prompts")

Labels = tuple[bool, ...]


@cache
def published(name: str) -> str:
    """To the byte: blanks and newlines at either end belong to the string."""
    return (_PROMPTS / f"{name}.txt").read_bytes().decode("utf-8")


def unscored(*names: str) -> Scores:
    return Scores(dict.fromkeys(names), {"unscored": "this score is a judge's verdict: add --judge MODEL"})


def no_truth(what: str, *names: str) -> Scores:
    return Scores(dict.fromkeys(names), {"no_truth": f"the data has no {what}"})


async def labels(
    grading: Grading,
    system: str,
    parts: Sequence[Content],
    tokens: int,
    fields: Sequence[str],
    official: Callable[[dict[str, Any]], Labels] | None = None,
) -> Judged[Labels]:
    """0 or 1 for each of the fields that the judge is asked to fill in.

    `official` reads them as the published program does: by default by their truth value.
    """

    def strict(reply: str) -> Labels | None:
        found = first_json_object(reply) or {}
        read = [label(found.get(name)) for name in fields]
        known = tuple(one for one in read if one is not None)
        return known if len(known) == len(read) else None

    def published(reply: str) -> Labels:
        found = object_from_the_first_brace(reply)
        return official(found) if official else tuple(bool(found.get(name)) for name in fields)

    return await asked(grading, system, parts, tokens, strict, published)


async def asked(
    grading: Grading,
    system: str,
    parts: Sequence[Content],
    tokens: int,
    strict: Callable[[str], T | None],
    official: Callable[[str], T | None],
) -> Judged[T]:
    assert grading.judge is not None
    read = official if grading.scoring == OFFICIAL else strict
    return await ask(grading.judge, parts, Options(max_new_tokens=tokens), read, system)


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


def whole_numbers(*names: str) -> Callable[[dict[str, Any]], Labels]:
    """Geometry's label: whether Python's `int` makes 1 of the last field.

    It must make a number of all of them: at any other value (`"True"`, null) the published program throws, hence 0.
    """

    def read(found: dict[str, Any]) -> Labels:
        try:
            return ([int(found.get(name, 0)) for name in names][-1] == 1,)
        except (TypeError, ValueError, OverflowError):
            return (False,)

    return read
