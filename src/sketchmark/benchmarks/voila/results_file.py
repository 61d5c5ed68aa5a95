"""VOILA's results file, written and read: one object per question (docs/benchmarks/voila.md, "The results file").

    {"query0": {"question": 0, "row_index": 0, "query": prompt, "generated_text": [answer]}, "query1": …, "query2": …}

The published script writes `row_index` and a bare text; the published scorer reads `question` and element 0 of
`generated_text`. Ours writes the scorer's form and reads both. We add `query3`, step 4 with the drawing under
`picture`, relative to the file, and `scenes`, the scenes of the question: they show whether answers belong to the
rows of another CSV.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sketchmark.benchmarks.voila import read_rows
from sketchmark.benchmarks.voila.judge import Truth
from sketchmark.episode import Episode
from sketchmark.errors import BadInput
from sketchmark.files import PictureStore, write_json
from sketchmark.media import Picture
from sketchmark.worlds.voila.scenes import Scene, parse_description

_STEPS = ("query0", "query1", "query2")
_DRAWING = "query3"


@dataclass(frozen=True)
class Answers:
    """Replies of a model in steps 1 to 3 and its drawing in step 4. `draws`: it was asked to draw."""

    says: tuple[str, str, str] = ("", "", "")
    scenes: Any = None
    """The scenes of the question, if the file has them."""
    draws: bool = False
    drawing: Path | None = None

    def picture(self) -> Picture | None:
        return Picture.from_file(self.drawing) if self.drawing else None


@dataclass(frozen=True)
class AnsweredQuestion:
    """One row of the CSV with the answers that belong to it."""

    question: int
    rule: str
    scenes: tuple[Scene, Scene, Scene]
    truth: Truth
    answers: Answers


@dataclass
class Paired:
    """Rows and answers joined by number. Nothing is cut off in silence: what has no partner is named."""

    items: list[AnsweredQuestion] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    """Rows without answers."""
    surplus: list[int] = field(default_factory=list)
    """Answers without a row."""
    unchecked: int = 0
    """Answers that do not say what their question showed: they may belong to another CSV."""


def write_results(episodes: Iterable[tuple[int, Episode]], pictures: PictureStore, path: Path) -> list[int]:
    """Numbered episodes as a results file; returns the questions that failed, which are not in it: a broken
    connection says nothing about the model."""
    elements: list[dict[str, Any]] = []
    failed: list[int] = []
    for index, episode in episodes:
        if episode.failure and not episode.failure.blames_model:
            failed.append(index)
        else:
            elements.append(_element(index, episode, pictures, path))
    write_json(path, elements)
    return failed


def _element(index: int, episode: Episode, pictures: PictureStore, path: Path) -> dict[str, Any]:
    number = {"question": index, "row_index": index, "scenes": episode.sample.target.get("scenes")}
    element: dict[str, Any] = {}
    query = ""
    for turn in episode.turns:
        if turn.act == "show":
            query = turn.added[-1].text or ""
        elif turn.act == "say" and turn.reply:
            element[_STEPS[len(element)]] = {**number, "query": query, "generated_text": [turn.reply.text]}
        elif turn.act == "draw" and turn.reply:
            picture = turn.reply.picture
            drawn = os.path.relpath(pictures.path(pictures.name_of(picture)), path.parent) if picture else None
            text = [turn.reply.text]
            element[_DRAWING] = {**number, "query": turn.suffix, "generated_text": text, "picture": drawn}
    return {**{step: {**number, "query": "", "generated_text": [""]} for step in _STEPS}, **element}


def pair(results: Path, table: Path) -> Paired:
    """Join by question number, which is the row's place in the CSV, from 0."""
    answers = dict(_read_results(results))
    paired = Paired()
    for item in _read_rows(table, answers):
        if item.answers.scenes not in (None, [list(scene) for scene in item.scenes]):
            raise BadInput(
                f"{results} answers other questions than {table} asks: row {item.question + 1} shows something else",
                "give the CSV of the run",
            )
        paired.items.append(item)
        if item.question not in answers:
            paired.missing.append(item.question)
        elif item.answers.scenes is None:
            paired.unchecked += 1
    if not paired.items:
        raise BadInput(f"{table} has no rows")
    paired.surplus = sorted(set(answers) - {item.question for item in paired.items})
    return paired


def _read_rows(table: Path, answers: Mapping[int, Answers]) -> Iterator[AnsweredQuestion]:
    for number, (where, row) in enumerate(read_rows(table)):
        first, second, third, answer = (_scene(text, where) for text in (row.text1, row.text2, row.text3, row.text4))
        truth = Truth(row.combined, row.relations, answer)
        yield AnsweredQuestion(number, row.rule, (first, second, third), truth, answers.get(number, Answers()))


def _scene(text: str, where: str) -> Scene:
    scene = parse_description(text)
    if scene is None:
        raise BadInput(f"{where}: {text!r} is not a scene of VOILA", "sketchmark voila check FILE says more")
    return scene


def _read_results(path: Path) -> Iterator[tuple[int, Answers]]:
    try:
        elements = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"cannot read results from {path}: {error}") from error
    if not isinstance(elements, list):
        raise BadInput(f"{path} is not a JSON array of results")
    seen: set[int] = set()
    for place, element in enumerate(elements):
        where = f"{path}, element {place}"
        held = element if isinstance(element, dict) else {}
        queries = [held[step] for step in _STEPS if isinstance(held.get(step), dict)]
        if len(queries) < len(_STEPS):
            raise BadInput(f"{where}: not an object of query0, query1 and query2")
        numbers = {_number(query) for query in queries}
        number = numbers.pop()
        if numbers or number is None:
            raise BadInput(f"{where}: its queries do not name one question", "give each `question` or `row_index`")
        if number in seen:
            raise BadInput(f"{where}: question {number} was answered before")
        seen.add(number)
        first, second, third = (_text(query) for query in queries)
        drawing = element.get(_DRAWING)
        drawn = _inside(path.parent, drawing.get("picture"), where) if isinstance(drawing, dict) else None
        yield number, Answers((first, second, third), queries[0].get("scenes"), isinstance(drawing, dict), drawn)


def _number(query: Mapping[str, Any]) -> int | None:
    value = query.get("question", query.get("row_index"))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(query: Mapping[str, Any]) -> str:
    """A text, or the list whose first element the published scorer takes. Anything else is not an answer."""
    value = query.get("generated_text")
    if isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else ""


def _inside(folder: Path, name: object, where: str) -> Path | None:
    """Return a drawing next to the results file. An untrusted file must not make us read, or send, anything else."""
    if not isinstance(name, str) or not name:
        return None
    if "\0" in name or not (folder / name).resolve().is_relative_to(folder.resolve()):
        raise BadInput(f"{where}: the picture {name!r} is outside the folder of the results")
    return (folder / name).resolve()
