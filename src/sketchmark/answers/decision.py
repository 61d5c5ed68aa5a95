"""The last stage of the strict parser: from the roles of all mentions to the answer, or to none.

It never guesses. Statements are read in order. The last claim decides if it is as strong as what was claimed before,
or corrects it. Two claims of equal strength leave the reply undecided. A reply without any claim is parsed as a
whole: it may be only its answer, "B because the wall is thin", or name only one option that nothing speaks against.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from sketchmark.answers.candidates import Words, tokens
from sketchmark.answers.clauses import EITHER, Group, Line
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
from sketchmark.answers.vocabulary import (
    ANSWER,
    CHOOSE,
    CONCLUDING,
    FILLER,
    FITS,
    PRONOUN,
    RIGHT,
    SETS,
    VERB,
    WRONG,
    in_our_words,
    is_negator,
    word_set,
)

DISMISSING = SETS["dismissing"]
_AFTER_LABEL = word_set(". , : ; - – — ) ! not because since as due for given based ( 。 …")
_ADDS = re.compile(r"\b(?:also|as well|too)\b", re.IGNORECASE)
_LATTER = re.compile(
    r"(?<!\w)(?P<former>[A-Z\ue000-\uf8ff])(?: and|,| or) (?P<latter>[A-Z\ue000-\uf8ff])(?!\w)"
    r"(?P<gap>[^.;!?\n]{1,80}?)\bthe (?P<which>former|latter)\b"
)
"""Two options of which the same sentence says "the former" or "the latter"."""
_SEQUENCE = re.compile(
    r"(?<!\w)([A-Z\ue000-\uf8ff])\s?,?\s(?:and )?(?:then|followed by) ((?:an? |the )?\s?[A-Z\ue000-\uf8ff](?!\w))"
)
"""Options in an order: `B, then C`."""
_AGREES = word_set("fits matches correct right holds")
_OFFERS = re.compile(r"\b(?:options|choices|possibilities)\b[^:]{0,40}:\s?\Z", re.IGNORECASE)
_YES = re.compile(r"\s?(?:yes|yeah|yep|correct|right|true)\b", re.IGNORECASE)
_FEW = 6
"""Words of a statement that may be a correction in words that we do not know: `Perdón, quise decir B`."""
_IF = re.compile(r"\bif\b", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"otherwise|if not\b|else\b|if (?:you|we|they|i) (?:don't|do not|aren't|exclude|ignore)", re.IGNORECASE
)
_CLOSED = tuple(".!。)\"'")
"""Ends of a sentence that was not truncated."""
_FINAL = word_set("final ultimately conclusion overall altogether total")
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

    @cached_property
    def answers(self) -> bool:
        return is_answer(self.line)

    @cached_property
    def votes(self) -> bool:
        """True if it speaks of an answer: `C gets my vote`."""
        return any(token.text in ANSWER for token in self.line.tokens)


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
        entries = self.entries(text, [slot.letters or (EITHER if slot.claimed else frozenset()) for slot in slots])
        made: list[Claim] = []
        blocked, since = False, 0
        for at, entry in enumerate(entries):
            torn = at > 0 and (entry.statement.torn or (not self.opening and entry.statement.denies_all))
            if entry.statement.takes_back and self._withdraws(entry):
                made, blocked, since = [], True, at + 1
                continue
            if entry.statement.takes_back or torn:
                blocked = blocked or torn or bool(made)
                made, since = [], at
            if torn:
                continue
            claims = list(self._claims(entry))
            if made and not any(claims) and self._revises(entry, made[-1]):
                made, blocked = [], True
            if made and self.letters and self._is_refuted(entry, made[-1]) and not any(claims):
                made, blocked = [], True
            if self.letters and any(claims):
                denied = (group.letters for group in entry.line.groups if entry.line.denied(group))
                if refuted := frozenset[str]().union(*denied):
                    made = [claim for claim in made if not claim.letters <= refuted]
            for claim in claims:
                if claim is None or not claim.letters:
                    blocked = True
                elif not entry.listed or self.several or claim.how == "called":
                    more = made[-1].letters if made and _ADDS.search(entry.statement.text) else frozenset()
                    made.append(replace(claim, letters=claim.letters | more))
        if made:
            found = self._decided(made, entries)
        elif (left := self._left(entries[since:])) is not None:
            found = left
        else:
            found = UNDECIDED if blocked else self._whole(entries[since:])
        return UNDECIDED if self._is_contested(found, entries[since:]) else found

    def _is_contested(self, found: Commitment, entries: Sequence[Entry]) -> bool:
        """Return whether a reply that commits to an option also speaks for another one, or against this one."""
        letters = found.letters
        if not letters or self.several:
            return False
        if self.opening and found.how == "reply":
            heard = [one for entry in self._since_correction(entries) for one in self._heard(entry)]
            if len(set(heard)) > 1 and heard[-2:] != [letters, letters]:
                return True
        last = max((at for at, one in enumerate(entries) if self._names(one, letters)), default=0)
        if any(one.statement.equals and one.line.groups for one in entries[last:]):
            groups = [(one.line, group) for one in entries for group in one.line.groups]
            denied = frozenset[str]().union(*(group.letters for line, group in groups if line.denied(group)))
            if frozenset[str]().union(*(group.letters for _, group in groups)) - letters - denied:
                return True
        return any(self._contests(entry, letters) for entry in entries)

    def _since_correction(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return the statements from the last one on that corrects what was said before, but not by `but` only."""
        corrected = [at for at, one in enumerate(entries) if one.statement.corrects and not one.statement.turned]
        return entries[corrected[-1] if corrected else 0 :]

    def _heard(self, entry: Entry) -> Iterator[frozenset[str]]:
        """Yield yes and no as far as they are the model's own words."""
        yield from (group.letters for group in entry.line.groups if self._is_live(entry, group))

    def _names(self, entry: Entry, letters: frozenset[str]) -> bool:
        return any(group.letters == letters for group in entry.line.groups)

    def _contests(self, entry: Entry, letters: frozenset[str]) -> bool:
        """Return whether one statement names the option and denies it, or names it as one of two after either."""
        groups = [group for group in entry.line.groups if group.letters]
        named = [group for group in groups if group.letters == letters]
        if len(groups) < 2 or not named:
            return False
        denied = [group for group in groups if entry.line.denied(group)]
        if named[-1] in denied and not all(group in denied for group in named) and not self.opening:
            return True
        others = any(group.letters != letters and group not in denied for group in groups)
        before = (token.text for token in entry.line.tokens[: groups[0].start])
        return others and "either" in before and any(token.text == "or" for token in entry.line.tokens)

    def _withdraws(self, entry: Entry) -> bool:
        """Return whether a statement takes back the option that it names: `B, just kidding`."""
        start = entry.statement.taken_back_from
        if not start or not entry.line.groups or (self.opening and entry.line.groups[0].letters == {"N"}):
            return False  # "No, that is not correct"
        rest = Line(tokens(entry.statement.text[start:], self.letters, self.words, [frozenset()] * 99))
        return not any(group.letters for group in rest.groups)

    def _claims(self, entry: Entry) -> Iterator[Claim | None]:
        if entry.agreed and entry.line.groups:
            yield Claim(entry.line.groups[0].letters, "called", True)
            return
        corrects = entry.statement.corrects and not (self.opening and entry.statement.turned)
        corrects = corrects or any(token.text in _FINAL for token in entry.line.tokens)
        first = next((at for at, token in enumerate(entry.line.tokens) if token.text in CONCLUDING), -1)
        headed = entry.line.is_headed or entry.statement.heading or entry.after_cue
        claims = list(
            claims_of(
                entry.line, entry.statement, after_cue=entry.after_cue, alone=not self.letters, phrases=self.phrases
            )
        )
        if self.opening and entry.line.groups and entry.statement.own:
            claims = claims or self._opened(entry)
        turned = entry.shape == "label" and entry.statement.corrects and self.letters and not self.opening
        if turned and not claims and self._is_live(entry, entry.line.groups[0]):
            claims = [Claim(entry.letters, "bare")]  # "or rather D, since …"
        for claim in claims:
            final = corrects or (claim is not None and 0 <= first < claim.place)
            yield Claim(claim.letters, claim.how, final, headed, entry.statement.apart) if claim else None

    def _revises(self, entry: Entry, claim: Claim) -> bool:
        """Return whether a statement without a claim still names another option as a correction: `Oh no, B!`"""
        line = entry.line
        denies = any(line.answers_no(place) for place in range(len(line.tokens)))
        others = (group for group in line.groups if not group.letters <= claim.letters and not line.denied(group))
        unknown = (
            len(line.tokens) <= _FEW and entry.statement.own and not (entry.shape == "label" or _says_more(line))
        )
        return (denies or unknown) and any(others)

    def _is_refuted(self, entry: Entry, claim: Claim) -> bool:
        """Return whether a later statement denies the claimed option: `In conclusion, B is wrong`."""
        return any(entry.line.denied(group) for group in entry.line.groups if group.letters == claim.letters)

    def _opened(self, entry: Entry) -> list[Claim | None]:
        """A statement that begins with yes or no claims it, whatever follows. A correction may also end with it."""
        first, last = entry.line.groups[0], entry.line.groups[-1]
        if first.start == 0 and first.form == "words":
            claimed, letters = first, first.letters.union(*(one.letters for one in entry.line.groups))
        elif entry.statement.corrects and entry.line.at_edge(last):
            claimed, letters = last, last.letters
        else:
            return []
        unsure = entry.line.denied(claimed) or entry.line.hedged_at(claimed)
        return [] if unsure else [Claim(letters, "bare")]

    def entries(self, text: str, slots: Sequence[frozenset[str]] = ()) -> list[Entry]:
        text = in_our_words(self.words.marked(text))
        text = _SEQUENCE.sub(r"\1 and \2", _LATTER.sub(_pointed, text))
        entries = []
        for statement in statements(text, self.words.marks):
            entry = Entry(statement, Line(tokens(statement.text, self.letters, self.words, slots)))
            entry.shape, entry.letters = _shape(entry.line)
            entries.append(entry)
        for one, other in pairwise(entries):
            alike = one.shape and one.shape == other.shape and one.letters != other.letters
            if alike and not other.statement.apart:
                one.listed = other.listed = not other.statement.corrects
            one.agreed = one.statement.asked and _agrees(other)
            if _OTHERWISE.match(other.statement.text) and _IF.search(
                one.statement.text
            ):  # "If we count both, 11; otherwise 7"
                one.statement = replace(one.statement, aside=True)
        for one, other in pairwise(entries):
            other.listed = other.listed or _OFFERS.search(one.statement.text) is not None
            other.after_cue = _opens(one)
        return entries

    def _decided(self, made: Sequence[Claim], entries: Sequence[Entry]) -> Commitment:
        last = made[-1]
        strength = _STRENGTH[last.how]
        end = entries[-1].line
        truncated = bool(self.letters) and ((not end.groups and end.breaks_off) or is_cut(entries))
        refused = any(entry.statement.refused for entry in entries)
        if strength < _STRENGTH["announced"] and not self.opening and (refused or truncated):
            return UNDECIDED
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
        if not entries or (self.letters and not self.opening and is_cut(entries)):
            return NOTHING
        first = entries[0]
        labels = {entry.letters for entry in entries if entry.shape in ("label", "bare", "own", "words")}
        if first.shape and not first.listed and first.statement.own:
            group = first.line.groups[0]
            if not (named_otherwise(first.line, group) or first.line.denied(group)):
                others = labels_after(first.line, group)
                others |= also(first.line, group)[0] if group.form == "words" else frozenset()
                if first.line.text(group.end) == "(":
                    listed = (one.letters for one in first.line.groups if first.line.text(one.end) == "(")
                    others = others.union(*listed)
                return self._checked(group.letters.union(others, *labels), "reply")
        return self._mentioned(entries)

    def _mentioned(self, entries: Sequence[Entry]) -> Commitment:
        """Return the option that the reply ends with, or the only one that is left; it needs no announcement.

        Mentions that are denied, hedged, supposed, quoted, second choices or asides do not count.
        """
        live = [(entry, group) for entry in entries for group in entry.line.groups if self._is_live(entry, group)]
        denied = frozenset[str]().union(
            *(group.letters for entry in entries for group in entry.line.groups if entry.line.denied(group))
        )
        if not live or entries[-1].line.breaks_off:
            return NOTHING
        last = live[-1][0]
        letters = frozenset[str]().union(*(group.letters for entry, group in live if entry is last))
        rivals = frozenset[str]().union(*(group.letters for _, group in live)) - letters - denied
        torn = any(
            len(group.letters) > 1 and entry.line.hedged_at(group) for entry in entries for group in entry.line.groups
        )
        others = [entry for entry, group in live if not group.letters <= letters]
        sure = any(self._is_sure(entry, group) for entry, group in live if group.letters <= letters)
        after = entries[entries.index(last) :]
        open_ended = any(entry.statement.refused for entry in after) or any(
            entry.statement.planned for entry in after[1:]
        )
        if letters & denied or torn or open_ended or not sure:
            return NOTHING
        if rivals and not (self._concludes(last, others, entries) and _is_verdict(last)):
            return NOTHING
        return self._checked(letters, "reply")

    def _is_live(self, entry: Entry, group: Group) -> bool:
        """Return whether nothing speaks against a mention."""
        hedged = entry.line.hedged_at(group)
        supposed = entry.line.text(group.end) == "would" and entry.line.verdict(group.end) is None
        if entry.line.denied(group) or hedged or supposed or not entry.statement.own:
            return False
        return not (self.phrases and entry.answers and named_otherwise(entry.line, group))

    def _is_sure(self, entry: Entry, group: Group) -> bool:
        """Return whether a mention in a finding surely names its option: no article, grade or part of a name."""
        if not entry.statement.stated:
            return False
        if self.opening:
            return entry.line.at_edge(group)
        line = entry.line
        closed = entry.statement.text[-1:] in _CLOSED
        voted = group.start == 0 and group.form == "letter" and entry.votes
        return group.form == "words" or (closed and (voted or line.is_label(group)))

    def _concludes(self, last: Entry, others: Sequence[Entry], entries: Sequence[Entry]) -> bool:
        """Return whether the last statement is the conclusion: not one more item like the others."""
        before = _before(last)
        begins = last.line.text(0) in CONCLUDING - {"finally"}
        alike = (
            not (last.statement.corrects or begins) and before and any(_before(other) == before for other in others)
        )
        return last is entries[-1] and not (alike or self.opening)

    def _left(self, entries: Sequence[Entry]) -> Commitment | None:
        """Return the option that is left if all others are denied, and nothing is said against it."""
        if len(self.letters) < 3 or self.several or any(entry.statement.refused for entry in entries):
            return None
        denied, kept = set[str](), set[str]()
        for entry in entries:
            only = _only_denies(entry.line)
            for group in entry.line.groups:
                whole = len(group.letters) == len(self.letters) - 1 and entry.line.denied(group)
                called = entry.line.verdict(group.end, group.start) is False
                against = whole or called or only or _is_dismissed(entry, group)
                rejected = entry.statement.own and against
                (denied if rejected else kept).update(group.letters)
        left = set(self.letters) - denied
        return self._checked(frozenset(left), "concluded") if len(left) == 1 and kept <= left else None


def is_cut(entries: Sequence[Entry]) -> bool:
    """Return whether a truncated reply ends inside a sentence, though the ones before it or a plan were finished."""
    entries = [entry for entry in entries if not entry.statement.aside]
    last = entries[-1] if entries else None
    texts = [token.text for token in last.line.tokens] if last else []
    if last is None or len(entries) < 2 or len(texts) < 2 or texts[0] not in _BEGINS or texts[-1] in _STOPS:
        return False
    planned = any(entry.statement.planned for entry in entries[:-1])
    return planned or (entries[-2].statement.text.endswith(".") and not last.line.groups)


_STOPS = frozenset(".!?…。)]\"'”»）")
_BEGINS = word_set("the a an this that these it there in on at i we they he she its then")


_VERDICT = ANSWER.union(CONCLUDING, CHOOSE, FITS, RIGHT, _FINAL) - word_set("it one right left stands holds stays")


def _is_verdict(entry: Entry) -> bool:
    """Return whether a statement has a word of choosing or of fitting."""
    return any(token.text in _VERDICT for token in entry.line.tokens)


def _before(entry: Entry) -> str:
    """Return the word before the last option of a statement."""
    before = map(entry.line.text, range(entry.line.groups[-1].start - 1, -1, -1))
    return next((text for text in before if text.isalpha() and text not in FILLER), "")


def _is_dismissed(entry: Entry, group: Group) -> bool:
    """Return whether the rest of an item in a list speaks against its option: `B – missing the hat`."""
    if entry.shape != "label" or group is not entry.line.groups[0]:
        return False
    rest = (entry.line.text(place) for place in range(group.end, len(entry.line.tokens)))
    return any(word in WRONG or word in DISMISSING or is_negator(word) for word in rest)


def _only_denies(line: Line) -> bool:
    """Return whether a statement only denies options: `Not B, not A and not C.`"""
    rest = {token.text for token in line.tokens if not token.letters}
    return "not" in rest and rest <= _ONLY_NOT


_ONLY_NOT = word_set("not nor neither , and . option ; !")


def _says_more(line: Line) -> bool:
    """Return whether a short statement has words that we know besides an option: it is understood."""
    return any(token.text in VERB | PRONOUN for token in line.tokens)


def _pointed(pair: re.Match[str]) -> str:
    return f"{pair['gap']}option {pair[pair['which']]}"


def _agrees(entry: Entry) -> bool:
    """Return whether a statement affirms the question before it: `Is it C? Everything about it fits.`"""
    said = {token.text for token in entry.line.tokens}
    fits = not (said.isdisjoint(_AGREES) or entry.line.groups or any(map(is_negator, said)))
    return _YES.match(entry.statement.text) is not None or fits


def _shape(line: Line) -> tuple[str, frozenset[str]]:
    """Classify a statement that is an option (`bare` letter, `own` letter and words, `words`) or has its `label`."""
    if not line.groups or line.role(line.groups[0].start) != "start" or line.groups[0].form == "slot":
        return "", frozenset()
    group = line.groups[0]
    forms = {token.form for token in line.tokens[group.start : group.end] if token.letters}
    rest = [t for t in line.tokens[group.end :] if t.text not in ".!*)\"'。"]
    if not rest:
        return ("words" if "letter" not in forms else "own" if len(forms) > 1 else "bare"), group.letters
    after = line.tokens[group.end].text
    return ("label", group.letters) if after in _AFTER_LABEL else ("", frozenset())


def _opens(entry: Entry) -> bool:
    """Return whether the answer is on the next line, after a heading or a line such as `Answer:`."""
    texts = [token.text for token in entry.line.tokens]
    if entry.line.groups or not ANSWER & set(texts):
        return False
    bare = all(text in ANSWER | FILLER | {":", "#", "*", "-"} for text in texts)
    return texts[-1] == ":" or bare
