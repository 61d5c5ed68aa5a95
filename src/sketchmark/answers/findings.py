"""The answer to a question of yes or no that a reply gives in a sentence, without the words yes and no.

"There is no pneumothorax" answers "Is there a pneumothorax?", "He wears one" answers "Is the man wearing a hat?" and
"It is closed" answers "Is the door open?". Each clause of a reply is compared with the question's sentence. It
affirms the question if it has the same words in the same order (a pronoun may replace the subject), and denies it if
it is negated or has the opposite of one word. More words in a clause do not matter, unless they hedge, compare, or
make it a clause about another thing: these are closed lists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, permutations

from sketchmark.answers.questions import (
    AGAINST,
    ARTICLES,
    ATTRIBUTES,
    AUXILIARY,
    BOUND,
    BOUNDS,
    COMPLEMENTS,
    DENYING,
    DOUBT,
    EVERY,
    FOUND,
    FRAME,
    FUNCTION,
    LIGHT,
    LINKING,
    LONGEST,
    NEUTRAL,
    ONES,
    OPPOSITES,
    OPTIONAL,
    PEOPLE,
    PICTURE,
    POSITION,
    PREPOSITIONS,
    PRONOUNS,
    RELATIONS,
    SAME,
    SHOWING,
    SOME,
    THERE,
    Asked,
    asked,
    clauses,
    content_of,
    counted,
    in_its_words,
    is_adverb,
    root_of,
)
from sketchmark.answers.roles import statements
from sketchmark.answers.vocabulary import SETS, TABLES, in_our_words, word_set

_REPHRASED = re.compile(r"(?:you(?:'re| are)? (?:ask|want)|the question (?:is|asks))", re.I)
_SEARCH = re.compile(r"(?:i|we) (?:have )?(?:looked|searched|checked)(?: \w+){0,3} for ")
_IN_QUOTES = re.compile(r"(?<=\w )[\"“][^\"”\n]{1,200}[\"”](?=\W{0,2}\s)")
_CANNOT_SAY = re.compile(
    r"\b(?:cannot|unable to|not able to|not possible to) (?:\w+ )?"
    r"(?:judge|assess|tell|determine|confirm|say|evaluate|interpret)\b"
    r"|\b(?:cannot|not) (?:be )?(?:\w+ )?exclude"
)
_NOUGHT = re.compile(r"(?<![\d.,])0 (?=[a-z])")
_DASH = re.compile(r"\s[–—]\s")
_MISTAKEN = word_set("like resembles resemble mistaken similar mistake taken")


def read_finding(text: str, question: str) -> bool | None:
    """Return whether the reply says that it is as the question asks; None if it does not say."""
    if found := _found(text, question):
        return found.pop() if len(found) == 1 else None
    plain = " ".join(question.casefold().split()).rstrip("? .")
    for pattern, other, flipped in _RESTATED:
        if (asks := pattern.fullmatch(plain)) and len(found := _found(text, other.format(*asks.groups("")))) == 1:
            return found.pop() != flipped
    return None


_RESTATED = [(re.compile(find), put, flipped) for find, put, flipped in TABLES["restated"]]


def _found(text: str, question: str) -> set[bool]:
    """Return the verdicts of a reply's clauses: more than one if they contradict each other."""
    text = in_our_words(_DASH.sub("; ", _NOUGHT.sub("no ", _IN_QUOTES.sub(" ", text))))
    if (bound := BOUND.search(question)) and (found := counted(text, bound)) is not None:
        return {found}
    wanted = asked(question)
    verdicts: list[bool] = []
    unread = False
    subject = before = ""
    for statement in statements(text):
        if statement.takes_back or statement.torn:
            verdicts, unread = [], statement.torn
        for concludes, words in clauses(statement) if not _REPHRASED.match(statement.text) else ():
            content = content_of(words)
            own = statement.own and len(words) <= LONGEST
            own = own and not (statement.takes_back and _short(words) is not None)
            verdict = _verdict(words, wanted, subject, before) if own else None
            if verdict is not None and (concludes or statement.corrects):
                verdicts, unread = [verdict], False
            elif verdict is not None:
                verdicts.append(verdict)
            elif wanted and own and wanted.head in content and not _SEARCH.match(" ".join(words)):
                plain = verdicts[-1:] == [True] and not (DENYING | DOUBT).intersection(words)
                unread = unread or not (plain or _MISTAKEN.intersection(words))
            elif own and (_CANNOT_SAY.search(" ".join(words)) or (DOUBT & {*words} and {*content} <= _VAGUE)):
                unread = True
            before = " ".join(content) or before
            subject = content[0] if content and content[0] not in PRONOUNS | _VAGUE else subject
            subject = "another" if {"another", "other", "others"}.intersection(words) else subject
    return set() if unread and len(set(verdicts)) == 1 else set(verdicts)


_VAGUE = frozenset(
    map(root_of, SETS["doubt"] | THERE | word_set("say tell sure know look check see find answer confirm it in that"))
)


_CLAIM = re.compile(
    r"the (?:claim|statement|assertion|caption|sentence|idea) that (?P<said>.+) is (?P<no>not )?"
    r"(?P<verdict>true|correct|right|accurate|false|wrong|incorrect|untrue|inaccurate)"
)
_UNTRUE = re.compile(
    r"it (?:is|would be) (?:not (?:true|correct|right|the case)|false|wrong|incorrect|untrue|inaccurate)"
    r"(?: to (?:say|claim|state))? (?:that )?(?=\w)"
)
_TRUE, _FALSE = (frozenset(TABLES["truth"][name].split()) for name in ("yes", "no"))
_SAID = frozenset(TABLES["truth"]["said"].split())


def _verdict(words: Sequence[str], wanted: Asked | None, subject: str, before: str) -> bool | None:
    text = " ".join(words)
    if untrue := _UNTRUE.match(text):
        verdict = _verdict(text[untrue.end() :].split(), wanted, subject, before)
        return None if verdict is None else not verdict
    if claim := _CLAIM.fullmatch(text):
        verdict = _verdict(claim["said"].split(), wanted, subject, before)
        true = (claim["verdict"] in ("true", "correct", "right", "accurate")) != bool(claim["no"])
        return None if verdict is None else verdict == true
    if not words or DOUBT.intersection(words):
        return None
    if before and wanted and wanted.exists and wanted.head not in before.split() and words[0] == "it":
        return None
    sided = wanted and "right" in words and _SIDES.intersection(wanted.words)
    said = _short(words) if not sided else None
    if wanted is None:
        return said if (_TRUE | _FALSE).intersection(words) else None
    if said is not None:
        return said
    words, narrower = in_its_words(words, wanted)
    found = _there(words, wanted, before) if wanted.exists else _so(words, wanted, subject)
    if narrower and found and {*wanted.words[wanted.end :]} - PREPOSITIONS - {*map(root_of, words)}:
        return None
    return None if found is False and narrower and DENYING.intersection(words) else found


def _short(words: Sequence[str]) -> bool | None:
    """Parse a clause that has only pronouns, auxiliaries and words for true and false: `It most certainly is not`."""
    plain = [word for word in words if word[0].isalnum() and not is_adverb(word)]
    denials = sum(word in DENYING for word in plain)
    truths = [word in _TRUE for word in plain if word in _TRUE | _FALSE]
    empty = AUXILIARY.union(PRONOUNS, ARTICLES, LIGHT, DENYING, _TRUE, _FALSE, _SAID) - {"missing", "free", "except"}
    empty |= _SEEN if plain[:1] and plain[0] in DENYING else frozenset()
    empty |= PICTURE | {"photo"} if truths else frozenset()
    if not set(plain) <= empty or denials > 1 or len(truths) > 1 or _HALF.intersection(words):
        return None
    if truths:
        placed = words[-1] in _TRUE | _FALSE or not {"right", "so", "positive", "negative"}.intersection(plain)
        return truths[0] != bool(denials) if placed else None
    own = plain[:1] == ["i"] and {"do", "can", "did", "cannot"}.intersection(plain)
    leads = own or (plain and plain[0] in PRONOUNS | {"there", "not"} | AUXILIARY)
    verb = any(word in AUXILIARY for word in plain)
    return not denials if leads and (verb or plain[0] == "not") and (len(words) > 1 or denials) else None


_SEEN = word_set("far as make out tell know in")
"""Words after `not`: `not as far as I know`."""
_HALF = word_set(
    "necessarily exactly entirely always partly partially almost nearly barely somewhat half mostly hardly"
)


_DESCRIBING = frozenset(map(root_of, THERE | SETS["describing"]))
_AFTER = THERE.union(
    LIGHT,
    AUXILIARY,
    ARTICLES,
    LINKING,
    PICTURE,
    word_set("up kind sort of in on at it them among sight view frame"),
)
_ELSEWHERE = frozenset(map(root_of, SETS["elsewhere"])) - word_set(
    "patient first second third some many most only cas"
)
_CHANGED = SETS["changing"] | word_set(
    "resolved healed prior previous toy stuffed plush fake statue drawing cartoon possible suspected like"
)


def _there(words: Sequence[str], wanted: Asked, before: str) -> bool | None:
    """Return whether a clause says that a thing is there."""
    roots = [root_of(word) for word in words]
    denials = [at for at, word in enumerate(words) if word in DENYING - {"nor"} and root_of(word) not in wanted.words]
    place = next((at for at, root in enumerate(roots) if root == wanted.head), None)
    rest = {*wanted.words[: wanted.end - 1]}
    opposed = any((root, wanted.head) in OPPOSITES for root in roots)
    if place is None and opposed and rest and rest <= {*roots} and not denials:
        return False
    if place is None:
        if {*words} in ({"zero"}, {"zero", "of", "them"}):
            return False
        if {*words} <= _QUANTITY and {*words} - {"a", "at", "of", "them"}:
            return True
        if before and wanted.head not in before.split():
            return None
        there = THERE - {"seen"} if words[0] == "not" else THERE
        if {*words} <= there.union(LIGHT, AUXILIARY, PRONOUNS, DENYING) and {*words} & (there | {"absent"}):
            return not denials if len(denials) < 2 else None
        return _one(words, denials)
    turns = "or" in words and {"there", "nothing", "one"}.intersection(words[words.index("or") :])
    if len(denials) > 1 or turns or "either" in words:
        return None
    start = place
    while start and words[start - 1] not in BOUNDS and place - start < 4:
        start -= 1
    named, thing, tail = {*roots[start:place]}, {*wanted.words[: wanted.end]}, words[place + 1 :]
    subject = named - thing and start and words[start - 1] in PICTURE
    if {*words[start:place]} & _CHANGED or "would" in words or subject or (tail and not _ends_a_thing(tail[0])):
        return None
    where = {*wanted.words[wanted.end :]} - PREPOSITIONS
    if where - {*roots} and PREPOSITIONS.intersection(tail):
        return None
    if not denials:
        return _affirms(words, roots, wanted, start, tail)
    at = denials[0]
    if at > place:
        gone = words[at] not in ("not", "cannot", "never", "no")
        return False if gone or all(word in _AFTER for word in words[at + 1 :]) else None
    if not named - {*wanted.words} <= _DESCRIBING or ("cannot" in words and "see" in words and "any" not in words):
        return None
    between, led = words[at + 1 : start], words[:at]
    other = [word for word in between if word not in FRAME]
    does = words[at] in ("not", "cannot", "never") and other[:1] and between[0] == other[0]
    verbs = [word for word in other if word.endswith("ing") or word in PREPOSITIONS | AGAINST - {"or", "half"}]
    listed = between[-1:] and between[-1] in (",", "or", "nor")
    told = {"my", "his", "her", "their"} & {*led} or any(
        one in SHOWING and other not in FRAME for one, other in pairwise(led)
    )
    verbs += [word for word in between if word == "and" or (word == "of" and other)]
    known = (
        not (does or told or verbs or (between[-1:] and between[-1] in _OF_ONE and "seeing" not in between))
        and len(other) < 3
    )
    ended = tail[: next((put for put, word in enumerate(tail) if word in (",", "or", "nor", "and")), len(tail))]
    same = all(word in _AFTER or root_of(word) in wanted.words for word in ended)
    return False if (listed or known) and same else None


_QUANTITY = SETS["quantity"]
_OF_ONE = word_set("the his her its their my your on near by behind under over from around with")
"""Words before a thing that is there: `no leash on the dog`."""


def _one(words: Sequence[str], denials: Sequence[int]) -> bool | None:
    """Parse a clause that calls the thing `one` or the like: `It has one on the left`, `None are visible`."""
    place = next((at for at, word in enumerate(words) if word in ONES and (at or word != "it")), None)
    if place is None or len(denials) > 1 or (AGAINST - {"one"}).intersection(words):
        return None
    before, tail = words[:place], words[place + 1 :]
    known = BOUNDS | LINKING | {"single"}
    if any(word not in known and not is_adverb(word) for word in before) or words[place] in ("it", "them"):
        shown = [word for word in before if word in SHOWING - {"i", "we", "there"}]
        if words[place] not in ("it", "them") or not shown or any(word not in known for word in before):
            return None
    if tail and not (tail[0] in known - PICTURE or _ends_a_thing(tail[0])):
        return None
    return not denials


def _affirms(
    words: Sequence[str], roots: Sequence[str], wanted: Asked, start: int, tail: Sequence[str]
) -> bool | None:
    said, before = {*roots}, [word for word in words[:start] if word not in ARTICLES]
    opposed = any((root, word) in OPPOSITES for root in said - {*wanted.words} for word in wanted.words)
    thing = {*wanted.words[: wanted.end]}
    if not thing <= said or (wanted.every and POSITION & {*words}) or "or" in tail or said & _ELSEWHERE - thing:
        return None
    if opposed or {"who", "which", "that", "had", "if"}.intersection(before):
        return None
    if {*roots} <= thing | {"the"} and not (before or tail):
        return True if words[0] in ("a", "an") else None
    known = _AFTER | PREPOSITIONS | DENYING | SETS["places"] - {"a", "an"}
    if not before and tail[:1] == ["is"] and tail[1:2] and not (tail[1] in known or _ends_a_thing(tail[1])):
        return None  # a definition: "A pneumothorax is air …"
    led = before[-1:] in (["like"], ["than"], ["of"], ["for"], ["as"])
    return None if led and before[0] != "positive" else True


def _ends_a_thing(word: str) -> bool:
    return (
        word in PREPOSITIONS | AUXILIARY | DENYING | LIGHT | THERE | LINKING
        or word in ("that", "which", "who", "and", "or", "with", "cannot", ",")
        or word.endswith(("ing", "ly", "ed"))
    )


_SIDES = word_set("left right")
_WILD = word_set("one it them any some so none nothing anything")
_EITHER_SIDE = FUNCTION | ATTRIBUTES | PICTURE | word_set(", i we you and")


def _so(words: Sequence[str], wanted: Asked, subject: str) -> bool | None:
    """Return whether a clause says the same of the same subject."""
    skipped = ARTICLES | EVERY | LIGHT - {","} | NEUTRAL
    kept = [
        word
        for at, word in enumerate(words)
        if root_of(word) in wanted.words or (at == 0 and word in PRONOUNS) or not (word in skipped or is_adverb(word))
    ]
    denials = [at for at, word in enumerate(kept) if word in DENYING and root_of(word) not in wanted.words]
    strange = {*kept[kept[:1] == ["which"] :]} & (AGAINST | _CHANGED) - {*wanted.words}
    strange -= SOME if wanted.every else frozenset()
    strange -= {word for word in strange if any((root_of(word), one) in OPPOSITES for one in wanted.words)}
    if (len(denials) > 1 and not (wanted.every and "without" in kept)) or strange or "that" in words[1:] or (words[0] == "there" and "than" not in wanted.words):
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
    pivot = next((at for at, word in enumerate(wanted.words) if at and word in _SIDES), None)
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
            return _decided(words, kept, denials, wanted, start, last, opposed)
    return None


def _has_both(kept: Sequence[str], wanted: Asked) -> bool:
    """Return whether a word of the question is joined with another value of its attribute: `black and white`."""
    roots = [root_of(word) for word in kept]
    return any(
        kept[at] in ("and", "or", ",", "with") and any(one in wanted.words and (other, one) in OPPOSITES and other not in wanted.words for one, other in permutations((before, after)))
        for at, (before, after) in enumerate(zip(roots, roots[2:]), 1)
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
        if at > last and any(word not in _AFTER for word in kept[at + 1 :]):
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
    if first and (PICTURE.intersection(before) or any((root_of(word), one) in OPPOSITES for word in before for one in form[:first])):
        return None  # another subject
    named = {*form[:first]} & {*map(root_of, before)}
    if first and ((named and form[first - 1] not in named) or (start == 0 and kept[last + 1 : last + 2] == ["is"])):
        return None
    described = wanted.predicate == 0 and not PREPOSITIONS.intersection(before)
    some = wanted.every and DENYING.intersection(kept)
    if strange and not (wanted.anyone or some or described):
        return None
    tail = kept[last + 1 :]
    follows = not tail or tail[0][0].isdigit() or tail[0] in _EITHER_SIDE or root_of(tail[0]) in known | OPTIONAL or _ends_a_thing(tail[0])
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
    return None if {*roots[place + 1 :]} & (other if swapped else one) else same != swapped
