"""The last stage of the strict parser: from the roles of all mentions to the answer, or to none.

It never guesses. Statements are read in order. The last claim decides if it is as strong as what was claimed before,
or corrects it. Two claims of equal strength leave the reply undecided. A reply without any claim is parsed as a
whole: it may be only its answer, "B because the wall is thin", or name only one option that nothing speaks against.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sketchmark.answers.candidates import Words, tokens
from sketchmark.answers.clauses import EITHER, Line
from sketchmark.answers.cleanup import Said
from sketchmark.answers.roles import (
    Claim,
    Statement,
    also,
    claims_of,
    is_answer,
    labels_after,
    named_otherwise,
    statements,
)
from sketchmark.answers.vocabulary import ANSWER, CONCLUDING, FILLER, in_our_words, word_set

_AFTER_LABEL = word_set(". , : ; - – — ) ! not because since as due for given based ( 。 …")
_ADDS = re.compile(r"\b(?:also|as well|too)\b", re.IGNORECASE)
_OFFERS = re.compile(r"\b(?:options|choices|possibilities)\b[^:]{0,40}:\s?\Z", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<![\w'])[A-Z](?![\w'])")
_YES = re.compile(r"\s?(?:yes|yeah|yep|correct|right|true)\b", re.IGNORECASE)
_TORN = re.compile(
    r"\b(?:back and forth|can(?:no|')t decide|undecided|torn between|not commit|not sure which"
    r"|hard to (?:say|tell|choose)"
    r"|\Aso (?:does|is|do|are)\b|toss-?up|coin flip|could go either way)\b",
    re.IGNORECASE,
)
_CLOSED = tuple(".!。)\"'")
"""Ends of a sentence that was not truncated."""
_FINAL = CONCLUDING | word_set("final ultimately conclusion overall altogether total")
_STRENGTH = {"marked": 4, "announced": 3, "concluded": 2, "called": 2, "stated": 2, "labelled": 1, "bare": 1}
_JOINT = ("called", "bare", "stated", "labelled")
"""Kinds of claims that must agree with each other; of announcements the last one may be the result of the others."""


@dataclass
class Entry:
    """One statement, its line and, if it is or begins with an option, that option and its shape."""

    statement: Statement
    line: Line
    shape: str = ""
    letters: frozenset[str] = frozenset()
    listed: bool = False
    after_cue: bool = False
    agreed: bool = False


@dataclass(frozen=True)
class Commitment:
    """The options that a reply commits to, if any. `claimed`: it gave an answer, even if none can be credited."""

    letters: frozenset[str]
    how: str
    claimed: bool = True


NOTHING = Commitment(frozenset(), "unparsed", False)
UNDECIDED = Commitment(frozenset(), "unparsed")


class Reader:
    """Parser of replies to one set of options, given as letters and a finder of their words.

    `opening`: a reply that begins with an option's words answers with it, whatever follows ("Yes it is"). Otherwise
    a reply may also just mention the words of a single option. `several`: more than one option may be the answer.
    """

    def __init__(self, letters: str, words: Words, *, opening: bool = False, several: bool = False) -> None:
        self.letters, self.words, self.opening, self.several = letters, words, opening, several
        self.phrases = bool(letters) and not opening

    def read(self, heard: Said) -> Commitment:
        if len(heard.text) == 1 and heard.text in self.letters and heard.text.casefold() not in self.words.named:
            return Commitment(frozenset(heard.text), "reply")  # a shortcut for the most common reply
        slots = [self._read(content, ()) for content in heard.slots]
        return self._read(heard.text, slots)

    def _read(self, text: str, slots: Sequence[Commitment]) -> Commitment:
        entries = self._entries(text, [slot.letters or (EITHER if slot.claimed else frozenset()) for slot in slots])
        made: list[Claim] = []
        blocked = False
        for entry in entries:
            says_no = self.opening and entry.line.groups and entry.line.groups[0].start == 0
            if (entry.statement.takes_back and not says_no) or (made and _TORN.search(entry.statement.text)):
                made, blocked = [], blocked or bool(made) or bool(entries[0].shape and entry is not entries[0])
            for claim in self._claims(entry):
                if claim is None or not claim.letters:
                    blocked = True
                elif not entry.listed or self.several or claim.how == "called":
                    more = made[-1].letters if made and _ADDS.search(entry.statement.text) else frozenset()
                    made.append(replace(claim, letters=claim.letters | more))
        if made:
            return self._decided(made, entries)
        return UNDECIDED if blocked else self._whole(entries)

    def _claims(self, entry: Entry) -> Iterator[Claim | None]:
        if entry.agreed and len(entry.line.groups) == 1:
            yield Claim(entry.line.groups[0].letters, "called", True)
            return
        final = entry.statement.corrects or any(token.text in _FINAL for token in entry.line.tokens)
        headed = entry.line.is_headed or entry.statement.heading or entry.after_cue
        claims = claims_of(
            entry.line, entry.statement, after_cue=entry.after_cue, alone=not self.letters, phrases=self.phrases
        )
        opens = self.opening and bool(entry.line.groups) and entry.line.groups[0].start == 0
        if opens and entry.line.groups[0].form == "words" and entry.statement.own:
            claims = self._opened(entry, list(claims))
        for claim in claims:
            yield Claim(claim.letters, claim.how, final, headed, entry.statement.apart) if claim else None

    def _opened(self, entry: Entry, claims: list[Claim | None]) -> Iterator[Claim | None]:
        """A statement that begins with yes or no claims it, whatever follows."""
        group = entry.line.groups[0]
        if not claims and not entry.line.denied(group) and not entry.line.hedged_at(group):
            claims = [Claim(group.letters.union(*(one.letters for one in entry.line.groups)), "bare")]
        yield from claims

    def _entries(self, text: str, slots: Sequence[frozenset[str]]) -> list[Entry]:
        text = in_our_words(self.words.marked(text))
        entries = []
        for statement in statements(text, self.words.marks):
            entry = Entry(statement, Line(tokens(statement.text, self.letters, self.words, slots)))
            entry.shape, entry.letters = _shape(entry.line, self.opening)
            entries.append(entry)
        for one, other in pairwise(entries):
            alike = one.shape and one.shape == other.shape and one.letters != other.letters
            if alike and (not other.statement.apart or max(one.letters) < min(other.letters)):
                one.listed = other.listed = not other.statement.corrects
            one.agreed = one.statement.asked and not self.opening and _YES.match(other.statement.text) is not None
        for one, other in pairwise(entries):
            other.listed = other.listed or _OFFERS.search(one.statement.text) is not None
            other.after_cue = not other.listed and _opens(one)
        return entries

    def _decided(self, made: Sequence[Claim], entries: Sequence[Entry]) -> Commitment:
        last = made[-1]
        strength = _STRENGTH[last.how]
        for claim in made[:-1] if not self.several else ():
            differs = claim.letters != last.letters and len(claim.letters) == 1
            stronger = _STRENGTH[claim.how] > strength or (claim.how == last.how == "announced")
            wins = last.final or (last.headed and not claim.headed) or (last.apart and not claim.headed)
            if differs and stronger and not wins:
                return UNDECIDED
        alike = [claim.letters for claim in made if last.how in _JOINT and claim.how == last.how and not last.final]
        how = {"called": "concluded", "stated": "concluded", "bare": "reply", "labelled": "announced"}
        return self._checked(last.letters.union(*alike), how.get(last.how, last.how))

    def _checked(self, letters: frozenset[str], how: str) -> Commitment:
        known = letters <= set(self.letters) if self.letters else not letters & EITHER
        return Commitment(letters, how) if known and (len(letters) == 1 or self.several) else UNDECIDED

    def _whole(self, entries: Sequence[Entry]) -> Commitment:
        if not entries:
            return NOTHING
        first = entries[0]
        labels = {entry.letters for entry in entries if entry.shape in ("label", "bare", "own", "words")}
        if first.shape and not first.listed and first.statement.own:
            group = first.line.groups[0]
            another = self.phrases and is_answer(first.line) and named_otherwise(first.line, group)
            if not (another or first.line.denied(group) or first.line.hedged_at(group)):
                others = labels_after(first.line, group)
                others |= also(first.line, group)[0] if group.form == "words" else frozenset()
                if first.line.text(group.end) == "(":
                    listed = (one.letters for one in first.line.groups if first.line.text(one.end) == "(")
                    others = others.union(*listed)
                return self._checked(group.letters.union(others, *labels), "reply")
        return self._mentioned(entries)

    def _mentioned(self, entries: Sequence[Entry]) -> Commitment:
        """Return the one option that is named in a finding, if nothing is said against it and no other is named."""
        named: set[str] = set()
        stated = unread = False
        for entry in entries:
            capitals = {sign for sign in _CAPITAL.findall(entry.statement.text) if sign in self.letters}
            unread = unread or bool(capitals - {"A", "I"}.union(*(group.letters for group in entry.line.groups)))
            answer = self.phrases and is_answer(entry.line)
            for group in entry.line.groups:
                if entry.line.denied(group) or entry.statement.aside:
                    continue
                another = answer and named_otherwise(entry.line, group)
                if another or not entry.statement.own or entry.line.hedged_at(group):
                    return NOTHING
                named |= group.letters
                placed = not self.opening or (
                    entry.line.at_edge(group) and not set('"“«') & set(entry.statement.text)
                )
                whole = group.form == "words" or (
                    not unread and entry.statement.text[-1:] in _CLOSED and entry.line.is_label(group)
                )
                stated = stated or (whole and placed and entry.statement.stated)
        return self._checked(frozenset(named), "reply") if stated and not entries[-1].line.breaks_off else NOTHING


def _shape(line: Line, opening: bool) -> tuple[str, frozenset[str]]:
    """Classify a statement that is an option (`bare` letter, `own` letter and words, `words`) or has its `label`."""
    if not line.groups or line.role(line.groups[0].start) != "start" or line.groups[0].form == "slot":
        return "", frozenset()
    group = line.groups[0]
    forms = {token.form for token in line.tokens[group.start : group.end] if token.letters}
    rest = [t for t in line.tokens[group.end :] if t.text not in ".!*)\"'。"]
    if not rest:
        return ("words" if "letter" not in forms else "own" if len(forms) > 1 else "bare"), group.letters
    after = line.tokens[group.end].text
    labelled = after in _AFTER_LABEL or (opening and group.form == "words")
    return ("label", group.letters) if labelled else ("", frozenset())


def _opens(entry: Entry) -> bool:
    """Return whether the answer is on the next line, after a heading or a line such as `Answer:`."""
    texts = [token.text for token in entry.line.tokens]
    if entry.line.groups or len(texts) > 14 or not ANSWER & set(texts):
        return entry.statement.heading and not entry.line.groups and bool(ANSWER & set(texts))
    bare = all(text in ANSWER | FILLER | {":", "#", "*", "-"} for text in texts)
    return texts[-1] == ":" or bare or texts[-1] in ("is", "be")
