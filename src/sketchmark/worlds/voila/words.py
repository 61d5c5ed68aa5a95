"""VOILA's closed vocabularies as people and models write them.

The leniency is the judge prompt's own (docs/benchmarks/voila.md, "The judge's prompts"): another word for the same
kind of subject ("mice" for hamsters) and another number form ("man" for men) are fine; another age or sex ("woman"
for "senior woman") is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sketchmark.worlds.voila.vocabulary import ACTIONS, SUBJECTS

_AGED = r"(?:senior|elderly|old|older|aged)"
_SUBJECT_PATTERNS: Mapping[str, str] = {
    "senior women": rf"{_AGED} (?:women|woman|ladies|lady|females?)|grandmothers?|grandmas?",
    "senior men": rf"{_AGED} (?:men|man|gentlemen|gentleman|males?)|grandfathers?|grandpas?",
    "female children": r"(?:female|girl) (?:children|child|kids?)|(?:little |young )?girls?",
    "male children": r"(?:male|boy) (?:children|child|kids?)|(?:little |young )?boys?",
    "women": r"women|woman|lady|ladies|adult females?",
    "men": r"men|man|gentleman|gentlemen|adult males?",
    "cats": r"cats?|kittens?|kitty|kitties",
    "dogs": r"dogs?|pupp(?:y|ies)",
    "foxes": r"fox(?:es)?",
    "hamsters": r"hamsters?|mice|mouse|guinea pigs?|rodents?|gerbils?",
    "monkeys": r"monkeys?|apes?|chimps?|chimpanzees?",
    "wolves": r"wolf|wolves",
    "bears": r"(?:brown )?bears?|bear cubs?",
    "rabbits": r"rabbits?|bunn(?:y|ies)|hares?",
}
_ACTION_PATTERNS: Mapping[str, str] = {
    "playing soccer": r"soccer|football",
    "driving a car": r"driv(?:e|es|ing)|(?:in|riding) (?:a |the )?cars?",
    "ice-skating": r"(?:ice[- ]?)?skat(?:e|es|ing)",
    "walking": r"walk(?:s|ing)?|stroll(?:s|ing)?",
    "swimming": r"swim(?:s|ming)?",
    "jumping": r"jump(?:s|ing)?|leap(?:s|ing)?|hop(?:s|ping)?",
    "typing": r"typ(?:es|ing)",
    "writing": r"writ(?:e|es|ing)",
    "digging a hole": r"dig(?:s|ging)?",
    "carrying something": r"carr(?:y|ies|ying)",
    "reading": r"read(?:s|ing)?",
    "running": r"run(?:s|ning)?|jog(?:s|ging)?|sprint(?:s|ing)?",
    "eating food": r"eat(?:s|ing)?|(?:having|enjoying) (?:a )?(?:meal|food)",
}
_NUMBER_PATTERNS: Mapping[str, str] = {
    "one": r"one|1|a single|single|an?(?! (?:pair|couple) of)",
    "two": r"two|2|a pair of|a couple of",
    "three": r"three|3",
    "four": r"four|4",
}

assert list(_ACTION_PATTERNS) == list(ACTIONS)
assert sorted(_SUBJECT_PATTERNS) == sorted(subject.plural for subject in SUBJECTS)


def _compiled(patterns: Mapping[str, str]) -> re.Pattern[str]:
    """Alternatives in order, so that "senior woman" is never read as "woman"."""
    groups = (f"(?P<g{number}>{pattern})" for number, pattern in enumerate(patterns.values()))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])", re.IGNORECASE)


_SUBJECT, _ACTION, _NUMBER = map(_compiled, (_SUBJECT_PATTERNS, _ACTION_PATTERNS, _NUMBER_PATTERNS))
_SUBJECT_AT = [next(i for i, s in enumerate(SUBJECTS) if s.plural == name) for name in _SUBJECT_PATTERNS]


def subjects_in(text: str) -> list[int]:
    """The subjects a text names, each once, in order."""
    return list(dict.fromkeys(_SUBJECT_AT[_which(match)] for match in _SUBJECT.finditer(text)))


def actions_in(text: str) -> list[int]:
    return list(dict.fromkeys(_which(match) for match in _ACTION.finditer(text)))


def numbers_in(text: str, *, articles: bool = True) -> list[int]:
    """The counts a text names, 1 to 4. An article counts as one only where it stands for the count."""
    found = [
        _which(match) + 1 for match in _NUMBER.finditer(text) if articles or len(match[0]) > 2 or match[0].isdigit()
    ]
    return list(dict.fromkeys(found))


def first_number(text: str) -> int | None:
    """The count before the subject: "a man reading two books" is one man."""
    subject = _SUBJECT.search(text)
    before = numbers_in(text[: subject.start()] if subject else text)
    return before[-1] if before else None


def only(found: Sequence[int]) -> int | None:
    """The one thing that was named; a text that names none or several has not said which."""
    return found[0] if len(found) == 1 else None


def _which(match: re.Match[str]) -> int:
    return next(number for number in range(len(match.re.groupindex)) if match[f"g{number}"] is not None)
