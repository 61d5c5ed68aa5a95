"""Questions and their numbers: every question has an index, and every index a question, with no table in between.

One order serves both sets. The seven structures without distraction come first, so the indices of VOILA-ND are
0 .. 3,861,311, the further ones of VOILA-WD go up to 157,632,383, and a question keeps its index in both.
Within a structure the index is a mixed-radix number whose digits are the positions of the number, subject and
action triples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from sketchmark.errors import BadInput
from sketchmark.worlds.voila.rules import (
    PROPERTIES,
    STRUCTURES,
    Property,
    Structure,
    Triple,
    fourth,
    positions,
    structures,
    triples,
)
from sketchmark.worlds.voila.vocabulary import SCENE, Scene


@dataclass(frozen=True, slots=True)
class Question:
    """Three scenes and the fourth they imply. `rule` is the structure's id."""

    rule: int
    scenes: tuple[Scene, Scene, Scene]
    answer: Scene
    index: int


@cache
def _starts() -> dict[int, int]:
    """First index of each structure."""
    ordered = sorted(STRUCTURES.values(), key=lambda s: (s.has_distraction, s.id))
    starts, start = {}, 0
    for structure in ordered:
        starts[structure.id] = start
        start += structure.size
    return starts


@cache
def space_size(distraction: bool) -> int:
    """How many questions there are, distinct by what can be seen."""
    return sum(structure.size for structure in structures(distraction))


def question_in(structure: Structure, place: int) -> Question:
    """The question at a place (0 .. structure.size - 1) within its structure."""
    numbers, subjects, actions = _quadruples(structure.id)
    rest, action_at = divmod(place, len(actions))
    number_at, subject_at = divmod(rest, len(subjects))
    n1, n2, n3, number = numbers[number_at]
    s1, s2, s3, subject = subjects[subject_at]
    a1, a2, a3, action = actions[action_at]
    scenes = (SCENE[n1, s1, a1], SCENE[n2, s2, a2], SCENE[n3, s3, a3])
    return Question(structure.id, scenes, SCENE[number, subject, action], _starts()[structure.id] + place)


_Quadruple = tuple[int, int, int, int | None]


@cache
def _quadruples(rule: int) -> list[list[_Quadruple]]:
    """The visible triples of each property with the fourth value that follows."""
    structure = STRUCTURES[rule]
    return [
        [(*triple, fourth(prop, triple)) for triple in triples(prop, structure.rule(prop))] for prop in PROPERTIES
    ]


def place_of(structure: Structure, number: Triple, subject: Triple, action: Triple) -> int:
    """Where in its structure the question with these triples stands; KeyError when the rules forbid one of them."""
    _, subjects, actions = structure.sizes
    at_number = positions("number", structure.number)[number]
    at_subject = positions("subject", structure.subject)[subject]
    return (at_number * subjects + at_subject) * actions + positions("action", structure.action)[action]


def question_at(index: int, distraction: bool = True) -> Question:
    """The question with this index."""
    size = space_size(distraction)
    if not 0 <= index < size:
        kind = "with" if distraction else "without"
        raise BadInput(f"there is no question {index}", f"indices {kind} distraction are 0 to {size - 1}")
    rule, start = max((item for item in _starts().items() if item[1] <= index), key=lambda item: item[1])
    return question_in(STRUCTURES[rule], index - start)


def index_of(question: Question) -> int:
    """The index, from the three scenes alone: a question read from a file need not carry one."""
    structure = STRUCTURES[question.rule]
    try:
        place = place_of(structure, *(_triple(question, prop) for prop in PROPERTIES))
    except KeyError:
        raise BadInput(f"the scenes of this question do not follow rule {question.rule}") from None
    return _starts()[structure.id] + place


def _triple(question: Question, prop: Property) -> Triple:
    first, second, third = (getattr(scene, prop) for scene in question.scenes)
    return first, second, third


def all_questions(distraction: bool) -> Iterator[Question]:
    """The whole space by ascending index, in constant memory."""
    for structure in sorted(structures(distraction), key=lambda s: _starts()[s.id]):
        for place in range(structure.size):
            yield question_in(structure, place)
