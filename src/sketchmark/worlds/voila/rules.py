"""The rules of VOILA and the 19 structures they form (docs/benchmarks/voila.md, "Rules").

A question is an analogy: picture 1 is to picture 2 as picture 3 is to picture 4. For each property one rule fixes
which values the pictures may take. Only the first three are ever seen, so a rule is held here as its set of visible
triples; the fourth value follows from them, or is `any` under Distraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations, product
from typing import Literal

from sketchmark.worlds.voila.vocabulary import ACTIONS, NUMBERS, SUBJECTS, Scene

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
        """How many questions differ in what can be seen, pictures 1 to 3 (docs/benchmarks/voila.md, "Structures")."""
        number, subject, action = self.sizes
        return number * subject * action

    @property
    def letters(self) -> str:
        """The rules for number, subject and action in short, such as A S C."""
        return " ".join(_LETTERS[self.rule(prop)] for prop in PROPERTIES)


_LETTERS: Mapping[Rule, str] = {
    "stable": "S",
    "change": "C",
    "arithmetic": "A",
    "arithmetic without repeat": "A'",
    "distraction": "D",
}
_RULES: Mapping[str, Rule] = {letter: rule for rule, letter in _LETTERS.items()}

_TABLE = {
    1: "S S C",
    2: "D S C",
    3: "S D C",
    4: "D D C",
    5: "S C S",
    6: "D C S",
    7: "S C D",
    8: "D C D",
    9: "A S S",
    10: "A D S",
    11: "A S D",
    12: "A D D",
    13: "S C C",
    14: "D C C",
    15: "A C S",
    16: "A C D",
    17: "A S C",
    18: "A D C",
    19: "A' C C",
}

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
    """What number a real fourth picture may show where the answer is `any`: the one not yet seen."""
    return tuple(n for n in _VALUES["number"] if n not in (first.number, second.number, third.number))
