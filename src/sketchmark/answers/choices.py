"""The strict parser of multiple-choice replies, options listed in a question, and the options open to guessing.

Unlike the published parsers, the strict one never guesses: no random letter, no most similar text, no article parsed
as option A (docs/benchmarks/medical.md, "Silence is A", and docs/benchmarks/mmmu.md, "Answered at random").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from string import ascii_uppercase
from typing import Any, NamedTuple

from sketchmark.answers import UNREAD, Parsed, plain
from sketchmark.answers.candidates import Words
from sketchmark.answers.cleanup import said
from sketchmark.answers.decision import Reader
from sketchmark.answers.numbers import read_number
from sketchmark.answers.vocabulary import WRONG, number
from sketchmark.answers.yes_no import NO, YES, read_yes_no
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput


def lettered(options: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Return the options by letter, as given or from A on. Unknown words may be empty."""
    if not 1 <= len(options) <= len(ascii_uppercase):
        raise BadInput(f"a multiple-choice item has {len(options)} options", "1 to 26 can be lettered")
    return dict(options) if isinstance(options, Mapping) else dict(zip(ascii_uppercase, options, strict=False))


_CAPITALS = frozenset(ascii_uppercase)
_TWO = re.compile("[0-9A-Za-z]{2}")
_MARKS = str.maketrans(dict.fromkeys(".,;:()[]/|&", " "))


def read_choice(response: Any, options: Sequence[str] | Mapping[str, str], question: str = "") -> Parsed[str]:
    """Parse the letter of the option that a reply commits to. The question matters if the options are yes and no."""
    known = lettered(options)
    bare = isinstance(response, str) and response in known and known.keys() <= _CAPITALS
    if bare and all(map(_TWO.search, known.values())):  # a shortcut: no option's text is a single letter
        return Parsed(response, "reply")
    labels = _labels(known)
    asked = dict(zip(labels, known.values(), strict=True))
    heard = said(_relabelled(response, labels, asked))
    heard = replace(heard, text=_ECHOED.sub("", heard.text).lstrip(" ,;"))
    if len(set(listed := heard.text.translate(_MARKS).split())) > 1 and set(listed) <= labels.keys():
        return UNREAD  # only labels, several of them
    verdict = _reader(tuple(asked.items())).read(heard)
    if verdict.letters:
        return Parsed(labels[min(verdict.letters)], verdict.how)
    words = {plain(option): letter for letter, option in known.items()}
    sides = {side: [words[word] for word in words if word in side] for side in (YES, NO)}
    if not verdict.claimed and all(len(letters) == 1 for letters in sides.values()):
        answer = read_yes_no(response, question)
        if answer.value is not None:
            return Parsed(sides[YES if answer.value else NO][0], answer.how)
    values = {letter: number(option) for letter, option in known.items()}
    if not verdict.claimed and None not in values.values() and not _LABEL.search(heard.text):
        given = read_number(response)
        same = [letter for letter, value in values.items() if value == given.value]
        return Parsed(same[0], given.how) if len(same) == 1 else UNREAD
    return UNREAD


def _labels(known: Mapping[str, str]) -> dict[str, str]:
    """Return the options' labels by the capital letter that stands for each: `b` for B, and 2 for B too."""
    upper = {label.upper(): label for label in known}
    if len(upper) == len(known) and all(len(label) == 1 and not label.isdigit() for label in known):
        return upper
    return dict(zip(ascii_uppercase, known, strict=False))


def _relabelled(response: Any, labels: Mapping[str, str], options: Mapping[str, str]) -> Any:
    """Write labels such as 2 as letters, and resolve options that are letters themselves.

    `(D) E` names D if the text of D is E; with another letter the two conflict.
    """
    if not isinstance(response, str):
        return response
    if asked := _QUESTION_FORM.fullmatch(response):
        return asked[1]
    response = _ORDINAL.sub(lambda found: _by_place(found, labels), response)
    plain_texts = {plain(text) for text in options.values()}
    response = _DEFINED.sub(lambda listed: _undefined(listed, plain_texts), response)
    if ranked := _RANKED.fullmatch(response):
        return ranked[1]
    shares = [(float(share[2]) * (1 if share[3] else 100), share) for share in _SHARE.finditer(response)]
    best = max(shares, default=None, key=lambda share: share[0])
    if best and len(shares) > 1 and best[0] > 50 and {share[1][1] for share in shares} <= labels.keys():
        return best[1][1]
    numbered = {label: letter for letter, label in labels.items() if label.upper() != letter}
    if numbered:
        either = "|".join(sorted(map(re.escape, numbered), key=len, reverse=True))
        pattern = re.compile(rf"(?<![\w.,])(?:{either})(?![\w%]|[.,]\d)")
        return pattern.sub(lambda found: numbered[found[0]], response)
    texts = {letter: text.strip().upper() for letter, text in options.items()}
    if not any(text in texts and text != letter for letter, text in texts.items()):
        return response
    return _PAIR.sub(lambda pair: _resolved(pair, texts), response)


_PLACES = ("first", "second", "third", "fourth", "fifth")
_ORDINAL = re.compile(
    rf"\b(?:the|option) (?P<place>{'|'.join(_PLACES)}|last) "
    r"(?:(?:answer )?(?:option|choice|answer|alternative|statement)|one)\b"
    r"(?! (?:I|we|you|from|in|on|was|that I|looks?)\b|,? but\b|, \w)(?=[^?\n]{0,60}(?:[.!,;\n]|\Z))",
    re.I,
)
"""An option by its place: `The second option is correct`."""


def _by_place(found: re.Match[str], labels: Mapping[str, str]) -> str:
    place = -1 if found["place"].casefold() == "last" else _PLACES.index(found["place"].casefold())
    return f"option {list(labels)[place]}" if place < len(labels) else found[0]


_ECHOED = re.compile(
    r"^\W{0,4}(?:options|choices)[ ]?:[ ]?[A-Z](?:[ ]?[,/][ ]?(?:or |and )?[A-Z]){1,25}\.?[ ]{0,3}\n", re.I | re.M
)
"""The labels alone, repeated from the prompt."""
_DEFINED = re.compile(r"(?<!\w)[A-Z]\s?=\s?[^,;=.\n]{1,40}(?:[,;]\s(?:and\s)?[A-Z]\s?=\s?[^,;=.\n]{1,40})+")


def _undefined(listed: re.Match[str], texts: Collection[str]) -> str:
    """Drop letters that are only defined, each by its own text: `A = left, B = right, C = up`."""
    given = [plain(part.partition("=")[2]) for part in re.split(r"[,;]", listed[0])]
    different = len(set(given)) == len(given) > 2 and not any(WRONG.intersection(text.split()) for text in given)
    return "…" if different or all(text in texts for text in given) else listed[0]


_SHARE = re.compile(
    r"(?<!\w)\(?([A-Z])\)?[ ]?[(:=-]{0,2}[ ]?(?:(?=\d{1,3}[ ]?%)|(?=0?\.\d))(\d{1,3}|0?\.\d{1,3})[ ]?(%)?"
)
_RANKED = re.compile(
    r"\s*(?:(?:my )?ranking:?\s+)?(?:1[.)][ ])?\(?([A-Z])\)?"
    r"(?:\s?>\s?\(?[A-Z]\)?|[ ][2-9][.)][ ]\(?[A-Z]\)?){2,25}\.?\s*",
    re.I,
)
"""Options from the best to the worst."""
_QUESTION_FORM = re.compile(r"\s*(?:Q:[^\n]{0,400}?\?\s{0,3})?A:\s{0,3}(\(?[A-Z]\)?\.?)\s*")
"""`A:` for "answer", as in a dialogue of Q and A."""
_LABEL = re.compile(r"(?<!\w)[A-Z](?:[.):]|[ ]?\|)")
_PAIR = re.compile(
    r"(?<![\w(])\(?(?P<label>[A-Z])(?:[.):]{1,2}|,?[ ](?:i\.e\.,?|namely|which is|the letter))[ ]?(?:the letter[ ]?)?"
    r"[\"'(]?(?P<text>[A-Z])[\"')]?(?!\w)"
)


def _resolved(pair: re.Match[str], texts: Mapping[str, str]) -> str:
    label, text = pair["label"], pair["text"]
    if label not in texts:
        return pair[0]
    return label if texts[label] == text else f"{label} or {text}"


@lru_cache(maxsize=64)
def _reader(known: tuple[tuple[str, str], ...]) -> Reader:
    """Return a reader, cached: a sample's reply is parsed with the same options by several scorings and guesses."""
    return Reader("".join(letter for letter, _ in known), Words(dict(known)))


def read_choices(response: Any, options: Sequence[str] | Mapping[str, str]) -> Parsed[frozenset[str]]:
    """Parse the letters of all options that a reply commits to, for samples with several right answers."""
    known = lettered(options)
    verdict = Reader("".join(known), Words(known, common=frozenset()), several=True).read(said(response))
    return Parsed(verdict.letters, verdict.how) if verdict.letters else UNREAD


_MARK = re.compile(r"(?:^|(?<=[\s(,;:]))\(?([A-L])\s?[.):：]\s*", re.MULTILINE)


def options_of(question: str) -> list[tuple[str, str]]:
    """Find the options in a question, as (letter, text): `Options: A: left, B: right`, `A. left` or `(A) left`.

    An option runs to the next letter in order, so it may contain commas. The longest such list counts, and the last
    one of equal length: a "point A:" in the question is not an option.
    """
    chain: _Chain | None = None
    behind: dict[str, _Chain] = {}  # letter -> the list that begins at its nearest mark
    for mark in reversed(list(_MARK.finditer(question))):
        follower = behind.get(chr(ord(mark[1]) + 1))
        behind[mark[1]] = _Chain(mark, follower, 1 + (follower.length if follower else 0))
        if mark[1] == "A" and (chain is None or behind["A"].length > chain.length):
            chain = behind["A"]
    options: list[tuple[str, str]] = []
    while chain is not None and (options or chain.following):
        end = chain.following.mark.start() if chain.following else len(question)
        options.append((chain.mark[1], _trimmed(question[chain.mark.end() : end])))
        chain = chain.following
    return options


class _Chain(NamedTuple):
    mark: re.Match[str]
    following: _Chain | None
    length: int


def _trimmed(option: str) -> str:
    return option.strip().partition("\n")[0].strip(" \t.,;'\"")


_LETTER = re.compile(r"[A-Z]")


def offered(sample: Sample) -> Sequence[str]:
    """Return the answers that guessing can choose from; none for an open question.

    These are yes and no, the options' words if the answer is one of them, or else the letters of the options in the
    target or in the question.
    """
    target = sample.target
    answer, options = target.get("answer", target.get("gold")), target.get("options")
    if target.get("kind") == "yes_no" or isinstance(answer, bool):
        return ("yes", "no")
    is_letter = isinstance(answer, str) and _LETTER.fullmatch(answer) is not None
    if isinstance(options, (list, tuple)) and answer in options and not is_letter:
        return [str(option) for option in options]
    if options:
        return _letters(options)
    return [letter for letter, _ in options_of(sample.fields.get("question", ""))] if is_letter else ()


def _letters(options: Any) -> list[str]:
    if not isinstance(options, (list, tuple, dict)):
        return []
    try:
        return [str(letter) for letter in lettered(options)]
    except BadInput:
        return []
