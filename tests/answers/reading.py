"""The corpus, parsed by the strict parsers and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import sketchmark
from sketchmark import Sample
from sketchmark.answers import Parsed
from sketchmark.answers.choices import read_choices
from sketchmark.answers.phrases import answers_with, closed_is_right, read_answer
from sketchmark.benchmarks.mmmu.scores import open_verdict
from sketchmark.benchmarks.mmsi import accuracy
from sketchmark.episode import Grading
from tests.answers.cases import Case
from tests.episodes import episode

SCORINGS = ("strict", "official", "lenient")
PARSERS: dict[str, Callable[[Case], Parsed[Any]]] = {
    "choice": lambda case: sketchmark.read_choice(case.reply, case.options),
    "choices": lambda case: read_choices(case.reply, case.options),
    "yes_no": lambda case: sketchmark.read_yes_no(case.reply, case.question),
    "number": lambda case: sketchmark.read_number(case.reply),
    "phrase": lambda case: answers_with(case.truth, case.reply),
    "open": lambda case: open_verdict(case.truth, case.reply),
    "credit": lambda case: open_verdict(case.truth, case.reply),
    "closed": lambda case: closed_is_right(case.truth, case.reply),
    "answer": lambda case: read_answer(case.reply),
}


def answer(case: Case) -> object:
    """The answer as the corpus spells it: a set of letters is one string, and what is not credited is None."""
    if case.kind == "mmsi":
        return [mmsi_letter(case, scoring) for scoring in SCORINGS]
    value = PARSERS[case.kind](case).value
    if case.kind == "choices" and value:
        return "".join(sorted(value))
    return value or None if case.kind == "credit" else value


def mmsi_letter(case: Case, scoring: str) -> object:
    """The letter that MMSI-Bench's scorer parses, with the options within the question."""
    listed = ", ".join(f"{letter}: {words}" for letter, words in zip("ABCD", case.options, strict=False))
    fields = {"question": case.question or f"Which one?\nOptions: {listed}"}
    sample = Sample("x", fields=fields, target={"answer": "B" if case.question else case.answer})
    return accuracy(sample, episode(case.reply), Grading(scoring)).notes["answer"]


@dataclass
class Tally:
    """Counts of parsed, wrong and unparsed replies."""

    replies: int = 0
    wrong: list[tuple[str, object]] = field(default_factory=list)
    unparsed: list[str] = field(default_factory=list)

    def add(self, case: Case, got: object) -> None:
        self.replies += 1
        if got is None and case.answer is not None:
            self.unparsed.append(case.reply)
        elif got != case.answer:
            self.wrong.append((case.reply, got))


def tally(cases: Iterable[Case], read: Callable[[Case], object] = answer) -> Tally:
    result = Tally()
    for case in cases:
        result.add(case, read(case))
    return result
