"""Reads the corpora with the strict readers and counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sketchmark.answers.choices import read_choice
from sketchmark.answers.yes_no import read_yes_no
from sketchmark.benchmarks.mmmu.scores import open_verdict
from sketchmark.benchmarks.mmsi import accuracy
from sketchmark.episode import Grading
from sketchmark.episode.sample import Sample
from tests.episodes import episode
from tests.reading.cases import Case


@dataclass
class Tally:
    """What became of some replies. Open replies are `wrong` only where they must not be credited."""

    replies: int = 0
    wrong: list[tuple[str, object]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def add(self, case: Case, got: object) -> None:
        self.replies += 1
        if got == case.meant:
            return
        if got is None or (case.kind == "open" and got is False):
            if case.meant is not None:
                self.unread.append(case.text)
        else:
            self.wrong.append((case.text, got))

    def told(self) -> str:
        return f"{self.replies} replies, {len(self.wrong)} read wrongly, {len(self.unread)} unread"


def read(case: Case) -> object:
    if case.kind == "choice":
        return read_choice(case.text, case.options).value
    if case.kind == "yes/no":
        return read_yes_no(case.text, case.question).value
    return open_verdict(case.options[0], case.text).value


def tally(cases: Iterable[Case]) -> Tally:
    result = Tally()
    for case in cases:
        result.add(case, read(case))
    return result


def read_mmsi(case: Case, scoring: str) -> object:
    """As MMSI-Bench's scorer reads it, the options within the question."""
    listed = ", ".join(f"{letter}: {words}" for letter, words in zip("ABCD", case.options, strict=True))
    sample = Sample("x", fields={"question": f"Which one?\nOptions: {listed}"}, target={"answer": case.meant})
    return accuracy(sample, episode(case.text), Grading(scoring)).notes["answer"]
