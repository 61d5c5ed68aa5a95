"""Ready-made scorers for anybody's task: the strict reader of final answers, named in a task file.

The sample's target holds `answer` (and, for a choice, `options`); the score is `right`. What the reader is not sure
of is unparsed: wrong, and counted.
"""

from __future__ import annotations

from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring import choices, numbers, phrases, yesno
from sketchmark.scoring.final_answer import Parsed

_ROUNDING = 1e-9
"""Of a number: 0.3 is 0.1 + 0.2, and 10.5 within 0.5 of 10, whatever binary fractions make of them."""


def choice(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`options`: in their order, or by letter; `answer`: the letter."""
    options, letter = _target(sample, "options"), str(_target(sample, "answer"))
    if letter not in choices.lettered(options):
        raise BadInput(f"the answer of sample {sample.id} is {letter!r}, no letter of its options")
    return _scores(choices.read_choice(episode.answer, options, _question(sample)), letter)


def yes_no(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`answer`: true or false, or a word for it. The field `question` tells what "There is no …" answers."""
    answer = _target(sample, "answer")
    expected = answer if isinstance(answer, bool) else yesno.read_yes_no(str(answer)).value
    if expected is None:
        raise BadInput(f"the answer of sample {sample.id} is {answer!r}, neither yes nor no")
    return _scores(yesno.read_yes_no(episode.answer, _question(sample)), expected)


def number(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`answer`: a number, or the text of one; `tolerance`, if there is one: how far off is still right."""
    answer = _target(sample, "answer")
    expected = numbers.number(str(answer))
    if expected is None:
        raise BadInput(f"the answer of sample {sample.id} is {answer!r}, no number")
    read, tolerance = numbers.read_number(episode.answer), float(sample.target.get("tolerance", 0))
    near = read.value is not None and abs(read.value - expected) <= tolerance + _ROUNDING * abs(expected)
    return _scores(read, expected, near)


def phrase(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`answer`: a word or a phrase, or a list of ways to put it."""
    answer = _target(sample, "answer")
    accepted = [str(one) for one in answer] if isinstance(answer, list) else [str(answer)]
    return _scores(phrases.answers_with(accepted, episode.answer), True)


def _scores(read: Parsed[Any], expected: object, right: bool | None = None) -> Scores:
    """`right`, where it takes more than equality."""
    notes = {"answer": read.value, "expected": expected, "read": read.how}
    right = read.value == expected if right is None else right
    return Scores({"right": float(right)}, notes, unparsed=read.value is None)


def _question(sample: Sample) -> str:
    return str(sample.fields.get("question", ""))


def _target(sample: Sample, name: str) -> Any:
    if name not in sample.target:
        raise BadInput(f"sample {sample.id} has no {name!r} in its target", f"it has: {', '.join(sample.target)}")
    return sample.target[name]
