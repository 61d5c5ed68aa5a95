"""Whether the words beside a named phrase make it another one: `North Korea` is not `Korea`.

What a statement claims: which options it asserts as the answer, and how.

A claim is marked (a box, a tag), announced ("the answer is B", "I choose B"), concluded ("so B"), stated ("it is
B"), called right ("B is correct"), or bare: the statement is nothing but an option. What is denied, hedged, supposed,
asked or told of others is no claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sketchmark.answers import statements as vocabulary
from sketchmark.answers import statements as words
from sketchmark.answers.lines import Group, Line, is_mark
from sketchmark.answers.mentions import Token
from sketchmark.answers.statements import Statement, word_set

_ARTICLE = word_set("a an the")
CLAUSE = (
    vocabulary.VERB
    | vocabulary.COPULA
    | vocabulary.PRONOUN
    | vocabulary.SUBORDINATE
    | vocabulary.NEGATOR
    | _ARTICLE
    | word_set("of in with i we due caused here there where who when shown seen common such")
)
"""What has one of these words is a clause or an apposition, not one more item of a list."""
_QUALIFIER = word_set("right first second third fourth last very most single possible proper best final remaining")
"""Fillers that, right before a phrase, belong to it: `the right lung`."""
LEADS_TO = (
    vocabulary.COPULA
    | vocabulary.FILLER
    | vocabulary.PRONOUN
    | vocabulary.CONCLUDING
    | word_set(
        "of as called named termed with shows show depicts demonstrates indicates suggests represents illustrates see"
        " have means to ein eine einen un une una uno um uma il lo los las les den dem"
    )
) - _QUALIFIER
"""What may stand before a phrase that a statement comes to: `a case of gout`, but not `he fears gout`."""
_STRUCTURE = (
    vocabulary.AFTER_LETTER
    | vocabulary.POINTING
    | vocabulary.CHOOSE
    | vocabulary.OPTION
    | vocabulary.ANSWER
    | vocabulary.NEGATOR
    | vocabulary.HEDGE
)
"""Words that are no part of a phrase, before or after it."""
_BEFORE = (
    LEADS_TO
    | _STRUCTURE
    | word_set(
        "into towards toward about at like both all either between suggest indicate depict display i we there color"
        " colour number move go turn point"
    )
) - _QUALIFIER
_AFTER = (
    LEADS_TO
    | vocabulary.FILLER
    | _STRUCTURE
    | word_set(
        "at side colour color caused seen shown here there like compatible consistent between near visible am pm"
    )
)
_AND = word_set("and or & + /")
_ENDS = vocabulary.BREAK | vocabulary.COPULA | vocabulary.SEPARATOR


def is_wide(word: str) -> bool:
    """Of a script without gaps, whose words cannot be told apart."""
    return word[:1] > "\u2e7f"


def announced(line: Line) -> int | None:
    """Where an announced answer begins: after `answer is`, `answer:` and their like."""
    texts = [token.text for token in line.tokens]
    for place, text in enumerate(texts):
        at = place + 1
        while text in vocabulary.ANSWER and at < len(texts):
            if texts[at] in vocabulary.COPULA | vocabulary.SEPARATOR:
                return at + 1
            if texts[at] not in vocabulary.FILLER | {")", '"', "'", ","}:
                break
            at += 1
    return None


def is_bare(line: Line) -> bool:
    """Up to four words and no clause: an answer and nothing else."""
    named = [token.text for token in line.tokens if token.letters or token.text[:1].isalnum()]
    return 0 < len(named) <= 4 and not (CLAUSE - _ARTICLE | vocabulary.ANSWER).intersection(named)


def is_answer(line: Line) -> bool:
    """The statement announces an answer, or is nothing else."""
    return announced(line) is not None or is_bare(line)


def named_otherwise(line: Line, group: Group) -> bool:
    """In an answer: it is another phrase. What may be a verb is no part of it: `moving forward`."""
    before = _before(line, group)
    verb = before.endswith(("s", "ed", "ing")) and before != "less"
    return not verb and part_of_another(line, group)


def part_of_another(line: Line, group: Group) -> bool:
    """A phrase in words, not by letter, with a word before it, or one more thing beside it: `a heart and a liver`."""
    if any(token.form not in ("words", "weak", "") for token in line.tokens[group.start : group.end]):
        return False
    before = _before(line, group)
    return (
        _names(before, _BEFORE)
        or (line.text(group.end) in _AND and _one_more(line.tokens[group.end + 1 : group.end + 5]))
        or (before in _AND and _one_more(line.tokens[max(0, group.start - 5) : group.start - 1][::-1]))
    )


def _before(line: Line, group: Group) -> str:
    return line.tokens[group.start - 1].text if group.start else ""


def goes_on(line: Line, group: Group) -> bool:
    """A word after it makes it another phrase: `heart failure`. `Pneumonia affecting the lung` tells more of it."""
    after = line.text(group.end)
    return _names(after, _AFTER) and not after.endswith(("ly", "ing", "ed"))


def _one_more(tokens: Sequence[Token]) -> bool:
    """What follows, up to a break, is a thing of one or two words that is none of the options."""
    rest = []
    for token in tokens:
        if token.letters or token.text in _ENDS:
            break
        if token.text not in _ARTICLE:
            rest.append(token.text)
    return 1 <= len(rest) <= 2 and all(_names(word, _AFTER) for word in rest)


def _names(word: str, known: frozenset[str]) -> bool:
    return word.isalpha() and not is_wide(word) and word not in known and not vocabulary.is_negator(word)


_SENTENCE = 80
"""How many words after a claim are searched for a second answer."""


@dataclass(frozen=True)
class Claim:
    """The options asserted at once (more than one: undecided; none: an answer of another kind), and how."""

    letters: frozenset[str]
    how: str


def claims_of(
    line: Line, statement: Statement, *, after_cue: bool, alone: bool, phrases: bool
) -> Iterator[Claim | None]:
    """The claims of one statement; None for an answer that is announced, but denied or hedged.

    `after_cue`: the line before was `Answer:` or its like. `alone`: what else the statement names is no second
    answer. `phrases`: the words beside what it names can make it another thing.
    """
    if not statement.own:
        return
    passed = 0
    for group in line.groups:
        how = _how(line, group, after_cue)
        if not how or group.start < passed:
            continue
        if line.denied(group) or line.hedged_at(group) or (phrases and part_of_another(line, group)):
            if how in ("marked", "announced"):
                yield None
            continue
        letters = group.letters
        if how != "called" and not alone:
            others, passed = also(line, group)
            letters |= others
        yield Claim(letters, how)


def _how(line: Line, group: Group, after_cue: bool) -> str:
    if group.form == "slot":
        return "marked"
    role = line.role(group.start)
    if role in ("announced", "concluded", "stated"):
        return role
    if role == "start" and after_cue:
        return "announced"
    if line.called_right(group):
        return "called"
    return "bare" if role == "start" and _nothing_else(line, group) else ""


def also(line: Line, group: Group) -> tuple[frozenset[str], int]:
    """Other options that the same statement goes on to name as answers, too, and where the last of them ends."""
    found: frozenset[str] = frozenset()
    passed = group.end
    for place in range(group.end, min(len(line.tokens), group.end + _SENTENCE)):
        token = line.tokens[place]
        if (token.text in words.SUBORDINATE or token.text == ";") and not token.letters:
            break
        if token.text == "(" and not (place + 1 < len(line.tokens) and line.tokens[place + 1].form == "letter"):
            break
        if token.letters and token.form != "weak":
            if line.denied(Group(place, place + 1, token.letters, token.form)):
                break
            found |= token.letters
            passed = place + 1
    return found, passed


def labels_after(line: Line, group: Group) -> frozenset[str]:
    """Options that the same statement goes on to list: `(A) thin (B) thick`."""
    found: frozenset[str] = frozenset()
    for place in range(group.end, len(line.tokens) - 1):
        token = line.tokens[place]
        label = token.form == "letter" and line.text(place + 1) in (")", "]", ".", ":")
        if label and not line.denied(Group(place, place + 1, token.letters, token.form)):
            found |= token.letters
    return found


def _nothing_else(line: Line, group: Group) -> bool:
    rest = (*line.tokens[: group.start], *line.tokens[group.end :])
    return all(is_mark(t.text) or t.text in words.OPTION | words.FILLER or t.text in ".!,:;-#" for t in rest)
