"""The answer to a question of yes or no that a reply gives in a sentence, without the words yes and no.

"There is no pneumothorax" answers "Is there a pneumothorax?", "He wears one" answers "Is the man wearing a hat?" and
"It is closed" answers "Is the door open?". Each clause of a reply is compared with the question's sentence. It affirms
the question if it has the same words in the same order (a pronoun may replace the subject), and denies it if it is
negated or has the opposite of one word. More words in a clause do not matter, unless they hedge, compare, or make it
a clause about another thing: these are closed lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from operator import eq, ge, gt, le, lt

from sketchmark.answers.numbers import read_number
from sketchmark.answers.roles import Statement, statements
from sketchmark.answers.vocabulary import (
    HEDGE,
    SETS,
    TABLES,
    in_our_words,
    stem,
    word_set,
    written_out,
)

_LONGEST = 60
"""Words of a clause or a question that are compared."""
_ARTICLES = word_set("a an the any some this that these those his her its their my your of_the")
_AUXILIARY = word_set("is are was were am does do did has have had can could will would be been being")
_DENYING, _LIGHT, _PICTURE, _THERE = (SETS[name] for name in ("denying", "light", "picture", "there"))
_SHOWING, _LINKING = SETS["showing"], SETS["linking"]
_DOUBT = (HEDGE - {"can"} | SETS["doubt"]) - word_set("cannot probably likely exclude excluded")
_PREPOSITIONS = SETS["preposition"] | word_set(
    "beside next between inside outside against across through after before during into onto"
)
_PRONOUNS = word_set(
    "it they them he she this that these those its his her their both one neither none all everyone everybody each nobody"
    " which"
)
_ONES = word_set("one ones any some none it them several many two three four nothing")
"""Words for the thing that was asked about: `I see one`, `None are visible`."""
_PEOPLE = {"he": word_set("male boy guy gentleman"), "she": word_set("female girl lady")}
_STARTS = _DENYING | word_set(
    "there i we it they he she the this that these a an though although even while because since as with only but so"
    " yet hence thus therefore both two whichever whatever namely which"
)
_JOINTS = word_set("but so because since while although though whereas yet hence thus therefore meaning")
_EVERY = word_set("all both every each everyone everybody everything entire whole")
_SOME = word_set("only some most many few half except one two several partly partially")
_ANYONE = word_set("anyone anybody someone somebody anything something you we one i there people")
_AGAINST = word_set(
    "or either who which whose whom where that like than another other others as if while almost nearly barely"
    " somewhat partly partially half supposed instead else similar resemble resembles"
)
"""Words inside a clause that make it another one than was asked about."""
_ATTRIBUTES = word_set(
    "colour color calibre caliber size shape age state position gender appearance silhouette kind type limits of in to be taken shot"
    " located situated positioned placed"
)
_NEUTRAL = word_set("at during")
_SAME = word_set("same equal equally difference tie tied")


@cache
def _alike() -> dict[str, str]:
    return {word: row.split()[0] for row in TABLES["alike"] for word in row.replace("_", " ").split()}


@cache
def _root(word: str) -> str:
    """Return a word without its endings, or the common one of those that mean the same: `wears` is `wear`."""
    known = word if word in _PREPOSITIONS else _alike().get(word)
    return known or _alike().get(_bare_root(word), _bare_root(word))


def _bare_root(word: str) -> str:
    word = stem(word)
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word[: -len(ending)]
            return word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word.rstrip("e")
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _pairs(mark: str) -> set[tuple[str, str]]:
    rows = [pair.split(mark) for pair in TABLES["opposites"].split() if mark in pair]
    return {(_root(one), _root(other)) for row in rows for one, other in permutations(row, 2)}


_COMPLEMENTS = _pairs("=")
_OPPOSITES = _COMPLEMENTS | _pairs("/")
_OPPOSITES |= {
    (_root(one), _root(other)) for row in TABLES["exclusive"] for one, other in permutations(row.split(), 2)
}
_OPPOSITES -= {(one, other) for one, other in _OPPOSITES if one == other}
_RELATIONS = frozenset(map(_root, word_set(TABLES["relations"])))
_OPTIONAL = frozenset(
    map(_root, word_set("image scan view slice plane study section film time weather setting part area number"))
)
_FUNCTION = _AUXILIARY.union(_LINKING, _LIGHT, _PREPOSITIONS, _THERE, _DENYING, _PRONOUNS, _ARTICLES, SETS["places"])


@dataclass(frozen=True)
class Asked:
    """The sentence of a question: the roots of its words in order. `exists`: it asks if a thing is there.

    `predicate`: the place of the first word that is said of the subject. `every`, `anyone`: it asks about all, or any.
    """

    words: tuple[str, ...]
    exists: bool
    every: bool = False
    anyone: bool = False
    predicate: int = 0

    @property
    def end(self) -> int:
        """Where the name of a thing ends, or what is said of a subject: before `than` or a preposition."""
        ends = (at for at, word in enumerate(self.words) if at and word in _PREPOSITIONS | {"than"})
        return next(ends, len(self.words))

    @property
    def head(self) -> str:
        return self.words[self.end - 1]


_QUOTED = re.compile(
    r"\b(?:statement|claim|caption|description|sentence|true|correct|accurate|right|false)\b[^\"“:]{0,60}?:?\s?"
    r"(?:[\"“]([^\"”]{3,200})[\"”]|(?<=:)\s?([^\"“?]{3,200})|true\? ([^?]{3,200}\.\Z))"
    r"|([^.?!]{3,200})[.,;] (?:am i right|is (?:that|this|it) (?:right|correct|true|so)|true or false|right or wrong)\?",
    re.I,
)
_TAG = re.compile(r"(?:,? (?:right|correct|true|true or false|yes or no|is(?: it| there) not|does it not))\s*\Z")
_PLEASE = re.compile(r"(?:please )?(?:answer|reply|respond)\b.*|\(?yes or no\b.*|true or false\b:?", re.I | re.S)
_GENERIC = "|".join(sorted(_PICTURE | word_set("a an the this that any photo photograph shot scene"), key=len)[::-1])
_SEES = re.compile(
    r"(?:can|do|did|could) (?:you|we|i|one) (?:see|spot|notice|find|detect|observe|identify|make out)"
    rf"|(?:does|do|did|has|have) (?:(?:{_GENERIC}|it) )+"
    r"(?:show|contain|depict|have|include|reveal|display|feature|demonstrate|hold|exhibit|got|suffer from)"
    r"|(?:is|are|was|were) there"
)
_SEEN_THERE = re.compile(
    r"(?:there (?:is|are)|(?:i|we|you) (?:can )?see|(?:the|this) (?:image|picture|photo) shows) "
)
_WHERE = re.compile(
    rf" (?:in|on|within|from|of|at|for) (?:(?:the|this|that|a|an|any|these|both|all) )*(?:(?:{'|'.join(sorted(_PICTURE))}"
    r"|photo|photograph|shot|scene)\b ?)+(?<! )|(?<!^)\b(?:anywhere|whatsoever|to be (?:seen|found))\b"
)
_EVIDENCE = re.compile(
    r"(?<![a-z])(?P<before>[a-z]+ )?(?:(?:any|an?|the|radiographic|imaging|visible|clear|definite|kind|such) )*"
    r"(?:(?:evidence|signs?|indications?|presence|traces?|hint|features?|findings?|kind|sort) of"
    r"|(?!nothing|none|no\b)\w+ (?:to suggest|suggesting|indicating)) "
)
_ASIDE = re.compile(
    r"\bmade of |\b(?:colou?r|size|shape) of |(?<= )(?:colou?r|size|shape) (?=\w)|(\b(?:image|photo|picture) )(?:taken|shot) (?=\w)"
)
"""Words of a question that its answer may leave out: `the size of the heart`, `a photo taken at night`."""
_KIND_OF = re.compile(
    r"\bmade (?:up |out )?of |,? among other(?:s| things)\b|"
    r"\b(?:any|some|an?) (?:kind|sort|type) of |'s (?=(?:colou?r|size|shape)\b)|\bwithin (?=normal limits)"
)
_MORE = re.compile(r"\b(more|fewer|less) ((?!than\b)\w+)(?= than\b|$)")
_SIDE = re.compile(
    r"((?:to|on|at|in|from|towards?) )?(?:the |its |his |her )?\b(left|right|top|bottom|front|back)(?: hand)?"
    r"(?: (?:sides?|half|part))?(?: of)?(?= |$)"
)


def _beside(found: re.Match[str]) -> str:
    return f"at {found[2]}" if found[1] else found[2]


def asked(question: str) -> Asked | None:
    """Return what a question asks; None if it is no plain question of yes or no."""
    if quoted := _QUOTED.search(question):
        question = f"{next(filter(None, quoted.groups()))}, right?"
    parts = [part for part in re.split(r"(?<=[?.!\n])\s+", _PLEASE.sub("", question)) if part.strip()]
    words = _parts(parts[-1]) if parts else []
    clause = " ".join(words)
    tagged = _TAG.search(clause)
    if tagged:
        clause = clause[: tagged.start()]
    elif not words or words[0] not in _AUXILIARY:
        return None
    if not 1 < len(words) <= _LONGEST or _ODD.intersection(clause.split()):
        return None
    found = _SEES.match(clause)
    statement = clause if tagged else clause.partition(" ")[2]
    led = _SEEN_THERE.match(statement) if tagged else None
    exists = found is not None or led is not None
    rest = clause[found.end() :] if found else statement[led.end() if led else 0 :]
    rest = _ASIDE.sub(lambda one: one[1] or "", rest)
    rest = _SIDE.sub(_beside, _EVIDENCE.sub(_of_a_thing, _WHERE.sub("", f" {rest}")).strip())
    compared = _MORE.search(rest)
    said = (_MORE.sub(r"\2 \1", rest) or rest).split() or [""]
    content = _roots(said[:-1]) + ([_root(said[-1])] if said[-1] not in _ARTICLES | {""} else [])
    content = [word for at, word in enumerate(content) if at or word not in _ANYONE] or content
    content = content if exists else [word for word in content if word not in _NEUTRAL]
    exists = exists and compared is None
    while len(content) > 1 and content[-1] in _FOUND:
        content, exists = content[:-1], True
    every, anyone = _EVERY.intersection(words), {"anyone", "anybody", "someone", "somebody"}.intersection(words)
    predicate = 1 if words[0] in _DOING else _predicate(_MORE.sub(r"\2 \1", rest).split(), content)
    return Asked(tuple(content), exists, bool(every), bool(anyone), predicate) if content else None


_DOING = _AUXILIARY - word_set("is are was were am")


def _predicate(words: Sequence[str], content: Sequence[str]) -> int:
    """Return where in the content of a question its subject ends: before a verb, a preposition or a second article."""
    at = 0
    if words[0] in ("it", "this", "that", "these", "those", "they", "he", "she"):
        return 1 if content[0] == words[0] else 0
    for place, word in enumerate(words):
        root = _root(word)
        begins = word.endswith(("ing", "ed")) or word in _PREPOSITIONS or words[place - 1] in ("a", "an", *_NEUTRAL)
        begins = begins or root in _RELATIONS
        if at and root == content[at] and (begins or content[at + 1 : at + 2] == ["than"]):
            return at
        at += at < len(content) and root == content[at]
        if at == len(content):
            break
    return len(content) - 1


_FOUND = frozenset(map(_root, _THERE))
_ODD = SETS["no_question"] | (HEDGE - {"can", "could"})


def _of_a_thing(found: re.Match[str]) -> str:
    """Write `no evidence of a mass` as no mass, but leave weak evidence."""
    before = found["before"] or ""
    return before if not before or before.strip() in _FRAME else found[0]


def _parts(text: str) -> list[str]:
    """Return the words of a text, with hyphens and possessives split off: `T1-weighted`, but `x-ray` is one."""
    words = (word for word in written_out(text))
    split = (part for word in words for part in ([word] if word in _PICTURE else word.split("-")))
    return [part for word in split for part in (word.replace("'s", " 's") if word[:1] != "'" else word).split()]


def _roots(words: Sequence[str]) -> list[str]:
    """Return the roots of the words that matter: without articles, auxiliaries, commas and adverbs."""
    skipped = _ARTICLES | _AUXILIARY | (_LIGHT - {"wide"})
    return [_root(word) for word in words if word not in skipped and word[0].isalnum() and not _is_adverb(word)]


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and not word.endswith(("aly", "fly", "lly")) and word not in _NO_ADVERB


_NO_ADVERB = word_set("only early family elderly assembly lily")


_BOUND = re.compile(
    r"\A(?:is|are|was|were|does|do|can|has|have)\b[^?]{0,80}?\b(?:(?P<more>more than|over|above)"
    r"|(?P<less>fewer than|less than|under|below)|(?P<least>at least)|(?P<most>at most)|(?P<exact>exactly"
    r"|there(?= (?:\d|two|three|four|five|six|seven|eight|nine|ten)\b)))"
    r" (\d[\d.,]{0,12}|[a-z]{3,9})\b",
    re.I,
)


def _counted(text: str, bound: re.Match[str]) -> bool | None:
    """Compare the number of a reply with the bound that the question asks about: `more than 5`."""
    limit, given = read_number(bound[bound.re.groups]).value, read_number(text, bound.string).value
    if limit is None or given is None:
        return None
    compare = {"more": gt, "less": lt, "least": ge, "most": le, "exact": eq}
    return any(bool(holds(given, limit)) for name, holds in compare.items() if bound[name])


_CONCLUDING = word_set("so thus hence therefore overall conclusion")
_REPHRASED = re.compile(r"(?:you(?:'re| are)? (?:ask|want)|the question (?:is|asks))", re.I)
_SEARCH = re.compile(r"(?:i|we) (?:have )?(?:looked|searched|checked)(?: \w+){0,3} for ")
_IN_QUOTES = re.compile(r"(?<=\w )[\"“][^\"”\n]{1,200}[\"”](?=\W{0,2}\s)")
_CANNOT_SAY = re.compile(
    r"\b(?:cannot|unable to|not able to|not possible to) (?:\w+ )?(?:judge|assess|tell|determine|confirm|say|evaluate|interpret)\b"
)
_NOUGHT = re.compile(r"(?<![\d.,])0 (?=[a-z])")
_DASH = re.compile(r"\s[–—]\s")
_MISTAKEN = word_set("like resembles resemble mistaken similar mistake taken")


def read_finding(text: str, question: str) -> bool | None:
    """Return whether the reply says that it is as the question asks; None if it does not say."""
    text = in_our_words(_DASH.sub("; ", _NOUGHT.sub("no ", _IN_QUOTES.sub(" ", text))))
    if (bound := _BOUND.search(question)) and (found := _counted(text, bound)) is not None:
        return found
    wanted = asked(question)
    verdicts: list[bool] = []
    unread = False
    subject = before = ""
    for statement in statements(text):
        if statement.takes_back or statement.torn:
            verdicts, unread = [], statement.torn
        for concludes, words in _clauses(statement) if not _REPHRASED.match(statement.text) else ():
            content = _roots(words)
            own = statement.own and len(words) <= _LONGEST
            own = own and not (statement.takes_back and _short(words) is not None)
            verdict = _verdict(words, wanted, subject, before) if own else None
            if verdict is not None and (concludes or statement.corrects):
                verdicts, unread = [verdict], False
            elif verdict is not None:
                verdicts.append(verdict)
            elif wanted and own and wanted.head in content and not _SEARCH.match(" ".join(words)):
                plain = verdicts[-1:] == [True] and not (_DENYING | _DOUBT).intersection(words)
                unread = unread or not (plain or _MISTAKEN.intersection(words))
            elif own and (_CANNOT_SAY.search(" ".join(words)) or (_DOUBT & {*words} and {*content} <= _VAGUE)):
                unread = True
            before = " ".join(content) or before
            subject = content[0] if content and content[0] not in _PRONOUNS | _VAGUE else subject
            subject = "another" if {"another", "other", "others"}.intersection(words) else subject
    return verdicts[0] if len(set(verdicts)) == 1 and not unread else None


_VAGUE = frozenset(
    map(_root, SETS["doubt"] | _THERE | word_set("say tell sure know look check see find answer confirm"))
)


def _clauses(statement: Statement) -> Iterator[tuple[bool, list[str]]]:
    """Split a statement where a comma or a conjunction begins another clause; say which clauses conclude."""
    words = _parts(statement.text)
    clause: list[str] = []
    concludes = bool(words) and words[0] in _CONCLUDING
    for place, word in enumerate(words):
        following = next((one for one in words[place + 1 : place + 3] if one not in ("and", "but", "yet")), "")
        label = word == ":" and words[place + 1 : place + 2] and words[place + 1] in _DENYING | _THERE
        ends = word == ";" or (word == ":" and not label) or (word == "," and following in _STARTS)
        joins = word in _JOINTS or (word == "and" and following in _STARTS.union(_AUXILIARY) - {"a", "an", "the"})
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
    if len(words) > _LONGEST:
        return list(words)
    clause = _EVIDENCE.sub(_of_a_thing, _KIND_OF.sub(" ", _REPORTED.sub("", clause, count=1)))
    clause = _SIDE.sub(_beside, _WHERE.sub("", f" {clause}").strip() or clause)
    return _MORE.sub(r"\2 \1", clause).split()


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
    if not words or _DOUBT.intersection(words):
        return None
    sided = wanted and "right" in words and _SIDES.intersection(wanted.words)
    said = _short(words) if not sided else None
    if wanted is None:
        return said if (_TRUE | _FALSE).intersection(words) else None
    if said is not None:
        return said
    return _there(words, wanted, before) if wanted.exists else _so(words, wanted, subject)


def _short(words: Sequence[str]) -> bool | None:
    """Parse a clause that has only pronouns, auxiliaries and words for true and false: `It most certainly is not`."""
    plain = [word for word in words if word[0].isalnum() and not _is_adverb(word)]
    denials = sum(word in _DENYING for word in plain)
    truths = [word in _TRUE for word in plain if word in _TRUE | _FALSE]
    empty = _AUXILIARY.union(_PRONOUNS, _ARTICLES, _LIGHT, _DENYING, _TRUE, _FALSE, _SAID) - {"missing", "free", "except"}
    empty |= _SEEN if plain[:1] and plain[0] in _DENYING else frozenset()
    empty |= _PICTURE | {"photo"} if truths else frozenset()
    if not set(plain) <= empty or denials > 1 or len(truths) > 1 or _HALF.intersection(words):
        return None
    if truths:
        placed = words[-1] in _TRUE | _FALSE or not {"right", "so", "positive", "negative"}.intersection(plain)
        return truths[0] != bool(denials) if placed else None
    own = plain[:1] == ["i"] and {"do", "can", "did", "cannot"}.intersection(plain)
    leads = own or (plain and plain[0] in _PRONOUNS | {"there", "not"} | _AUXILIARY)
    verb = any(word in _AUXILIARY for word in plain)
    return not denials if leads and (verb or plain[0] == "not") and (len(words) > 1 or denials) else None


_SEEN = word_set("far as make out tell know in")
"""Words after `not`: `not as far as I know`."""
_HALF = word_set("partly partially almost nearly barely somewhat half mostly hardly")


_BOUNDS = _SHOWING.union(_AUXILIARY, _LIGHT, _PICTURE, _DENYING, _PRONOUNS, _ARTICLES, _PREPOSITIONS, _THERE, (",",))
"""Words before the name of a thing."""
_FRAME = _BOUNDS - _PREPOSITIONS | SETS["places"] | word_set("positive for of to in on at with single")
"""Words of a clause that says no more than that something is there."""
_DESCRIBING = frozenset(map(_root, _THERE | SETS["describing"]))
_AFTER = _THERE.union(
    _LIGHT,
    _AUXILIARY,
    _ARTICLES,
    _LINKING,
    _PICTURE,
    word_set("up kind sort of in on at it them among sight view frame"),
)
_ELSEWHERE = frozenset(map(_root, SETS["elsewhere"])) - word_set("patient first second third some many most only cas")
_CHANGED = SETS["changing"] | word_set(
    "resolved healed prior previous toy stuffed plush fake statue drawing cartoon possible suspected like"
)


def _there(words: Sequence[str], wanted: Asked, before: str) -> bool | None:
    """Return whether a clause says that a thing is there."""
    roots = [_root(word) for word in words]
    denials = [at for at, word in enumerate(words) if word in _DENYING - {"nor"} and _root(word) not in wanted.words]
    place = next((at for at, root in enumerate(roots) if root == wanted.head), None)
    if place is None and wanted.end > 1 and not denials:
        rest = {*wanted.words[: wanted.end - 1]}
        if rest <= {*roots} and any((root, wanted.head) in _OPPOSITES for root in roots):
            return False
    if place is None:
        if {*words} <= _THERE.union(_LIGHT, _AUXILIARY, _PRONOUNS, _DENYING) and {*words} & (_THERE | {"absent"}):
            return not denials if len(denials) < 2 else None
        return _one(words, denials) if not before or wanted.head in before.split() else None
    turns = "or" in words and {"there", "nothing", "one"}.intersection(words[words.index("or") :])
    if len(denials) > 1 or turns or "either" in words:
        return None
    start = place
    while start and words[start - 1] not in _BOUNDS and place - start < 4:
        start -= 1
    named, thing, tail = {*roots[start:place]}, {*wanted.words[: wanted.end]}, words[place + 1 :]
    subject = named - thing and start and words[start - 1] in _PICTURE
    if named & _CHANGED or subject or (tail and not _ends_a_thing(tail[0])):
        return None
    where = {*wanted.words[wanted.end :]} - _PREPOSITIONS
    if where - {*roots} and _PREPOSITIONS.intersection(tail):
        return None
    if not denials:
        return _affirms(words, roots, wanted, start, tail)
    at = denials[0]
    if at > place:
        rest, gone = words[at + 1 :], words[at] not in ("not", "cannot", "never", "no")
        return False if gone or all(word in _AFTER for word in rest) else None
    if not named - thing <= _DESCRIBING or ("cannot" in words and "see" in words and "any" not in words):
        return None
    between = words[at + 1 : start]
    other = [word for word in between if word not in _FRAME]
    does = words[at] in ("not", "cannot", "never") and other[:1] and between[0] == other[0]
    verbs = [word for word in other if word.endswith("ing") or word in _PREPOSITIONS | _AGAINST - {"or", "half"}]
    listed = between[-1:] and between[-1] in (",", "or", "nor")
    known = not (does or verbs or (between[-1:] and between[-1] in _OF_ONE)) and len(other) < 3
    rest = tail[: next((put for put, word in enumerate(tail) if word in (",", "or", "nor", "and")), len(tail))]
    same = all(word in _AFTER or _root(word) in wanted.words for word in rest)
    return False if (listed or known) and same else None


_OF_ONE = word_set("the his her its their my your on near by behind under over from around with")
"""Words before a thing that is there: `no leash on the dog`."""


def _one(words: Sequence[str], denials: Sequence[int]) -> bool | None:
    """Parse a clause that calls the thing `one` or the like: `It has one on the left`, `None are visible`."""
    place = next((at for at, word in enumerate(words) if word in _ONES and (at or word != "it")), None)
    if place is None or len(denials) > 1 or (_AGAINST - {"one"}).intersection(words):
        return None
    before, tail = words[:place], words[place + 1 :]
    known = _BOUNDS | _LINKING | {"single"}
    if any(word not in known and not _is_adverb(word) for word in before) or words[place] in ("it", "them"):
        shown = [word for word in before if word in _SHOWING - {"i", "we", "there"}]
        if words[place] not in ("it", "them") or not shown or any(word not in known for word in before):
            return None
    if tail and not (tail[0] in known - _PICTURE or _ends_a_thing(tail[0])):
        return None
    return not denials


def _affirms(
    words: Sequence[str], roots: Sequence[str], wanted: Asked, start: int, tail: Sequence[str]
) -> bool | None:
    said, before = {*roots}, [word for word in words[:start] if word not in _ARTICLES]
    opposed = any((root, word) in _OPPOSITES for root in said - {*wanted.words} for word in wanted.words)
    thing = {*wanted.words[: wanted.end]}
    if not thing <= said or (wanted.every and opposed) or "or" in tail or said & _ELSEWHERE - thing:
        return None
    if opposed or {"who", "which", "that", "had", "if"}.intersection(before):
        return None
    if {*roots} <= thing | {"the"} and not (before or tail):
        return True if words[0] in ("a", "an") else None
    led = before[-1:] in (["like"], ["than"], ["of"], ["for"], ["as"])
    return None if led and before[0] != "positive" else True


def _ends_a_thing(word: str) -> bool:
    return (
        word in _PREPOSITIONS | _AUXILIARY | _DENYING | _LIGHT | _THERE | _LINKING
        or word in ("that", "which", "who", "and", "or", "with", "cannot", ",")
        or word.endswith(("ing", "ly", "ed"))
    )


_SIDES = word_set("left right")
_WILD = word_set("one it them any some so none nothing anything")
_EITHER_SIDE = _FUNCTION | _ATTRIBUTES | _PICTURE | word_set(", i we you and")


def _so(words: Sequence[str], wanted: Asked, subject: str) -> bool | None:
    """Return whether a clause says the same of the same subject."""
    skipped = _ARTICLES | _EVERY | _LIGHT - {","} | _NEUTRAL
    kept = [
        word
        for at, word in enumerate(words)
        if _root(word) in wanted.words or (at == 0 and word in _PRONOUNS) or not (word in skipped or _is_adverb(word))
    ]
    denials = [at for at, word in enumerate(kept) if word in _DENYING and _root(word) not in wanted.words]
    strange = {*kept[kept[:1] == ["which"] :]} & (_AGAINST | _CHANGED) - {*wanted.words}
    strange -= {word for word in strange if any((_root(word), one) in _OPPOSITES for one in wanted.words)}
    if len(denials) > 1 or strange or "that" in words[1:]:
        return None
    if words[0] in ("not", "no") and {*_roots(words[1:])} - _FOUND <= {*wanted.words}:
        return False if {*_roots(words[1:])} - _FOUND else None
    if (swapped := _swapped(kept, denials, wanted)) is not None:
        return swapped
    end = wanted.end if wanted.end > 1 and (denials or "than" in wanted.words) else len(wanted.words)
    forms = [wanted.words, wanted.words[:end]]
    pivot = next((at for at, word in enumerate(wanted.words) if at and word in _SIDES), None)
    forms += [wanted.words[: pivot + 1]] if pivot else []
    forms += [form[:-1] for form in forms if len(form) > 1 and form[-1] in _OPTIONAL]
    numbers = word_set("two three")
    forms += [tuple(word for word in form if word not in numbers) for form in forms if numbers.intersection(form)]
    if wanted.predicate == 0 and len(wanted.words) > 1:
        forms.append((*wanted.words[1:], wanted.words[0]))
    verbless = len(words) < 5 and not _AUXILIARY.intersection(words) and "than" not in wanted.words
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
    if len(opposed) > 1 or (opposed and wanted.anyone and not _EVERY.intersection(words)):
        return None
    if wanted.every and _SOME.intersection(words):
        return False
    if opposed and denials:
        return True if opposed[0] in _COMPLEMENTS else None
    return not denials and not opposed


def _is_meant(words: Sequence[str], wanted: Asked, subject: str) -> bool:
    """Return whether a pronoun, or no subject, means the subject of the question."""
    people = _PEOPLE.get(words[0])
    others = next((named for name, named in _PEOPLE.items() if name != words[0]), frozenset())
    if people and not people.isdisjoint(wanted.words):
        return subject != "another"
    if people and not others.isdisjoint(wanted.words[: wanted.predicate]):
        return False
    pronoun = words[0] in _PRONOUNS
    return not (pronoun and subject and subject not in wanted.words and wanted.words[0] not in _PRONOUNS)


def _aligned(
    kept: Sequence[str], form: Sequence[str], first: int, wanted: Asked
) -> tuple[int, int, list[tuple[str, str]]] | None:
    """Find the words of a form in order; return the first and last place and the opposites among them."""
    roots = [_root(word) for word in kept]
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
        if (roots[place], word) in _OPPOSITES:
            opposed.append((roots[place], word))
        start, last = (place if start < 0 else start), place
    known, before = {*wanted.words}, kept[:start]
    strange = [word for word in before if word not in _EITHER_SIDE and _root(word) not in known]
    strange = [word for word in strange if not (wanted.every and word in _SOME)]
    named = {*form[:first]} & {*map(_root, before)}
    if first and ((named and form[first - 1] not in named) or (start == 0 and kept[last + 1 : last + 2] == ["is"])):
        return None
    described = wanted.predicate == 0 and not _PREPOSITIONS.intersection(before)
    if strange and not (wanted.anyone or described):
        return None
    tail = kept[last + 1 :]
    follows = not tail or tail[0] in _EITHER_SIDE or _root(tail[0]) in known | _OPTIONAL or _ends_a_thing(tail[0])
    return (start, last, opposed) if follows and (not tail or tail[0] != "'s") else None


def _is_opposite(roots: Sequence[str], at: int, word: str, wanted: Asked) -> bool:
    return (roots[at], word) in _OPPOSITES and word not in roots and roots[at] not in wanted.words


def _is_gap(gap: Sequence[str], following: str) -> bool:
    """Return whether words inside a sentence leave its subject and its verb as they are."""
    gap = gap[:-1] if gap and gap[-1] in ("of", "in") else gap
    verb = max((at for at, word in enumerate(gap) if word in _AUXILIARY | _LINKING), default=-1)
    place = max((at for at, word in enumerate(gap) if word in _PREPOSITIONS), default=-1)
    if not gap:
        return True
    if place > verb or (following.endswith(("ing", "ed")) and verb < 0 and any(w not in _FUNCTION for w in gap)):
        return False
    joins = gap[0] in _FUNCTION | _ATTRIBUTES or gap[0] in (",", "and") or gap[0].endswith(("ing", "ed"))
    return "'s" not in gap and (joins if verb >= 0 else len(gap) < 4)


def _swapped(kept: Sequence[str], denials: Sequence[int], wanted: Asked) -> bool | None:
    """Parse a clause that says it of the other one: `The tree is left of the car`, `The man is older`."""
    words = wanted.words
    pivot = words.index("than") - 1 if "than" in words[2:] else None
    if pivot is None:
        pivot = next((at for at, word in enumerate(words) if 0 < at < len(words) - 1 and word in _RELATIONS), None)
    if pivot is None:
        return None
    one, other = {*words[:pivot]} - {*words[pivot + 1 :]}, {*words[pivot + 1 :]} - {*words[:pivot], "than"}
    roots = [_root(word) for word in kept]
    if "than" in words and _SAME.intersection(kept) and not denials:
        return False
    place = next(
        (at for at, root in enumerate(roots) if root == words[pivot] or (root, words[pivot]) in _OPPOSITES), None
    )
    if place is None or denials:
        return None
    before, same = {*roots[:place]}, roots[place] == words[pivot]
    if before - {*words} - _EITHER_SIDE or bool(before & one) == bool(before & other):
        return None
    swapped = bool(before & other)
    return None if {*roots[place + 1 :]} & (other if swapped else one) else same != swapped
