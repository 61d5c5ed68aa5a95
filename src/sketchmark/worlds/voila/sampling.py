"""Drawing test sets: equal shares of the structures, no question twice (docs/benchmarks/voila.md, "Sampling")."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

from sketchmark.errors import BadInput
from sketchmark.worlds.voila.questions import Question, place_of, question_in
from sketchmark.worlds.voila.rules import (
    PROPERTIES,
    Property,
    Rule,
    Structure,
    Triple,
    hidden_numbers,
    structures,
    triples,
)
from sketchmark.worlds.voila.vocabulary import ACTIONS, SUBJECTS, Scene

T = TypeVar("T")


def largest_count(distraction: bool, balance: bool = False) -> int:
    """The most questions that equal shares without repeats allow.

    A balanced set may take up to half of the smallest structure: fuller than that, exact balance and no repeats
    contradict each other in the arithmetic structures.
    """
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
    """`count` questions in the published order of structures, uniformly drawn unless balanced.

    Each structure has its own stream of random numbers, so with the same seed and share a set without distraction
    is exactly the no-distraction part of the set with it, as in the released files.
    """
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
    """A concrete fourth scene, for training sets: what is `any` in the answer gets a value of its own."""
    rng = random.Random(seed * 1_000_000_007 + question.index)
    number, subject, action = question.answer
    if number is None:
        number = hidden_numbers(*question.scenes)[0]
    if subject is None:
        subject = int(rng.random() * len(SUBJECTS))
    if action is None:
        action = int(rng.random() * len(ACTIONS))
    return Scene(number, subject, action)
