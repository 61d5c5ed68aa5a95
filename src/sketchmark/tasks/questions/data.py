"""The samples of a file of questions: all rows are looked at before the first is given out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.tasks.questions.building import QuestionFile
from sketchmark.tasks.questions.files import rows
from sketchmark.tasks.questions.survey import Survey, survey
from sketchmark.terminal.telling import counted


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
    """The rows of `file` in the folder `beside`, in their order. `type` and `tolerance` are for rows that do not say
    themselves; with a `limit` rows beyond it are not looked at."""
    found = QuestionFile.located(file, beside or Path(), data, type, tolerance)
    if found.path.is_file():
        about = found.path.stat()
        _surveyed(found, limit, about.st_mtime_ns, about.st_size).refuse_broken(found)
    for number, row in islice(rows(found.path), limit):
        if isinstance(row, BadInput):  # the file was written to since
            raise row
        yield found.sample(number, row, instructions)


@lru_cache(maxsize=16)
def _surveyed(file: QuestionFile, limit: int | None, changed: int, size: int) -> Survey:
    """Once for all cells of a run, as long as the file stays what it is."""
    with counted(islice(rows(file.path), limit), None, f"checking {file.path.name}") as watched:
        return survey(file, watched)
