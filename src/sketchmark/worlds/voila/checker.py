"""Verifying a VOILA file against the rules, row by row (docs/benchmarks/voila.md, "The checks")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sketchmark.worlds.voila.questions import Question
from sketchmark.worlds.voila.rules import STRUCTURES, answer, hidden_numbers, structure_of
from sketchmark.worlds.voila.table import SPELLINGS, Columns, QuestionRow, Spelling, read_table, spelling_of
from sketchmark.worlds.voila.vocabulary import Scene, parse_description, scene_of_file
from sketchmark.worlds.voila.wording import relations_text

CHECKS = {
    "header": "column names of one of the two spellings, 12 fields per row",
    "description": "descriptions of the vocabulary with the right singular or plural",
    "rule": "the structure named by the rule, and the answer that follows from it",
    "img4": "the answer without `any`, or a picture file that fits it",
    "file": "file names made of the description's words, digits and .png",
    "combined": "the text of step 1",
    "relations": "the text of step 2",
    "collage": "image_questions_{k}.png, each k once, or empty throughout",
    "duplicate": "no two questions that look the same",
    "space": "no stray spaces",
}

_FILE_TAIL = re.compile(r"_\d+\.png$")
_COLLAGE = re.compile(r"image_questions_([1-9]\d*)\.png")


@dataclass(frozen=True)
class Violation:
    """`row` counts data rows from 1; 0 is the file as a whole."""

    row: int
    check: str
    message: str

    def __str__(self) -> str:
        where = f"row {self.row}: " if self.row else ""
        return f"{where}{self.check}: {self.message}"


def check_file(path: Path) -> Iterator[Violation]:
    """Every violation in a CSV, JSONL or parquet file, in order."""
    header, rows = read_table(path)
    columns = spelling_of(header)
    if columns is None:
        yield Violation(0, "header", f"unknown column names: {', '.join(header)[:200]}")
    yield from check_rows(rows, columns or "released")


def check_rows(rows: Iterable[list[str]], columns: Columns) -> Iterator[Violation]:
    checker = _Checker(SPELLINGS[columns])
    number = 0
    for number, fields in enumerate(rows, 1):
        if len(fields) != len(QuestionRow._fields):
            yield Violation(number, "header", f"{len(fields)} fields instead of {len(QuestionRow._fields)}")
            continue
        for check, message in checker.row(number, QuestionRow(*fields)):
            yield Violation(number, check, message)
    if not number:
        yield Violation(0, "header", "no rows below it")


class _Checker:
    """Remembers what must not occur twice in a file."""

    def __init__(self, spelling: Spelling) -> None:
        self._spelling = spelling
        self._first_seen: dict[tuple[Scene, ...], int] = {}
        self._collages: dict[str, int] = {}
        self._has_collages: bool | None = None

    def row(self, number: int, row: QuestionRow) -> Iterator[tuple[str, str]]:
        yield from self._spaces(row)
        yield from self._collage(number, row.collage)
        texts = (row.text1, row.text2, row.text3, row.text4)
        scenes = [_strict_scene(text) for text in texts]
        for slot, (scene, text) in enumerate(zip(scenes, texts, strict=True), 1):
            if scene is None or (slot < 4 and not scene.is_concrete):
                yield "description", f"picture {slot} is no scene: {text!r}"
        first, second, third, fourth = scenes
        for slot, (scene, name) in enumerate(zip(scenes[:3], row[:3], strict=True), 1):
            if scene is not None:
                yield from _file(slot, name, scene)
        if (
            first is None
            or second is None
            or third is None
            or not (first.is_concrete and second.is_concrete and third.is_concrete)
        ):
            return
        yield from self._duplicate(number, (first, second, third))
        question = Question(0, (first, second, third), answer(first, second, third), -1)
        yield from self._rule(row, question, fourth)
        yield from self._texts(row, question)

    def _rule(self, row: QuestionRow, question: Question, fourth: Scene | None) -> Iterator[tuple[str, str]]:
        structure = structure_of(*question.scenes)
        named = STRUCTURES.get(int(row.rule)) if re.fullmatch(r"[1-9]\d?", row.rule) else None
        if named is None:
            yield "rule", f"{row.rule!r} is not a rule from 1 to 19"
        elif structure is None:
            yield "rule", f"the pictures follow no rule, let alone {named.id}"
        elif structure.id != named.id:
            yield "rule", f"the pictures follow rule {structure.id}, not {named.id}"
        if fourth is not None and fourth != question.answer:
            yield "rule", f"the answer is '{question.answer.describe()}', not '{fourth.describe()}'"
        elif fourth is not None:
            yield from self._img4(row.image4, question)

    def _img4(self, field: str, question: Question) -> Iterator[tuple[str, str]]:
        scene = scene_of_file(field)
        if scene is None:
            if field not in (self._spelling.answer(question.answer), SPELLINGS["released"].answer(question.answer)):
                yield "img4", f"{field!r} instead of {self._spelling.answer(question.answer)!r}"
            return
        yield from _file(4, field, scene)
        pairs = zip(question.answer, scene, strict=True)
        number_fits = question.answer.number is not None or scene.number in hidden_numbers(*question.scenes)
        if not number_fits or any(wanted is not None and wanted != got for wanted, got in pairs):
            yield "img4", f"{field!r} does not show '{question.answer.describe()}'"

    def _texts(self, row: QuestionRow, question: Question) -> Iterator[tuple[str, str]]:
        if row.combined != self._spelling.combined(question):
            yield "combined", f"{row.combined!r} instead of {self._spelling.combined(question)!r}"
        if row.relations != relations_text(question):
            yield "relations", f"{row.relations!r} instead of {relations_text(question)!r}"

    def _collage(self, number: int, name: str) -> Iterator[tuple[str, str]]:
        if self._has_collages is None:
            self._has_collages = bool(name)
        if self._has_collages != bool(name):
            yield "collage", "given in some rows and not in others"
        elif name and not _COLLAGE.fullmatch(name):
            yield "collage", f"{name!r} is not image_questions_{{k}}.png"
        elif name and self._collages.setdefault(name, number) != number:
            yield "collage", f"{name} is row {self._collages[name]}'s already"

    def _duplicate(self, number: int, scenes: tuple[Scene, ...]) -> Iterator[tuple[str, str]]:
        before = self._first_seen.setdefault(scenes, number)
        if before != number:
            yield "duplicate", f"looks the same as row {before}"

    def _spaces(self, row: QuestionRow) -> Iterator[tuple[str, str]]:
        for column, field in zip(self._spelling.header[:-1], row[:-1], strict=True):
            known_quirk = column == "img4" and row.rule == "8" and self._spelling.trailing_space
            bare = field.removesuffix(" ") if known_quirk else field
            if bare != " ".join(bare.split()):
                yield "space", f"stray space in column {column}: {field!r}"


def _strict_scene(text: str) -> Scene | None:
    scene = parse_description(text)
    return scene if scene is not None and scene.describe() == " ".join(text.split()) else None


def _file(slot: int, name: str, scene: Scene) -> Iterator[tuple[str, str]]:
    if scene_of_file(name) != scene or not _FILE_TAIL.search(name):
        yield "file", f"picture {slot}: {name!r} is not a file of '{scene.describe()}'"
