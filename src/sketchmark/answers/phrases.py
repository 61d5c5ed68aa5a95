"""The strict parser of open answers, and the scorers that users' task files can name.

A reply that only mentions a phrase among others does not answer with it. A scorer reads `answer` (for a choice, also
`options`) from the sample's target and gives the score `right`. An unparsed reply is wrong, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sketchmark.answers import vocabulary
from sketchmark.answers.choices import lettered, read_choice
from sketchmark.answers.roles import CLAUSE, LEADS_TO, announced, goes_on, is_bare, is_wide, part_of_another
from sketchmark.answers.clauses import Group, Line
from sketchmark.answers.candidates import Words, tokens
from sketchmark.answers.numbers import number as parse_number
from sketchmark.answers.numbers import read_number
from sketchmark.answers.cleanup import FIRST_SLOT, said
from sketchmark.answers.reply import UNREAD, Parsed, plain
from sketchmark.answers.statements import Statement, statements
from sketchmark.answers.vocabulary import in_our_words
from sketchmark.answers.text_metrics import bleu, rouge, token_overlap, words
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


_BETWEEN = vocabulary.word_set(", ; / or and & | + versus")
_GOES_ON = vocabulary.BREAK.union(
    _BETWEEN, vocabulary.word_set("not of in with at on due caused from by here seen shown : - – — ) ] 。 ' \"")
)
"""Words after a phrase that a statement concludes with: `it is gout of the foot`, but not `gout looks alike`."""


_SUBJECTS = vocabulary.PRONOUN - {"which", "that"} | vocabulary.word_set("i we there he she they")


class _Entry:
    """One statement and its use of the phrase."""

    def __init__(self, statement: Statement, line: Line) -> None:
        self.statement, self.line = statement, line
        self.texts = [token.text for token in line.tokens]
        self.slots = [token for token in line.tokens if token.form == "slot"]
        self.groups = [
            group
            for group in line.groups
            if group.form != "slot" and not part_of_another(line, group) and not goes_on(line, group)
        ]
        self.named = {place for group in self.groups for place in range(group.start, group.end)}
        self.bare = is_bare(line)
        depth, self.asides = 0, set[int]()
        for place, text in enumerate(self.texts):
            depth = max(0, depth + (text == "(") - (text == ")"))
            if depth:
                self.asides.add(place)
        self.announced = announced(line)

    @property
    def leaves_open(self) -> bool:
        """True if it announces an answer that only the next statement gives."""
        if self.announced is None:
            named = [text for text in self.texts if text[:1].isalnum()]
            fits = set(named) <= vocabulary.ANSWER | vocabulary.FILLER
            return bool(named) and fits and named[-1] in vocabulary.ANSWER
        rest = [text for text in self.texts[self.announced :] if text[:1].isalnum()]
        return not rest or (vocabulary.is_negator(rest[0]) and not self.groups and "," not in self.texts)

    def gives(self) -> bool:
        """Return whether the statement answers with the phrase: not denied, not hedged, not in a list."""
        begin = self.announced or 0
        meant = [group for group in self.groups if group.start >= begin]
        sure = [group for group in meant if not self._doubted(group)]
        return bool(sure) and len(sure) == len(meant) and not self._lists(begin)

    def _doubted(self, group: Group) -> bool:
        """Return whether the phrase is denied, hedged, one of two, or only a comparison."""
        before, after = self.texts[group.start - 1] if group.start else "", self.line.text(group.end)
        aside = group.start in self.asides and before != "("
        return (
            self.line.denied(group)
            or self.line.hedged_at(group)
            or {before, after} & {"or", "versus", "/"} != set()
            or before in ("about", "on", "for", "like")
            or aside
        )

    def _lists(self, begin: int) -> bool:
        item: list[str] = []
        items, joint = [item], ""
        for place, token in enumerate(self.line.tokens[begin:], begin):
            if token.text in _BETWEEN or token.text.isdigit():
                item, joint = [], token.text
                items.append(item)
            elif joint in ("and", "or") and not item and token.text in ("a", "an", "the"):
                continue
            elif token.letters or token.text[:1].isalnum():
                item.append("" if place in self.named else token.text)
        others = [item for item in items if item and "" not in item]
        return any(len(item) <= 4 and not CLAUSE.intersection(item) for item in others)

    def comes_to_it(self) -> bool:
        """Return whether a statement without an announcement is the phrase, or ends with it."""
        if not (self.statement.stated and self.groups and self.gives()):
            return False
        group = self.groups[-1]
        after, beyond = self.line.text(group.end), self.line.text(group.end + 1)
        fronted = after == "," and beyond in _SUBJECTS
        before = self.texts[group.start - 1] if group.start else ""
        return after in _GOES_ON and not fronted and (before in LEADS_TO or not before.isalnum() or is_wide(before))


class _Phrases:
    def __init__(self, phrases: Sequence[str]) -> None:
        self.words = Words({str(place): phrase for place, phrase in enumerate(phrases)}, weak=False)

    def read(self, text: str, slots: Sequence[bool]) -> Parsed[bool]:
        marked = in_our_words(self.words.marked(text))
        nothing = [frozenset[str]()] * len(slots)
        entries = [
            _Entry(statement, Line(tokens(statement.text, "", self.words, nothing)))
            for statement in statements(marked, self.words.marks)
        ]
        given: Parsed[bool] = UNREAD
        taken_back = due = False
        for entry in entries:
            if entry.statement.takes_back:
                given, taken_back = UNREAD, True
            if not entry.statement.own:
                continue
            if entry.slots:
                given = Parsed(self._marked(entry, slots), "marked")
            elif due or entry.announced is not None:
                due = entry.leaves_open
                given = given if due else Parsed(entry.gives(), "announced")
            else:
                due = entry.leaves_open
        if given.value is not None or taken_back:
            return given
        return Parsed(self._whole(entries), "reply") if plain(text) else UNREAD

    def _marked(self, entry: _Entry, slots: Sequence[bool]) -> bool:
        """Return whether all marked answers of the statement are the phrase, and are not denied."""
        groups = [group for group in entry.line.groups if group.form == "slot"]
        places = [ord(sign) - FIRST_SLOT for sign in entry.statement.text if ord(sign) >= FIRST_SLOT]
        sure = not any(entry.line.denied(group) or entry.line.hedged_at(group) for group in groups)
        return sure and all(slots[place] for place in places)

    def _whole(self, entries: Sequence[_Entry]) -> bool:
        """Return whether the first or last statement gives the phrase, and no other gives another."""
        for entry in (*entries[:1], *entries[-1:]):
            if entry.comes_to_it():
                others = (one for one in entries if one is not entry and not one.groups and one.statement.own)
                return not any(other.bare and entry.bare for other in others)
        return False


def answers_with(phrases: Sequence[str], response: Any) -> Parsed[bool]:
    """Return True if one of the phrases is the answer, None for a reply that is empty or takes it back."""
    reader, heard = _Phrases(phrases), said(response)
    slots = [reader.read(content, ()).value is True for content in heard.slots]
    return reader.read(heard.text, slots)


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
    read, tolerance = read_number(episode.answer), float(sample.target.get("tolerance", 0))
    near = read.value is not None and abs(read.value - expected) <= tolerance + _ROUNDING * abs(expected)
    return _scores(read, expected, near)


def phrase(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score a word or a phrase. Target: `answer`, a text or a list of accepted texts."""
    answer = _target(sample, "answer")
    accepted = [str(one) for one in answer] if isinstance(answer, list) else [str(answer)]
    return _scores(answers_with(accepted, episode.answer), True)


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
