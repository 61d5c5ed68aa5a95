"""The sentence that a question of yes or no asks about, and the words that it is compared by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from operator import eq, ge, gt, le, lt

from sketchmark.answers.numbers import read_number
from sketchmark.answers.roles import Statement
from sketchmark.answers.vocabulary import HEDGE, SETS, TABLES, stem, word_set, written_out

LONGEST = 60
"""Words of a clause or a question that are compared."""
ARTICLES = word_set("a an the any some this that these those his her its their my your of_the")
AUXILIARY = word_set("is are was were am does do did has have had can could will be been being")
DENYING, LIGHT, PICTURE, THERE = (SETS[name] for name in ("denying", "light", "picture", "there"))
SHOWING, LINKING = SETS["showing"], SETS["linking"]
DOUBT = (HEDGE - {"can"} | SETS["doubt"]) - word_set("cannot exclude excluded")
PREPOSITIONS = SETS["preposition"] | word_set(
    "beside next between inside outside against across through after before during into onto"
)
PRONOUNS = word_set(
    "it they them he she this that these those its his her their both one neither none all everyone everybody each"
    " nobody which"
)
ONES = word_set("one ones any some none it them several many two three four nothing")
"""Words for the thing that was asked about: `I see one`, `None are visible`."""
STARTS = DENYING | word_set(
    "there i we it they he she the this that these a an though although even while because since as with only but so"
    " yet hence thus therefore both two whichever whatever namely which"
)
JOINTS = word_set("but so because since while although though whereas yet hence thus therefore meaning")
EVERY = word_set("all both every each everyone everybody everything entire whole")
SOME = word_set("only some most many few half except one two several partly partially")
_ANYONE = word_set("anyone anybody someone somebody anything something you we one i there people")
AGAINST = word_set(
    "or either who which whose whom where that like than another other others as if while almost nearly barely"
    " somewhat partly partially half supposed instead else similar resemble resembles enough would only second first"
)
"""Words inside a clause that make it another one than was asked about."""
ATTRIBUTES = word_set(
    "colour color calibre caliber size shape age state position gender appearance silhouette kind type limits of in"
    " to be taken shot located situated positioned placed"
)
NEUTRAL = word_set("at during")
SAME = word_set("same equal equally difference tie tied")


@cache
def _alike() -> dict[str, str]:
    rows = [[one, form] for form, one in TABLES["plural"].items()]
    rows += [verb.split("/") for verb in TABLES["irregular"].split()]
    rows += [row.split() for row in TABLES["alike"]]
    return {form: _bare_root(row[0]) for row in rows for word in row for form in (word, _bare_root(word))}


@cache
def root_of(word: str) -> str:
    """Return a word without its endings, or the common one of those that mean the same: `wears` is `wear`."""
    known = word if word in PREPOSITIONS else _alike().get(word)
    root = known or _alike().get(_bare_root(word), _bare_root(word))
    return _alike().get(root, root)


def _bare_root(word: str) -> str:
    word = stem(word)
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word[: -len(ending)]
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word.rstrip("e")
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


PEOPLE = {
    "he": frozenset(map(_bare_root, ("male", "boy", "guy", "gentleman"))),
    "she": frozenset(map(_bare_root, ("female", "girl", "lady"))),
}


def _pairs(mark: str) -> set[tuple[str, str]]:
    rows = [pair.split(mark) for pair in TABLES["opposites"].split() if mark in pair]
    return {(root_of(one), root_of(other)) for row in rows for one, other in permutations(row, 2)}


COMPLEMENTS = _pairs("=")
OPPOSITES = COMPLEMENTS | _pairs("/")
_VALUES = [[[*map(root_of, value.split())] for value in row.split("|")] for row in TABLES["attributes"]]
_COLOURED = {(root, "red") for value in _VALUES[0] for root in value}
OPPOSITES |= {pair for row in _VALUES for sides in permutations(row, 2) for pair in product(*sides)}
OPPOSITES -= {(one, other) for one, other in OPPOSITES if one == other}
_KINDS: dict[str, set[str]] = {}
for _general, *_special in [
    value.split() for row in (*TABLES["attributes"], *TABLES["kinds"]) for value in row.split("|")
]:
    for _kind in _special:
        _KINDS.setdefault(root_of(_kind), set()).add(_general)
_SHADES = SETS["shade"]


@cache
def generals(word: str) -> frozenset[str]:
    """Return what a thing is a kind of: a poodle is a dog and an animal."""
    above = _KINDS.get(root_of(word), set())
    return frozenset(above).union(*(_KINDS.get(root_of(one), set()) for one in above))


RELATIONS = frozenset(map(root_of, word_set(TABLES["relations"])))
OPTIONAL = frozenset(
    map(
        root_of,
        word_set(
            "image scan view slice plane study section film time weather setting part area number down up sequence"
        ),
    )
)
POSITION = word_set("left right upper lower middle top bottom corner background foreground center centre front back")
FUNCTION = AUXILIARY.union(LINKING, LIGHT, PREPOSITIONS, THERE, DENYING, PRONOUNS, ARTICLES, POSITION)


BOUNDS = SHOWING.union(AUXILIARY, LIGHT, PICTURE, DENYING, PRONOUNS, ARTICLES, PREPOSITIONS, THERE, (",",))
"""Words before the name of a thing."""
FRAME = BOUNDS - PREPOSITIONS | SETS["places"] | word_set("positive for of to in on at with single")
"""Words of a clause that says no more than that something is there."""


@dataclass(frozen=True)
class Asked:
    """The sentence of a question: the roots of its words in order. `exists`: it asks if a thing is there.

    `predicate`: the place of the first word that is said of the subject. `every`, `anyone`: it asks about all or any.
    """

    words: tuple[str, ...]
    exists: bool
    every: bool = False
    anyone: bool = False
    predicate: int = 0

    @property
    def end(self) -> int:
        """Where the name of a thing ends, or what is said of a subject: before `than` or a preposition."""
        ends = (at for at, word in enumerate(self.words) if at and word in PREPOSITIONS | {"than"})
        return next(ends, len(self.words))

    @property
    def head(self) -> str:
        return self.words[self.end - 1]


def in_its_words(words: Sequence[str], wanted: Asked) -> tuple[list[str], bool]:
    """Write a clause with the words of the question for their kinds and acronyms, and without shades of colours.

    Also return whether such a kind is in what the question says of its subject: a denied kind denies nothing.
    """
    said: list[str] = []
    narrower = False
    initials = "".join(word[0] for word in wanted.words)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        root = root_of(word)
        shade = word in _SHADES and (root_of(following), "red") in _COLOURED
        if root not in wanted.words and (shade or following in generals(word)):
            continue
        if root in wanted.words or any((root, one) in OPPOSITES for one in wanted.words):
            said.append(word)
        elif general := next((one for one in sorted(generals(word)) if root_of(one) in wanted.words), ""):
            said.append(general)
            narrower = narrower or wanted.exists or root_of(general) in wanted.words[wanted.predicate :]
        elif (denied := _denied_form(word, following, wanted)) is not None:
            said += denied
        elif len(word) > 2 and (at := initials.find(word)) >= 0:
            said += wanted.words[at : at + len(word)]
        else:
            said.append(word)
    return " ".join(said).replace("not not ", "").split(), narrower


_DENYING_PREFIX = re.compile(r"(?:un|in|im|ir|il|non|dis)(?=\w{3})")


def _denied_form(word: str, following: str, wanted: Asked) -> list[str] | None:
    """Write a word with a prefix that denies it as not and the word: `unripe`, `non-calcified`."""
    if word == "non" and root_of(following) in wanted.words:
        return ["not"]
    if root_of(_DENYING_PREFIX.sub("", word, count=1)) in wanted.words:
        return ["not", _DENYING_PREFIX.sub("", word, count=1)]
    asked_for = (one for one in wanted.words if _DENYING_PREFIX.sub("", one, count=1) == root_of(word))
    return next((["not", one] for one in asked_for), None)


_QUOTED = re.compile(
    r"\b(?:statement|claim|caption|description|sentence|true|correct|accurate|right|false)\b[^\"“:]{0,60}?:?\s?"
    r"(?:[\"“]([^\"”]{3,200})[\"”]|(?<=:)\s?([^\"“?]{3,200})|true\? ([^?]{3,200}\.\Z))"
    r"|([^.?!]{3,200})[.,;] (?:am i right|is (?:that|this|it) (?:right|correct|true|so)|true or false"
    r"|right or wrong)\?",
    re.I,
)
_TAG = re.compile(r"(?:,? (?:right|correct|true|true or false|yes or no|is(?: it| there) not|does it not))\s*\Z")
_PLEASE = re.compile(r"(?:please )?(?:answer|reply|respond)\b.*|\(?yes or no\b.*|true or false\b:?", re.I | re.S)
_GENERIC = "|".join(sorted(PICTURE | word_set("a an the this that any photo photograph shot scene"), key=len)[::-1])
_SEES = re.compile(
    r"(?:can|do|did|could) (?:you|we|i|one) (?:see|spot|notice|find|detect|observe|identify|make out)"
    rf"|(?:does|do|did|has|have) (?:(?:{_GENERIC}|it) )+"
    r"(?:show|contain|depict|have|include|reveal|display|feature|demonstrate|hold|exhibit|got|suffer from)"
    r"|(?:is|are|was|were) there"
)
_SEEN_THERE = re.compile(
    r"(?:there (?:is|are)|(?:i|we|you) (?:can )?see|(?:the|this) (?:image|picture|photo) shows) "
)
WHERE = re.compile(
    rf" (?:in|on|within|from|of|at|for) (?:(?:the|this|that|a|an|any|these|both|all) )*"
    rf"(?:(?:{'|'.join(sorted(PICTURE))}"
    r"|photo|photograph|shot|scene)\b ?)+(?<! )|(?<!^)\b(?:anywhere|whatsoever|to be (?:seen|found))\b"
)
EVIDENCE = re.compile(
    r"(?<![a-z])(?P<before>[a-z]+ )?(?:(?:any|an?|the|radiographic|imaging|visible|clear|definite|kind|such) )*"
    r"(?:(?:evidence|signs?|indications?|presence|traces?|hint|features?|findings?|kind|sort) of"
    r"|(?!nothing|none|no\b)\w+ (?:to suggest|suggesting|indicating)) "
)
_ASIDE = re.compile(
    r"\bmade of |\b(?:colou?r|size|shape) of |(?<= )(?:colou?r|size|shape) (?=\w)"
    r"|(\b(?:image|photo|picture) )(?:taken|shot) (?=\w)"
)
"""Words of a question that its answer may leave out: `the size of the heart`, `a photo taken at night`."""
KIND_OF = re.compile(
    r"\bmade (?:up |out )?of |,? among other(?:s| things)\b|"
    r"\b(?:any|some|an?) (?:kind|sort|type) of |'s (?=(?:colou?r|size|shape)\b)|\bwithin (?=normal limits)"
)
MORE = re.compile(r"\b(more|fewer|less) ((?!than\b)\w+)(?= than\b|$)")
SIDE = re.compile(
    r"(\b(?:to|on|at|in|from|towards?) )?(?:the |its |his |her )?\b(left|right|top|bottom|front|back)(?: hand)?"
    r"(?: (?:sides?|half|part))?(?: of)?(?= |$)"
)


def side_of(found: re.Match[str]) -> str:
    return f"at {found[2]}" if found[1] else found[2]


def asked(question: str) -> Asked | None:
    """Return what a question asks; None if it is no plain question of yes or no."""
    if quoted := _QUOTED.search(question):
        question = f"{next(filter(None, quoted.groups()))}, right?"
    parts = [part for part in re.split(r"(?<=[?.!\n])\s+", _PLEASE.sub("", question)) if part.strip()]
    words = words_of(parts[-1]) if parts else []
    clause = " ".join(words)
    tagged = _TAG.search(clause)
    if tagged:
        clause = clause[: tagged.start()]
    elif not words or words[0] not in AUXILIARY:
        return None
    if (
        not 1 < len(words) <= LONGEST
        or " free of " in clause
        or " free from " in clause
        or _ODD.intersection(clause.split())
    ):
        return None
    found = _SEES.match(clause)
    statement = clause if tagged else clause.partition(" ")[2]
    led = _SEEN_THERE.match(statement) if tagged else None
    exists = found is not None or led is not None
    rest = clause[found.end() :] if found else statement[led.end() if led else 0 :]
    rest = _ASIDE.sub(lambda one: one[1] or "", rest)
    rest = SIDE.sub(side_of, EVIDENCE.sub(of_a_thing, WHERE.sub("", f" {rest}")).strip())
    compared = MORE.search(rest)
    if exists and compared is None and {"fewer", "less", "more"}.intersection(words):
        return None
    said = (MORE.sub(r"\2 \1", rest) or rest).split() or [""]
    content = content_of(said[:-1]) + ([root_of(said[-1])] if said[-1] not in ARTICLES | {""} else [])
    content = [word for at, word in enumerate(content) if at or word not in _ANYONE] or content
    content = content if exists else [word for word in content if word not in NEUTRAL]
    exists = exists and compared is None
    while len(content) > 1 and content[-1] in FOUND:
        content, exists = content[:-1], True
    plural = exists and words[:2] == ["are", "the"]
    every, anyone = (
        plural or EVERY.intersection(words),
        {"anyone", "anybody", "someone", "somebody"}.intersection(words),
    )
    predicate = 1 if words[0] in _DOING else _predicate(MORE.sub(r"\2 \1", rest).split(), content)
    if not (content and (exists or {*content} - _IMAGES)):
        return None  # nothing is left of what is asked about the image: "Is it in colour?"
    return Asked(tuple(content), exists, bool(every), bool(anyone), predicate)


_IMAGES = frozenset(map(root_of, PICTURE))


_DOING = AUXILIARY - word_set("is are was were am")


def _predicate(words: Sequence[str], content: Sequence[str]) -> int:
    """Return where the subject of a question ends: before a verb, a preposition or a second article."""
    at = 0
    if words[0] in ("it", "this", "that", "these", "those", "they", "he", "she"):
        return 1 if content[0] == words[0] else 0
    for place, word in enumerate(words):
        root = root_of(word)
        begins = word.endswith(("ing", "ed")) or word in PREPOSITIONS or words[place - 1] in ("a", "an", *NEUTRAL)
        begins = begins or root in RELATIONS
        if at and root == content[at] and (begins or content[at + 1 : at + 2] == ["than"]):
            return at
        at += at < len(content) and root == content[at]
        if at == len(content):
            break
    return len(content) - 1


FOUND = frozenset(map(root_of, THERE - {"pictured"}))
_ODD = SETS["no_question"] | (HEDGE - {"can", "could"})


def of_a_thing(found: re.Match[str]) -> str:
    """Write `no evidence of a mass` as no mass, but leave weak evidence."""
    before = found["before"] or ""
    return before if not before or before.strip() in FRAME else found[0]


_LABEL_A = re.compile(r"\bA(?= (?:is|was|has|than|and|or|\w+er than)\b|[?.,!]|\Z)")
"""The label A, which is no article."""
_REWRITTEN = [(re.compile(rf"\b(?:{find})(?!\w)", re.I), put) for put, find in TABLES["rewritten"].items()]


def words_of(text: str) -> list[str]:
    """Return the words of a text, with hyphens and possessives split off: `T1-weighted`, but `x-ray` is one."""
    text = _LABEL_A.sub("aa", text)
    for pattern, put in _REWRITTEN:
        text = pattern.sub(put, text)
    words = (word for word in written_out(text))
    split = (part for word in words for part in ([word] if word in PICTURE else word.split("-")))
    return [part for word in split for part in (word.replace("'s", " 's") if word[:1] != "'" else word).split()]


def content_of(words: Sequence[str]) -> list[str]:
    """Return the roots of the words that matter: without articles, auxiliaries, commas and adverbs."""
    skipped = ARTICLES | AUXILIARY | (LIGHT - {"wide"})
    return [root_of(word) for word in words if word not in skipped and word[0].isalnum() and not is_adverb(word)]


def is_adverb(word: str) -> bool:
    return word.endswith("ly") and not word.endswith(("aly", "fly", "lly")) and word not in _NO_ADVERB


_NO_ADVERB = word_set("only early family elderly assembly lily")


BOUND = re.compile(
    r"\A(?:is|are|was|were|does|do|can|has|have)\b[^?]{0,80}?\b(?:(?P<more>more than|over|above)"
    r"|(?P<less>fewer than|less than|under|below)|(?P<least>at least)|(?P<most>at most)|(?P<exact>exactly|only|just"
    r"|(?:there|have|show|contain|hold|see)(?= (?:\d|two|three|four|five|six|seven|eight|nine|ten)\b)))"
    r" (\d[\d.,]{0,12}|[a-z]{3,9})\b",
    re.I,
)


_COUNTED_THING = re.compile(r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten) (?!more\b)([a-z']+)", re.I)


def counted(text: str, bound: re.Match[str]) -> bool | None:
    """Compare the number of a reply with the bound that the question asks about: `more than 5`."""
    limit, given = read_number(bound[bound.re.groups]).value, read_number(text, bound.string).value
    noun = _COUNTED_THING.search(text)
    other = noun and {root_of(noun[1])}.isdisjoint({*map(root_of, words_of(bound.string))} | FUNCTION | AGAINST)
    if limit is None or given is None or other:
        return None
    compare = {"more": gt, "less": lt, "least": ge, "most": le, "exact": eq}
    return any(bool(holds(given, limit)) for name, holds in compare.items() if bound[name])


_CONCLUDING = word_set("so thus hence therefore overall conclusion")


def clauses(statement: Statement) -> Iterator[tuple[bool, list[str]]]:
    """Split a statement where a comma or a conjunction begins another clause; say which clauses conclude."""
    words = words_of(statement.text)
    clause: list[str] = []
    concludes = bool(words) and words[0] in _CONCLUDING
    for place, word in enumerate(words):
        following = next((one for one in words[place + 1 : place + 3] if one not in ("and", "but", "yet")), "")
        label = word == ":" and words[place + 1 : place + 2] and words[place + 1] in DENYING | THERE
        ends = word == ";" or (word == ":" and not label) or (word == "," and following in STARTS)
        joins = (word in JOINTS and (word != "yet" or following in STARTS)) or (
            word == "and" and following in STARTS.union(AUXILIARY) - {"a", "an", "the"}
        )
        if clause and (ends or joins):
            yield concludes, _bare(clause)
            clause = []
            concludes = word in _CONCLUDING or following in _CONCLUDING
        elif word not in (";", ":"):
            clause.append(word)
    if clause:
        yield concludes, _bare(clause)


_REPORTED = re.compile(
    r"\A(?:(?:so|thus|hence|therefore|overall|and|indeed|clearly|yes|sure|well|conclusion|but|actually|then|namely"
    r"|unfortunately|sadly|hmm|,|:) )*"
    r"(?:(?:[^,]{0,40}? )?(?:i|we) (?:can |could |cannot |would |am )?(?:confidently |safely |pretty |very )?"
    r"(?:say|confirm|conclude|report|state|think|believe|confident|sure|certain|positive)(?: with \w+)? (?:that )?"
    r"(?=(?:there|the|it|this|that|no|an?|he|she|they)\b)"
    r"|it is (?:true|clear|correct|evident) that |(?:i|we) cannot deny that "
    r"|(?:this|that|which) (?:means|shows|confirms) (?:that )?)?"
)


def _bare(words: Sequence[str]) -> list[str]:
    """Remove introductions and references to the image."""
    clause = " ".join(words).replace("could not", "cannot").replace("at least ", "").replace(" each other", "")
    if len(words) > LONGEST:
        return list(words)
    clause = EVIDENCE.sub(of_a_thing, KIND_OF.sub(" ", _REPORTED.sub("", clause, count=1)))
    clause = SIDE.sub(side_of, WHERE.sub("", f" {clause}").strip() or clause)
    return MORE.sub(r"\2 \1", clause).split()
