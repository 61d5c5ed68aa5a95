"""The strict parser of yes/no replies.

Yes and no are parsed as words (docs/benchmarks/medical.md, "Yes and no by substring"): `no` counts as an answer, not
as a determiner. If the reply has neither word, the question helps: "There is no pneumothorax" answers "Is there a
pneumothorax?" and nothing else. Then a clause is parsed as a whole or not at all, by a table of sentences. A clause
that only mentions the thing, hedges or takes back leaves the reply unparsed. So does a question that is negative or
asks for one of two. A yes that such a sentence contradicts does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sketchmark.answers.candidates import FIRST_WORDS, Words
from sketchmark.answers.cleanup import FIRST_SLOT, Said, said
from sketchmark.answers.decision import Reader
from sketchmark.answers.reply import UNREAD, Parsed
from sketchmark.answers.roles import Statement, statements
from sketchmark.answers.vocabulary import (
    APOSTROPHE,
    FILLER,
    HEDGE,
    NEGATOR,
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
"""Words of a clause or a question."""
_ARTICLES = word_set("a an the any some this that these those his her its their one")
_JUST = word_set("just directly")
_PICTURE = SETS["picture"]
_PREPOSITIONS = word_set(
    "of in on at with within from under over above below near around along to for by behind beside next between"
    " inside outside against across through after before than"
)
_PLACES = _PICTURE | SETS["places"]
"""Words that may be added to a thing without making it another thing."""
_THERE = SETS["there"]
_ODD = (NEGATOR | HEDGE - {"can"}) | SETS["odd"]
_DOUBT = HEDGE - {"can"} | SETS["doubt"]
_FIRST = word_set("there no i we it they the this that these a an though although even while because since as")
_LEADS = re.compile(r"(?:(?:so|thus|hence|therefore|overall|and|indeed|clearly|yes|sure|well|,) )+")
_REPORTED = re.compile(
    r"\A(?:[^,]{0,40}? )?(?:i|we) (?:can |could |cannot |would )?(?:confidently |safely )?"
    r"(?:say|confirm|conclude|report|state|deny) that "
    r"|\A(?:i|we) (?:think|believe) (?:that )?(?=(?:there|the|it|this|that|no|an?)\b)"
)
_SURE = r"(?:clearly |definitely |indeed |obviously |currently |also |really |actually |plainly )?"
_PRESENT = "|".join(sorted(_THERE))
_GENERIC = "|".join(sorted(_PICTURE | _ARTICLES, key=len, reverse=True))


def _patterns(name: str) -> list[re.Pattern[str]]:
    """Compile sentences of the tables; `{show}` and other names are parts that several share."""
    parts = TABLES["sentences"]["parts"] | {"sure": _SURE, "present": _PRESENT, "generic": _GENERIC}
    forms = []
    for form in TABLES["sentences"][name]:
        for part, pattern in parts.items():
            form = form.replace(f"{{{part}}}", pattern)
        forms.append(re.compile(form))
    return forms


_FORMS, _ASKED, _NEUTRAL = map(_patterns, ("found", "asked", "neutral"))
_STATE = re.compile(
    rf"(?P<subject>.*?) ?\b(?:is|are) {_SURE}(?P<no>not )?{_SURE}(?P<rest>.+)|(?P<bare>not )(?P<alone>.+)"
)
_RESULT = re.compile(
    r"(?:(?:i|we) )?(?:found|saw|spotted|noticed|(?:could|can|did|do) (?P<no>not )(?:find|see)) "
    r"(?P<none>none|nothing|not one|one|it|any)"
    r"|there (?:is|are|was|were) (?P<none2>none|nothing|one)"
)
_PRONOUN = re.compile(rf"(?:(?:it|they|this) (?:is|are) )?(?P<no>not )?{_SURE}(?:{_PRESENT}|(?P<gone>absent))")
_LED_BY = re.compile(
    r"(?:(?:radiographic|radiological|radiologic|imaging|visible|clear|definite) )?"
    r"(?:evidence|signs?|indications?|presence) of "
)
_JOINT = re.compile(r" ?(?:,|\bor\b|\bnor\b|\band\b) ?")
_UNTRUE = re.compile(
    r"it (?:is|would be) (?:not (?:true|correct|right|the case)|false|wrong|incorrect|untrue|inaccurate)"
    r"(?: to (?:say|claim|state))? (?:that )?"
)
_AUXILIARY = word_set("is are was were does do did has have had can could will be been")
_DENYING = word_set("not cannot never no")
_RESTATED_ODD = word_set("or not no never there")
_CLAUSE_END = re.compile(
    r"[,;:]\s(?!not\b)(?:(?:so|because|since|and|as|therefore|thus|hence|meaning|which means)\s)?"
)
_PRONOUNS = (["it"], ["they"], ["he"], ["she"])
_PEOPLE = {"he": word_set("man boy guy gentleman"), "she": word_set("woman girl lady")}
_ANOTHER = word_set("another other others second")
_NOBODY = (["nobody"], ["none"], ["neither"], ["no"])
_REPHRASED = re.compile(r"(?:you(?:'re| are)? (?:ask|want)|the question (?:is|asks))", re.I)
_SEEMS = re.compile(r" (?:(?:appears?|seems?|looks?) to be|to be|at all|appears?|seems?|looks?(?= (?:\w+ )?$)) ")
_ADVERBS = word_set(
    "indeed also really still very quite too now currently here wide clearly definitely certainly obviously actually"
    " visibly plainly truly simply fully completely entirely"
)
_SECOND_PREDICATE = re.compile(r",? and (?=(?:is|are|was|were|has|have|does|do|did|can|will)\b)")
_OPPOSITES = {
    (stem(one.replace("_", " ")), stem(other.replace("_", " ")))
    for pair in TABLES["opposites"].split()
    for one, other in (pair.split("/"), pair.split("/")[::-1])
}
_FEW = 4
"""Clauses of a reply that is compared with the question."""
_IF = re.compile(r"\bsi (?!ved)", re.I)
_SHORT_REPLY = 80
_ENGLISH = word_set("is are was were does do did can there the")
_EXISTS, _ABSENT = (re.compile(any_word(word_set(TABLES["existence"][name])), re.I) for name in ("yes", "no"))
_ASKING_SIGNS = frozenset("是否有没沒吗嗎か不")
_ELSEWHERE = SETS["elsewhere"]
"""Places that are not in the image."""
_SECOND = SETS["second"]
"""Words that are in no name of a thing: they begin a second clause."""
_OPENING = re.compile(rf"^(?:in|on|from) (?:(?:{_GENERIC}) )+(?:, )?")
_WHERE = re.compile(rf" (?:anywhere|(?:in|on|within|from|of) (?:(?:{_GENERIC})(?: |$))+|here)$")


@dataclass(frozen=True)
class _Thing:
    """A named thing: its stemmed words in order and their head noun. `all`: every one of them is meant."""

    words: tuple[str, ...]
    head: str
    all: bool = False


def read_finding(text: str, question: str) -> bool | None:
    """Return whether the reply says that the thing asked about is there, or is so; None if it does not say."""
    words = written_out(question)
    if not words or len(words) > _LONGEST:
        return None
    restated = _restated(text, words)
    if restated is not None or _ODD.intersection(words):
        return restated
    asked = _bare(words)
    found = next((match for form in _ASKED if (match := form.fullmatch(asked))), None)
    thing = _thing(found["x"] if found else asked.partition(" ")[2], every=asked.startswith("are the "))
    if thing is None or (not found and asked.partition(" ")[0] not in ("is", "are")):
        return None
    made = [(statement, list(_clauses(statement))) for statement in statements(in_our_words(text))]
    alone = sum(len(clauses) for _, clauses in made) == 1
    verdicts = set()
    searched = passed = False
    for statement, clauses in made:
        own, doubtful = statement.own, statement.takes_back or statement.asked
        for clause in clauses:
            words = clause.split()
            verdict = None
            if own and len(words) <= _LONGEST:
                verdict = _said(clause, thing, alone=alone) if found else _so(clause, thing, alone=not passed)
                if verdict is None and searched and (result := _RESULT.fullmatch(clause)):
                    verdict = not result["no"] and (result["none"] or result["none2"]) in ("one", "it")
            passed = passed or verdict is None  # then a pronoun may mean another thing
            if verdict is not None:
                verdicts.add(verdict)
            elif own and not doubtful and any(form.fullmatch(clause) for form in _NEUTRAL):
                searched = True
            elif doubtful or _DOUBT.intersection(words) or thing.head in map(stem, words):
                return None
    return verdicts.pop() if len(verdicts) == 1 else None


def _exists(text: str, question: str) -> bool | None:
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


def _restated(text: str, question: Sequence[str]) -> bool | None:
    """Return whether a reply of a few clauses repeats the question as a finding: "The man wears a hat"."""
    made = [one for one in statements(in_our_words(text)) if not _REPHRASED.match(one.text)]
    odd = _RESTATED_ODD - {"there"} if "than" in question else _RESTATED_ODD
    if question[0] not in _AUXILIARY or odd.intersection(question):
        return None
    if not all(one.own and not one.takes_back and not (at and one.corrects) for at, one in enumerate(made)):
        return None
    asked, exists = _content(question[1:]), any(form.fullmatch(_bare(list(question))) for form in _ASKED)
    clauses = [
        written_out(clause) for one in made for clause in _CLAUSE_END.split(_same_subject(one.text.rstrip(".!;")))
    ]
    if not asked or len(clauses) > _FEW or any(len(clause) > _LONGEST for clause in clauses):
        return None
    verdicts: set[bool | None] = set()
    for place, clause in enumerate(clauses):
        clause = _REPORTED.sub("", " ".join(clause), count=1).split()
        same_subject = place == 0 or clause[:1] == clauses[0][:1]
        if clause and _means_subject(clause[0], asked, clauses):
            clause, same_subject = [asked[0], *clause[1:]], True
        verdict = _repeats(clause, asked, exists) if same_subject or clause[:1] not in _PRONOUNS else None
        if verdict is None and (asked[-1] in map(stem, clause) or _DOUBT.intersection(clause)):
            return None
        verdicts.add(verdict)
    verdicts.discard(None)
    return verdicts.pop() if len(verdicts) == 1 else None


def _means_subject(word: str, asked: Sequence[str], clauses: Sequence[Sequence[str]]) -> bool:
    """Return whether a pronoun can only mean the person asked about: `she` for the only woman."""
    people = _PEOPLE.get(word, frozenset())
    if asked[0] not in people or sum(one in people for one in asked) > 1:
        return False
    return not any(one in _ANOTHER or (one in people and one != asked[0]) for clause in clauses for one in clause)


def _repeats(clause: Sequence[str], asked: Sequence[str], exists: bool) -> bool | None:
    """Return whether a clause affirms or denies the question's sentence, or only its subject and predicate."""
    if untrue := _UNTRUE.match(" ".join(clause)):
        verdict = _repeats(" ".join(clause)[untrue.end() :].split(), asked, exists)
        return None if verdict is None else not verdict
    if clause[:1] in _NOBODY and len(asked) > 1:
        tail = _content(clause)[1:]
        return False if tail[-2:] == list(asked[-2:]) or tail == asked[1:] else None
    if not exists and _instead(clause, asked):
        return False
    denied = sum(word in _DENYING for word in clause)
    said = _content([word for word in clause if word not in _DENYING])
    if denied > 1 or not said:
        return None
    if not denied and _opposite(said, asked):
        return False
    ends = next((place for place, word in enumerate(asked) if word in _PREPOSITIONS), len(asked))
    core = asked[:ends] if denied or asked[ends : ends + 1] == ["than"] else asked
    fuller = not denied and said[: len(asked)] == asked and len(said) > len(asked)
    added = fuller and said[len(asked)] in _PREPOSITIONS and _ELSEWHERE.isdisjoint(said)
    pronoun = said[:1] in _PRONOUNS and len(core) > 1 and _PREPOSITIONS.isdisjoint(core)
    same = said in (asked, [word for word in asked if word not in ("two", "three", "both")])
    if same or added or (len(core) > 1 and said == core) or (pronoun and said[1:] == core[-1:]):
        return denied == 0
    return None


def _content(words: Sequence[str]) -> list[str]:
    """Return the stems of the words that matter: without articles, auxiliaries, adverbs and commas."""
    text = _SEEMS.sub(" ", f" {' '.join(words)} ")
    kept = (word for word in text.split() if word not in _ARTICLES | _AUXILIARY and word != ",")
    return [stem(word) for word in kept if word not in _ADVERBS]


def _same_subject(text: str) -> str:
    """Begin a clause at a second predicate: `The man sits and is smiling` says that he is smiling."""
    return _SECOND_PREDICATE.sub(", it ", text)


def _instead(clause: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether a clause says another thing than was asked: `grey, not blue`, `2017 was best, not 2018`."""
    if clause.count("not") != 1 or clause[0] == "not" or _DOUBT.intersection(clause):
        return False
    place = clause.index("not")
    said, other = _content(clause[:place]), _content(clause[place + 1 :])
    if not said or not other or said == asked:
        return False
    if len(asked) == 1:
        return other == asked
    predicate = said[:1] == asked[:1] and other == asked[-len(other) :] and len(other) < len(asked) and len(said) > 1
    rest = asked[len(other) :]
    return predicate or (other == asked[: len(other)] and bool(rest) and said[-len(rest) :] == rest)


def _opposite(said: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether a clause differs from the question only in a word and its opposite."""
    changed = [pair for pair in zip(said, asked, strict=False) if pair[0] != pair[1]]
    return len(said) == len(asked) and len(changed) == 1 and changed[0] in _OPPOSITES


def _said(clause: str, thing: _Thing, *, alone: bool) -> bool | None:
    """Return whether a clause says that the thing is there."""
    if untrue := _UNTRUE.match(clause):
        verdict = _said(clause[untrue.end() :], thing, alone=False)
        return None if verdict is None else not verdict
    if alone and (found := _PRONOUN.fullmatch(clause)):
        return not (found["no"] or found["gone"]) if not (found["no"] and found["gone"]) else None
    for form in _FORMS:
        found = form.fullmatch(clause)
        if found is None:
            continue
        parts = found.groupdict()
        if parts.get("no") and parts.get("no2"):
            return None
        denied = bool(parts.get("no") or parts.get("no2"))
        if _SECOND.intersection(parts["x"].split()) or (not denied and " or " in parts["x"]):
            continue
        place = parts.get("place") or ""
        # "no fracture and a mass" does not deny the mass
        listed = parts["x"].partition(" and ")[0] if denied else parts["x"]
        named = [_thing(f"{one} {place}") for one in _JOINT.split(listed) if one]
        if any(one is not None and _is_it(one, thing, denied) for one in named):
            return not denied
    return None


def _is_it(said: _Thing, asked: _Thing, denied: bool) -> bool:
    """Compare two things: no effusion means no pleural effusion, and a small effusion is an effusion."""
    if said.head != asked.head or _ODD.intersection(said.words):
        return False
    if denied:
        return set(said.words) <= set(asked.words)
    bare = _PREPOSITIONS.isdisjoint(asked.words) and not asked.all and _ELSEWHERE.isdisjoint(said.words)
    # "behind the fence" only adds a place
    named = said.words[: said.words.index(said.head) + 1] if bare else said.words
    more = set(named) - set(asked.words)
    return set(asked.words) <= set(named) and more <= (frozenset() if asked.all else _PLACES | _PREPOSITIONS)


def _so(clause: str, thing: _Thing, *, alone: bool) -> bool | None:
    """Return whether a clause says the same of the same thing."""
    found = _STATE.fullmatch(clause)
    if found is None:
        return None
    subject = _thing(found["subject"] or "")
    rest = _thing(found["rest"] or found["alone"])
    denied = bool(found["no"] or found["bare"])
    if rest is None:
        return None
    pronoun = found["bare"] or found["subject"] in ("it", "they")
    if pronoun and alone and len(thing.words) == 2 and rest.words == thing.words[1:]:
        return not denied
    said = rest.words if pronoun or subject is None else subject.words + rest.words
    return not denied if said == thing.words else None


def _clauses(statement: Statement) -> Iterator[str]:
    """Split a statement where a comma or "and" begins another clause."""
    clause: list[str] = []
    words = written_out(statement.text)
    for place, word in enumerate(words):
        following = [one for one in words[place + 1 : place + 3] if one not in ("and", "so", "but", "yet")]
        joins = word in (",", ";", ":") or (word == "and" and words[place + 1 : place + 2] in (["no"], ["there"]))
        if joins and following and following[0] in _FIRST:
            yield _bare(clause)
            clause = []
        else:
            clause.append(word)
    yield _bare(clause)


def _bare(words: list[str]) -> str:
    """Remove introductions and references to the image. A clause that is too long stays as it is."""
    clause = " ".join(words).removesuffix(" to be seen").removesuffix(" to be found").replace("at least ", "")
    if len(words) > _LONGEST:
        return clause
    clause = _REPORTED.sub("", clause, count=1)
    led = _LEADS.match(clause)
    clause = _OPENING.sub("", clause[led.end() if led else 0 :])
    while (where := _WHERE.search(clause)) is not None:
        clause = clause[: where.start()]
    return clause


def _thing(text: str, *, every: bool = False) -> _Thing | None:
    words = _LED_BY.sub("", " ".join(word for word in text.split() if word not in _ARTICLES | _JUST)).split()
    while words and words[0] in ("visible", "evident", "apparent"):
        words.pop(0)
    while words and words[-1] in _THERE:
        words.pop()
    if not words:
        return None
    ends = next((place for place, word in enumerate(words) if word in _PREPOSITIONS), len(words))
    stems = tuple(map(stem, words))
    return _Thing(stems, stems[max(ends - 1, 0)], every)


YES = word_set("yes yeah yep true correct 是 对 有 是的 对的 正确")
NO = word_set("no nope false incorrect 否 不是 没有 不对 无 错 不 错误 不正确")
"""Ground truths that make a question one of yes or no."""
_START = r"(?:^[^\w\n]{0,4}|(?<=[.!?…:;,。！？、「«\"'(—–])\s?|(?<=[-=]\s))"
_END = r"(?=\s?(?:[^\w\s]|\Z|\n))"
_CLOSE = r"(?=[^\w\n]{0,4}$|[,;])"


def _sentences(name: str) -> str:
    return "|".join(f"(?:{pattern.format(**TABLES['subjects'])})" for pattern in TABLES[name])


def _plain(name: str) -> str:
    return "|".join(sorted(map(re.escape, TABLES[name].split()), key=len, reverse=True))


_SAID = re.compile(
    r"(?<![a-z\d_])(?P<yes>yes|yeah|yep|yup)(?![a-z\d_])"
    r"|\bin the (?:(?P<yes_in>affirmative)|(?P<no_in>negative))\b"
    r"|\b(?:with|is) an? (?:clear |definite |resounding |firm |simple )?(?P<no_a>no)\b"
    r"|(?<![a-z\d_])(?P<no>no|nope|nah)(?![a-z\d_])(?=\s?(?:[^\w\s]|\Z|で|입|이)|\s?\n|\s(?:it|there|this|that|the|i|we|he|she|they|because|since|as"
    r"|but|and|or|not|is|was|are|if|in|on|at|to|such|from|sir|thanks)\b)"
    rf"|{_START}(?:(?P<yes_start>{_plain('yes')})|(?P<no_start>{_plain('no')})){_END}"
    rf"|\b(?:(?P<yes_end>{_plain('yes')})|(?P<no_end>{_plain('no')})){_CLOSE}"
    r"|答案(?:[是为][ ]?:?|[ ]?:)[ ]?"
    r"(?:(?P<yes_zh>是的|是|对的|对|有|正确)|(?P<no_zh>不是|没有|不对|不正确|错误|否|无|错|不))(?=\W|$)",
    re.IGNORECASE | re.MULTILINE,
)
_TRUTH = re.compile(
    r"\b(?:answer|verdict|result|response)\b[^\w\n]{0,3}(?:is |: ?)?[^\w\n]{0,3}"
    r"(?:(?P<yes>true|correct|affirmative)|(?P<no>false|incorrect|negative))(?=[^\w\n]{0,3}$)",
    re.IGNORECASE | re.MULTILINE,
)
_WHOLE = (
    rf"(?:(?P<yes>{_sentences('affirmed')})|(?P<no>{_sentences('denied')}))(?=\s?[.!,;:…。、*\")\]]|'(?!\w)|\s?$)"
)
_BOTH = re.compile(
    r"(?<!\w)(?!non? si \w)"
    rf"(?:(?:{_plain('yes')})[ /]{{1,3}}(?:(?!but\b|sondern\b)\w+[ /]{{1,3}}){{0,2}}(?:{_plain('no')}|no)"
    r"|yes,? (?:for|to|in|on|regarding) [^.;\n]{1,60}\bno,? (?:for|to|in|on|regarding)"
    r"|no,? (?:for|to|in|on|regarding) [^.;\n]{1,60}\byes,? (?:for|to|in|on|regarding)"
    rf"|(?:{_plain('no')}|no)[ /]{{1,3}}(?:(?!but\b|sondern\b)\w+[ /]{{1,3}}){{0,2}}(?:{_plain('yes')}))(?!\w)",
    re.IGNORECASE,
)
_CONTRADICTED = re.compile(
    r"\b(?:yes|yeah|yep),? (?:that(?:'s| is) an? \w+ question|there (?:is|are|was|were) (?:no|not)"
    r"|(?:it|this|that|they|he|she) (?:(?:is|are|does|do|was|has|can) not|cannot|\w+n't))\b"
    r"(?! (?:doubt|question|other|further|need|way around|denying|mistak|only|just|reason|problem))",
    re.IGNORECASE,
)
"""A yes that the next words take back: `Yes, there is no lesion`."""
_SENTENCE = re.compile(
    r"(?:^[^\w\n]{0,4}|(?<=[.!?:]\s)|(?<=[。！？、]))"
    rf"(?:(?:and|so|but|well|ok|sure|indeed|answer:|hence|therefore),? )?{_WHOLE}",
    re.IGNORECASE | re.MULTILINE,
)
_TURNED = re.compile(rf"\b(?:but|however|yet),? (?:actually,? |in fact,? )?{_WHOLE}", re.IGNORECASE | re.MULTILINE)
"""Next to a word for yes or no, a sentence that means the other counts only as a contradiction."""


_OFFER = re.compile(TABLES["offers"], re.IGNORECASE)
"""A yes to the request itself: `Yes, I can help`."""
_UNKNOWN = re.compile(any_word(word_set(TABLES["unknown"])), re.IGNORECASE)
_FIRST_WORD = re.compile(r"\W{0,4}(?:yes|yeah|yep|no|nope)\b[\s,.:;!—–-]{1,4}", re.IGNORECASE)


class _YesNo(Words):
    """Finder of yes and no as answers; other uses of these words are left."""

    def __init__(self) -> None:
        super().__init__({"Y": "yes", "N": "no"})

    def marked(self, text: str) -> str:
        text = _UNKNOWN.sub(" i cannot tell ", _OFFER.sub(" ", text.translate(APOSTROPHE)))
        text = _CONTRADICTED.sub(" yes or no. ", _BOTH.sub(" yes or no. ", text))
        marked = _TRUTH.sub(self._said, _SAID.sub(self._said, text))
        return (_SENTENCE if marked == text else _TURNED).sub(self._said, marked)

    def _said(self, found: re.Match[str]) -> str:
        name = found.lastgroup or ""
        mark = chr(FIRST_WORDS + (not name.startswith("yes")))
        return f"{found[0][: found.start(name) - found.start()]} {mark} "


_READER = Reader("YN", _YesNo(), opening=True)


def read_yes_no(response: Any, question: str = "") -> Parsed[bool]:
    """Parse yes as True and no as False; None if the reply is neither or both.

    With the question, a finding also counts: "There is no pneumothorax."
    """
    heard = said(response)
    verdict = _READER.read(heard)
    if verdict.letters:
        rest = _FIRST_WORD.sub("", heard.text, count=1)
        contradicts = rest != heard.text and read_finding(rest, question) is (verdict.letters != {"Y"})
        return UNREAD if contradicts else Parsed(verdict.letters == {"Y"}, verdict.how)
    marked = heard.text.rpartition("\n")[2].strip() == chr(FIRST_SLOT + len(heard.slots) - 1)
    if marked and not _READER.read(Said(heard.slots[-1], ())).claimed:
        found = read_finding(heard.slots[-1], question)
    else:
        found = None if verdict.claimed or heard.slots else read_finding(heard.text, question)
    if found is None and not (verdict.claimed or heard.slots):
        found = _exists(heard.text.translate(APOSTROPHE), question)
    return UNREAD if found is None else Parsed(found, "marked" if marked else "reply")
