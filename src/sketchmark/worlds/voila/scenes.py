"""The 728 scenes of VOILA, 4 numbers x 14 subjects x 13 actions, and their texts (docs/benchmarks/voila.md,
"Scenes").

The closed vocabularies are parsed as leniently as the judge prompt asks ("The judge's prompts"): another word for
the same kind of subject ("mice" for hamsters) and another number form ("man" for men) are fine; another age or sex
("woman" for "senior woman") is not. VOILA's third step states a scene as `number = two, subject = cats, action =
any`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

ANY = "any"

NUMBERS = ("one", "two", "three", "four")


class Subject(NamedTuple):
    """A kind of figure; the order of SUBJECTS is the published one and must not change."""

    singular: str
    plural: str


SUBJECTS = (
    Subject("female child", "female children"), Subject("man", "men"), Subject("woman", "women"),
    Subject("senior man", "senior men"), Subject("senior woman", "senior women"), Subject("cat", "cats"),
    Subject("dog", "dogs"), Subject("fox", "foxes"), Subject("hamster", "hamsters"), Subject("monkey", "monkeys"),
    Subject("wolf", "wolves"), Subject("male child", "male children"), Subject("bear", "bears"),
    Subject("rabbit", "rabbits"),
)  # fmt: skip

ACTIONS = (
    "playing soccer", "driving a car", "ice-skating", "walking", "swimming", "jumping", "typing", "writing",
    "digging a hole", "carrying something", "reading", "running", "eating food",
)  # fmt: skip


class Scene(NamedTuple):
    """Content of one image; None stands for `any`. `number` is the count itself (1 to 4); `subject` and `action` are
    positions in SUBJECTS and ACTIONS."""

    number: int | None
    subject: int | None
    action: int | None

    @property
    def number_word(self) -> str:
        return ANY if self.number is None else NUMBERS[self.number - 1]

    @property
    def subject_word(self) -> str:
        """Singular exactly when the number is one. A number left open is never one, hence plural
        (docs/benchmarks/voila.md, "Rules")."""
        if self.subject is None:
            return ANY
        forms = SUBJECTS[self.subject]
        return forms.singular if self.number == 1 else forms.plural

    @property
    def action_word(self) -> str:
        return ANY if self.action is None else ACTIONS[self.action]

    def describe(self) -> str:
        return f"{self.number_word} {self.subject_word} {self.action_word}"

    @property
    def is_concrete(self) -> bool:
        return None not in self


SCENES = tuple(
    Scene(number, subject, action)
    for number in range(1, len(NUMBERS) + 1)
    for subject in range(len(SUBJECTS))
    for action in range(len(ACTIONS))
)


SCENE = {
    (number, subject, action): Scene(number, subject, action)
    for number in (None, *range(1, len(NUMBERS) + 1))
    for subject in (None, *range(len(SUBJECTS)))
    for action in (None, *range(len(ACTIONS)))
}
"""Every scene there is, with and without `any`: questions share these instead of making their own."""

_BY_TEXT = {scene.describe(): scene for scene in SCENE.values()}


def parse_description(text: str) -> Scene | None:
    """The scene a description names, or None. Case and spacing are forgiven; a wrong singular or plural is not."""
    return _BY_TEXT.get(" ".join(text.lower().split()))


@cache
def file_prefix(scene: Scene) -> str:
    """Return the prefix of this scene's image files (docs/benchmarks/voila.md, "Picture files")."""
    return f"{scene.number_word}_{scene.subject_word}_{scene.action_word}_"


def scene_of_file(name: str) -> Scene | None:
    """The scene a published-style file name announces, or None. Letter case is ignored, as the original does."""
    parts = name.lower().split("_")
    if len(parts) < 4:
        return None
    scene = parse_description(" ".join(parts[:3]))
    if scene is None or not scene.is_concrete or file_prefix(scene) != "_".join(parts[:3]) + "_":
        return None
    return scene


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


_ANSWER = re.compile(
    r"number\W{0,9}[=:]\s{0,9}(?P<number>[^=\n]{1,99}?)(?:\s|[,;.]|\band\b)\W{0,9}"
    r"subject(?: type)?\W{0,9}[=:]\s{0,9}(?P<subject>[^=\n]{1,99}?)(?:\s|[,;.]|\band\b)\W{0,9}"
    r"action\W{0,9}[=:]\s{0,9}(?P<action>[^\n.]+)",
    re.IGNORECASE,
)
"""Every repeat is bounded: a reply may be thousands of blanks long, and must not take minutes to read."""


def read_statement(text: str) -> Mapping[str, int | str | None] | None:
    """The last `number = …, subject = …, action = …`: values, `any`, or None for what is not in the vocabulary.
    None for all: the form was not found."""
    matches = list(_ANSWER.finditer(text))
    if not matches:
        return None
    found = matches[-1]
    return {
        "number": _value("number", found["number"]),
        "subject": _value("subject", found["subject"]),
        "action": _value("action", found["action"]),
    }


def _value(name: str, text: str) -> int | str | None:
    text = text.strip(" '\"{}*`")
    if re.fullmatch(r"any(?:thing| \w+)?", text, re.IGNORECASE):
        return "any"
    found = {"number": numbers_in, "subject": subjects_in, "action": actions_in}[name](text)
    return only(found)
