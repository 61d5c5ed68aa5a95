"""Statements of a reply, and the role of each option in them.

A statement is the model's own, or a question, supposition or hearsay. "Wait, that is wrong" takes back what was said
before. A claim in a statement is marked (a box, a tag), announced ("the answer is B", "I choose B"), concluded
("so B"), stated ("it is B"), called right ("B is correct"), or bare: the statement is only an option. Mentions that
are denied, hedged, supposed, asked or quoted are not claims. Neither is a mention that the words next to it make
another phrase: `North Korea` is not `Korea`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from sketchmark.answers import vocabulary as words
from sketchmark.answers.candidates import Token
from sketchmark.answers.clauses import Group, Line, is_mark
from sketchmark.answers.vocabulary import SETS, TABLES, word_set

_BULLET = re.compile(r"\s*(?:[-•*+>|#]+\s+)*(?:\d{1,2}[.)]\s+(?=\S))?")
_HEADER = re.compile(r"[ \t]*#{1,6}[ \t]")
_NO = r"no\b(?=\s?(?:[,.!…:;—–]|-\s|\Z|(?-i:[B-Z]\b)))"
_WITHDRAWING = "sorry|i mean|i meant|make that|strike that|correction|oops|rather|actually|on second thought"
_END = re.compile(
    r"(?<=[.!?;…])[\"')\]]{0,3}\s+|(?<=[。！？；])|,?\s+(?:but|however|yet)\b,?"
    r"|(?=\b(?:no,? )?(?:wait|hold on|scratch that)\b)"
    rf"|(?:\.\.\.?|…|[,;](?=\s)|\s[—–-])\s{{0,3}}(?:(?:oh|uh|um|hmm|ah|or|well|sorry),? )?(?={_NO})"
    rf"|(?:\.\.\.|…|[,;—–-])\s{{0,3}}(?=(?:or )?(?:{_WITHDRAWING})\b)"
    r"|\s?(?:→|->)\s?(?=corrected\b)|\s(?=(?-i:Actually|Wait|Sorry|Oops|Correction)\b)"
    r"|,\s(?=(?:and |but )?(?:now|finally|in the end|eventually)\s(?!that\b))"
    r"|,\s(?=[^,.;]{1,30} (?:after|on) (?:a |another )?(?:closer|second|careful|more careful|proper) )"
    r"|\s?\((?=(?:edit|correction|actually|no|sorry|rather)\b)"
    r"|,\s(?=(?:with|and) [^,.;]{1,40}\b(?:alternative|runner-up|backup|second)\b)",
    re.I,
)
_CONCESSION = re.compile(r"(?:while|although|though|even though|despite|much as)\b[^,]{0,300},\s", re.I)
_CONCEDES = re.compile(r"(?:while|although|though|even though)\b", re.I)
_WEIGHED = re.compile(
    r"\A(?:so,? )?(?:(?:after|when|having|by) (?:\w+ )?(?:weigh|compar|consider|contrast)(?:ing|ed)\b"
    r"(?! (?:everything|all))[^,.;]{1,120}"
    r"|(?:between|among|out of|of(?= (?:options? )?\(?[A-Z\ue000-\uf8ff]\)?,))\s[^.;]{1,120}? and"
    r" [^,.;]{1,40}),\s(?=\S)",
    re.I,
)
"""Options that are only weighed before the verdict: `After weighing A against B, …`."""
_LABEL_END = re.compile(
    r"(?:\A|\s)[\"'(\[]{0,2}[A-Za-z]\.\Z|(?:\A|\s)\d{1,2}\.\Z|\b(?:dr|mr|mrs|ms|st|no|approx|ca|cf)\.\Z", re.I
)
_ASIDE = re.compile(
    r"\((?!(?:edit|correction|actually|no|sorry|rather)\b)(?=[^()\s]{1,40}\s[^()\s]{1,40}\s"
    r"|(?:possibly|maybe|perhaps|not|previously|formerly|was|runner-up|second|alternatively|backup)[\s:])"
    r"[^()\n]{3,300}\)",
    re.I,
)


_ITEM = re.compile(r"\s?(?:option |choice |answer )?\(?[A-Za-z\ue000-\uf8ff]\)?\s?", re.I)
_LABELS = re.compile(r"(?<!\w)[A-Z\ue000-\uf8ff](?!\w)")
"""`Option B – no, …` on a line without another option is an item of a list, not a correction."""


def _mode(name: str) -> re.Pattern[str]:
    return re.compile("|".join(TABLES["modes"][name]).replace("{no}", _NO), re.IGNORECASE)


_SUPPOSED, _SEEN, _TOLD, _OTHER = map(_mode, ("supposed", "looking", "hearsay", "second_choice"))
_ELSEWHERE, _RIVAL = map(_mode, ("elsewhere", "rival"))
_ASKED_FOR, _TAKEN_BACK, _PLANNED, _REFUSED = map(_mode, ("instruction", "taken_back", "plan", "refusal"))
_LEAD_BACK = re.compile(
    r"\A(?:or (?=rather))?(?:(?:oh|uh|um|hmm|ah|well|ok|okay|but|sorry|oops|hold on|wait|actually|rather|scratch that"
    r"|strike that|on second thoughts?|on reflection|correction|edit|i meant?|make that"
    r"|(?:i(?:'ve| have)? )?changed my mind"
    rf"|my mistake|my bad|(?:or )?{_NO}|nope|nah|no(?= wait| actually))[\s,.:;!…—–-]{{0,6}})+",
    re.I,
)


_SURVEY = re.compile(
    r"\b(?:percent|%|respondents|participants|adults|voters)(?:\s[^.;]{0,60}?)?\s"
    r"(?:said|say|think|believe|thought)\b",
    re.I,
)
_TURN = re.compile(r"but|however|yet", re.I)
_SAYS_NO = re.compile(r"\s?(?:nope|no)\b", re.I)
_FALLBACK = re.compile(r"if (?:not|that)|otherwise|failing|alternatively|second choice|runner-up", re.I)
_OH_NO = re.compile(rf"\s?(?!no\W*\Z)(?:(?:oh|ah|uh|um|hmm|well),? )?{_NO}", re.I)
_CORRECTS = re.compile(
    r"\s?(?:actually|rather|instead|in fact|but|edit|final|sorry|oops|or rather"
    r"|(?:hmm,? |but |well,? )?(?:looking|checking|thinking|counting|reading|having looked|examining)"
    r"(?: \w+){0,3} (?:again|closer|closely|twice)"
    r"|scratch that|correction|strike that|make that"
    r"|(?:up)?on (?:a )?(?:closer|second|further|careful|more careful|deeper|reflection|review|re-?\w+)"
    r"|after (?:a |an? )?(?:closer|second|re-?\w+ing|double[- ]?check\w*))\b",
    re.I,
)
_QUOTED = re.compile(r"(?P<lead>[^.!?\n\"“”«»„「」]{0,160})[\"“«„「](?P<said>[^\"“”«»„「」\n]{4,600})[\"”»“」]")


_TORN = re.compile(
    r"\b(?:it (?:all )?depends(?! on\b)|back and forth|can(?:no|')t decide|undecided|torn between|not commit"
    r"|not sure which"
    r"|hard to (?:say|tell|choose)|(?:not|n't) (?:yet )?(?:settled|agreed)"
    r"|\Aso (?:does|is|do|are)\b|toss-?up|coin flip|could go either way"
    r"|(?:just|equally) as (?:well|likely|plausible|possible)|equally (?:well|likely|plausible|possible|good)"
    r"|(?:actually|but|hmm|then again|now),? i(?:'m| am) (?:really |honestly )?"
    r"(?:not (?:so |really |quite |at all )?(?:sure|certain)|unsure)"
    r"|(?:actually|but|hmm|then again|now),? i (?:do not|don't|no longer) know)\b",
    re.IGNORECASE,
)


_UNSURE = re.compile(
    r"(?:i am|i'm|i'm actually) (?:\w+ )?(?:not (?:\w+ )?(?:sure|certain|convinced)|unsure|uncertain)\b", re.I
)
_ASKS_ITSELF = re.compile(
    r"(?=\W*\w)(?:(?:hmm+|or|really|wait|but|well|oh)[\s,.…]{0,4})*(?:(?:is|are|does|do|was|isn't|aren't|doesn't)"
    r" (?:it|there|that|this|they)(?: really| not)?)?\s?\?\W*",
    re.I,
)
_DENIAL = re.compile(
    r"\W*(?:(?:but|though|although|and|or) )?(?:(?:it|that|this|they) )?"
    r"(?:(?:is|are|was|were|does|did|can)(?:n't| not)|cannot(?: be)?)"
    r"(?: (?:it|so|true|right|correct|the case))?\W*",
    re.I,
)


_TAG = re.compile(r",\s(?:is|has|does|was|are|do|must|can|could|would)n't (?:it|they|that|this|he|she)\?\W*\Z", re.I)
"""A question that asks for nothing: `It has to be B, hasn't it?`"""


@dataclass(frozen=True)
class Statement:
    """One statement. `apart`: an empty line is before it; `heading`: a Markdown heading; `aside`: in brackets.

    `takes_back`: earlier claims are withdrawn. `corrects`: a claim in it replaces earlier ones. `turned`: it does so
    only because it begins with but.
    """

    text: str
    apart: bool = False
    heading: bool = False
    aside: bool = False
    takes_back: bool = False
    corrects: bool = False
    turned: bool = False

    @property
    def asked(self) -> bool:
        return self.text.rstrip("\"') ").endswith(("?", "?)")) and _TAG.search(self.text) is None

    @cached_property
    def own(self) -> bool:
        """True if this is the model's own view: not a question, supposition, hearsay or second choice."""
        if (
            self.aside
            or self.asked
            or self.text[:3].casefold() == "or "
            or _SUPPOSED.search(_SEEN.sub(" ", self.text))
        ):
            return False
        text = _SURVEY.sub(" ", self.text)
        return not any(mode.search(text) for mode in (_TOLD, _ELSEWHERE, _ASKED_FOR, _OTHER))

    @property
    def planned(self) -> bool:
        """True if it announces a step rather than a finding."""
        return _PLANNED.search(self.text) is not None

    @property
    def refused(self) -> bool:
        """True if it gives no answer. A concession does not count: `While I cannot be certain, …`."""
        return _REFUSED.search(self.text) is not None and _CONCEDES.match(self.text) is None

    @property
    def torn(self) -> bool:
        """True if it leaves open what was said before."""
        doubts = self.corrects and (_UNSURE.match(self.text) is not None or _REFUSED.search(self.text) is not None)
        return doubts or _TORN.search(self.text) is not None or _ASKS_ITSELF.fullmatch(self.text) is not None

    @property
    def equals(self) -> bool:
        """True if it puts an answer on a par with another: `D fits just as well`."""
        return _RIVAL.search(self.text) is not None

    @property
    def taken_back_from(self) -> int:
        """Return where the last phrase begins that withdraws a claim; 0 if there is none."""
        return max((found.start() for found in _TAKEN_BACK.finditer(self.text)), default=0)

    @property
    def denies_all(self) -> bool:
        """True if it only denies what was said before: `It isn't.`"""
        return _DENIAL.fullmatch(self.text) is not None

    @cached_property
    def stated(self) -> bool:
        """True if it is a finding of the model itself."""
        return self.own and not self.planned and not self.refused


def statements(text: str, keep: str = "") -> Iterator[Statement]:
    """Yield the statements of a text, line by line. None ends after a label (`B.`) or before a sign in `keep`."""
    apart = asked = False
    for line in _QUOTED.sub(_without_hearsay, text).splitlines():
        if not line.strip():
            apart = True
            continue
        heading = _HEADER.match(line) is not None
        line = _BULLET.sub("", line, count=1)
        outside = _ASIDE.sub(" ", line)
        asides = _ASIDE.findall(line) if outside.strip(" .!") else []
        line = outside if asides else line
        for index, (piece, turned) in enumerate(_pieces(line, keep)):
            back = _TAKEN_BACK.search(piece) is not None and not (asked and _SAYS_NO.match(piece))
            revised = back or _CORRECTS.match(piece) is not None
            corrects = revised or turned
            text = _LEAD_BACK.sub("", piece) if corrects or back or asked else piece
            first = apart and index == 0
            only_turned = turned and not revised
            yield Statement(text, first, heading, takes_back=back, corrects=corrects, turned=only_turned)
            asked = piece.rstrip("\"') ").endswith("?")
        yield from (Statement(aside[1:-1], aside=True) for aside in asides)
        apart = False


def _without_hearsay(quoted: re.Match[str]) -> str:
    """Drop the words of others, which may be several sentences: `A student would write: "…"`."""
    return f"{quoted['lead']}…" if _TOLD.search(quoted["lead"]) else quoted[0]


def _pieces(line: str, keep: str) -> Iterator[tuple[str, bool]]:
    """Yield sentences, and whether each contradicts the one before: "A, but B".

    A concession at the start of a sentence is split off: "While B is tempting, the answer is C".
    """
    for piece, turned in _sentences(line, keep):
        piece = _WEIGHED.sub("", piece, count=1)
        conceded = _CONCESSION.match(piece)
        if conceded:
            yield conceded[0].strip(), turned
        rest = piece[conceded.end() if conceded else 0 :]
        for part in _scoped(rest):
            yield part, turned or conceded is not None


_FEW = 3
"""Words before a condition that belongs to them."""
_FINITE = re.compile(words.any_word(words.VERB | words.COPULA | words.CHOOSE), re.I)
_CLAUSE_END = re.compile(r"[,;:]\s(?=\S+\s\S+\s\S)|\s[—–]\s")


def _scoped(piece: str) -> Iterator[str]:
    """Split off what a supposition or hearsay covers: its clause, and the next ones up to the first that has a label.

    `If we ignored gravity, C would be right; with gravity, it is B.`
    """
    found = next((cue for mode in (_SUPPOSED, _TOLD) if (cue := mode.search(piece))), None)
    ends = [end.end() for end in _CLAUSE_END.finditer(piece)] if found else []
    if not found or not ends or found[0][:3].casefold() in ("let", "say"):
        yield piece
        return
    start = max((end for end in ends if end <= found.start()), default=0)
    leads = _SUPPOSED.match(piece, start) is not None and found.start() == start
    after = next((end for end in ends if end > found.start()), start) if leads else start
    labelled = _LABELS.search(piece, after)
    stop = next((end for end in ends if labelled and end > max(found.start(), labelled.start())), len(piece))
    stop = stop if _FINITE.search(piece, stop) else len(piece)
    if start and leads and stop == len(piece) and len(piece[:start].split()) <= _FEW:
        yield piece  # "Yes, if …"
        return
    if start:
        yield piece[:start].strip()
    yield piece[start:stop].strip()
    if stop < len(piece):
        yield piece[stop:]


def _sentences(line: str, keep: str) -> Iterator[tuple[str, bool]]:
    start, turned = 0, False
    asks = line.rstrip().endswith("?")
    for end in _END.finditer(line):
        piece = line[start : end.start()]
        if not piece.strip():
            continue
        following = line[end.end() : end.end() + 1]
        label = _LABEL_END.search(piece[-6:] if start < end.start() - 6 else piece)
        if end[0].strip() in ("-", "–", "—") and _ITEM.fullmatch(piece) and not _LABELS.search(line, end.end()):
            continue
        turns = asks or any(one.match(line, end.end()) is not None for one in (_FALLBACK, _CORRECTS, _OH_NO))
        if label and ((len(piece.strip()) <= 6 and not turns) or (following and following in keep)):
            continue
        yield piece.strip(), turned
        start, turned = end.end(), _TURN.search(end[0]) is not None
    if line[start:].strip():
        yield line[start:].strip(), turned


_ARTICLE = word_set("a an the")
_OF_A_CLAUSE = word_set("of in with i we due caused here there where who when shown seen common such")
CLAUSE = words.VERB.union(words.COPULA, words.PRONOUN, words.SUBORDINATE, words.NEGATOR, _ARTICLE, _OF_A_CLAUSE)
"""Words of a clause or an apposition. Text without them can be one more item of a list."""
_QUALIFIER = word_set("right first second third fourth last very most single possible proper best final remaining")
"""Fillers that belong to the phrase after them: `the right lung`."""
_LEADING = SETS["leading"]
LEADS_TO = words.COPULA.union(words.FILLER, words.PRONOUN, words.CONCLUDING, _LEADING) - _QUALIFIER
"""Words before a phrase that a statement concludes with: `a case of gout`, but not `he fears gout`."""
_STRUCTURE = words.AFTER_LETTER.union(
    words.POINTING, words.CHOOSE, words.OPTION, words.ANSWER, words.NEGATOR, words.HEDGE
)
"""Words that are never part of a phrase."""
_BEFORE = LEADS_TO.union(_STRUCTURE) - _QUALIFIER | SETS["before"]
_AFTER = LEADS_TO.union(words.FILLER, _STRUCTURE) | SETS["after"]
_AND = word_set("and or & + /")
_ENDS = words.BREAK | words.COPULA | words.SEPARATOR
_SENTENCE = 80
"""Words after a claim that are searched for a second answer."""


_LED, _OF_A_THING = 3, word_set("label key output total sum summary reply")
"""Words that announce an answer only at the start of a statement: `…, though the label is hidden`."""


def announced(line: Line) -> int | None:
    """Return where an announced answer begins: after `answer is`, `answer:` and the like."""
    texts = [token.text for token in line.tokens]
    for place, text in enumerate(texts):
        at = place + 1
        while text in words.ANSWER and at < len(texts) and not (place > _LED and text in _OF_A_THING):
            if texts[at] in words.COPULA | words.SEPARATOR:
                return at + 1
            if texts[at] not in words.FILLER | {")", '"', "'", ","}:
                break
            at += 1
    return None


def is_bare(line: Line) -> bool:
    """Return whether a statement is only an answer: up to four words and no clause."""
    named = [token.text for token in line.tokens if token.letters or token.text[:1].isalnum()]
    return 0 < len(named) <= 4 and not (CLAUSE - _ARTICLE | words.ANSWER).intersection(named)


def is_answer(line: Line) -> bool:
    """Return whether a statement announces an answer, or is only an answer."""
    return announced(line) is not None or is_bare(line)


def named_otherwise(line: Line, group: Group) -> bool:
    """Return whether an answer names another phrase. A possible verb is not part of it: `moving forward`."""
    before = _before(line, group)
    verb = before.endswith(("s", "ed", "ing")) and before != "less"
    return not verb and part_of_another(line, group)


def part_of_another(line: Line, group: Group) -> bool:
    """Return whether a phrase has a word before it or another item with it: `a heart and a liver`."""
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
    """Return whether the next word makes it another phrase: `heart failure`, but not `pneumonia affecting …`."""
    after = line.text(group.end)
    return _names(after, _AFTER) and not after.endswith(("ly", "ing", "ed"))


def has_two_subjects(texts: Sequence[str]) -> bool:
    """Return whether two things are described: `The house is blue, and the car is green`."""
    while_doing = any(one == "while" and other.endswith("ing") for one, other in pairwise(texts))
    if ("while" in texts and not while_doing) or "whereas" in texts:
        return True
    places = [at for at in range(len(texts) - 3) if texts[at] == "," and texts[at + 1] == "and"]
    return any(texts[at + 2] in _ARTICLE and SETS["is"].intersection(texts[at + 3 : at + 6]) for at in places)


def describes(texts: Sequence[str]) -> bool:
    """Return whether a statement is a thing and one word about it: `The shirt is orange`."""
    copula = next((at for at, text in enumerate(texts) if text in ("is", "are", "was", "were")), 0)
    rest = [text for text in texts[copula + 1 :] if text[:1].isalnum() and text not in _ARTICLE]
    return texts[:1] == ["the"] and copula > 1 and len(rest) == 1


def _one_more(tokens: Sequence[Token]) -> bool:
    """Return whether an item of one or two words follows that is not an option."""
    rest = []
    for token in tokens:
        if token.letters or token.text in _ENDS:
            break
        if token.text not in _ARTICLE:
            rest.append(token.text)
    return 1 <= len(rest) <= 2 and all(_names(word, _AFTER) for word in rest)


def _names(word: str, known: frozenset[str]) -> bool:
    return word.isalpha() and not words.is_wide(word) and word not in known and not words.is_negator(word)


@dataclass(frozen=True)
class Claim:
    """The options asserted together (several: undecided; none: another kind of answer), and how.

    `final`: it concludes, or corrects what was claimed before. `headed`: it follows `Answer:` or the like. `apart`:
    it begins a paragraph.
    """

    letters: frozenset[str]
    how: str
    final: bool = False
    headed: bool = False
    apart: bool = False
    place: int = 0


def claims_of(
    line: Line, statement: Statement, *, after_cue: bool, alone: bool, phrases: bool
) -> Iterator[Claim | None]:
    """Yield the claims of one statement; None for an announced answer that is denied or hedged.

    `after_cue`: the line before was `Answer:` or the like. `alone`: other mentions in the statement are not second
    answers. `phrases`: the words next to a mention can make it another thing.
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
        yield Claim(letters, how, place=group.start)


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
    if line.labelled(group):
        return "labelled"
    return "bare" if role == "start" and _nothing_else(line, group) else ""


def also(line: Line, group: Group) -> tuple[frozenset[str], int]:
    """Return further options that the statement names as answers, and where the last one ends."""
    found: frozenset[str] = frozenset()
    passed = group.end
    for place in range(group.end, min(len(line.tokens), group.end + _SENTENCE)):
        token = line.tokens[place]
        if (token.text in words.SUBORDINATE or token.text == ";") and not token.letters:
            break
        joined = line.text(place - 2) in _AND if place > 1 else False
        if token.letters and token.form != "weak" and (token.form != "noun" or joined):
            if line.denied(Group(place, place + 1, token.letters, token.form)):
                break
            found |= token.letters
            passed = place + 1
    return found, passed


def labels_after(line: Line, group: Group) -> frozenset[str]:
    """Return options that the statement lists after a group: `(A) thin (B) thick`."""
    found: frozenset[str] = frozenset()
    for place in range(group.end, len(line.tokens) - 1):
        token = line.tokens[place]
        label = token.form == "letter" and line.text(place + 1) in (")", "]", ".", ":")
        if label and not line.denied(Group(place, place + 1, token.letters, token.form)):
            found |= token.letters
    return found


def _nothing_else(line: Line, group: Group) -> bool:
    rest = (*line.tokens[: group.start], *line.tokens[group.end :])
    return all(
        is_mark(t.text) or t.text in words.OPTION | words.FILLER | words.COPULA or t.text in ".!,:;-#" for t in rest
    )
