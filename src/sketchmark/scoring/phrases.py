"""Words as answers: whether a reply answers with a given phrase. To name it among others is not to answer with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sketchmark.scoring import vocabulary
from sketchmark.scoring.bounds import CLAUSE, LEADS_TO, announced, goes_on, is_bare, is_wide, part_of_another
from sketchmark.scoring.final_answer import FIRST_SLOT, UNREAD, Parsed, plain, said
from sketchmark.scoring.languages import in_our_words
from sketchmark.scoring.lines import Group, Line
from sketchmark.scoring.mentions import Words, tokens
from sketchmark.scoring.statements import Statement, statements

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
