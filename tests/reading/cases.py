"""One reply of a corpus."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One reply. `kind`: choice, yes/no or open; `options`: those of a choice, or the gold of an open question.

    `meant`: the letter, yes or no, True for an open reply that gives the gold; None where nothing may be credited.
    `question`: what was asked, where the reader is told.
    """

    kind: str
    text: str
    options: tuple[str, ...]
    meant: object
    family: str
    template: str
    question: str = ""

    @property
    def key(self) -> tuple[str, str, tuple[str, ...], str]:
        return self.kind, self.text, self.options, self.question
