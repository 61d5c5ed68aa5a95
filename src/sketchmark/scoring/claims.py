"""What a statement claims: which options it asserts as the answer, and how.

A claim is marked (a box, a tag), announced ("the answer is B", "I choose B"), concluded ("so B"), stated ("it is
B"), called right ("B is correct"), or bare: the statement is nothing but an option. What is denied, hedged, supposed,
asked or told of others is no claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sketchmark.scoring import vocabulary as words
from sketchmark.scoring.bounds import part_of_another
from sketchmark.scoring.lines import Group, Line, is_mark
from sketchmark.scoring.statements import Statement

_SENTENCE = 80
"""How many words after a claim are searched for a second answer."""


@dataclass(frozen=True)
class Claim:
    """The options asserted at once (more than one: undecided; none: an answer of another kind), and how."""

    letters: frozenset[str]
    how: str


def claims_of(
    line: Line, statement: Statement, *, after_cue: bool, alone: bool, phrases: bool
) -> Iterator[Claim | None]:
    """The claims of one statement; None for an answer that is announced, but denied or hedged.

    `after_cue`: the line before was `Answer:` or its like. `alone`: what else the statement names is no second
    answer. `phrases`: the words beside what it names can make it another thing.
    """
    if not statement.own:
        return
    passed = 0
    for group in line.groups:
        how = _how(line, group, after_cue)
        if not how or group.start < passed:
            continue
        if line.denied(group) or line.hedged_at(group) or (phrases and part_of_another(line, group)):
            if how in ("marked", "announced"):
                yield None
            continue
        letters = group.letters
        if how != "called" and not alone:
            others, passed = also(line, group)
            letters |= others
        yield Claim(letters, how)


def _how(line: Line, group: Group, after_cue: bool) -> str:
    if group.form == "slot":
        return "marked"
    role = line.role(group.start)
    if role in ("announced", "concluded", "stated"):
        return role
    if role == "start" and after_cue:
        return "announced"
    if line.called_right(group):
        return "called"
    return "bare" if role == "start" and _nothing_else(line, group) else ""


def also(line: Line, group: Group) -> tuple[frozenset[str], int]:
    """Other options that the same statement goes on to name as answers, too, and where the last of them ends."""
    found: frozenset[str] = frozenset()
    passed = group.end
    for place in range(group.end, min(len(line.tokens), group.end + _SENTENCE)):
        token = line.tokens[place]
        if (token.text in words.SUBORDINATE or token.text == ";") and not token.letters:
            break
        if token.text == "(" and not (place + 1 < len(line.tokens) and line.tokens[place + 1].form == "letter"):
            break
        if token.letters and token.form != "weak":
            if line.denied(Group(place, place + 1, token.letters, token.form)):
                break
            found |= token.letters
            passed = place + 1
    return found, passed


def labels_after(line: Line, group: Group) -> frozenset[str]:
    """Options that the same statement goes on to list: `(A) thin (B) thick`."""
    found: frozenset[str] = frozenset()
    for place in range(group.end, len(line.tokens) - 1):
        token = line.tokens[place]
        label = token.form == "letter" and line.text(place + 1) in (")", "]", ".", ":")
        if label and not line.denied(Group(place, place + 1, token.letters, token.form)):
            found |= token.letters
    return found


def _nothing_else(line: Line, group: Group) -> bool:
    rest = (*line.tokens[: group.start], *line.tokens[group.end :])
    return all(is_mark(t.text) or t.text in words.OPTION | words.FILLER or t.text in ".!,:;-#" for t in rest)
