"""What a reply without yes or no says about the thing that a question asks about.

"There is no pneumothorax" answers "Is there a pneumothorax?", "He wears a hat" answers "Is the man wearing a hat?",
and "The woman is taller" answers "Is the man taller than the woman?". A clause affirms the question if it says the
same of the same subject, and denies it if one negation governs it or a word is replaced by its opposite. Words that
hedge, compare or belong to another thing leave the reply unparsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from operator import eq, ge, gt, le, lt

from sketchmark.answers.numbers import read_number
from sketchmark.answers.roles import Statement, statements
from sketchmark.answers.vocabulary import (
    FILLER,
    HEDGE,
    SETS,
    TABLES,
    any_word,
    in_our_words,
    is_wide,
    stem,
    word_set,
    written_out,
)

_LONGEST = 60
"""Words of a clause or a question that are compared."""
_ARTICLES = word_set("a an the any some this that these those his her its their one my your both all of_the")
_AUXILIARY = word_set("is are was were am does do did has have had can could will be been being")
_DENYING = SETS["denying"]
_LIGHT = SETS["light"]
_PICTURE, _THERE = SETS["picture"], SETS["there"]
_DOUBT = HEDGE - {"can"} | SETS["doubt"] - {"cannot"}
_PREPOSITIONS = SETS["preposition"] | word_set(
    "beside next between inside outside against across through after before"
)
_IMAGE = word_set("photo picture photograph shot scene")
_LINKING = SETS["linking"]
_PRONOUNS = word_set("it they them he she this that these those both one neither none all")
_ANOTHER = word_set("another other others")
_PEOPLE = {"he": word_set("man boy guy gentleman"), "she": word_set("woman girl lady")}
_STARTS = word_set(
    "there no not i we it they he she the this that these a an though although even while because since as with"
    " without only but so yet hence thus therefore neither nothing none both two whichever whatever namely"
)
_JOINTS = word_set("but so because since while although though whereas yet hence thus therefore meaning")
_CLAIM = re.compile(
    r"the (?:claim|statement|assertion|caption|sentence) that (?P<said>.+) is (?P<no>not )?"
    r"(?P<verdict>true|correct|right|accurate|false|wrong|incorrect|untrue|inaccurate)"
)
_UNTRUE = re.compile(
    r"it (?:is|would be) (?:not (?:true|correct|right|the case)|false|wrong|incorrect|untrue|inaccurate)"
    r"(?: to (?:say|claim|state))? (?:that )?"
)
_REPORTED = re.compile(
    r"\A(?:(?:so|thus|hence|therefore|overall|and|indeed|clearly|yes|sure|well|conclusion|but|actually|then|namely"
    r"|,|:) )*"
    r"(?:(?:[^,]{0,40}? )?(?:i|we) (?:can |could |cannot |would )?(?:confidently |safely )?"
    r"(?:say|confirm|conclude|report|state|think|believe) (?:that )?"
    r"(?=(?:there|the|it|this|that|no|an?|he|she|they)\b)"
    r"|it is (?:true|clear|correct|evident) that |(?:i|we) cannot deny that "
    r"|(?:this|that|which) (?:means|shows|confirms) (?:that )?)?"
)
_GENERIC = "|".join(sorted(_PICTURE | word_set("a an the this that any"), key=len, reverse=True))
_IN_PICTURE = "|".join(sorted(_PICTURE))
_WHERE = re.compile(
    rf" (?:in|on|within|from|of|at) (?:(?:the|this|that|a|an|any|these|both|all) )*(?:(?:{_IN_PICTURE})\b ?)+(?<! )"
    r"| (?:anywhere|at all|whatsoever|here|to be seen|to be found)\b"
)
_SEES = re.compile(
    r"(?:can|do|did|could) (?:you|we|i|one) (?:see|spot|notice|find|detect|observe|identify|make out)"
    rf"|(?:does|do|did) (?:(?:{_GENERIC}|it) )+"
    r"(?:show|contain|depict|have|include|reveal|display|feature|demonstrate)"
    r"|(?:is|are|was|were) there"
)
_EVIDENCE = re.compile(
    r"(?<![a-z])(?P<before>[a-z]+ )?(?P<kind>(?:any|an?|the|radiographic|imaging|visible|clear|definite) )*"
    r"(?:evidence|signs?|indications?|presence|trace|hint) of "
)
_PRESENT = re.compile(
    r"(?:(?:it|they|this) (?:is|are) )?(?P<no>not )?(?:clearly )?"
    rf"(?:{'|'.join(sorted(_THERE))}|(?P<gone>absent|none))"
)
_CONCLUDES = re.compile(r"(?:so|thus|hence|therefore|overall|conclusion)\b", re.I)
_OF_THEM = re.compile(r"\b(?:both|all|each)(?: two| three)? of (?:them|these|those)\b")
_REPHRASED = re.compile(r"(?:you(?:'re| are)? (?:ask|want)|the question (?:is|asks))", re.I)
_SEARCH = re.compile(r"(?:i|we) (?:have )?(?:looked|searched|checked)(?: \w+){0,3} for ")
_RESULT = re.compile(
    r"(?:(?:i|we) )?(?:found|saw|spotted|noticed|(?:could |can |did |do )?(?P<no>not |cannot )(?:find|see)) "
    r"(?P<found>none|nothing|not one|one|it|any)|there (?:is|are|was|were) (?P<there>none|nothing)"
)
_CHANGED = SETS["changing"] | word_set(
    "resolved healed prior previous toy stuffed plush fake statue drawing cartoon possible suspected like"
)


@dataclass(frozen=True)
class Asked:
    """The sentence of a question: the roots of its words in order. `exists`: it asks if a thing is there.

    `size`: how many words at the end of the sentence, or before "than", are said of its subject.
    """

    words: tuple[str, ...]
    exists: bool
    all: bool = False
    size: int = 1

    @property
    def head(self) -> str:
        """The noun of a thing, or the last word of what is said about a subject."""
        ends = (at for at, word in enumerate(self.words) if at and word in _PREPOSITIONS | {"than"})
        return self.words[next(ends, len(self.words)) - 1]


def asked(question: str) -> Asked | None:
    """Return what a question asks; None if it is no plain question of yes or no."""
    words = _parts(question)
    if not 1 < len(words) <= _LONGEST or words[0] not in _AUXILIARY or _ODD.intersection(words):
        return None
    clause = " ".join(words)
    found = _SEES.match(clause)
    clause = _WHERE.sub("", clause[found.end() :] if found else clause.partition(" ")[2]) or clause
    clause = _EVIDENCE.sub(_of_a_thing, clause)
    exists = found is not None
    if exists and {"fewer", "less", "more"}.intersection(words):
        return None
    rest = clause.replace(" be ", " ").split()
    while len(rest) > 1 and rest[-1] in _THERE and words[0] != "was":
        rest, exists = rest[:-1], True
    content = tuple(_roots(rest, [_root(rest[-1])]))
    second = next((at for at, word in enumerate(words) if at > 1 and word in ("a", "an")), len(words))
    size = max(1, len(_roots(words[second:], [_root(rest[-1])])))
    return Asked(content, exists, words[:2] == ["are", "the"], size) if content else None


_ODD = SETS["no_question"] | (HEDGE - {"can", "could"})


def read_finding(text: str, question: str) -> bool | None:
    """Return whether the reply says that it is as the question asks; None if it does not say."""
    if bound := _BOUND.search(question):
        return _counted(text, bound)
    wanted = asked(question)
    if wanted is None:
        return None
    verdicts: list[bool] = []
    whole = _bare(_parts(in_our_words(text)))
    if wanted.exists and (found := _PRESENT.fullmatch(" ".join(whole))):
        return not (found["no"] or found["gone"]) if not (found["no"] and found["gone"]) else None
    subject, searched, unread, before = "", False, False, list[str]()
    for statement in statements(in_our_words(text)):
        if statement.takes_back:
            return None
        for words in _clauses(statement) if not _REPHRASED.match(statement.text) else ():
            clause, content = " ".join(words), _roots(words, wanted.words)
            verdict = _verdict(words, wanted, subject) if statement.own and len(words) <= _LONGEST else None
            if verdict is None and searched and (result := _RESULT.fullmatch(clause)):
                verdict = not result["no"] and result["found"] in ("one", "it")
            if verdict is None and words[:1] == ["not"] and _instead(before, content[1:], wanted):
                verdict, unread = False, False
            if verdict is not None and _CONCLUDES.match(statement.text):
                verdicts, unread = [verdict], False
            elif verdict is not None:
                verdicts.append(verdict)
            elif _SEARCH.match(clause):
                searched = True
            elif wanted.head in content or (_DOUBT.intersection(words) and statement.own):
                plain = statement.own and not (_DENYING | _DOUBT).intersection(words)
                unread = unread or not (plain and verdicts[-1:] == [True])
            before = content
            subject = content[0] if content and content[0] not in _PRONOUNS else subject
            subject = "another" if _ANOTHER.intersection(words) else subject
    return verdicts[0] if len(set(verdicts)) == 1 and not unread else None


_BOUND = re.compile(
    r"\A(?:is|are|was|were|does|do|can|has|have)\b[^?]{0,80}?\b(?:(?P<more>more than|over|above)"
    r"|(?P<less>fewer than|less than|under|below)|(?P<least>at least)|(?P<most>at most)|(?P<exact>exactly))"
    r" (\d[\d.,]{0,12}|[a-z]{3,9})\b",
    re.I,
)


def _counted(text: str, bound: re.Match[str]) -> bool | None:
    """Compare the number of a reply with the bound that the question asks about: `more than 5`."""
    limit, given = read_number(bound[bound.re.groups]).value, read_number(text).value
    if limit is None or given is None:
        return None
    compare = {"more": gt, "less": lt, "least": ge, "most": le, "exact": eq}
    return any(bool(holds(given, limit)) for name, holds in compare.items() if bound[name])


def _instead(said: Sequence[str], other: Sequence[str], wanted: Asked) -> bool:
    """Return whether another subject is named than was asked about: `2017 was best, not 2018`."""
    rest = list(wanted.words[len(other) :])
    return bool(rest) and list(wanted.words[: len(other)]) == other and list(said[-len(rest) :]) == rest


def _clauses(statement: Statement) -> Iterator[list[str]]:
    """Split a statement where a comma or a conjunction begins another clause."""
    words = _parts(statement.text)
    clause: list[str] = []
    for place, word in enumerate(words):
        following = next((one for one in words[place + 1 : place + 3] if one not in ("and", "so", "but", "yet")), "")
        label = word == ":" and words[place + 1 : place + 2] and words[place + 1] in _DENYING | _THERE
        ends = word == ";" or (word == ":" and not label) or (word == "," and following in _STARTS)
        joins = word in _JOINTS or (word == "and" and following in _STARTS.union(_AUXILIARY) - {"a", "an", "the"})
        if clause and (ends or joins):
            yield _bare(clause)
            clause = []
        elif word not in (";", ":"):
            clause.append(word)
    if clause:
        yield _bare(clause)


def _of_a_thing(found: re.Match[str]) -> str:
    """Write `no evidence of a mass` as no mass, but leave weak evidence."""
    before = found["before"] or ""
    return before if not before or before.strip() in _FRAME else found[0]


def _parts(text: str) -> list[str]:
    """Return the words of a text, and those that a hyphen joins: `T1-weighted`, but `x-ray` is one."""
    return [part for word in written_out(text) for part in ([word] if word in _PICTURE else word.split("-"))]


def _bare(words: Sequence[str]) -> list[str]:
    """Remove introductions and references to the image."""
    clause = " ".join(words).replace("could not", "cannot").replace("at least ", "").replace(" each other", "")
    if len(words) > _LONGEST:
        return list(words)
    clause = _EVIDENCE.sub(_of_a_thing, _OF_THEM.sub("they", _REPORTED.sub("", clause, count=1)))
    return (_WHERE.sub("", f" {clause}").strip() or clause).split()


def _root(word: str) -> str:
    """Return a word without its endings: `wearing` and `wears` are `wear`. A photo is an image."""
    word = "image" if word in _IMAGE else stem(word)
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word[: -len(ending)]
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word.rstrip("e")
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _roots(words: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """Return the roots of the words that matter: without articles, auxiliaries, commas and unknown adverbs."""
    skipped = _ARTICLES | _AUXILIARY | _LIGHT
    kept = (word for word in words if (word not in skipped or _root(word) in known) and word[0].isalnum())
    return [_root(word) for word in kept if not word.endswith("ly") or _root(word) in known]


def _verdict(words: Sequence[str], wanted: Asked, subject: str) -> bool | None:
    text = " ".join(words)
    if untrue := _UNTRUE.match(text):
        verdict = _verdict(text[untrue.end() :].split(), wanted, subject)
        return None if verdict is None else not verdict
    if claim := _CLAIM.fullmatch(text):
        verdict = _verdict(claim["said"].split(), wanted, subject)
        true = (claim["verdict"] in ("true", "correct", "right", "accurate")) != bool(claim["no"])
        return None if verdict is None else verdict == true
    if not words or _DOUBT.intersection(words):
        return None
    if words[0] in _PRONOUNS and words[1:] and all(word in _AUXILIARY | {"not", "cannot"} for word in words[1:]):
        return not _DENYING.intersection(words)  # "the path is blocked, so it cannot"
    return _there(words, wanted) if wanted.exists else _so(words, wanted, subject)


def _there(words: Sequence[str], wanted: Asked) -> bool | None:
    """Return whether a clause says that a thing is there."""
    roots = [_root(word) for word in words]
    place = next((at for at, root in enumerate(roots) if root == wanted.head), None)
    denials = [at for at, word in enumerate(words) if word in _DENYING and word != "nor"]
    turns = "or" in words and {"there", "nothing", "one"}.intersection(words[words.index("or") :])
    if place is None or len(denials) > 1 or turns or "either" in words:
        return None
    start = place
    while start and words[start - 1] not in _BOUNDS and place - start < 4:
        start -= 1
    named = set(roots[start:place]) - set(wanted.words)
    before = [word for word in words[:start] if word not in _ARTICLES]
    tail = words[place + 1 :]
    subject = named and start and words[start - 1] in _PICTURE
    if set(words[start:place]) & _CHANGED or subject or (tail and not _ends_a_thing(tail[0])):
        return None
    if not denials:
        return _affirms(before, tail, roots, wanted, named)
    if _vague(words) or not named <= _DESCRIBING:
        return None
    if denials[0] < start:
        between = words[denials[0] + 1 : start]
        listed = between[-1:] and between[-1] in (",", "or", "nor")
        known = all(word in _FRAME for word in between) and before[-1] not in _PREPOSITIONS - {"of", "to"}
        rest = tail[: next((at for at, word in enumerate(tail) if word in (",", "or", "nor", "and")), len(tail))]
        same = all(word in _AFTER or _root(word) in wanted.words for word in rest)
        verb = words[denials[0]] not in ("not", "no") or all(word in _FRAME for word in words[: denials[0]])
        return False if (listed or known) and same and verb else None
    rest = words[denials[0] + 1 :]
    gone = words[denials[0]] not in ("not", "cannot", "never", "no")
    return False if gone or all(word in _THERE | _LIGHT | _AUXILIARY for word in rest) else None


def _affirms(
    before: Sequence[str], tail: Sequence[str], roots: Sequence[str], wanted: Asked, named: set[str]
) -> bool | None:
    said = {*roots}
    every = wanted.all and named & _SIDES
    if not set(wanted.words) <= said or every or "or" in tail or said & _NOT_HERE or not (before or tail):
        return None
    if {"who", "which", "that", "had"}.intersection(before):
        return None
    return (
        True if before[-1:] not in (["like"], ["than"], ["of"], ["for"], ["as"]) or before[0] == "positive" else None
    )


def _vague(words: Sequence[str]) -> bool:
    """Return whether not seeing something may be the viewer's fault: `I cannot see a dog`, but not `any dog`."""
    return "cannot" in words and "see" in words and "any" not in words


_SHOWING = SETS["showing"]
_BOUNDS = _SHOWING.union(_AUXILIARY, _LIGHT, _PICTURE, _DENYING, _PRONOUNS, _ARTICLES, _PREPOSITIONS, (",",))
"""Words before the name of a thing."""
_FRAME = _BOUNDS - _PREPOSITIONS | SETS["places"] | word_set("positive for of to in on at")
"""Words of a clause that says no more than that something is there."""
_DESCRIBING = frozenset(map(_root, _THERE | SETS["describing"]))
_AFTER = _THERE | _LIGHT | _AUXILIARY | _ARTICLES | _LINKING | {"up"}
_ELSEWHERE = SETS["elsewhere"] - {"patient", "first", "second", "third", "some", "many", "only"}
_NOT_HERE = frozenset(map(_root, _ELSEWHERE)) - {"patient"}
_SIDES = word_set("left right upper lower")


def _ends_a_thing(word: str) -> bool:
    return (
        word in _PREPOSITIONS | _AUXILIARY | _DENYING | _LIGHT | _THERE | _LINKING
        or word in ("that", "which", "who", "and", "or", "with", "cannot", ",")
        or word.endswith(("ing", "ly", "ed"))
    )


def _so(words: Sequence[str], wanted: Asked, subject: str) -> bool | None:
    """Return whether a clause says the same of the same subject."""
    denials = [at for at, word in enumerate(words) if word in _DENYING]
    said = _roots([word for word in words if word not in _DENYING], wanted.words)
    said = said if _SEVERAL.intersection(wanted.words) else [word for word in said if word not in _SEVERAL]
    if len(denials) > 1 or not said or _ELSEWHERE.union(("second", "first")).intersection(words) - {*wanted.words}:
        return None
    ends = next((at for at, word in enumerate(wanted.words) if at and word in (*_PREPOSITIONS, "than")), 0)
    short = ends > 1 and (denials or wanted.words[ends] == "than")
    forms = [wanted.words, *([wanted.words[:ends]] if short else [])]
    forms += [tuple(word for word in form if word not in ("two", "three")) for form in forms if "two" in form]
    pronoun = words[0] in _PRONOUNS | _AUXILIARY or (denials and denials[0] == 0)
    others = next((people for name, people in _PEOPLE.items() if name != words[0] in _PEOPLE), frozenset())
    meant = subject != "another" and wanted.words[0] in _PEOPLE.get(words[0], ())
    repeated = len(wanted.words) > 2 and _follows(_unled(said), wanted.words[1:])
    strange = subject and subject not in wanted.words and (subject == "another" or not repeated)
    if pronoun and not meant and (wanted.words[0] in others or strange):
        return None
    for form in forms:
        if short and len(form) <= ends and said[-1] != form[-1]:
            continue
        if _follows(said, form) or (pronoun and any(_follows(_unled(said), form[at:]) for at in range(len(form)))):
            return not denials
    said = [word for word in said if word not in _LINKED]
    for form in forms if not denials else ():
        changed = [pair for pair in zip(said, form, strict=False) if pair[0] != pair[1]]
        if len(said) == len(form) and len(changed) == 1 and changed[0] in _OPPOSITES:
            return False
    return _predicated(words, wanted, subject)


_VERBS = _AUXILIARY | _LINKING | word_set("seems appears looks feels keeps")
_SAME = word_set("same equal equally identical alike")


def _predicated(words: Sequence[str], wanted: Asked, subject: str) -> bool | None:
    """Return whether a clause says of its subject what the question asks of the same one, or the contrary.

    The predicate is one word (`open`, `taller`); a clause without a verb is a predicate alone.
    """
    denials = [at for at, word in enumerate(words) if word in _DENYING]
    than = wanted.words.index("than") if "than" in wanted.words else len(wanted.words)
    if len(denials) > 1 or wanted.size > than or _PREPOSITIONS.intersection(wanted.words[:than]) or _OPEN & {*words}:
        return None
    predicate, of = [*wanted.words[than - wanted.size : than]], {*wanted.words[: than - wanted.size]}
    verb = next((at for at, word in enumerate(words) if word in _VERBS), None)
    named = _roots(words[:verb]) if verb is not None else []
    named = named[: next((at for at, word in enumerate(named) if word in _PREPOSITIONS), len(named))]
    rest = [*words] if verb is None else [*words[verb + 1 :]]
    rest = rest[2:] if rest[:2] == ["to", "be"] else rest
    ends = next((at for at, word in enumerate(rest) if word in (*_PREPOSITIONS, *_JOINED, ",")), len(rest))
    said = [word for word in _roots(rest[:ends], wanted.words) if word not in _DENYING | _LINKED]
    if verb is None and len(said) > 1:
        return None
    other = {*wanted.words[than + 1 :]}
    pronoun = not named or named[-1] in _PRONOUNS
    swapped = not pronoun and bool((other - of).intersection(named)) and not (of - other).intersection(named)
    if (subject and subject not in of) if pronoun else not (swapped or of.intersection(named)):
        return None
    compared = _roots(rest[rest.index("than") + 1 :]) if "than" in rest else []
    if compared and not pronoun and not {*compared} & ({*wanted.words} - {*named} | _PRONOUNS | {"her", "him"}):
        return None
    if other and _SAME.intersection(rest) and not denials:
        return False
    agrees = said[-len(predicate) :] == predicate or (len(said) < 3 and {*predicate} <= {*said})
    differs = len(predicate) == 1 and (said[-1:] and (said[-1], predicate[0]) in _OPPOSITES)
    if not (agrees or differs) or (denials and (differs or swapped)):
        return None
    return (agrees != swapped) != bool(denials)


_OPEN = word_set("there either or i we partly partially almost nearly barely hardly somewhat half")
_JOINED = word_set("and or while who which that than")


def _unled(said: Sequence[str]) -> Sequence[str]:
    return said[1:] if said and said[0] in _PRONOUNS else said


def _follows(said: Sequence[str], form: Sequence[str]) -> bool:
    """Return whether the words are the form's, with linking verbs between and a place or manner after them."""
    at = 0
    for word in said:
        if at == len(form):
            return word in _PREPOSITIONS or word in _PRONOUNS
        if word == form[at] or (at and at == len(form) - 1 and word in ("it", "them")):
            at += 1
        elif not at or word not in _LINKED:
            return False
    return at == len(form)


_SEVERAL = word_set("two three")
_LINKED = frozenset(map(_root, _LINKING))
_OPPOSITES = {
    (_root(one.replace("_", " ")), _root(other.replace("_", " ")))
    for pair in TABLES["opposites"].split()
    for one, other in (pair.split("/"), pair.split("/")[::-1])
} | {(_root(one), _root(other)) for row in TABLES["exclusive"] for one, other in permutations(row.split(), 2)}


_IF = re.compile(r"\bsi (?!ved)", re.I)
_SHORT_REPLY = 80
_ENGLISH = word_set("is are was were does do did can there the")
_EXISTS, _ABSENT = (re.compile(any_word(word_set(TABLES["existence"][name])), re.I) for name in ("yes", "no"))
_ASKING_SIGNS = frozenset("是否有没沒吗嗎か不")


def exists(text: str, question: str) -> bool | None:
    """Return whether a short reply in another language than English says that the thing asked about is there."""
    words, asked = set(written_out(text)), set(written_out(question))
    signs = {sign for sign in question if is_wide(sign)} - _ASKING_SIGNS
    shared = signs & set(text) or any(len(word) > 2 and word not in FILLER for word in words & asked)
    doubted = set(in_our_words(text).split()) & (HEDGE | {"or", "but", "if", "?", "ли", "ob"})
    unsure = doubted or words & {"se", "ob", "ли"} or "是否" in text or _IF.search(text)
    if not shared or len(text) > _SHORT_REPLY or asked & _ENGLISH or unsure:
        return None
    if _ABSENT.search(text):
        return False
    return True if _EXISTS.search(text) else None
