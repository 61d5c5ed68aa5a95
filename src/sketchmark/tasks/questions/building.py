"""From a row to a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.tables import Row, inside
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.tasks.questions.cells import text
from sketchmark.tasks.questions.columns import Columns
from sketchmark.tasks.questions.pictures import Look, header, pictures_of
from sketchmark.tasks.questions.truths import truth_of

_LONGEST_NAME = 200
"""Characters of an id, a category or a cluster."""


@dataclass(frozen=True)
class QuestionFile:
    """A file of questions, and what holds for all of its rows."""

    path: Path
    places: tuple[Path, ...]
    """The folders in which pictures may lie."""
    type: str = ""
    tolerance: str = ""
    """For rows that do not say themselves."""

    @classmethod
    def located(cls, file: str, folder: Path, data: Path | None, type: str = "", tolerance: str = "") -> QuestionFile:
        """`file` lies in the folder of whoever names it; pictures there, or in the folder --data."""
        if data is not None and not data.exists():
            raise BadInput(f"--data {data} does not exist", "name the folder in which the pictures are")
        places = (folder, *([data] if data is not None and data.is_dir() else []))
        home = next((place for place in places if (place / file).exists()), folder)
        try:
            inside(home, file, "")
        except BadInput as error:
            told = f"the file of questions {home / file} leads out of its folder"
            raise BadInput(told, "name the file itself: pictures are seen from where it lies") from error
        return cls(home / file, places, type, tolerance)

    def sample(self, number: int, row: Row, instructions: Mapping[str, str], look: Look = header) -> Sample:
        """What is asked in this row; refused in words where it cannot be. `look` is had at each picture."""
        columns = Columns.of(row)
        values = columns.values(row)
        if "question" not in values:
            filled = ", ".join([*columns.named.values(), *columns.unused])[:200]
            raise BadInput("no question", f"the row has: {filled or 'nothing'}")
        question = text(values["question"], "question")
        truth = truth_of(values, question, type=self.type, tolerance=self.tolerance)
        pictures = pictures_of(values["pictures"], self.places, look) if "pictures" in values else []
        fields = {"question": question, "options": "", "instruction": instructions.get(truth.type, "")}
        if isinstance(truth.options, list):
            letters = zip(ascii_uppercase, truth.options, strict=False)
            fields["options"] = "".join(f"{letter}. {option}\n" for letter, option in letters)
        if "generation_prompt" in values:
            fields |= {"generation_prompt": text(values["generation_prompt"], "generation_prompt"), "variant": "own"}
        return Sample(
            id=_name(values, "id") or f"row-{number}",
            pictures={"visuals": pictures},
            fields=fields,
            target=truth.target,
            groups=_groups(values, pictures),
        )


def _groups(values: Mapping[str, Any], pictures: list[Picture]) -> dict[str, str | int | float]:
    """Questions about the same picture are not independent, unless the file says what belongs together."""
    category, cluster = _name(values, "category"), _name(values, "cluster")
    cluster = cluster or (pictures[0].identity[:16] if pictures else "")
    return {**({"category": category} if category else {}), **({"cluster": cluster} if cluster else {})}


def _name(values: Mapping[str, Any], column: str) -> str:
    found = text(values[column], column) if column in values else ""
    if len(found) > _LONGEST_NAME:
        raise BadInput(f"{column} has {len(found)} characters", f"at most {_LONGEST_NAME}")
    return found
