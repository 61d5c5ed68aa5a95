"""Check of all rows of a question file before the first call, its samples, and their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path

from sketchmark.answers import phrases as strict_answers
from sketchmark.answers.judge import ask, fenced, question_to_judge, verdict
from sketchmark.answers.phrases import read_answer, same_answer
from sketchmark.benchmarks.questions import Columns, NumberedRow, rows
from sketchmark.benchmarks.questions.samples import Decoding, Look, QuestionFile
from sketchmark.episode import Episode, Grading, Scorer, Scores
from sketchmark.episode.model import Options
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.tables import Row
from sketchmark.media import Picture
from sketchmark.terminal import counted

MOST_TOLD = 100
"""Broken rows that are listed; the rest is counted."""

_NAMED_IN_A_LINE = 3


@dataclass(frozen=True)
class Broken:
    """A row that cannot be used, with its problem and what to do."""

    row: int
    id: str
    problem: str

    def __str__(self) -> str:
        return f"row {self.row}{f' ({self.id})' if self.id else ''}: {self.problem}"


@dataclass
class Survey:
    """Contents of a question file."""

    rows: int = 0
    broken_rows: int = 0
    broken: list[Broken] = field(default_factory=list)
    """The first broken rows."""
    types: Counter[str] = field(default_factory=Counter)
    pictures: int = 0
    with_generation_prompt: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    """Documented names -> names in the file."""
    unused: dict[str, None] = field(default_factory=dict)
    """Unused columns, in order."""

    def refuse_broken(self, file: QuestionFile) -> None:
        if not self.broken_rows:
            return
        rest = self.broken_rows - _NAMED_IN_A_LINE
        named = "; ".join(map(str, self.broken[:_NAMED_IN_A_LINE])) + (f"; and {rest} more" if rest > 0 else "")
        told = f"{self.broken_rows} of {self.rows} rows are broken: {named}"
        raise BadInput(f"{file.path}: {told}", f"sketchmark check {file.path} lists them all; fix or remove them")


def survey(file: QuestionFile, rows: Iterable[NumberedRow]) -> Survey:
    """Check all rows, and decode every image."""
    found, look = Survey(), Decoding()
    first: dict[str, int] = {}
    for number, row in rows:
        found.rows += 1
        try:
            sample = _checked(file, number, row, look)
            if sample.id in first:
                raise BadInput(
                    f"the id {sample.id!r} is already used by row {first[sample.id]}", "give each row a unique id"
                )
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
        for ours, theirs in columns.named.items():  # a row with fewer options names fewer columns
            found.columns[ours] = max(theirs, found.columns.get(ours, ""), key=len)
        found.unused |= dict.fromkeys(columns.unused)
    return found


def _checked(file: QuestionFile, number: int, row: Row | BadInput, look: Look) -> Sample:
    if isinstance(row, BadInput):
        raise row
    return file.sample(number, row, {}, look)


def _id(row: Row | BadInput) -> str:
    """Return the id of a broken row, if it has one."""
    if isinstance(row, BadInput):
        return ""
    return next((str(row[name])[:80] for name in ("id", "question_id", "qid") if row.get(name) is not None), "")


def questions(
    *,
    seed: int,
    data: Path | None,
    file: str,
    instructions: Mapping[str, str],
    beside: Path | None = None,
    type: str = "",
    tolerance: str = "",
    limit: int | None = None,
) -> Iterator[Sample]:
    """Yield the samples of `file` in the folder `beside`, after checking all rows up to `limit`.

    `type` and `tolerance` are defaults for rows without them.
    """
    found = QuestionFile.located(file, beside or Path(), data, type, tolerance)
    if found.path.is_file():
        about = found.path.stat()
        _surveyed(found, limit, about.st_mtime_ns, about.st_size).refuse_broken(found)
    for number, row in islice(rows(found.path), limit):
        if isinstance(row, BadInput):  # the file has changed since the check
            raise row
        yield found.sample(number, row, instructions)


@lru_cache(maxsize=16)
def _surveyed(file: QuestionFile, limit: int | None, changed: int, size: int) -> Survey:
    """Check the rows once for all cells of a run, until the file changes."""
    with counted(islice(rows(file.path), limit), None, f"checking {file.path.name}") as watched:
        return survey(file, watched)


_BY_RULE: dict[str, Scorer] = {
    "choice": strict_answers.choice,
    "yes_no": strict_answers.yes_no,
    "number": strict_answers.number,
    "exact": strict_answers.phrase,
}


async def right(sample: Sample, episode: Episode, grading: Grading, *, judge: str) -> Scores:
    """Score by rule or, for the type `judged`, by a judge. `judge` is the template of its question."""
    by_rule = _BY_RULE.get(str(sample.target["type"]))
    if by_rule is None:
        return await _judged(sample, episode, grading, judge)
    found = by_rule(sample, episode, grading)
    assert isinstance(found, Scores)
    return found


async def _judged(sample: Sample, episode: Episode, grading: Grading, judge: str) -> Scores:
    """Score by a judge. An answer equal to the reference is right without a call.

    Without a judge there are no scores, not even for equal answers: the mean would cover only right ones.
    """
    if grading.judge is None:
        return Scores({"right": None}, {"unscored": "these answers are scored by a judge: add --judge MODEL"})
    reference = sample.target["answer"]
    accepted = [str(one) for one in (reference if isinstance(reference, list) else [reference])]
    answer = read_answer(episode.answer).value
    notes = {"answer": answer, "expected": reference}
    if answer is None:
        return Scores({"right": 0.0}, notes, unparsed=True)
    if any(same_answer(one, answer) for one in accepted):
        return Scores({"right": 1.0}, {**notes, "read": "the same words"})
    asked, reference = str(sample.fields["question"]), " or ".join(accepted)
    question = question_to_judge(judge, asked, reference, fenced(answer, asked, reference))
    judged = await ask(grading.judge, [question], Options(max_new_tokens=512), verdict)
    return Scores({"right": float(judged.verdict)}, {**notes, "judge": judged.reply})
