"""The strict parser of numeric replies. Every number in a reply is a candidate, named by its value.

Digits, number words, fractions and magnitudes count alike. Parts of a calculation do not count: only its result can
be the answer. Neither do references (`Figure 3`), shares (`10 out of 20`) and bounds (`10 or more`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import Any

from sketchmark.answers import UNREAD, Parsed
from sketchmark.answers import vocabulary as words
from sketchmark.answers.candidates import FIRST_WORDS, Token, Words
from sketchmark.answers.clauses import Group, Line
from sketchmark.answers.cleanup import said
from sketchmark.answers.decision import NOTHING, UNDECIDED, Commitment, Entry, Reader, is_cut
from sketchmark.answers.roles import Claim, is_bare
from sketchmark.answers.vocabulary import (
    ASKS_YEAR,
    DATED,
    NUMBER,
    SCALES,
    SETS,
    TABLES,
    decimal_comma,
    spelt_numbers,
    value_of,
    without_context,
)

_OPERATOR = re.compile(
    r"[ ]?(?:[kcm]?m|km/h|m/s|h|s|kg|g|cm|mm|[kcm]?m2|hours?|units?|%)\s{0,2}(?:[+*×÷]|\\times|[-−–]\s\d)"
    r"|(?:[a-zA-Z](?=\s{0,2}[=+^<>-])|°|\sdegrees(?=\s{0,2}[=+−-]))?\s{0,3}(?:[=+*×÷^/<>]|[-−–]\s?[\d$(]|x\s?\d|\\times|\\cdot|\\div"
    r"|plus\s|minus\s|times\s\d"
    r"|(?:divided|multiplied)\sby\s)"
)
_OPERATED = re.compile(
    r"(?:[+*×÷^/]|(?<![-=])[<>]|\\times|\\cdot|\\div|(?:[\d)°]|\d\sdegrees)\s?[-−–]|\d\s?x|\d\splus|\d\sminus|\d\stimes"
    r"|\d\s(?:divided|multiplied)\sby)\s{0,3}\Z"
)
_SHARE = re.compile(r"(?<=\d)[ ](?:out[ ])?of[ ](?:the[ ]|a[ ]total[ ]of[ ])?(?=\d)", re.IGNORECASE)
_BOUNDS = {name: words.any_word(words.word_set(TABLES["bounds"][name])) for name in ("before", "after")}
_SHIFTED_BEFORE = re.compile(
    rf"(?<!adds )(?<!add )(?:{_BOUNDS['before']})\s?\Z|[≥≤√±]\s?\Z|(?<![-=\w])[<>]\s?\Z", re.I
)
_SHIFTED_AFTER = re.compile(
    rf"\s?(?:[只个個匹台人마리개명]{{1,2}}\s?)?(?:{_BOUNDS['after']})|[ ](?:times|up[ ]to)[ ]\d|[ ]?[√±]|\+(?!\s?\d)"
    r"|[ ]times[ ](?:as|more|the|larger|bigger|higher)\b"
    r"|(?:[ ]\w+)?,?[ ](?:and|plus)[ ](?:maybe[ ]|perhaps[ ]|possibly[ ])?"
    r"(?:a|an|one|another|some|several)[ ](?:few[ ])?(?:more|others?|(?:half|partly)[ -]\w+[ ]one)\b",
    re.I,
)
_NAMED = re.compile(
    r"(?:\b(?:figures?|fig\.?|images?|pictures?|photos?|steps?|pages?|tables?|questions?|options?|sections?|chapters?|items?"
    r"|out of(?: (?:the|all|a total of))?|parts?|equations?|eq\.?|examples?|case|no\.|exercise|problem|error"
    r"|code|version|room"
    r"|(?:half|quarter) past|gate|line|row|column|panel|confidence|certainty|score|rank|team|player|type|grade"
    r"|level|#)"
    r"[ ]?#?[ ]?|[A-Za-z]-|[A-Za-z]\(|(?:\A|\.\s)of (?:the |all )|\b(?:confidence|certainty)\b[^.\n]{0,20})\Z"
    r"|\b(?:a|an|the)[ ](?-i:[A-Z][a-z]+)[ ]\Z",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:compared (?:to|with)|(?:up|down) from|as opposed to|unlike)\s(?:the\s|about\s)?\Z", re.IGNORECASE
)
_PART = re.compile(
    r"[ ](?:of[ ](?:them(?!\W*\Z)|which|these|those|whom)"
    r"|davon|d'entre|de (?:ellos|ellas|eles|elas)|di (?:loro|essi))\b",
    re.I,
)
_PART_BEFORE = re.compile(
    r"(?:\b(?:davon|dont|of which|of whom|including|de l[oa]s cuales|di cui|d[oa]s quais|waarvan|bunlardan)\s"
    r"|из них\s|其中|うち)"
    r"(?:sind |are |is |son |sont )?\Z",
    re.I,
)
_LABEL_BEFORE = re.compile(
    r"(?:\b(?:labell?ed|marked|numbered|reads?|(?:label|sign|sticker|caption) says|bearing"
    r"|with the number|numeral|digit"
    r"|(?:sign|banner|board|screen|display|clock|plate|poster|jersey|shirt) (?:shows|says|displays))"
    r"|(?<!total)(?<!the)(?<!a)\snumber)\s(?:the |a |as |with )?\Z",
    re.I,
)
_NO_COUNT_AFTER = re.compile(
    r"(?:st|nd|rd|th)\b|[ ](?:(?:mega)?pixels?|px|dpi|[ap]\.?m\b|o'clock"
    r"|(?:is |was )?(?:painted|written|printed))\b|[ ]more than\b",
    re.I,
)
"""Numbers that name, order or measure a thing do not answer "how many": `boat number 7`, `the 7th`, `640 pixels`."""
_UNIT = r"(?:[kcm]?m|kg|g|lbs?|mi(?:les?)?|ft|feet|inch(?:es)?|yards?|°[CF]|degrees|m?l|h|min(?:utes)?|hours?)"
_EITHER = re.compile(
    r"(?P<one>\d[个個只艘隻척개명匹台人本枚]{0,2})(?:\s?(?:[~〜～到至]|から|에서)\s?|\s(?:up|down)\sto\s)(?=\d)"
    rf"|(?P<measure>\d ?{_UNIT}),?\s(?:i\.e\.|that is|or about|or roughly|equivalent to),?\s(?=\d)",
    re.I,
)
"""Two numbers of which the reply gives no single one: a range, or a measure in two units."""
_BELOW_ZERO = re.compile(
    r"(?<![\d.,-])(\d[\d.,]{0,9})"
    r"(?=[ ]?(?:°[ ]?[CF]?|degrees?)?(?: (?:celsius|fahrenheit))? below (?:zero|freezing))",
    re.I,
)
_SURE = re.compile(r"[ ]?%?[ ](?:sure|confident|certain|confidence|probability|chance)\b", re.IGNORECASE)
_NOTHING = re.compile(
    r"(?:\b(there (?:are|is)|i (?:can )?(?:see|count|find)|(?:picture|image|photo) (?:shows|contains|has)) no\b"
    r"(?= [a-z]+s\b)"
    r"|\A\W{0,4}none(?=\W{0,4}\Z))(?! (?:doubts|ways|questions|images|reasons|details|signs))",
    re.I,
)
_NONE = re.compile(
    r"\A\W{0,4}(?:there (?:are|is|were) none(?: at all)?|there (?:aren't|are not|isn't|weren't) any(?: \w{2,20})?"
    r"|(?:i|we) (?:don't|do not) see (?:any|a single) \w{2,20}(?: (?:in|on|at) [^.,;\n]{1,40})?"
    r"|none of (?:them|these|those|the \w{2,20})(?: (?:is|are|was|were|do|does|did|has|have))?(?: \w{2,20})?"
    r"|nobody (?:is|was) (?!sure|certain)\w{2,20}(?: [^.,;\n]{1,60})?"
    r"|not (?:a single|even) one|not a single \w{2,20}(?: (?:is|are|can be) [^.,;\n]{1,40})?|none at all"
    r"|no \w{2,20}s (?:are|is|were|can be) (?:visible|seen|present|shown|there|found|in the \w{2,20})(?: here)?"
    r"|no (?!idea|way|doubt|answer|clue|sign|one|problem)\w{2,20}s)\W{0,4}\Z",
    re.I,
)
_SINGLE = re.compile(
    r"((?:\A|[.!?]\s)\W{0,4}(?:just |only |exactly |it is )?)an? single (?=\w)"
    r"|((?:there is (?:just |only )?|\A\W{0,4}(?:just |only )))an? single ",
    re.I,
)
_PARTS = {words.key(part): size for size, parts in TABLES["fractions"].items() for part in parts.split()}
_FRACTION = re.compile(rf"(?<![\d.,/])(\d{{1,3}}) ({words.any_word(_PARTS)})", re.I)
_DEGREES = re.compile(r"\^\{?\\circ\}?|\^°")
_SQUARED = re.compile(r"(?<=[\d ])(?P<unit>[kcmd]?m|in|ft|yd|s)\^\{?-?[123]\}?")
_PRODUCT = re.compile(r"(?-i:\A[A-Z][a-z]+) \Z")
"""Part of a name if a verb in the singular follows: `Windows 11 is installed`."""
_SINGULAR = re.compile(r" (?:is|was|has|runs) ")
_ONE_OF = re.compile(r"\bone of (?=(?:the |these )?\d)|\bof the two\b", re.I)
_MINUS = re.compile(r"(?<![\w)])(?<![\d°)%] )(?<!degrees )(?<!plus or )(?:minus|negative) (?=\d)", re.I)
_LIST_MARK = re.compile(r"^[ ]?(\d{1,2})[.)](?:[ ]\S|\Z)", re.MULTILINE)
_EITHER_WAY = re.compile(r"\d{1,3}[.,]\d{3}(?![\d.,])")
"""`12.480` is a fraction in English and a whole number in German."""
_LED_BY = SETS["led_by"]
_TOTAL = words.word_set("total altogether all sum overall makes make making remaining left")
_RESULT = SETS["result"]
_GIVES = words.word_set("makes totals gives leaves yields leaving giving yielding")
_REASON = words.word_set("since because while whereas")
_EXPLAINED = re.compile(r"\W{0,4}(?:explanation|reason|reasoning|justification|rationale|details)\W{0,3}:", re.I)
_SHORT = 80
"""Characters of a reply that may say with a word of absence that there is none."""
_UNITS = words.word_set("cm mm km kg g m h am pm percent euro dollar")
_MOST = 6_000
"""Most numbers in one reply: as many as there are characters to stand for them."""


_LABELLED = re.compile(r"\b([A-Za-z]{3,14})[ ](\d{1,2})\b(?![.,]\d)")
_NO_NOUN = words.AFTER_LETTER | words.BEFORE_LETTER | words.RIGHT | SETS["led_by"]


def _unlabelled(text: str) -> str:
    """Drop numbers that count up the names of things: `Person 1 sits, person 2 stands`."""
    seen: dict[str, set[str]] = {}
    for found in _LABELLED.finditer(text):
        seen.setdefault(words.key(found[1]), set()).add(found[2])
    nouns = {noun for noun, labels in seen.items() if {"1", "2"} <= labels and noun not in _NO_NOUN}
    nouns = {noun for noun in nouns if not noun.endswith(("s", "ed", "ing"))}
    return _LABELLED.sub(lambda found: found[1] if words.key(found[1]) in nouns else found[0], text)


class _Numbers(Words):
    """Finder of the numbers in one reply."""

    def __init__(self, question: str = "") -> None:
        super().__init__({})
        self.question, self.counts = question, bool(_HOW_MANY.search(question)) and "number" not in question
        self.noun = re.escape(_noun(question)) if self.counts else ""
        self.places: dict[str, int] = {}

    def marked(self, text: str) -> str:
        text = _SQUARED.sub(r" \g<unit>", _unlabelled(_ONE_OF.sub("", text)))
        text = _NONE.sub("0", _DEGREES.sub(" degrees", _SHARE.sub(" versus ", text)))
        text = _SINGLE.sub(lambda one: f"{one[1] or one[2] or ''}1 ", text)
        comma = decimal_comma(f"{text}\n{self.question}")
        text = _BELOW_ZERO.sub(r"-\1", text)
        text = self._spelt(_MINUS.sub("-", _NOTHING.sub(lambda found: f"{found[1] or ''} 0", text)))
        text = _FRACTION.sub(lambda part: f"{part[1]}/{_PARTS[words.key(part[2])]}", text)
        text = _EITHER.sub(lambda found: f"{found['one'] or found['measure']} versus ", text)
        marks = list(_LIST_MARK.finditer(text))
        listed = {mark.start(1) for mark in marks if len(marks) > 1 or (mark[1] == "1" and mark.end() < len(text))}
        marked = NUMBER.sub(lambda found: found[0] if found.start() in listed else self._number(found, comma), text)
        self.order = list(self.places)
        return marked

    def _spelt(self, text: str) -> str:
        """Write number words as digits."""
        out, at = [], 0
        for start, end, value in sorted(spelt_numbers(text), key=lambda one: (one[0], -one[1])):
            if start >= at:
                out += [text[at:start], f"{value:.15g}" if value % 1 else f"{value:.0f}"]
                at = end
        return "".join((*out, text[at:]))

    def _number(self, found: re.Match[str], comma: bool | None) -> str:
        text, value = found.string, value_of(found, comma=bool(comma))
        if comma is None and _EITHER_WAY.fullmatch(found["size"] or ""):
            return found[0]
        before = text[max(0, found.start() - 40) : found.start()]
        if value is None or _OPERATOR.match(text, found.end()) or _OPERATED.search(before[-12:]):
            return found[0]
        product = _PRODUCT.search(before) and found.start() < 40 and _SINGULAR.match(text, found.end())
        part = (_PART.match(text, found.end()) or _PART_BEFORE.search(before)) if self.places else None
        if self.counts and (_LABEL_BEFORE.search(before) or _NO_COUNT_AFTER.match(text, found.end())):
            return found[0] if "more" in self.question else "… "
        if self.noun and re.search(
            rf"\b{self.noun}\w*\b[^.;,\d]{{0,30}}\b(?:on|in|behind|over|across|near|at) \Z", before, re.I
        ):
            return "… "
        if product or part or _NAMED.search(before) or _COMPARED.search(before) or _SURE.match(text, found.end()):
            return "… "
        name = repr(value)
        if name not in self.places and len(self.places) >= _MOST:
            return found[0]
        bound = "might " if _SHIFTED_BEFORE.search(before) or _SHIFTED_AFTER.match(text, found.end()) else ""
        return f" {bound}{chr(FIRST_WORDS + self.places.setdefault(name, len(self.places)))} "

    def token(self, mark: str) -> Token:
        name = self.order[ord(mark) - FIRST_WORDS]
        return Token(name, frozenset({name}), "words")

    @property
    def marks(self) -> str:
        return ""


class _NumberReader(Reader):
    def entries(self, text: str, slots: Sequence[frozenset[str]] = ()) -> list[Entry]:
        """After a bare answer, an explanation claims nothing."""
        entries = super().entries(text, slots)
        starts = [at for at, entry in enumerate(entries) if at and _EXPLAINED.match(entry.statement.text)]
        if starts and entries[0].line.groups and is_bare(entries[0].line):
            for entry in entries[starts[0] :]:
                entry.statement = replace(entry.statement, aside=True)
        return entries

    def _decided(self, made: Sequence[Claim], entries: Sequence[Entry]) -> Commitment:
        """A result counts even if its parts are claimed: `There are 7 rows of 4 seats, which makes 28`."""
        claim, found = made[-1], _named(entries)
        weak = claim.how in ("stated", "bare", "labelled")
        looped = len(made) > 1 and len({one.letters for one in made}) == 1
        if weak and (
            any(entry.statement.refused for entry in entries) or (entries[-1].line.breaks_off and not looped)
        ):
            return UNDECIDED
        if claim.how == "marked":
            lines = all(len(entry.line.tokens) == 1 for entry in entries)  # marked answers and nothing else
            return UNDECIDED if lines and not looped and len(made) > 1 else super()._decided(made, entries)
        if _UNCOUNTED.search(entries[-1].statement.text) or _is_cut_short(entries):
            return UNDECIDED
        if claim.how in ("stated", "announced") and not claim.final and _is_one_of_several(entries, claim):
            return UNDECIDED
        values = [group.letters for entry, group in found if entry.statement.own]
        total = _total(values)
        if not found:
            return super()._decided(made, entries)
        sure = [(entry, group) for entry, group in found if not entry.line.hedged_at(group)]
        last, group = sure[-1] if sure else found[-1]
        stated = bool(sure) and last.statement.stated
        concludes = stated and weak and not claim.final and _concludes(last.line, group)
        if concludes or (stated and last is entries[-1] and _led_to(last.line, group)):
            return self._checked(group.letters, "concluded")
        if stated and weak and _is_computed(found):
            return self._checked(group.letters, "concluded")
        if total and (total == values[-1] or (weak and not claim.final)):
            return self._checked(total, "concluded")
        if stated and weak and group.letters != claim.letters and not claim.final and claim.how != "bare":
            return UNDECIDED
        return super()._decided(made, entries)

    def _whole(self, entries: Sequence[Entry]) -> Commitment:
        """Without a claim, take the only number, the total of the others, or the result of the last statement."""
        found = _named(entries)
        if any(entry.listed for entry in entries) or not found or _is_cut_short(entries):
            return UNDECIDED if found else NOTHING
        values = [group.letters for _, group in found]
        looped = len(values) > 1 and len(set(values)) == 1
        if any(entry.statement.refused for entry in entries) or (entries[-1].line.breaks_off and not looped):
            return NOTHING
        sure = all(entry.statement.own and not entry.line.hedged_at(group) for entry, group in found)
        if len(set(values)) == 1:
            return self._checked(values[0], "reply") if sure and found[-1][0].statement.stated else NOTHING
        last = found[-1][0]
        others = [entry for entry, _ in found if entry is not last]
        ended = {group.letters for entry, group in found if entry is last}
        if last is entries[-1] and last.statement.stated and _is_computed(found):
            return self._checked(values[-1], "reply")
        if sure and last is entries[-1] and last.statement.stated and _calls(last.line, found[-1][1]):
            return self._checked(values[-1], "reply")
        if sure and (total := _total(values)) and (len(ended) > 1 or total in ended):
            return self._checked(total, "reply")
        if (not others or self._concludes(last, others, entries)) and last.statement.stated:
            group = _result(last.line)
            ends = group and group.start > 1 and last.line.at_edge(group)  # unlike "3 berths are empty"
            if group and others and not (ends or last.statement.corrects or _calls(last.line, group)):
                return NOTHING
            return self._checked(group.letters, "reply") if group else NOTHING
        return NOTHING


def _is_cut_short(entries: Sequence[Entry]) -> bool:
    """Return whether a truncated reply ends before its last number: `Boats behind:`, `Then I count`."""
    last = entries[-1].line
    ends = bool(last.tokens) and not last.groups and last.tokens[-1].text in (":", "count", "see", "get")
    ends = ends or (len(last.groups) > 2 and entries[-1].statement.text.endswith(("...", "…")))
    if ends or last.groups or not is_cut(entries):
        return ends
    values = [group.letters for _, group in _named(entries)]
    return not (len(values) > 1 and len(set(values)) == 1)


def _is_one_of_several(entries: Sequence[Entry], claim: Claim) -> bool:
    """Return whether a claimed number has another beside it and no result: `3 here and 4 there`."""
    for entry in entries:
        groups = [
            group for group in entry.line.groups if not entry.line.denied(group) and not entry.line.hedged_at(group)
        ]
        for one, other in pairwise(groups):
            joints = {entry.line.text(place) for place in range(one.end, other.start)}
            differ = one.letters == claim.letters != other.letters and other.start - one.end <= _NEAR
            if differ and joints & {"and", "with"} and not (_result(entry.line) or _reasoned(entry.line, other)):
                return True
    return False


def _named(entries: Sequence[Entry]) -> list[tuple[Entry, Group]]:
    """Return the numbers that are neither denied nor only a reason or an aside."""
    return [
        (entry, group)
        for entry in entries
        for group in entry.line.groups
        if not entry.statement.aside and not entry.line.denied(group) and not _reasoned(entry.line, group)
    ]


def _reasoned(line: Line, group: Group) -> bool:
    """Return whether a number is only in the reason for one before it: `7, since the 4 on top do not count`."""
    first = line.groups[0].end
    return any(line.text(place) in _REASON for place in range(max(first, group.start - 10), group.start))


def _led_to(line: Line, group: Group) -> bool:
    """Return whether a number is the result of a step: `removing 4 gives us 7`."""
    before = {line.text(place) for place in range(max(0, group.start - 3), group.start)}
    computed = group.start > 1 and line.text(group.start - 1) == "=" and line.text(0) in words.CONCLUDING
    if computed and group in line.groups and line.text(group.start - 2)[:1] in "0123456789°)":
        return True
    return group in line.groups and not before.isdisjoint(_GIVES)


def _is_computed(found: Sequence[tuple[Entry, Group]]) -> bool:
    """Return whether a reply ends with the last result that it computed: `12 / 4 = 3. The height is 3 m.`"""
    results = [group.letters for entry, group in found if group.start and entry.line.text(group.start - 1) == "="]
    return len(results) > 0 and results[-1] == found[-1][1].letters and len(found[-1][0].line.groups) == 1


def _calls(line: Line, group: Group) -> bool:
    return _led_to(line, group) or (group is line.groups[-1] and _concludes(line, group))


def _concludes(line: Line, group: Group) -> bool:
    """Return whether words around the last number of a line call it a result: `the difference is 7`, `7 in total`."""
    before = [line.text(place) for place in range(max(0, group.start - 8), group.start)]
    after = {line.text(place) for place in range(group.end, min(group.end + 4, len(line.tokens)))}
    starts = max((place for place, text in enumerate(before) if text in (",", ";", ":")), default=-1)
    if any(token.text in ("or", "versus") for token in line.tokens):
        return False
    called = _RESULT.intersection(before[starts + 1 :]) or before[-1:] == ["="] or after & _TOTAL
    return bool(called or words.CONCLUDING.intersection(before)) and not _parallel(line, line.groups)


def _total(named: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the first or last number if it is the sum of the others, or the product of two others."""
    if not 3 <= len(named) <= 8 or any(len(names) != 1 for names in named):
        return frozenset()
    values = [float(min(names)) for names in named]
    for total, parts in ((-1, values[:-1]), (0, values[1:])):
        if math.isclose(values[total], sum(parts)) or (
            len(parts) == 2 and math.isclose(values[total], math.prod(parts))
        ):
            return named[total]
    return frozenset()


def _result(line: Line) -> Group | None:
    """Return the number that is a statement's result: `36 watts`, `the total is 36`, `7 birds: 4 of them sit`."""
    groups = [group for group in line.groups if not line.denied(group) and not line.hedged_at(group)]
    groups = [group for group in groups if not _reasoned(line, group)]
    if not groups or _parallel(line, groups):
        return None
    equation = groups[-1].start > 0 and line.text(groups[-1].start - 1) == "="
    if equation and not any(token.text == "or" for token in line.tokens):
        return groups[-1]
    if len(groups) > 1 and any(token.text in ("or", "versus") for token in line.tokens):
        return None
    if len({group.letters for group in groups}) == 1:
        return groups[-1]
    for one, other in pairwise(groups):
        between = [line.text(place) for place in range(one.end, other.start)]
        if one is groups[0] and ":" in between and "," not in between[: between.index(":")]:
            return one
    group = groups[-1]
    led = line.text(group.start - 1) in words.COPULA | words.SEPARATOR | _LED_BY if group.start else False
    after = {line.text(place) for place in range(group.end, min(group.end + 4, len(line.tokens)))}
    return group if led or after & _TOTAL else None


def _parallel(line: Line, groups: Sequence[Group]) -> bool:
    """Return whether two things have a number each: `a = 7 and b = 4`, `The upper row has 7, the lower row has 4`."""
    led = [(line.text(group.start - 1), line.text(group.start - 2)) for group in groups if group.start > 1]
    cues, names = {cue for cue, _ in led}, {name for _, name in led if name.isalpha()}
    if not len(led) == len(groups) > len(cues):
        return False
    return cues <= {"has", "have"} or (cues == {"="} and len(names) == len(led))


_UNCOUNTED = re.compile(
    r"\b(?:can't|cannot|can not|couldn't|don't|do not) (?:tell|say|know) how many\b"
    r"|\b(?:may|might|could) be (?:a few |some |several )?(?:more|others)\b|\bmore (?:may|might|could) be\b",
    re.I,
)
_SCALED = re.compile(r"\b(?:how many|in) (thousand|million|billion)s?\b", re.I)
_HOW_MANY = re.compile(TABLES["counting"], re.I)
_ALL_OF_THEM = re.compile(r"\b(?:are|were|is) there\b|\b(?:total|altogether|in all|overall)\b", re.I)
_COUNTED_NOUN = re.compile(
    r"how many ((?:(?!(?:are|is|were|was|do|does|did|can|could|have|has|in|on|of)\b)[\w-]+ ){1,5})", re.I
)
_PART_OF = re.compile(
    rf"(\b\d{{1,9}}|\b(?:{'|'.join(TABLES['numbers']['en'].split())}))(?: out)?"
    r" of (?:the |a total of )?\d{1,9}",
    re.I,
)
_ABSENT = re.compile(words.any_word(words.word_set(TABLES["existence"]["no"])), re.I)
_EACH = re.compile(r"(?<![\d.,])(\d{1,9})[^\d.,;:\n]{0,30}\b(?:each|apiece)\b", re.I)
_RATE = re.compile(r"(?<![\d.,])(\d{1,9})(?: [a-z]+)? (?:per|every|an? (?:day|week|month|year|hour|minute))\b", re.I)
_EACH_OF = re.compile(r"\b(?:each|every|per)\b", re.I)
_PLACES = words.word_set("in on at near behind")
"""Words after a number that counts the same thing as the one before: `7 boats here, 4 in the back`."""
_NEAR = 8
"""Words between two numbers that are joined."""
_YEARS = range(1000, 2101)


def read_number(response: Any, question: str = "") -> Parsed[float]:
    """Parse the number that a reply answers with; None if it gives none or more than one.

    With the question, the number of the thing that it counts is found among others, and a year for "which year".
    """
    heard, counts = said(response), _HOW_MANY.search(question) is not None
    if counts and not _ALL_OF_THEM.search(question):
        heard = replace(heard, text=_PART_OF.sub(r"\1", heard.text))
    heard = replace(heard, text=without_context(heard.text, question))
    if counts and (noun := _noun(question)):
        heard = replace(heard, text=re.sub(rf"(?<=\d ){_OF_WHICH}(?={re.escape(noun)})", "", heard.text))
    if _UNCOUNTED.search(heard.text[-_SHORT:]) and not heard.slots:
        return UNREAD
    reader = _NumberReader("", _Numbers(question))
    verdict = reader.read(heard)
    if verdict.letters:
        value = float(min(verdict.letters))
        dated = (counts or not ASKS_YEAR.search(question)) and value in _YEARS and DATED.search(heard.text)
        asked = _SCALED.search(question)
        said_so = asked and re.search(rf"(?:\d|half a|[a-z])[ -]?{asked[1]}", heard.text, re.I)
        if asked and said_so and not _SCALED.search(heard.text):
            value /= SCALES[words.key(asked[1])]  # "How many million tonnes?"
        found = None if dated and question else value
        if counts and verdict.how in ("reply", "concluded") and _other_noun(value, heard.text, question):
            asked_for = _asked_for(reader.entries(heard.text), heard.text, question, counts)
            found = found if asked_for is None else asked_for
    elif heard.slots or not question:
        return UNREAD
    else:
        found = _asked_for(reader.entries(heard.text), heard.text, question, counts)
    if found is not None and counts and not heard.slots:
        found = None if _counts_another(reader.entries(heard.text), found, question) else found
    shared = not _EACH_OF.search(question) and any(
        words.number(one[1]) == found
        for rate in ((_EACH, _RATE) if counts else (_EACH,))
        for one in rate.finditer(heard.text)
    )
    return UNREAD if found is None or shared else Parsed(found, verdict.how if verdict.letters else "reply")


_OF_WHICH = r"of (?:them|which|these|those) (?:(?:are|were|is) )?"


def _noun(question: str) -> str:
    """Return the thing that a question counts, without its plural."""
    asked = _COUNTED_NOUN.search(question)
    return words.stem(asked[1].split()[-1].casefold()) if asked else ""


_KINDS = {
    (words.stem(special), words.stem(general))
    for row in TABLES["kinds"]
    for general, *specials in [row.split()]
    for special in specials
}
_ANY_THING = words.word_set(TABLES["countable"])


def _counts_another(entries: Sequence[Entry], value: float, question: str) -> bool:
    """Return whether a number counts or measures another thing than the question wherever it is: `7 cm`, `7 cars`."""
    noun, asked = _noun(question), {words.stem(word) for word in words.written_out(question)}
    things = [
        _thing(entry.line, group, asked | _ANY_THING, noun)
        for entry in entries
        for group in entry.line.groups
        if {repr(value)} == group.letters and not entry.line.denied(group)
    ]
    stems = [words.stem(thing) for thing in things]
    known = [not one or one in asked | _ANY_THING or (one, noun) in _KINDS for one in stems]
    return bool(noun) and bool(things) and not any(known)


def _thing(line: Line, group: Group, known: Set[str], noun: str) -> str:
    """Return the noun or unit after a number: the first known word or plural; empty if there is none."""
    for place in range(group.end, min(group.end + 3, len(line.tokens))):
        word = line.text(place)
        if word in words.AFTER_LETTER or not word.isalpha() or line.tokens[place].letters:
            return ""
        unit = word in _UNITS and not noun.startswith(word[0])
        if (
            words.stem(word) in known
            or unit
            or (len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")))
        ):
            return word
    return ""


def _other_noun(value: float, text: str, question: str) -> bool:
    """Return whether a number counts another thing than the question: `7 boats; 3 berths are empty`."""
    after = re.search(rf"(?<![\d.,]){value:g} ([a-z]+s)\b", text)
    return after is not None and words.stem(after[1]) != _noun(question)


def _asked_for(entries: Sequence[Entry], text: str, question: str, counts: bool) -> float | None:
    """Return the only number of the thing that the question counts, or the only year if it asks for one."""
    if any(not entry.statement.stated or entry.statement.takes_back or entry.statement.corrects for entry in entries):
        return None
    groups = [(entry.line, group) for entry in entries for group in entry.line.groups]
    if any(line.denied(group) or line.hedged_at(group) or len(group.letters) != 1 for line, group in groups):
        return None
    if entries and (entries[-1].line.text(len(entries[-1].line.tokens) - 1) in ("and", "plus") or is_cut(entries)):
        return None
    if counts and not groups and not any(map(str.isdigit, text)):
        return 0.0 if _ABSENT.search(text) and len(text) < _SHORT else None
    if "year" in question.casefold().split():
        found = {float(min(group.letters)) for _, group in groups}
        found = {value for value in found if value in _YEARS}
    else:
        noun = _noun(question)
        if any(
            group.start and line.text(group.start - 1) == "and" and line.text(group.end) in words.VERB
            for line, group in groups
        ):  # "5 cars are parked and 3 are moving"
            return None
        found = {
            float(min(group.letters))
            for line, group in groups
            if noun
            in [words.stem(line.text(place)) for place in range(group.end, min(group.end + 3, len(line.tokens)))]
        }
    bare = any(line.text(group.end) in _PLACES and float(min(group.letters)) not in found for line, group in groups)
    return found.pop() if len(found) == 1 and not bare else None
