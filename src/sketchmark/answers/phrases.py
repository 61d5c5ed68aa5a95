"""Strict scores of open answers: what was answered, whether it equals the gold, and how far the words overlap.

Words as answers: whether a reply answers with a given phrase. To name it among others is not to answer with it.

Ready-made scorers for anybody's task: the strict reader of final answers, named in a task file.

The sample's target holds `answer` (and, for a choice, `options`); the score is `right`. What the reader is not sure
of is unparsed: wrong, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sketchmark.answers import choices, numbers
from sketchmark.answers import statements as vocabulary
from sketchmark.answers import yes_no as yesno
from sketchmark.answers.claims import CLAUSE, LEADS_TO, announced, goes_on, is_bare, is_wide, part_of_another
from sketchmark.answers.lines import Group, Line
from sketchmark.answers.mentions import Words, tokens
from sketchmark.answers.reply import FIRST_SLOT, UNREAD, Parsed, plain, said
from sketchmark.answers.statements import Statement, in_our_words, statements
from sketchmark.answers.text_metrics import bleu, rouge, token_overlap, words
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
    """The answer in an open reply: what it marks or announces last, or all of it.

    An announcement in mid-text counts only when it is on the last line: a sentence that goes on is the answer itself.
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
    """Equality but for case, spacing and punctuation around the answer: `Lung cancer` is `lung cancer.`"""
    return plain(gold) == plain(answer)


def closed_is_right(gold: str, response: Any) -> Parsed[bool]:
    """Verdict on a word-or-phrase answer; the value is None for a reply without one."""
    read = read_answer(response)
    return UNREAD if read.value is None else Parsed(same_answer(gold, read.value), read.how)


def open_scores(gold: str, response: Any) -> dict[str, float]:
    """Exact match, BLEU-1..4, ROUGE-1/2/L, precision, recall and F1, under their right names.

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
    """The library splits sentences at full stops; the dot of a measurement is none, so it becomes a comma."""
    texts = [" ".join(tokens).replace(".", ",") for tokens in (wanted, given)]
    if not all(texts):
        return {"rouge1": 0.0, "rouge2": 0.0, "rougel": 0.0}
    found = rouge(*texts)
    return {"rouge1": found.rouge1, "rouge2": found.rouge2, "rougel": found.rougel}


_BETWEEN = vocabulary.word_set(", ; / or and & | + versus")
_GOES_ON = (
    vocabulary.BREAK
    | _BETWEEN
    | vocabulary.word_set("not of in with at on due caused from by here seen shown : - – — ) ] 。 ' \"")
)
"""What may follow a phrase that a statement comes to: `it is gout of the foot`, but not `gout looks alike`."""


class _Entry:
    """One statement, and what it does with the phrase."""

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
        """It announces an answer, but none follows, or a denial alone: the next statement has it."""
        if self.announced is None:
            named = [text for text in self.texts if text[:1].isalnum()]
            return (
                bool(named) and set(named) <= vocabulary.ANSWER | vocabulary.FILLER and named[-1] in vocabulary.ANSWER
            )
        rest = [text for text in self.texts[self.announced :] if text[:1].isalnum()]
        return not rest or (vocabulary.is_negator(rest[0]) and not self.groups and "," not in self.texts)

    def gives(self) -> bool:
        """The phrase is what the statement answers with: neither denied nor hedged, and no list of several."""
        begin = self.announced or 0
        meant = [group for group in self.groups if group.start >= begin]
        sure = [group for group in meant if not self._doubted(group)]
        return bool(sure) and len(sure) == len(meant) and not self._lists(begin)

    def _doubted(self, group: Group) -> bool:
        """Denied, hedged, one of two, or only something to compare with."""
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
        """Without an announcement: the statement is the phrase, or ends with it."""
        if not (self.statement.stated and self.groups and self.gives()):
            return False
        group = self.groups[-1]
        after, beyond = self.line.text(group.end), self.line.text(group.end + 1)
        fronted = after == "," and beyond in vocabulary.PRONOUN - {"which", "that"} | {
            "i",
            "we",
            "there",
            "he",
            "she",
            "they",
        }
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
                said_so = self._marked(entry, slots)
                given = Parsed(said_so, "marked")
            elif due or entry.announced is not None:
                due = entry.leaves_open
                given = given if due else Parsed(entry.gives(), "announced")
            else:
                due = entry.leaves_open
        if given.value is not None or taken_back:
            return given
        return Parsed(self._whole(entries), "reply") if plain(text) else UNREAD

    def _marked(self, entry: _Entry, slots: Sequence[bool]) -> bool:
        """All that the statement marks is the phrase, and the statement does not deny it."""
        groups = [group for group in entry.line.groups if group.form == "slot"]
        places = [ord(sign) - FIRST_SLOT for sign in entry.statement.text if ord(sign) >= FIRST_SLOT]
        sure = not any(entry.line.denied(group) or entry.line.hedged_at(group) for group in groups)
        return sure and all(slots[place] for place in places)

    def _whole(self, entries: Sequence[_Entry]) -> bool:
        """The first or the last statement comes to the phrase, and no other does the like with another."""
        for entry in (*entries[:1], *entries[-1:]):
            if entry.comes_to_it():
                others = [
                    other for other in entries if other is not entry and not other.groups and other.statement.own
                ]
                return not any(other.bare and entry.bare for other in others)
        return False


def answers_with(phrases: Sequence[str], response: Any) -> Parsed[bool]:
    """True if one of the phrases is the answer, None for a reply that says nothing or takes it back."""
    reader, heard = _Phrases(phrases), said(response)
    slots = [reader.read(content, ()).value is True for content in heard.slots]
    return reader.read(heard.text, slots)


_ROUNDING = 1e-9
"""Of a number: 0.3 is 0.1 + 0.2, and 10.5 within 0.5 of 10, whatever binary fractions make of them."""


def choice(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`options`: in their order, or by letter; `answer`: the letter."""
    options, letter = _target(sample, "options"), str(_target(sample, "answer"))
    if letter not in choices.lettered(options):
        raise BadInput(f"the answer of sample {sample.id} is {letter!r}, no letter of its options")
    return _scores(choices.read_choice(episode.answer, options, _question(sample)), letter)


def yes_no(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`answer`: true or false, or a word for it. The field `question` tells what "There is no …" answers."""
    answer = _target(sample, "answer")
    expected = answer if isinstance(answer, bool) else yesno.read_yes_no(str(answer)).value
    if expected is None:
        raise BadInput(f"the answer of sample {sample.id} is {answer!r}, neither yes nor no")
    return _scores(yesno.read_yes_no(episode.answer, _question(sample)), expected)


def number(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`answer`: a number, or the text of one; `tolerance`, if there is one: how far off is still right."""
    answer = _target(sample, "answer")
    expected = numbers.number(str(answer))
    if expected is None:
        raise BadInput(f"the answer of sample {sample.id} is {answer!r}, no number")
    read, tolerance = numbers.read_number(episode.answer), float(sample.target.get("tolerance", 0))
    near = read.value is not None and abs(read.value - expected) <= tolerance + _ROUNDING * abs(expected)
    return _scores(read, expected, near)


def phrase(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`answer`: a word or a phrase, or a list of ways to put it."""
    answer = _target(sample, "answer")
    accepted = [str(one) for one in answer] if isinstance(answer, list) else [str(answer)]
    return _scores(answers_with(accepted, episode.answer), True)


def _scores(read: Parsed[Any], expected: object, right: bool | None = None) -> Scores:
    """`right`, where it takes more than equality."""
    notes = {"answer": read.value, "expected": expected, "read": read.how}
    right = read.value == expected if right is None else right
    return Scores({"right": float(right)}, notes, unparsed=read.value is None)


def _question(sample: Sample) -> str:
    return str(sample.fields.get("question", ""))


def _target(sample: Sample, name: str) -> Any:
    if name not in sample.target:
        raise BadInput(f"sample {sample.id} has no {name!r} in its target", f"it has: {', '.join(sample.target)}")
    return sample.target[name]
