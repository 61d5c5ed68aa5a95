"""A look at every row before anything is asked: which cannot be used, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.tables import Row
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.tasks.questions.building import QuestionFile
from sketchmark.tasks.questions.columns import Columns
from sketchmark.tasks.questions.files import NumberedRow
from sketchmark.tasks.questions.pictures import Decoding, Look

MOST_TOLD = 100
"""Broken rows that are named; the rest is counted."""

_NAMED_IN_A_LINE = 3


@dataclass(frozen=True)
class Broken:
    """A row that cannot be used, in words that say what to do."""

    row: int
    id: str
    problem: str

    def __str__(self) -> str:
        return f"row {self.row}{f' ({self.id})' if self.id else ''}: {self.problem}"


@dataclass
class Survey:
    """What a file of questions holds."""

    rows: int = 0
    broken_rows: int = 0
    broken: list[Broken] = field(default_factory=list)
    """The first of them."""
    types: Counter[str] = field(default_factory=Counter)
    pictures: int = 0
    with_generation_prompt: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    """Our names -> the file's."""
    unused: dict[str, None] = field(default_factory=dict)
    """Columns that nothing is done with, in their order."""

    def refuse_broken(self, file: QuestionFile) -> None:
        if not self.broken_rows:
            return
        rest = self.broken_rows - _NAMED_IN_A_LINE
        named = "; ".join(map(str, self.broken[:_NAMED_IN_A_LINE])) + (f"; and {rest} more" if rest > 0 else "")
        told = f"{self.broken_rows} of {self.rows} rows are broken: {named}"
        raise BadInput(f"{file.path}: {told}", f"sketchmark check {file.path} names them all; mend or remove them")


def survey(file: QuestionFile, rows: Iterable[NumberedRow]) -> Survey:
    """Of all the rows, with every picture decoded."""
    found, look = Survey(), Decoding()
    first: dict[str, int] = {}
    for number, row in rows:
        found.rows += 1
        try:
            sample = _checked(file, number, row, look)
            if sample.id in first:
                raise BadInput(f"the id {sample.id!r} is row {first[sample.id]}'s already", "give each row its own")
        except SketchmarkError as error:
            found.broken_rows += 1
            if len(found.broken) < MOST_TOLD:
                found.broken.append(Broken(number, _id(row), str(error)))
            continue
        assert isinstance(row, dict)
        first[sample.id] = number
        columns = Columns.of(row)
        found.types[sample.target["type"]] += 1
        visuals = sample.pictures["visuals"]
        found.pictures += 1 if isinstance(visuals, Picture) else len(visuals)
        found.with_generation_prompt += "generation_prompt" in sample.fields
        found.columns |= columns.named
        found.unused |= dict.fromkeys(columns.unused)
    return found


def _checked(file: QuestionFile, number: int, row: Row | BadInput, look: Look) -> Sample:
    if isinstance(row, BadInput):
        raise row
    return file.sample(number, row, {}, look)


def _id(row: Row | BadInput) -> str:
    """As far as a broken row tells."""
    if isinstance(row, BadInput):
        return ""
    return next((str(row[name])[:80] for name in ("id", "question_id", "qid") if row.get(name) is not None), "")
