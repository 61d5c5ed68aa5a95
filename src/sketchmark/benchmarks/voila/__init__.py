"""VOILA: visual analogies, answered in four steps. Its data, rows and protocol.

Samples are generated with built-in images, or come from the published datasets. A row is used whole or refused with
its position.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from sketchmark.episode.desk import Desk
from sketchmark.episode.protocol import FilledPrompts, Protocol
from sketchmark.episode.sample import Draft, Drafts, Sample
from sketchmark.errors import BadInput, DataMissing
from sketchmark.media import Picture
from sketchmark.worlds import voila
from sketchmark.worlds.voila import bank
from sketchmark.worlds.voila.make import collage
from sketchmark.worlds.voila.table import QuestionRow, read_table

ALIASES = {
    "generated": "sketchmark.benchmarks.voila:generated",
    "published": "sketchmark.benchmarks.voila:published",
    "score_by_rule": "sketchmark.benchmarks.voila.rules:by_rule",
    "score_by_judge": "sketchmark.benchmarks.voila.judge:score",
    "drawn": "sketchmark.benchmarks.voila.rules:drawn",
    "agreement": "sketchmark.benchmarks.voila.totals:agreement",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""


def read_rows(table: Path) -> Iterator[tuple[str, QuestionRow]]:
    """Yield each row with its position as text, counted from 1 as `voila check` does."""
    _, rows = read_table(table)
    for number, fields in enumerate(rows, 1):
        where = f"{table}, row {number}"
        if len(fields) != len(QuestionRow._fields):
            raise BadInput(
                f"{where}: {len(fields)} fields instead of {len(QuestionRow._fields)}: no table of VOILA",
                "sketchmark voila check FILE says more",
            )
        yield where, QuestionRow(*fields)


_INPUTS = ("sequence", "collage")
_KINDS = ("nd", "wd")


def generated(*, seed: int, data: Path | None, distraction: bool, input: str, dataset: str) -> Iterator[Sample]:
    if dataset not in ("testing", "training"):
        raise BadInput(f"dataset is testing or training, not {dataset!r}")
    _check_input(input)
    return Drafts(_drafts(seed, distraction, input, dataset))


def _drafts(seed: int, distraction: bool, input: str, dataset: str) -> Iterator[Draft]:
    """Questions without end, one of each structure in turn, none twice.

    In each structure the places are visited by a random affine walk (a step coprime to its size): as good as a
    shuffle for sampling, with nothing to remember.
    """
    rng = Random(seed)
    walks = []
    for structure in voila.structures(distraction):
        step = next(s for s in iter(lambda: rng.randrange(1, 1 << 40), None) if math.gcd(s, structure.size) == 1)
        walks.append((structure, rng.randrange(structure.size), step))
    for number in itertools.count():
        structure, start, step = walks[number % len(walks)]
        question = voila.question_in(structure, (start + step * (number // len(walks))) % structure.size)
        variations = [1 + rng.randrange(9) if dataset == "training" else 0 for _ in range(3)]
        kind = "wd" if distraction else "nd"
        id = f"voila-{kind}-{seed}-{number:06d}"
        yield Draft(id, partial(_painted, id, question, variations, kind, input, seed))


def _painted(
    id: str, question: voila.Question, variations: Sequence[int], kind: str, input: str, seed: int
) -> Sample:
    pictures = [bank.picture(s, v) for s, v in zip(question.scenes, variations, strict=True)]
    return _sample(id, question, pictures, kind, input, partial(_true_picture, question, seed))


def published(
    *, seed: int, data: Path | None, distraction: bool, input: str, limit: int | None = None
) -> Iterator[Sample]:
    """Yield samples of the released CSV with the folder of images next to it, or of the dataset on the hub."""
    _check_input(input)
    kind = "wd" if distraction else "nd"
    if data is not None:
        yield from _from_folder(data, kind, input)
        return
    yield from _from_hub(kind, input, limit)


def _from_folder(data: Path, kind: str, input: str) -> Iterator[Sample]:
    """Find the CSV: `data` itself, or a file in that folder. Images are in Test_Images, images, or next to it."""
    table = data if data.is_file() else _csv_in(data, kind)
    folders = [table.parent / name for name in ("Test_Images", "images", "Train_Images", "")]
    for number, (where, row) in enumerate(read_rows(table)):
        question = _question(row[4:8], row.rule, where)
        if kind == "nd" and None in question.answer:
            raise BadInput(
                f"{where}: a question with distraction, and VOILA-ND has none",
                "run it as VOILA-WD: the task voila_wd, or --distraction yes",
            )
        pictures = [_find(folders, name, where) for name in row[:3]]
        yield _sample(f"voila-{kind}-{number:05d}", question, pictures, kind, input, None)


def _csv_in(folder: Path, kind: str) -> Path:
    """The one whose name says that it is of this kind (VOILA_ND_….csv), or else the only one that says nothing."""
    tables = sorted(folder.glob("*.csv"))
    words = {table: set(re.split(r"[^a-z0-9]+", table.stem.lower())) & set(_KINDS) for table in tables}
    found = [table for table in tables if kind in words[table]] or [table for table in tables if not words[table]]
    if not found:
        raise DataMissing(
            f"{folder} holds no VOILA CSV file" + (f" for {kind.upper()}, only {_few(tables)}" if tables else ""),
            "give --data FILE.csv, or the folder of CSV and images",
        )
    if len(found) > 1:
        raise BadInput(f"{folder} holds several CSV files: {_few(found)}", "name one: --data FILE.csv")
    return found[0]


def _few(paths: Sequence[Path]) -> str:
    return ", ".join(path.name for path in paths[:5]) + (", …" if len(paths) > 5 else "")


def _find(folders: Sequence[Path], name: str, where: str) -> Picture:
    if "/" in name or "\\" in name or name.startswith("."):
        raise BadInput(f"{where}: {name!r} is not a picture's name")
    for folder in folders:
        if (folder / name).is_file():
            return Picture.from_file(folder / name)
    raise BadInput(f"{where}: the image {name!r} is missing", "put Test_Images next to the CSV")


def _from_hub(kind: str, input: str, limit: int | None) -> Iterator[Sample]:
    """Fields image1..image3 are known; the texts are found by their form, because the card does not name them."""
    from sketchmark.files.tables import as_picture, rows

    for number, row in enumerate(rows(None, hub="nlylmz/VOILA", split="train", limit=limit)):
        where = f"nlylmz/VOILA, row {number}"
        texts = [value for value in row.values() if isinstance(value, str)]
        combined = next((text for text in texts if text.startswith("Image 1:")), None)
        if combined is None:
            raise BadInput(f"{where}: no text of the form 'Image 1: …'")
        descriptions = [piece.split(":", 1)[1].strip(" .") for piece in _pieces(combined)]
        question = _question([*descriptions, ""], "", where)
        if kind == "nd" and None in question.answer:
            continue
        pictures = [as_picture(row[f"image{i}"], where) for i in (1, 2, 3)]
        yield _sample(f"voila-{kind}-{number:05d}", question, pictures, kind, input, None)


def _pieces(combined: str) -> list[str]:
    marks = [combined.find(f"Image {i}:") for i in (1, 2, 3)]
    return [combined[a:b] for a, b in zip(marks, [*marks[1:], None], strict=True)]


def _question(descriptions: Sequence[str], rule: str, where: str) -> voila.Question:
    scenes = [voila.parse_description(text) for text in descriptions[:3]]
    if None in scenes:
        bad = descriptions[scenes.index(None)]
        raise BadInput(f"{where}: {bad!r} is not a scene of VOILA", "sketchmark voila check FILE says more")
    first, second, third = scenes[0], scenes[1], scenes[2]
    assert first and second and third
    structure = voila.structure_of(first, second, third)
    if structure is None or (rule and str(structure.id) != rule.strip()):
        raise BadInput(
            f"{where}: the three scenes do not follow rule {rule or '(any)'}", "sketchmark voila check FILE"
        )
    return voila.Question(structure.id, (first, second, third), voila.answer(first, second, third), 0)


def _sample(
    name: str, question: voila.Question, pictures: Sequence[Picture], kind: str, input: str, frames: Any
) -> Sample:
    """`rule` is a text: structures are kinds of question, not degrees of anything."""
    shown = [collage(pictures)] if input == "collage" else list(pictures)
    number, subject, action = voila.STRUCTURES[question.rule].letters.split()
    groups = {"rule": f"{question.rule:02}", "number_rule": number, "subject_rule": subject, "action_rule": action}
    return Sample(
        id=name,
        pictures={"images": shown},
        fields={"variant": kind},
        target={
            "scenes": [list(scene) for scene in question.scenes],
            "answer": list(question.answer),
            "rule": question.rule,
            "combined": voila.combined_text(question),
            "relations": voila.relations_text(question),
            "answer_text": question.answer.describe(),
        },
        groups=groups,
        frames=frames,
    )


def _true_picture(question: voila.Question, seed: int) -> list[Picture]:
    """One picture that fits the answer; where the answer says `any` there are others."""
    return [bank.picture(voila.hidden_scene(question, seed))]


def _check_input(input: str) -> None:
    if input not in _INPUTS:
        raise BadInput(f"input is sequence or collage, not {input!r}")


async def _four_steps(desk: Desk, prompts: FilledPrompts) -> None:
    """VOILA: describe, identify, apply, draw; every prompt and answer stays in the context."""
    desk.show(*prompts.parts())
    answer = ""
    for step in ("describe", "identify", "apply"):
        desk.show(prompts.text(step))
        answer = await desk.say()
    if desk.can_draw:
        await desk.draw(prompts.text("draw", output=answer))
    else:
        desk.skip("step 4 (draw): the model does not draw")


four_steps = Protocol(_four_steps, draws=lambda prompts: 1, skips_drawing=True)
