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
from itertools import pairwise

from sketchmark.answers.questions import (
    AGAINST,
    ARTICLES,
    AUXILIARY,
    BOUND,
    BOUNDS,
    DENYING,
    DOUBT,
    FRAME,
    LIGHT,
    LINKING,
    LONGEST,
    ONES,
    OPPOSITES,
    PICTURE,
    POSITION,
    PREPOSITIONS,
    PRONOUNS,
    SHOWING,
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
from sketchmark.answers.sameness import AFTER, CHANGED, SIDES, ends_a_thing, said_so
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
            return found.pop() is not flipped
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
            own = own and not (wanted and not wanted.every and " one of the" in f" {' '.join(words)}")
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
    sided = wanted and "right" in words and SIDES.intersection(wanted.words)
    said = _short(words) if not sided else None
    if wanted is None:
        return said if (_TRUE | _FALSE).intersection(words) else None
    if said is not None:
        return said
    words, narrower = in_its_words(words, wanted)
    found = _there(words, wanted, before) if wanted.exists else said_so(words, wanted, subject)
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
_ELSEWHERE = frozenset(map(root_of, SETS["elsewhere"])) - word_set(
    "patient first second third some many most only cas"
)


def _there(words: Sequence[str], wanted: Asked, before: str) -> bool | None:
    """Return whether a clause says that a thing is there."""
    roots = [root_of(word) for word in words]
    denials = [at for at, word in enumerate(words) if word in DENYING - {"nor"} and root_of(word) not in wanted.words]
    place = next((at for at, root in enumerate(roots) if root == wanted.head), None)
    rest = {*wanted.words[: wanted.end - 1]} - _QUANTITY
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
    if {*words[start:place]} & CHANGED or "would" in words or subject or (tail and not ends_a_thing(tail[0])):
        return None
    where = {*wanted.words[wanted.end :]} - PREPOSITIONS
    if where - {*roots} and PREPOSITIONS.intersection(tail):
        return None
    if not denials:
        return _affirms(words, roots, wanted, start, tail)
    at = denials[0]
    if at > place:
        gone = words[at] not in ("not", "cannot", "never", "no")
        return False if gone or all(word in AFTER for word in words[at + 1 :]) else None
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
    same = all(word in AFTER or root_of(word) in wanted.words for word in ended)
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
    if tail and not (tail[0] in known - PICTURE or ends_a_thing(tail[0])):
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
    known = (AFTER | PREPOSITIONS | DENYING | SETS["places"]) - {"a", "an"}
    if not before and tail[:1] in (["is"], ["are"]) and tail[1:2] and not (tail[1] in known or ends_a_thing(tail[1])):
        return None  # a definition: "A pneumothorax is air …"
    led = before[-1:] in (["like"], ["than"], ["of"], ["for"], ["as"])
    return None if led and before[0] != "positive" else True
