"""VOILA's questions: the rules, the 19 structures they form, an index, and the ground-truth texts.

A question is an analogy: image 1 is to image 2 as image 3 is to image 4. For each property one rule fixes the values
that the images may take (docs/benchmarks/voila.md, "Rules"). Only the first three images are shown, so a rule is
stored as its set of visible triples; the fourth value follows from them, or is `any` under Distraction.

Every question has an index and every index a question, without a table. The seven structures without distraction
come first, so the indices of VOILA-ND are 0 .. 3,861,311, the further ones of VOILA-WD go up to 157,632,383, and a
question has the same index in both. Within a structure the index is a mixed-radix number whose digits are the
positions of the number, subject and action triples.

The texts are the published ones, to the letter ("The CSV").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations, product
from typing import Literal

from sketchmark.errors import BadInput
from sketchmark.worlds.voila.scenes import ACTIONS, ANY, NUMBERS, SCENE, SUBJECTS, Scene

Property = Literal["number", "subject", "action"]
PROPERTIES: tuple[Property, ...] = ("number", "subject", "action")

Rule = Literal["stable", "change", "arithmetic", "arithmetic without repeat", "distraction"]
Triple = tuple[int, int, int]

_VALUES: Mapping[Property, range] = {
    "number": range(1, len(NUMBERS) + 1),
    "subject": range(len(SUBJECTS)),
    "action": range(len(ACTIONS)),
}


@cache
def triples(prop: Property, rule: Rule) -> tuple[Triple, ...]:
    """Every visible triple a rule allows, in a fixed order: the digits of a question's index."""
    values = _VALUES[prop]
    if rule == "stable":
        return tuple((x, x, y) for x, y in permutations(values, 2))
    if rule == "change":
        return tuple((x, y, x) for x, y in permutations(values, 2))
    if rule == "arithmetic":
        return tuple((a, b, c) for a, b, c in product(values, repeat=3) if a != b and c + b - a in values)
    if rule == "arithmetic without repeat":
        return tuple((a, b, c) for a, b, c in triples(prop, "arithmetic") if a != c)
    if prop == "number":
        return tuple((a, b, c) for a, b, c in permutations(values, 3) if a - b >= c)
    return tuple(permutations(values, 3))


@cache
def positions(prop: Property, rule: Rule) -> dict[Triple, int]:
    return {triple: position for position, triple in enumerate(triples(prop, rule))}


@dataclass(frozen=True)
class Structure:
    """One rule for each property. `id` is what the `rule` column of the published files holds."""

    id: int
    number: Rule
    subject: Rule
    action: Rule

    def rule(self, prop: Property) -> Rule:
        return {"number": self.number, "subject": self.subject, "action": self.action}[prop]

    @cached_property
    def has_distraction(self) -> bool:
        return "distraction" in (self.number, self.subject, self.action)

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        number, subject, action = (len(triples(prop, self.rule(prop))) for prop in PROPERTIES)
        return number, subject, action

    @cached_property
    def size(self) -> int:
        """Return the number of questions with different images 1 to 3 (docs/benchmarks/voila.md, "Structures")."""
        number, subject, action = self.sizes
        return number * subject * action

    @property
    def letters(self) -> str:
        """The rules for number, subject and action in short, such as A S C."""
        return " ".join(_LETTERS[self.rule(prop)] for prop in PROPERTIES)


_LETTERS: Mapping[Rule, str] = {
    "stable": "S", "change": "C", "arithmetic": "A", "arithmetic without repeat": "A'", "distraction": "D",
}  # fmt: skip
_RULES: Mapping[str, Rule] = {letter: rule for rule, letter in _LETTERS.items()}

_TABLE = {
    1: "S S C", 2: "D S C", 3: "S D C", 4: "D D C", 5: "S C S", 6: "D C S", 7: "S C D", 8: "D C D", 9: "A S S",
    10: "A D S", 11: "A S D", 12: "A D D", 13: "S C C", 14: "D C C", 15: "A C S", 16: "A C D", 17: "A S C",
    18: "A D C", 19: "A' C C",
}  # fmt: skip

STRUCTURES: Mapping[int, Structure] = {
    id: Structure(id, *(_RULES[letter] for letter in letters.split())) for id, letters in _TABLE.items()
}


def structures(distraction: bool) -> tuple[Structure, ...]:
    """In the published order of generation: 1 to 19, or 1, 5, 9, 13, 15, 17, 19."""
    return tuple(s for s in STRUCTURES.values() if distraction or not s.has_distraction)


def structure_of(first: Scene, second: Scene, third: Scene) -> Structure | None:
    """The structure three scenes belong to; no triple belongs to two, and most belong to none."""
    seen = {prop: tuple(getattr(scene, prop) for scene in (first, second, third)) for prop in PROPERTIES}
    for structure in STRUCTURES.values():
        if all(seen[prop] in positions(prop, structure.rule(prop)) for prop in PROPERTIES):
            return structure
    return None


def answer(first: Scene, second: Scene, third: Scene) -> Scene:
    """The fourth scene in closed form, with None for `any`."""
    number, subject, action = (
        fourth(prop, (getattr(first, prop), getattr(second, prop), getattr(third, prop))) for prop in PROPERTIES
    )
    return Scene(number, subject, action)


def fourth(prop: Property, triple: Triple) -> int | None:
    """The fourth value of a property, None for `any`. The number rule is additive, not a ratio
    (docs/benchmarks/voila.md, "The answer")."""
    first, second, third = triple
    if prop == "number":
        number = third + second - first
        return number if number in _VALUES["number"] else None
    if first == second:
        return third
    return second if first == third else None


def hidden_numbers(first: Scene, second: Scene, third: Scene) -> tuple[int, ...]:
    """Return the number for a real fourth image if the answer is `any`: the one not yet seen."""
    return tuple(n for n in _VALUES["number"] if n not in (first.number, second.number, third.number))


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
    """Return the number of questions, distinct by their visible images."""
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
    """Return the position of the question with these triples in its structure; KeyError if the rules forbid one."""
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
    """Return the index, computed from the three scenes: a question read from a file need not carry one."""
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


def relations_text(question: Question) -> str:
    """Return the changes from image 1 to image 2: the ground truth of step 2. It ends with a space, as published."""
    first, second, _ = question.scenes
    return (
        _relation("Number", first.number_word, second.number_word, first.number == second.number)
        + _relation("Action", first.action_word, second.action_word, first.action == second.action)
        + _relation("Subject type", first.subject_word, second.subject_word, first.subject == second.subject)
    )


def _relation(name: str, before: str, after: str, same: bool) -> str:
    return f"{name} remains constant {before}. " if same else f"{name} is changed from {before} to {after}. "


def combined_text(question: Question, *, first_gap: str = " ") -> str:
    """The three descriptions in one line: the truth of step 1. The generator omits the first gap
    (docs/benchmarks/voila.md, "Two spellings")."""
    first, second, third = (scene.describe() for scene in question.scenes)
    return f"Image 1:{first_gap}{first}. Image 2: {second}. Image 3: {third}"


def answer_without_any(answer: Scene, *, trailing_space: bool = False) -> str:
    """The img4 column of a testing file. After a lone subject the generator adds a space."""
    words = [answer.number_word, answer.subject_word, answer.action_word]
    text = " ".join(word for word in words if word != ANY)
    only_subject = answer.number is None and answer.action is None
    return f"{text} " if only_subject and trailing_space else text
