"""Whether a clause says of the subject of a question what the question asks: the same, or another value of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from sketchmark.answers.questions import (
    AGAINST,
    ARTICLES,
    ATTRIBUTES,
    AUXILIARY,
    COMPLEMENTS,
    DENYING,
    EVERY,
    FOUND,
    FUNCTION,
    LIGHT,
    LINKING,
    NEUTRAL,
    OPPOSITES,
    OPTIONAL,
    PEOPLE,
    PICTURE,
    PREPOSITIONS,
    PRONOUNS,
    RELATIONS,
    SAME,
    SOME,
    THERE,
    Asked,
    content_of,
    is_adverb,
    root_of,
)
from sketchmark.answers.vocabulary import SETS, word_set

AFTER = THERE.union(
    LIGHT,
    AUXILIARY,
    ARTICLES,
    LINKING,
    PICTURE,
    word_set("up kind sort of in on at it them among sight view frame"),
)
CHANGED = SETS["changing"] | word_set(
    "resolved healed prior previous toy stuffed plush fake statue drawing cartoon possible suspected like"
)


def ends_a_thing(word: str) -> bool:
    return (
        word in PREPOSITIONS | AUXILIARY | DENYING | LIGHT | THERE | LINKING
        or word in ("that", "which", "who", "and", "or", "with", "cannot", ",")
        or word.endswith(("ing", "ly", "ed"))
    )


SIDES = word_set("left right")
_WILD = word_set("one it them any some so none nothing anything")
_EITHER_SIDE = FUNCTION | ATTRIBUTES | PICTURE | word_set(", i we you and")


def said_so(words: Sequence[str], wanted: Asked, subject: str) -> bool | None:
    """Return whether a clause says the same of the same subject."""
    skipped = ARTICLES | EVERY | LIGHT - {","} | NEUTRAL
    kept = [
        word
        for at, word in enumerate(words)
        if root_of(word) in wanted.words or (at == 0 and word in PRONOUNS) or not (word in skipped or is_adverb(word))
    ]
    denials = [at for at, word in enumerate(kept) if word in DENYING and root_of(word) not in wanted.words]
    strange = {*kept[kept[:1] == ["which"] :]} & (AGAINST | CHANGED) - {*wanted.words}
    strange -= SOME if wanted.every else frozenset()
    strange -= {word for word in strange if any((root_of(word), one) in OPPOSITES for one in wanted.words)}
    if (
        (len(denials) > 1 and not (wanted.every and "without" in kept))
        or strange
        or "that" in words[1:]
        or (words[0] == "there" and "than" not in wanted.words)
    ):
        return None
    if words[0] in ("not", "no") and {*content_of(words[1:])} - FOUND <= {*wanted.words}:
        return False if {*content_of(words[1:])} - FOUND else None
    if wanted.every and {"only", "one"} <= {*words} <= SOME | PRONOUNS | AUXILIARY | {"of", "them"}:
        return False
    if _has_both(kept, wanted):
        return None
    if wanted.every and len(denials) == 2 and denials[0] == 0 and kept[-1] and root_of(kept[-1]) == wanted.words[-1]:
        return True  # "Nobody is without a helmet"
    if (swapped := _swapped(kept, denials, wanted)) is not None:
        return swapped
    end = wanted.end if wanted.end > 1 and (denials or "than" in wanted.words) else len(wanted.words)
    forms = [wanted.words, wanted.words[:end]]
    pivot = next((at for at, word in enumerate(wanted.words) if at and word in SIDES), None)
    forms += [wanted.words[: pivot + 1]] if pivot else []
    forms += [form[:-1] for form in forms if len(form) > 1 and form[-1] in OPTIONAL]
    numbers = word_set("two three")
    forms += [tuple(word for word in form if word not in numbers) for form in forms if numbers.intersection(form)]
    if wanted.predicate == 0 and len(wanted.words) > 1:
        forms.append((*wanted.words[1:], wanted.words[0]))
    verbless = len(words) < 5 and not AUXILIARY.intersection(words) and "than" not in wanted.words
    for form in forms:
        for first in range(len(form) if verbless else min(len(form), wanted.predicate + 1)):
            found = _aligned(kept, form, first, wanted)
            if found is None:
                continue
            if first and not _is_meant(words, wanted, subject):
                return None
            start, last, opposed = found
            if opposed and _is_of_another_time_or_thing(opposed, form, kept, wanted):
                return None
            return _decided(words, kept, denials, wanted, start, last, opposed)
    return None


def _is_of_another_time_or_thing(
    opposed: Sequence[tuple[str, str]], form: Sequence[str], kept: Sequence[str], wanted: Asked
) -> bool:
    """Return whether another value is only of what the question tells its subject by, or of its time.

    `The man in the blue shirt is sitting` says nothing of the one in red, nor `It is open on Monday` of Sunday.
    """
    at = form.index(opposed[0][1]) if opposed[0][1] in form else 0
    following = next((n for n, word in enumerate(form[at + 1 :]) if word in PREPOSITIONS), len(form) - at - 1)
    timed = opposed[0][1] in _TIMES and at > 2
    compared = "than" in kept and {*wanted.words[wanted.end + 1 :]} - {*map(root_of, kept)}
    return following > 1 or timed or bool(compared)


_TIMES = frozenset(map(root_of, SETS["time"]))


def _has_both(kept: Sequence[str], wanted: Asked) -> bool:
    """Return whether a word of the question is joined with another value of its attribute: `black and white`."""
    roots = [root_of(word) for word in kept]
    return any(
        kept[at] in ("and", "or", ",", "with")
        and any(
            one in wanted.words and (other, one) in OPPOSITES and other not in wanted.words
            for one, other in permutations((before, after))
        )
        for at, (before, after) in enumerate(zip(roots, roots[2:], strict=False), 1)
    )


def _decided(
    words: Sequence[str],
    kept: Sequence[str],
    denials: Sequence[int],
    wanted: Asked,
    start: int,
    last: int,
    opposed: Sequence[tuple[str, str]],
) -> bool | None:
    """Turn a clause that has the question's words into a verdict, by its negation, opposites and quantities."""
    if denials:
        at = denials[0]
        if at > last and any(word not in AFTER for word in kept[at + 1 :]):
            return None
        if kept[at] == "without" or (at and kept[at - 1] == "with" and at > start):
            return None
    if len(opposed) > 1 or (opposed and wanted.anyone and not EVERY.intersection(words)):
        return None
    if wanted.every and SOME.intersection(words):
        return False
    if opposed and denials:
        return True if opposed[0] in COMPLEMENTS else None
    return not denials and not opposed


def _is_meant(words: Sequence[str], wanted: Asked, subject: str) -> bool:
    """Return whether a pronoun, or no subject, means the subject of the question."""
    people = PEOPLE.get(words[0])
    others = next((named for name, named in PEOPLE.items() if name != words[0]), frozenset())
    if people and not people.isdisjoint(wanted.words):
        return subject != "another"
    if people and not others.isdisjoint(wanted.words[: wanted.predicate]):
        return False
    pronoun = words[0] in PRONOUNS
    return not (pronoun and subject and subject not in wanted.words and wanted.words[0] not in PRONOUNS)


def _aligned(
    kept: Sequence[str], form: Sequence[str], first: int, wanted: Asked
) -> tuple[int, int, list[tuple[str, str]]] | None:
    """Find the words of a form in order; return the first and last place and the opposites among them."""
    roots = [root_of(word) for word in kept]
    opposed: list[tuple[str, str]] = []
    start = last = -1
    for index, word in enumerate(form[first:], first):
        place = next(
            (
                at
                for at in range(last + 1, len(kept))
                if roots[at] == word
                or (index >= wanted.predicate and _is_opposite(roots, at, word, wanted))
                or (index > first and index == len(form) - 1 and kept[at] in _WILD)
            ),
            None,
        )
        if place is None or (last >= 0 and not _is_gap(kept[last + 1 : place], kept[place])):
            return None
        if (roots[place], word) in OPPOSITES:
            opposed.append((roots[place], word))
        start, last = (place if start < 0 else start), place
    known, before = {*wanted.words}, kept[:start]
    strange = [word for word in before if word not in _EITHER_SIDE and root_of(word) not in known]
    strange = [word for word in strange if not (wanted.every and word in SOME)]
    if first and (
        PICTURE.intersection(before)
        or any((root_of(word), one) in OPPOSITES for word in before for one in form[:first])
    ):
        return None  # another subject
    named = {*form[:first]} & {*map(root_of, before)}
    defined = start == 0 and kept[last + 1 : last + 2] == ["is"]
    if (first and named and form[first - 1] not in named) or (defined and (first or wanted.predicate == 0)):
        return None
    if named and PREPOSITIONS.intersection(before) and not AUXILIARY.intersection(before):
        return None
    described = wanted.predicate == 0 and not PREPOSITIONS.intersection(before)
    some = wanted.every and DENYING.intersection(kept)
    if strange and not (wanted.anyone or some or described):
        return None
    tail = kept[last + 1 :]
    follows = (
        not tail
        or tail[0][0].isdigit()
        or tail[0] in _EITHER_SIDE
        or root_of(tail[0]) in known | OPTIONAL
        or ends_a_thing(tail[0])
    )
    return (start, last, opposed) if follows and (not tail or tail[0] != "'s") else None


def _is_opposite(roots: Sequence[str], at: int, word: str, wanted: Asked) -> bool:
    return (roots[at], word) in OPPOSITES and word not in roots and roots[at] not in wanted.words


def _is_gap(gap: Sequence[str], following: str) -> bool:
    """Return whether words inside a sentence leave its subject and its verb as they are."""
    gap = gap[:-1] if gap and gap[-1] in ("of", "in") else gap
    verb = max((at for at, word in enumerate(gap) if word in AUXILIARY | LINKING), default=-1)
    place = max((at for at, word in enumerate(gap) if word in PREPOSITIONS), default=-1)
    if not gap:
        return True
    if place > verb or (following.endswith(("ing", "ed")) and verb < 0 and any(w not in FUNCTION for w in gap)):
        return False
    joins = gap[0] in FUNCTION | ATTRIBUTES or gap[0] in (",", "and") or gap[0].endswith(("ing", "ed"))
    return "'s" not in gap and (joins if verb >= 0 else len(gap) < 4)


def _swapped(kept: Sequence[str], denials: Sequence[int], wanted: Asked) -> bool | None:
    """Parse a clause that says it of the other one: `The tree is left of the car`, `The man is older`."""
    words = wanted.words
    pivot = words.index("than") - 1 if "than" in words[2:] else None
    if pivot is None:
        pivot = next((at for at, word in enumerate(words) if 0 < at < len(words) - 1 and word in RELATIONS), None)
    if pivot is None:
        return None
    one, other = {*words[:pivot]} - {*words[pivot + 1 :]}, {*words[pivot + 1 :]} - {*words[:pivot], "than"}
    roots = [root_of(word) for word in kept]
    if "than" in words and SAME.intersection(kept) and not denials:
        return False
    place = next(
        (at for at, root in enumerate(roots) if root == words[pivot] or (root, words[pivot]) in OPPOSITES), None
    )
    if place is None or denials:
        return None
    before, same = {*roots[:place]}, roots[place] == words[pivot]
    if before - {*words} - _EITHER_SIDE or bool(before & one) == bool(before & other):
        return None
    swapped = bool(before & other)
    beyond = {root_of(word) for word in kept[place + 1 :] if word not in _EITHER_SIDE}
    if beyond - {*words} and not beyond & (one if swapped else other):
        return None
    return None if {*roots[place + 1 :]} & (other if swapped else one) else same != swapped
