"""VOILA datasets as sets of questions: drawn in equal numbers per structure without repeats
(docs/benchmarks/voila.md, "Sampling"), and files checked against the rules row by row ("The checks").
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sketchmark.errors import BadInput
from sketchmark.worlds.voila.questions import (
    PROPERTIES,
    STRUCTURES,
    Property,
    Question,
    Rule,
    Structure,
    Triple,
    answer,
    hidden_numbers,
    place_of,
    question_in,
    relations_text,
    structure_of,
    structures,
    triples,
)
from sketchmark.worlds.voila.scenes import ACTIONS, SUBJECTS, Scene, parse_description, scene_of_file
from sketchmark.worlds.voila.table import SPELLINGS, Columns, QuestionRow, Spelling, read_table, spelling_of

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
                yield "description", f"image {slot} is not a scene: {text!r}"
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


T = TypeVar("T")


def largest_count(distraction: bool, balance: bool = False) -> int:
    """The most questions that equal shares without repeats allow. A balanced set may take up to half of the smallest
    structure: fuller than that, exact balance and no repeats contradict each other in the arithmetic structures."""
    chosen = structures(distraction)
    smallest = min(structure.size for structure in chosen)
    return len(chosen) * (smallest // 2 if balance else smallest)


def share_of(count: int, distraction: bool, balance: bool = False) -> int:
    """Questions per structure, or an error that says which counts are possible."""
    kinds = len(structures(distraction))
    largest = largest_count(distraction, balance)
    if count > largest:
        how = "balanced and without repeats" if balance else "without repeats"
        raise BadInput(f"{count} questions cannot be drawn {how}", f"the largest count is {largest}")
    if count < kinds or count % kinds:
        below, above = count // kinds * kinds, (count // kinds + 1) * kinds
        near = f"{below} or {above}" if below >= kinds and above <= largest else str(max(below, kinds))
        raise BadInput(f"{count} questions cannot be shared equally among {kinds} structures", f"try {near}")
    return count // kinds


def sample_questions(count: int, seed: int, distraction: bool, balance: bool = False) -> Iterator[Question]:
    """`count` questions in the published order of structures, uniformly drawn unless balanced. Each structure has its
    own stream of random numbers, so with the same seed and share a set without distraction is exactly the
    no-distraction part of the set with it, as in the released files."""
    share = share_of(count, distraction, balance)
    return _sample(share, seed, distraction, balance)


def _sample(share: int, seed: int, distraction: bool, balance: bool) -> Iterator[Question]:
    for structure in structures(distraction):
        rng = random.Random(seed * 32 + structure.id)
        places = _balanced_places(structure, share, rng) if balance else _uniform_places(structure, share, rng)
        for place in places:
            yield question_in(structure, place)


def _uniform_places(structure: Structure, share: int, rng: random.Random) -> Iterator[int]:
    """Draw, and redraw what was drawn before: the published way, but on visible content."""
    seen: set[int] = set()
    while len(seen) < share:
        place = int(rng.random() * structure.size)
        if place not in seen:
            seen.add(place)
            yield place


def _balanced_places(structure: Structure, share: int, rng: random.Random) -> Iterator[int]:
    """Balanced triples per property, combined at random; repeats are cured by swapping subjects between questions."""
    columns = {prop: _balanced_triples(prop, structure.rule(prop), share, rng) for prop in PROPERTIES}
    numbers, subjects, actions = columns["number"], columns["subject"], columns["action"]

    def place(row: int) -> int:
        return place_of(structure, numbers[row], subjects[row], actions[row])

    owner: dict[int, int] = {}
    repeats = []
    for row in range(share):
        if owner.setdefault(place(row), row) != row:
            repeats.append(row)
    while repeats:
        row, other = repeats[-1], int(rng.random() * share)
        before = place(other)
        if owner.get(before) != other or row == other:
            continue
        subjects[row], subjects[other] = subjects[other], subjects[row]
        if place(row) in owner or place(other) in owner or place(row) == place(other):
            subjects[row], subjects[other] = subjects[other], subjects[row]
            continue
        del owner[before]
        owner[place(row)], owner[place(other)] = row, other
        repeats.pop()
    for row in range(share):
        yield place(row)


def _balanced_triples(prop: Property, rule: Rule, share: int, rng: random.Random) -> list[Triple]:
    """`share` triples in random order, laid down in blocks that use every value equally often."""
    drawn: list[Triple] = []
    blocks = _blocks(prop, rule)
    while len(drawn) < share:
        for block in _shuffled(blocks, rng):
            drawn.extend(_shuffled(block, rng))
            if len(drawn) >= share:
                break
    return list(_shuffled(drawn[:share], rng))


def _blocks(prop: Property, rule: Rule) -> list[list[Triple]]:
    """Triples grouped so that within a block every slot shows every value once.

    Subjects, actions and the stable number: values shifted cyclically by fixed steps. Arithmetic: one block of all
    28 triples in which one-four and four-one count thrice, which gives each number a quarter of each slot. The 16
    triples without repeat and the six of number distraction cannot have equal values; there the triples are equal.
    """
    allowed = triples(prop, rule)
    if rule == "arithmetic":
        widest = [triple for triple in allowed if abs(triple[0] - triple[1]) == 3]
        return [[*allowed, *widest, *widest]]
    if rule == "arithmetic without repeat" or (prop == "number" and rule == "distraction"):
        return [list(allowed)]
    size = {"number": 4, "subject": len(SUBJECTS), "action": len(ACTIONS)}[prop]
    blocks: dict[tuple[int, int], list[Triple]] = {}
    for first, second, third in allowed:
        blocks.setdefault(((second - first) % size, (third - first) % size), []).append((first, second, third))
    return list(blocks.values())


def _shuffled(items: Sequence[T], rng: random.Random) -> list[T]:
    return [items[at] for _, at in sorted((rng.random(), at) for at in range(len(items)))]


def hidden_scene(question: Question, seed: int) -> Scene:
    """Return a concrete fourth scene, for training sets: an `any` in the answer gets a value."""
    rng = random.Random(seed * 1_000_000_007 + question.index)
    number, subject, action = question.answer
    if number is None:
        number = hidden_numbers(*question.scenes)[0]
    if subject is None:
        subject = int(rng.random() * len(SUBJECTS))
    if action is None:
        action = int(rng.random() * len(ACTIONS))
    return Scene(number, subject, action)
