"""The strict parser of open answers, and the scorers that users' task files can name.

A reply that only mentions a phrase among others does not answer with it. A scorer reads `answer` (for a choice, also
`options`) from the sample's target and gives the score `right`. An unparsed reply is wrong, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from sketchmark.answers import UNREAD, Parsed, plain, roles, vocabulary
from sketchmark.answers.candidates import tokens
from sketchmark.answers.choices import lettered, read_choice
from sketchmark.answers.clauses import Group, Line
from sketchmark.answers.cleanup import FIRST_SLOT, said
from sketchmark.answers.equality import UNLIKE, Phrases, about, chosen
from sketchmark.answers.numbers import read_number
from sketchmark.answers.roles import CLAUSE, Statement, announced, goes_on, is_bare, statements
from sketchmark.answers.text_metrics import bleu, rouge, token_overlap, words
from sketchmark.answers.vocabulary import SETS, in_our_words, spelt_numbers, word_set, written_out
from sketchmark.answers.vocabulary import number as parse_number
from sketchmark.answers.yes_no import read_yes_no
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput

_ANNOUNCED = re.compile(
    r"(?:\banswer\b[\"')\]]{0,3}\s{0,3}(?:\b(?:is|was|would be|should be|must be|will be)\b|[:=→]|->|[-–—]\s)"
    r"|答案\s{0,3}(?:是|为|[:=]))[\s:\"'=]{0,8}",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\s{0,9}(?:#{1,6}\s{1,9})?(?:the\s)?(?:final\s{1,9})?(?:answer\s{0,9}(?:is\b|[:=])|答案\s{0,9}(?:是|为|:))",
    re.IGNORECASE,
)


def read_answer(response: Any) -> Parsed[str]:
    """Parse the answer in an open reply: what it marks or announces last, or all of it.

    An announcement in mid-text counts only on the last line: a sentence that goes on is the answer itself.
    """
    heard = said(response)
    text = "".join(heard.slots[ord(sign) - FIRST_SLOT] if ord(sign) >= FIRST_SLOT else sign for sign in heard.text)
    last = heard.text.rfind("\n") + 1
    label = last if _LABEL.match(heard.text, last) else 0 if _LABEL.match(heard.text) else -1
    slot = heard.text.rfind(chr(FIRST_SLOT + len(heard.slots) - 1)) if heard.slots else -1
    answer, how = text, "reply"
    if slot >= max(label, 0):
        answer, how = heard.slots[-1], "marked"
        label = 0 if _LABEL.match(answer) else -1
        if label == 0 and plain(tail := _tail(answer)):
            answer, how = tail, "announced"
    elif label >= 0 and plain(tail := _tail(text)):
        answer, how = tail, "announced"
    return Parsed(answer, how) if plain(answer) else UNREAD


def _tail(text: str) -> str:
    places = list(_ANNOUNCED.finditer(text))
    return text[places[-1].end() :].strip() if places else ""


def same_answer(gold: str, answer: str) -> bool:
    """Compare two answers without case, spacing and outer punctuation: `Lung cancer` is `lung cancer.`"""
    return plain(gold) == plain(answer)


def closed_is_right(gold: str, response: Any) -> Parsed[bool]:
    """Score a word or phrase as an answer; the value is None for a reply without an answer."""
    read = read_answer(response)
    return UNREAD if read.value is None else Parsed(same_answer(gold, read.value), read.how)


def open_scores(gold: str, response: Any) -> dict[str, float]:
    """Compute exact match, BLEU-1..4, ROUGE-1/2/L, precision, recall and F1, under their correct names.

    All are 0 for a reply without words. Words are compared without case and punctuation, Chinese by character.
    """
    answer = read_answer(response).value or ""
    wanted, given = words(gold), words(answer)
    overlap = token_overlap(wanted, given)
    bleus = bleu(wanted, given)
    scores = {"em": float(bool(answer) and same_answer(gold, answer))}
    scores |= {f"bleu{n}": value for n, value in enumerate(bleus, start=1)}
    scores |= _rouge_scores(wanted, given)
    return scores | {"precision": overlap.precision, "recall": overlap.recall, "f1": overlap.f1}


def _rouge_scores(wanted: Sequence[str], given: Sequence[str]) -> dict[str, float]:
    """Compute ROUGE. The library splits at full stops, so the dot of a measurement becomes a comma."""
    texts = [" ".join(tokens).replace(".", ",") for tokens in (wanted, given)]
    if not all(texts):
        return {"rouge1": 0.0, "rouge2": 0.0, "rougel": 0.0}
    found = rouge(*texts)
    return {"rouge1": found.rouge1, "rouge2": found.rouge2, "rougel": found.rougel}


_BETWEEN = word_set(", ; / or and & | + versus")
_OTHER_PLACE, _DIRECTION, _ORDINAL = SETS["other_place"], SETS["direction"], SETS["ordinal"]
_CHANGING, _DOUBTING, _NOUN, _ELSE = SETS["changing"], SETS["doubting"], SETS["noun"], SETS["different"]
_COMPARING = SETS["comparing"]
_KIND = SETS["kind"]
_ADJECTIVE = re.compile(r"\w{2,}(?:al|ic|ous|ful|ive|ish|less|able|ible|ern|ular|ny|my|den|ed)\Z")
_COLOURS, _COMPOUND, _IS, _PREPOSITIONS = SETS["colours"], SETS["compound"], SETS["is"], SETS["preposition"]
_ARTICLE = word_set("a an the")
_NEARLY, _WORD = word_set("almost nearly hardly barely"), word_set("word term words")
_FOLLOWED = word_set("-> => → plus followed")
_TURNS = word_set("turns turned becomes became changes changed")
_CONTRASTS = [word_set(pair) for pair in ("left right", "top bottom", "upper lower", "first second", "front back")]
_CONTRASTS += [word_set("one another"), word_set("above side")]
_NAMES_A_THING = _IS | _ARTICLE
_ROMANCE = word_set("un une una uno um uma le la el il lo los las les l'")
"""Articles of languages whose adjectives follow the noun."""
_LIGHT = vocabulary.FILLER.union(vocabulary.CHOOSE, vocabulary.PRONOUN, vocabulary.CONCLUDING, ["i", "we"])
_LIGHT |= word_set("yes no well ok okay sure")


class _Entry:
    """One statement and its use of the phrase: given, denied, doubted, or another thing."""

    def __init__(self, statement: Statement, line: Line, reader: _Reader) -> None:
        self.statement, self.line, self.capital = statement, line, reader.words.capital
        self.asked, self.contrasts = reader.asked, reader.contrasts
        self.texts = [token.text for token in line.tokens]
        self.slots = [group for group in line.groups if group.form == "slot"]
        self.groups = [group for group in line.groups if group.form != "slot"]
        self.announced = announced(line)
        self._listed: dict[int, bool] = {}
        self.two_subjects = roles.has_two_subjects(self.texts)
        copulas = ((at if text in _IS else -1) for at, text in enumerate(self.texts))
        self.copula = [-1, *accumulate(copulas, max)]
        self.said = frozenset(self.texts)
        self.named = {place for group in self.groups for place in range(group.start, group.end)}

    @property
    def leaves_open(self) -> bool:
        """True if it announces an answer that only the next statement gives."""
        if self.announced is None:
            named = [text for text in self.texts if text[:1].isalnum()]
            fits = set(named) <= vocabulary.ANSWER | vocabulary.FILLER
            return bool(named) and fits and named[-1] in vocabulary.ANSWER
        rest = [text for text in self.texts[self.announced :] if text[:1].isalnum()]
        return not rest or (vocabulary.is_negator(rest[0]) and not self.groups and "," not in self.texts)

    def verdict(self) -> bool | None:
        """Return whether the statement answers with the phrase; None if it only mentions or doubts it."""
        begin = self.announced or 0
        found = {self._role(group, begin) for group in self.groups if group.start >= begin}
        if "given" in found:
            return None if found & {"doubted", "another"} or self._lists(begin) else True
        return None if "doubted" in found else False

    def _role(self, group: Group, begin: int) -> str:
        if self.line.denied(group):
            return "denied"
        before = self.texts[group.start - 1] if group.start else ""
        after = self.line.text(group.end)
        led = next((text for text in reversed(self.texts[: group.start]) if text not in _ARTICLE), "")
        tail = self.texts[group.end : group.end + 5]
        if led in _NEARLY or _TURNS.intersection(tail) or (led in _WORD and led not in self.asked):
            return "doubted"
        if {*tail[:1]} & _FOLLOWED or (tail[:1] in ([","], ["and"]) and "then" in tail[1:3]):
            return "doubted"
        if (tail[:1] in (["is"], ["are"]) and tail[1:2] in (["a"], ["an"])) or tail[:2] == ["-", "shaped"]:
            return "doubted"
        if led == "like" and {"something", "more", "sort", "kind"}.intersection(self.texts[: group.start]):
            return "doubted"
        if any(one <= self.said for one in self.contrasts):
            return "doubted"
        either = {before, after} & {"or", "versus", "/"} or after in ("would", "could", "might", "may", "from")
        joined = after in ("and", "&") and not self._lists(begin)
        first = "while" in self.texts[group.end :] and self.asked.intersection(self.texts[: group.start])
        if joined or (self.two_subjects and not first):
            return "doubted"
        gone = after in _IS | {"looks", "appears"} and self.line.text(group.end + 1) in SETS["unaffected"]
        part = self.texts[begin : begin + 2] in (["only", "its"], ["only", "the"]) or gone
        leaves = led == "from" and "to" in self.texts[group.end : group.end + 2]
        compared = "than" in self.texts[group.end : group.end + 5]
        answered = after in _IS and self.line.text(group.end + 1) in self.asked  # "Which is larger?"
        if (compared and not answered) or part or leaves or led in ("for", "about"):
            return "doubted"
        if _ELSE.intersection(self.texts[group.end : group.end + 3]):
            return "doubted"
        if self.line.hedged_at(group) or either or before in _DOUBTING or before == "toy":
            return "doubted"
        if self._is_another(before, group):
            return "another"
        if self._follows_another(group, begin) or self._modifies(group):
            return "doubted"
        return "given"

    def _is_another(self, before: str, group: Group) -> bool:
        """Return whether the word before makes it another thing: North Korea, bottom left, second floor."""
        phrase = self.texts[group.start]
        return (
            before in _CHANGING
            or f"{before} {phrase}" in _COMPOUND
            or before in _ORDINAL
            or (before in _OTHER_PLACE and self.capital)
            or (before in _DIRECTION and phrase in _DIRECTION)
        )

    def _modifies(self, group: Group) -> bool:
        """Return whether a noun follows of which the phrase is only a part: `heart failure`, but not `blue shirt`."""
        phrase, following = self.texts[group.start], self.line.text(group.end + 1)
        if group.start and self.texts[group.start - 1] in _ROMANCE and len(self.line.text(group.end)) > 2:
            return False
        verb = following in ("it", "the", "a", "an", "this", "that", "him", "her", "them")
        counted = phrase.isdigit() or any(spelt_numbers(phrase)) or phrase.endswith("ing")
        if not goes_on(self.line, group) or verb or counted or self.line.text(group.end) in _NOUN:
            return False
        if self.announced is not None:
            return True
        return not (phrase.split()[-1] in _COLOURS or _ADJECTIVE.match(phrase))

    def _follows_another(self, group: Group, begin: int) -> bool:
        """Return whether another thing is named first: `a scooter on top of a bicycle`."""
        words = self.texts[max(begin, group.start - 8) : group.start]
        if "like" in words[-2:] and not {"that", "bit", "little", "somewhat"}.isdisjoint(words[1:]):
            return True
        if _COMPARING.intersection(words[-4:]) or any(word in ("which", "who") for word in words):
            return True
        copula = self.copula[group.start] if self.copula[group.start] >= begin else None
        if copula is None and self.announced is None:
            bare = [word for word in words if word not in _ARTICLE]
            return self.capital and bare[1:] == ["of"] and bare[0] not in _KIND
        named = self.texts[(copula + 1 if copula is not None else begin) : group.start]
        if "," in named and any(word.isalpha() and word not in _LIGHT for word in named[: named.index(",")]):
            return True
        place = next((at for at, word in enumerate(named) if word in _PREPOSITIONS), None)
        noun = named[place - 1] if place else ""
        if self.asked.intersection(named[: place + 1 if place is not None else 0]):
            return False
        if place and "and" in named[:place]:
            return True
        return bool(place) and named[0] in ("a", "an", "the") and noun not in _KIND

    def _lists(self, begin: int) -> bool:
        """Return whether the phrase is one of several things; computed once per statement."""
        if begin not in self._listed:
            self._listed[begin] = self._lists_others(begin)
        return self._listed[begin]

    def _lists_others(self, begin: int) -> bool:
        item: list[str] = []
        items, joint = [item], ""
        for place, token in enumerate(self.line.tokens[begin:], begin):
            if token.text in _BETWEEN:
                item, joint = [], token.text
                items.append(item)
            elif token.letters or token.text[:1].isalpha():
                item.append("" if place in self.named else token.text)
        for item in items:
            while item and item[-1] in ("one", "ones"):
                item.pop()
        others = [[word for word in item if word not in ("a", "an", "the")] for item in items if "" not in item]
        others = [item for item in others if item and len(item) <= 4 and not CLAUSE.intersection(item)]
        others = [item for item in others if item[0] not in _PREPOSITIONS | {"after", "before", "during"}]
        for one, other in pairwise(items):
            if ("" in one) != ("" in other):
                rest, phrase = (other, one) if "" in one else (one, other)
                edge = phrase[-1] == "" if phrase is one else phrase[0] == ""
                apposed = rest[:1] in (["a"], ["an"], ["the"]) and joint not in ("and", "or") and len(others) < 2
                bare = [word for word in rest if word not in ("a", "an", "the")]
                clause = len(bare) > 1 and (bare[0].endswith(("ing", "ed")) or bare[0] in ("i", "i'm", "we"))
                if edge and bare in others and not apposed and not clause and not _LIGHT.issuperset(bare):
                    return True
        return False

    @property
    def denies(self) -> bool:
        return any(map(vocabulary.is_negator, self.texts)) or "❌" in self.texts

    def is_like(self, other: _Entry) -> bool:
        """Return whether two statements name things in the same way: `I see a guitar. I see a drum.`"""
        one, two = ([text for text in entry.texts if text not in _ARTICLE] for entry in (self, other))
        if one[:1] == two[:1] and one[:1] in (["it's"], ["that's"]) and len(one) == len(two) and not self.denies:
            return True
        return self.texts[:2] == other.texts[:2] and len(one) == len(two)

    @property
    def places(self) -> bool:
        """True if the phrase is the thing that is somewhere, not the answer: `The guitar is on the left`."""
        end = self.groups[0].end if self.groups and self.groups[0].start <= 1 else 0
        return end > 0 and self.line.text(end) in ("is", "are") and self.line.text(end + 1) in _PREPOSITIONS

    @property
    def is_pointing(self) -> bool:
        """True for `this is …`, but not for `it is commonly used`."""
        if any(text.endswith(("ly", "ed")) or text in ("made", "found", "known", "seen") for text in self.texts[1:3]):
            return False
        return self.texts[:1] in (["it's"], ["that's"]) or (
            self.texts[:1] in (["it"], ["this"], ["that"]) and self.texts[1:2] == ["is"]
        )


class _Reader:
    def __init__(self, phrases: Sequence[str], exact: bool, question: str = "") -> None:
        self.words = Phrases(phrases, exact=exact)
        asked = frozenset(written_out(question))
        self.asked = asked - vocabulary.FILLER - _GRAMMAR
        self.contrasts = [pair for pair in _CONTRASTS if not pair & asked]

    def read(self, text: str, slots: Sequence[bool | None]) -> Parsed[bool]:
        marked = in_our_words(self.words.marked(about(UNLIKE.sub("", text), self.asked)))
        nothing = [frozenset[str]()] * len(slots)
        entries = [
            _Entry(statement, Line(tokens(statement.text, "", self.words, nothing)), self)
            for statement in statements(marked, self.words.marks)
        ]
        if not plain(text):
            return UNREAD
        given: Parsed[bool] | None = None
        taken_back = due = False
        for entry in entries:
            if entry.statement.takes_back or (entry is not entries[0] and entry.statement.torn):
                given, taken_back = None, True
            if not entry.statement.own:
                continue
            if entry.slots:
                given = Parsed(self._marked(entry, slots), "marked")
            elif due or entry.announced is not None:
                due = entry.leaves_open
                given = given if due else Parsed(entry.verdict(), "announced")
                due = due or (entry.verdict() is False and entry.denies)
            else:
                due = entry.leaves_open
        found = given or Parsed(self._whole(entries, taken_back), "reply")
        return UNREAD if found.value is None else found

    def _marked(self, entry: _Entry, slots: Sequence[bool | None]) -> bool | None:
        """Return whether all marked answers of the statement are the phrase, and are not denied."""
        places = [ord(sign) - FIRST_SLOT for sign in entry.statement.text if ord(sign) >= FIRST_SLOT]
        read = {slots[place] for place in places}
        return read.pop() if len(read) == 1 else None

    def _whole(self, entries: Sequence[_Entry], taken_back: bool) -> bool | None:
        """Return whether a reply without an announcement gives the phrase; False if it gives something else."""
        if any(entry.statement.refused for entry in entries) or entries[-1].line.breaks_off:
            return None
        backs = (at for at, one in enumerate(entries) if one.statement.takes_back or (at and one.statement.torn))
        since = max(backs, default=0)
        meant = [entry for entry in entries[since:] if entry.groups]
        if not meant:
            return None if taken_back and not any(is_bare(entry.line) for entry in entries[since:]) else False
        verdicts = [entry.verdict() if entry.statement.own else None for entry in meant]
        if True not in verdicts:
            return None if None in verdicts or not verdicts else False
        if None in verdicts and len(verdicts) > 1 and not all(entry.statement.own for entry in meant):
            verdicts.remove(None)
        concluded = vocabulary.CONCLUDING.intersection(meant[-1].texts[: meant[-1].groups[0].start])
        if concluded and verdicts[-1] and meant[-1] is entries[-1]:
            return True
        sure = next(entry for entry, verdict in zip(meant, verdicts, strict=False) if verdict)
        rest = [entry for entry in entries[since:] if entry.statement.own and not entry.denies]
        others = [entry for entry in rest if not entry.groups or not entry.verdict()]
        turned = any(entry.statement.corrects and entries.index(entry) > entries.index(sure) for entry in others)
        described = roles.describes(sure.texts)
        alike = any(
            (described and roles.describes(one.texts)) or (sure.places and _NAMES_A_THING.intersection(one.texts))
            for one in others
        )
        alike = alike or any(entry.is_like(sure) or (entry.is_pointing and not sure.is_pointing) for entry in others)
        listed = any(is_bare(entry.line) and (is_bare(sure.line) or self._leads(entry, rest)) for entry in others)
        return None if turned or alike or listed or None in verdicts else True

    def _leads(self, entry: _Entry, rest: Sequence[_Entry]) -> bool:
        """Return whether a reply begins with a bare answer of one or two words."""
        named = [text for text in entry.texts if text[:1].isalpha()]
        return entry is rest[0] and len(named) <= 2 and not _LIGHT.issuperset(named) and "!" not in entry.texts


_GRAMMAR = vocabulary.COPULA.union(vocabulary.VERB, vocabulary.PRONOUN, _PREPOSITIONS, _ARTICLE) | word_set(
    "what which who where when why how colour color doing or and , ; : ?"
)


def answers_with(phrases: Sequence[str], response: Any, *, exact: bool = False, question: str = "") -> Parsed[bool]:
    """Return True if one of the phrases is the answer, False if another is, None if that is unclear.

    With the question, clauses about other things do not count: `The coat is black, and the bag is white.`
    `exact` switches off what docs/scorings.md calls the same phrase: only case and spacing do not matter.
    """
    reader, heard = _Reader(phrases, exact, question), said(response)
    slots = [reader.read(content, ()).value for content in heard.slots]
    read = reader.read(heard.text if slots else chosen(heard.text, question), slots)
    return UNREAD if read.value is False and reader.words.scattered(response) else read


_ROUNDING = 1e-9
"""Relative error of binary fractions: 0.3 equals 0.1 + 0.2, and 10.5 is within 0.5 of 10."""


def choice(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score a choice. Target: `options` in order or by letter, and the letter as `answer`."""
    options, letter = _target(sample, "options"), str(_target(sample, "answer"))
    if letter not in lettered(options):
        raise BadInput(f"the answer of sample {sample.id} is {letter!r}, not a letter of its options")
    return _scores(read_choice(episode.answer, options, _question(sample)), letter)


def yes_no(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score yes or no. Target: `answer`, a boolean or a word. "There is no …" needs the field `question`."""
    answer = _target(sample, "answer")
    expected = answer if isinstance(answer, bool) else read_yes_no(str(answer)).value
    if expected is None:
        raise BadInput(f"the answer of sample {sample.id} is {answer!r}, neither yes nor no")
    return _scores(read_yes_no(episode.answer, _question(sample)), expected)


def number(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score a number. Target: `answer`, a number or its text, and optionally `tolerance`."""
    answer = _target(sample, "answer")
    expected = parse_number(str(answer))
    if expected is None:
        raise BadInput(f"the answer of sample {sample.id} is {answer!r}, not a number")
    read = read_number(episode.answer, _question(sample))
    tolerance = float(sample.target.get("tolerance", 0))
    near = read.value is not None and abs(read.value - expected) <= tolerance + _ROUNDING * abs(expected)
    return _scores(read, expected, near)


def phrase(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score a word or a phrase. Target: `answer`, a text or a list of accepted texts, and optionally `exact`."""
    answer = _target(sample, "answer")
    accepted = [str(one) for one in answer] if isinstance(answer, list) else [str(answer)]
    exact = bool(sample.target.get("exact"))
    return _scores(answers_with(accepted, episode.answer, exact=exact, question=_question(sample)), True)


def _scores(read: Parsed[Any], expected: object, right: bool | None = None) -> Scores:
    """Build the scores. `right` is given where equality is not enough."""
    notes = {"answer": read.value, "expected": expected, "read": read.how}
    right = read.value == expected if right is None else right
    return Scores({"right": float(right)}, notes, unparsed=read.value is None)


def _question(sample: Sample) -> str:
    return str(sample.fields.get("question", ""))


def _target(sample: Sample, name: str) -> Any:
    if name not in sample.target:
        raise BadInput(f"sample {sample.id} has no {name!r} in its target", f"it has: {', '.join(sample.target)}")
    return sample.target[name]
