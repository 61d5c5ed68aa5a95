"""The grammar of one statement: options named together, the cues that reach them, and their predicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category

from sketchmark.answers import vocabulary as words
from sketchmark.answers.candidates import Token
from sketchmark.answers.vocabulary import SETS, word_set

EITHER = frozenset("?!")
"""Added to the letters of a group that is undecided between options."""

_REACH = 14
"""Words to look back for a cue."""
_LEAD = 3
"""Words that may lead a statement: `Perhaps, …`."""
_FALSE = word_set("wrong false untrue incorrect mistaken mistake error lie nonsense absurd silly")
_QUOTES = frozenset("\"'“”‘’([{)]}*_。<>【】「」『』《》«»„")
_LINKS = word_set(". , : - – — / & = | →")
_JOINTS = word_set("or and / & , ; nor versus to +")
_BETWEEN = words.OPTION | words.HEDGE | word_set("of also else either the a an even both . : - – —")
_INTRODUCTION = word_set("based given looking judging from in on considering according")
_OTHERS = word_set("your his her their its")
_SUBJECTS = word_set("i we i'd i'll i'm we'd we'll let let's , ; : . ( and")
_OF_OTHERS = word_set("than nor without except no none whether")
_ARTICLE = word_set("a an the")
_BESIDE = word_set("of side next to above below under behind hand")
_YES, _NO = word_set("✓ ✔ ✅ ☑ ← ⬅ 👈 👍 💯 🎯"), word_set("✗ ✘ ❌ × ✖ 🚫 👎 ⛔ 🙅")
_VERDICT_MARKS = _YES | _NO
_IS = word_set("is was are")
_ALMOST = word_set("almost nearly")
_EXCESS = word_set("many few high low large small big much little long short early late far near")
_ADVERB = word_set("clearly definitely certainly surely obviously probably also really actually indeed simply")
_RELATIVE = word_set("which who that where the with being having as")
_NO_LABEL = words.OPTION | SETS["no_label"]
"""Words of labels that do not announce an answer."""
_UNFINISHED = SETS["unfinished"] | words.CONCLUDING
_FITTING = words.BREAK | SETS["fitting"]
_EXCEPT = word_set("except but besides excluding not than")
_ELSE = word_set("anything anyone else other possibility alternative")
_ALL = word_set("all every everything each others rest any")
_NONE = word_set("none nothing no neither nobody")


def is_mark(text: str) -> bool:
    """Return whether a token is a quote, bracket or emoji: around words, never between them."""
    return text in _QUOTES or (len(text) == 1 and category(text) == "So")


@dataclass(frozen=True)
class Group:
    """Options named together, `A, B or C`, from token `start` up to `end`."""

    start: int
    end: int
    letters: frozenset[str]
    form: str


class Line:
    """The tokens of one statement. The reach of cues is computed once, so parsing stays linear."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.marks_first = bool(tokens) and tokens[0].text in _VERDICT_MARKS
        self.cut: list[int] = []
        self.negated: list[int] = []
        self.hedged: list[int] = []
        cut = negated = hedged = -1
        hit = False
        for place, token in enumerate(tokens):
            self.cut.append(cut)
            self.negated.append(negated)
            self.hedged.append(hedged)
            hit = (hit or bool(token.letters)) and negated > cut
            if hit and token.text == "there":
                cut = place  # "instead of 11 there are 7"
            if token.form in ("", "weak"):
                called = token.text == ":" and self.text(place + 1) in words.PRONOUN
                if self._cuts(place, negated) or called:
                    cut = place
                elif self._denies(place):
                    negated = place
                elif token.text in words.HEDGE and (token.text != "can" or self._can_be(place + 1)):
                    hedged = place
        self.groups = list(self._groups())
        self.has_verb = any(token.text in words.VERB | words.COPULA for token in tokens)

    def _cuts(self, place: int, negated: int) -> bool:
        """Return whether a word ends the reach of negations and hedges, as the comma in `Perhaps, B` does not."""
        word, before = self.text(place), self.text(place - 1) if place else ""
        if word == ",":
            return self.text(place + 1) != "that" and not (before in words.HEDGE and place < _LEAD)
        if word == ":":
            return 0 <= negated < place - 1 and before not in words.ANSWER
        if word in ("→", "⇒", "->", "=>"):
            return True
        return word in words.BREAK and word not in ("(", ")")

    def _denies(self, place: int) -> bool:
        """Return whether a word denies what follows it: `not`, or `wrong` in `it is wrong to say that`."""
        if words.is_negator(self.text(place)):
            return not self.answers_no(place)
        return self.text(place) in _FALSE and self.text(place + 1) in ("to", "that", "if")

    def _can_be(self, place: int) -> bool:
        return self.text(place) == "also" or (self.text(place) == "be" and not self.text(place + 1).endswith("ed"))

    def text(self, place: int) -> str:
        """Return the word at a place; past the end, a full stop."""
        return self.tokens[place].text if place < len(self.tokens) else "."

    @property
    def is_headed(self) -> bool:
        """Return whether the statement is an answer after its heading: `Answer: B`."""
        head = next((place for place, token in enumerate(self.tokens[:6]) if token.text in words.SEPARATOR), 0)
        return any(self.text(place) in words.ANSWER for place in range(head))

    @property
    def breaks_off(self) -> bool:
        """Return whether a truncated reply ends here: with a word after which more must come."""
        if not self.tokens:
            return False
        last, before = self.tokens[-1], self.tokens[-2].text if len(self.tokens) > 1 else ""
        named = before == "the" and not last.letters and last.text in SETS["ordinal"]
        return last.text in _UNFINISHED or (named and len(self.tokens) > 4)

    def at_edge(self, group: Group) -> bool:
        """Return whether an option is the first or last word of the statement."""
        return group.start == 0 or all(
            is_mark(token.text) or token.text in ".!," for token in self.tokens[group.end :]
        )

    def is_label(self, group: Group) -> bool:
        """Return whether a letter is surely an option's: not an article, a grade or part of a name."""
        before, after = self.text(group.start - 1) if group.start else "", self.text(group.end)
        named = before in words.OPTION or after in (")", "]")
        clear = self.tokens[group.start].text not in "AIai" or self.ends(group.end)
        plain = clear and before not in ("a", "an", "") and after != "+"
        seen = before == "see" or (is_mark(before) and self.text(group.start - 2) == "see")
        begins = seen or self.text(0) in ("next", "then", "first", "now", "when")
        other = _NO_LABEL.intersection(self.text(at) for at in range(max(0, group.start - 2), group.start))
        if group.form == "noun":
            return not begins and after != "would"
        return group.form == "letter" and (named or (plain and not other)) and not begins and after != "would"

    def labelled(self, group: Group) -> bool:
        """Return whether a short label introduces the option and nothing follows it: `Verdict: B`."""
        if group.start > _REACH or len(self.tokens) > 2 * _REACH:
            return False
        before = [token.text for token in self.tokens[: group.start] if not is_mark(token.text)]
        if not 2 <= len(before) <= 6 or before[-1] not in (":", "="):
            return False
        known = words.NEGATOR | words.HEDGE | words.WRONG | _NO_LABEL | words.SEPARATOR
        if any(word in known for word in before[:-1]) or any(token.letters for token in self.tokens[: group.start]):
            return False
        rest = [token.text for token in self.tokens[group.end :] if not is_mark(token.text)]
        return not rest or (rest[0] in ".!;" and len(rest) == 1)

    def ends(self, place: int) -> bool:
        """Return whether a clause ends at a place."""
        return self.text(place) in words.BREAK | words.SEPARATOR or is_mark(self.text(place))

    def answers_no(self, place: int) -> bool:
        """Return whether "no" answers a question (`No, it is B`), so that it denies nothing after it."""
        return self.text(place) == "no" and self.text(place + 1) in words.BREAK | words.SEPARATOR

    def _groups(self) -> Iterator[Group]:
        place = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            if token.form != "slot" and (not token.letters or (token.form == "weak" and not self._due(place))):
                place += 1
                continue
            end, letters, forms = place + 1, token.letters, {token.form}
            between = place > 0 and self.text(place - 1) == "between"
            while not (between and len(letters) > 1) and (following := self._joined(end, letters)) is not None:
                open_ended = any(joint.text in ("or", "versus", "to") for joint in self.tokens[end:following])
                letters |= self.tokens[following].letters | (EITHER if open_ended else frozenset())
                forms.add(self.tokens[following].form)
                end = following + 1
            breaks_off = self.text(end) in ("or", "and", "/") and end + 1 == len(self.tokens)
            form = next((form for form in ("slot", "words") if form in forms), token.form)
            yield Group(place, end, letters | (EITHER if breaks_off else frozenset()), form)
            place = end

    def _due(self, place: int) -> bool:
        """Return whether a weak word counts: after a cue, if called right, or as a whole clause."""
        role = self.role(place)
        if role == "announced" or self.verdict(place + 1) is True:
            return True
        ends = self.ends(place + 1) or self.text(place + 1) in _JOINTS
        return ends and role in ("start", "concluded", "stated", "joined")

    def _joined(self, end: int, letters: frozenset[str]) -> int | None:
        """Return the next token that names an option together with these: `B: its words`, `B or C`."""
        joint = False
        for place in range(end, min(end + 6, len(self.tokens))):
            token = self.tokens[place]
            if token.letters or token.form == "slot":
                return place if self._same_breath(end, place, letters, joint) else None
            if token.text in _VERDICT_MARKS:
                return None
            if token.text in _JOINTS:
                joint = True
            elif not is_mark(token.text) and token.text not in _BETWEEN | _LINKS:
                return None
        return None

    def _same_breath(self, end: int, place: int, letters: frozenset[str], joint: bool) -> bool:
        token = self.tokens[place]
        same = token.letters <= letters
        linked = all(is_mark(text) or text in _LINKS for text in (self.text(at) for at in range(end, place)))
        apart = any(self.text(at) in _JOINTS - {","} for at in range(end, place))
        if token.form == "letter" and token.text.islower() and not (same and token.text == self.text(end - 1)):
            return apart
        if token.form in ("words", "weak") and not apart:
            return linked and (same or self.ends(place + 1) or self.text(place + 1) in _JOINTS)
        return joint or (same and linked) or token.form == "slot"

    def denied(self, group: Group) -> bool:
        excepted = self.excepted(group)
        if excepted is not None:
            return not excepted
        if self.tokens[0].text in _NO and not any(
            token.text in _VERDICT_MARKS for token in self.tokens[1 : group.end + 2]
        ):
            return True
        return self.negated[group.start] > self.cut[group.start] or self.verdict(group.end, group.start) is False

    def excepted(self, group: Group) -> bool | None:
        """Return whether `all except B are wrong` calls B right; None if the statement has no such form."""
        place = group.start - 1
        while place >= 0 and (is_mark(self.text(place)) or self.text(place) in words.OPTION | words.FILLER):
            place -= 1
        if place < 1 or self.text(place) not in _EXCEPT or words.is_negator(self.text(place - 1)):
            return None
        before = {self.text(at) for at in range(max(0, place - 5), place)}
        rest = [self.text(at) for at in range(group.end, min(group.end + 8, len(self.tokens)))]
        denied = any(words.is_negator(self.text(at)) for at in range(max(0, place - 10), place))
        if denied and before & (_ELSE | {"all"}):
            return True
        wrong = any(word in words.WRONG or words.is_negator(word) for word in rest)
        if before & _ALL:
            return wrong
        return not wrong if before & _NONE else None

    def hedged_at(self, group: Group) -> bool:
        follows = self.text(group.end) in words.HEDGE - {"can"}
        return follows or self.hedged[group.start] > self.cut[group.start]

    def called_right(self, group: Group) -> bool:
        """Return whether the option is called right, or is the only one with a predicate."""
        only = group.start > 0 and "only" in (self.text(group.start - 1), self.text(max(0, group.start - 2)))
        verdict = self.verdict(group.end, group.start)
        if self.excepted(group):
            return True
        after = self.text(group.end)
        does = after in words.VERB or (after.endswith("s") and after.isalpha() and len(after) > 3)
        return verdict is True or (only and verdict is None and does)

    def verdict(self, end: int, start: int | None = None) -> bool | None:
        """Return whether the option that ends here is called right (True), wrong (False) or neither (None)."""
        if self.marks_first:
            before = self._mark_before(end - 1 if start is None else start)
            if before is not None:
                return before
        while (is_mark(self.text(end)) and self.text(end) not in _VERDICT_MARKS) or self._is_noun(end):
            end += 1
        while self.text(end) in _ADVERB and self.text(end + 1) in words.VERB:
            end += 1
        head, following = self.text(end), self.text(end + 1)
        if head in _VERDICT_MARKS:
            return head in _YES and following not in words.WRONG
        if head == "," and following in _RELATIVE:
            end = next(
                (
                    place + 1
                    for place in range(end + 2, min(end + _REACH, len(self.tokens)))
                    if self.text(place) == ","
                ),
                end,
            )
            head, following = self.text(end), self.text(end + 1)
        if head == "," and following in ("is", "was") and start:
            end, head, following = end + 1, following, self.text(end + 2)
        if head in words.SEPARATOR or head == ".":
            return self._label_verdict(end + 1)
        if head in ("not", "no"):
            named = any(token.letters for token in self.tokens[end + 1 : end + 5])
            if named or following in _OF_OTHERS | _ARTICLE | words.BREAK - {"."}:
                return None
            by_letter = any(token.form == "letter" for token in self.tokens[max(0, end - 3) : end])
            return False if by_letter or following in words.RIGHT | {"possible", "it", "."} else None
        if head == "it" and (words.is_negator(following) or self.text(end + 2) == "not"):
            return False
        if head == "it" and following in ("is", "must"):
            return True if self.ends(end + 2 + (following == "must")) else None
        if head in ("the", "as") and following in words.RIGHT | {"the", "my"}:
            return True if {self.text(end + 2), self.text(end + 3)} & (words.ANSWER | words.OPTION) else None
        if head in ("correct", "right", "true", "wrong", "incorrect", "false") and self.ends(end + 1):
            return head in ("correct", "right", "true")
        if head == "best":
            return True if following.endswith("s") and following.isalpha() else None
        if head not in words.VERB:
            late = [self.text(place) for place in range(end, min(end + 3, len(self.tokens)))]
            if "not" in late and self.ends(end + late.index("not") + 1) and head not in words.BREAK:
                return False
            return False if words.is_negator(head) and head not in _OF_OTHERS else None
        return self._predicate(end)

    def _is_noun(self, place: int) -> bool:
        """Return whether a noun for options follows the label, as in other languages: `B option is correct`."""
        return self.text(place) in ("option", "choice") and self.text(place + 1) in words.VERB | words.RIGHT

    def _mark_before(self, start: int) -> bool | None:
        """Return the verdict of a mark before an option: `❌ A ✅ C`."""
        place = start - 1
        while (
            place >= 0
            and self.text(place) not in _VERDICT_MARKS
            and (is_mark(self.text(place)) or self.text(place) in words.OPTION | words.SEPARATOR | words.FILLER)
        ):
            place -= 1
        return self.text(place) in _YES if place >= 0 and self.text(place) in _VERDICT_MARKS else None

    def _label_verdict(self, place: int) -> bool | None:
        """Parse the verdict after `B:`, where only one or two words count: `B: incorrect`."""
        while is_mark(self.text(place)) and self.text(place) not in _VERDICT_MARKS:
            place += 1
        said, following = self.text(place), self.text(place + 1)
        if said in _VERDICT_MARKS:
            return said in _YES
        if said in ("this", "it", "that") and following in words.VERB:
            return self._predicate(place + 1)
        if said in words.VERB and following == "not":
            return False
        if said in words.WRONG - {"not", "out", "exclude"} and (said != "no" or self.ends(place + 1)):
            return False
        return True if said in ("correct", "true", "right", "yes") and self.ends(place + 1) else None

    def _predicate(self, verb: int) -> bool | None:
        head = self.text(verb)
        if words.is_negator(head):
            return False
        nearby = [self.text(place) for place in range(verb + 1, min(verb + 3, len(self.tokens)))]
        if head == "is" and nearby == ["what", "the"]:
            return True
        if head == "would" and nearby == ["be", "my"]:
            return True
        better = nearby[:1] == ["better"]  # than another
        if (
            head in words.FITS
            and self.text(verb + 1) in _FITTING
            and (better or not any(map(words.is_negator, nearby)))
        ):
            return True
        for place in range(verb + 1, min(verb + 8, len(self.tokens))):
            word, following = self.text(place), self.text(place + 1)
            if word in words.BREAK | {":"} or self.tokens[place].letters or word in words.HEDGE | {"would"}:
                return None
            if word == "too" and following in _EXCESS:
                return False
            almost = word in _ALMOST and following in ("right", "correct")
            if (words.is_negator(word) and word != "than") or word in words.WRONG or almost:
                return False
            if word in words.RIGHT and head in ("is", "are", "seems", "looks", "appears", "must", "should"):
                if (word == "right" and following in _BESIDE) or (
                    word in ("likely", "plausible") and self.text(place - 1) not in ("most", "more")
                ):
                    return None
                lone = word == "only" and following not in words.OPTION | words.ANSWER | words.FILLER
                return None if lone else True
        return None

    def role(self, place: int) -> str:
        """Classify a mention: announced, concluded, stated, start, joined (to another), or ""."""
        copula = separated = concluding = named = False
        at = place - 1
        while at >= 0 and place - at <= _REACH:
            token, word = self.tokens[at], self.text(at)
            if token.letters and token.form != "weak":
                return "joined"
            if word in words.CONCLUDING:
                concluding, separated = True, separated or word in words.SEPARATOR
            elif word in words.SEPARATOR:
                separated = True
            elif word in words.ANSWER and (copula or separated or word == "answer" or at == place - 1):
                return "" if self.text(at - 1) in _OTHERS and at else "announced"
            elif word in words.OPTION:
                named = word in ("one", "letter")
                if copula or separated or (self.text(at - 1) in ("correct", "right", "best") and at):
                    return "" if word.endswith("s") else "announced"
            elif word in words.CHOOSE:
                return "announced" if self._first_person(at) else ""
            elif word in words.PRONOUN and (copula or "'" in word or word == "its"):
                return "concluded" if concluding else "stated"
            elif word in words.COPULA:
                copula = True
            elif word in words.POINTING and (at or word != "points"):
                return "concluded" if self.tokens[place].form in ("letter", "loose") else ""
            elif word == ",":
                if self.text(0) in _INTRODUCTION:
                    return "start"
                if not at or self.text(at - 1) not in words.CONCLUDING | words.FILLER | words.ANSWER | words.OPTION:
                    return "concluded" if concluding else ""
            elif word not in words.FILLER and not is_mark(word):
                begins = copula and self.text(0) in words.CONCLUDING
                closes = self.tokens[place].form == "letter" and self.ends(place + 1) and self.text(place - 1) in _IS
                return "concluded" if concluding or begins else self._subject(at, named or closes) if copula else ""
            at -= 1
        return "" if at >= 0 else "concluded" if concluding else "start"

    def _subject(self, end: int, named: bool) -> str:
        """Return "announced" if the subject announces the answer: `The option that describes the scene best is …`.

        `named`: the option is called one, so any subject states it: `The exit is the one labelled B`.
        """
        for at in range(end, max(-1, end - _REACH), -1):
            if self.text(at) in words.ANSWER | {"option", "choice", "one", "statement", "candidate"}:
                return "" if at and self.text(at - 1) in words.WRONG else "announced"
            if self.tokens[at].letters or self.text(at) in words.BREAK - {"which"} or words.is_negator(self.text(at)):
                return ""
            named = named and self.text(at) not in words.WRONG | words.HEDGE | _NO_LABEL
        return "stated" if named else ""

    def _first_person(self, verb: int) -> bool:
        at = verb - 1
        skipped = words.COPULA | words.FILLER | words.CONCLUDING | words.OPTION | words.NEGATOR
        while at >= 0 and verb - at <= _REACH and (self.text(at) in skipped or self.text(at).endswith("n't")):
            at -= 1
        return at < 0 or self.text(at) in _SUBJECTS or is_mark(self.text(at))
