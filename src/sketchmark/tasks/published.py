"""Published scores, in a file `_published.yaml` next to a task's YAML.

They are shown next to a run's own scores and marked. The only statistic that uses them is whether the two agree.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from sketchmark.errors import BadInput
from sketchmark.files.yaml import Count, checked, load
from sketchmark.tasks.schema import Name

FILE = "_published.yaml"

Words = Annotated[str, Meta(max_length=500)]
Number = Annotated[float, Meta(ge=0, le=100)]


class FigureRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One published number for each of several models."""

    tasks: Annotated[list[Name], Meta(min_length=1, max_length=50)]
    """The tasks that ask the same."""

    mode: Name
    """The mode with the same protocol."""

    score: Words
    """The name of the score here."""

    channel: Words
    """The name of the score in the source."""

    values: Annotated[dict[Annotated[str, Meta(max_length=80)], Number], Meta(max_length=200)]
    """Model -> the number, as printed."""

    n: Count | None = None
    """Number of items; None if not published."""

    note: Words = ""


class FigureTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scores of one source, and how they were obtained."""

    source: Words
    protocol: Words
    unit: Literal["percent", "fraction"] = "percent"
    steps: Literal["truth", "model", ""] = ""
    """Step count set by; empty if there are no steps."""

    scoring: Name = "official"
    """The scoring here that parses answers as the source did."""

    figures: Annotated[list[FigureRow], Meta(min_length=1, max_length=200)]


class PublishedFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    published: Annotated[list[FigureTable], Meta(min_length=1, max_length=20)]


class Published(Struct, kw_only=True, omit_defaults=True):
    """A published score for the task and mode of a cell. It is shown and enters no number of the run."""

    model: str
    """A model, `human` or `chance`."""

    score: str
    """The score here that measures the same."""

    channel: str
    """The name of the score in the source."""

    value: float
    """The score, as a proportion."""

    n: int | None = None
    """Number of items; absent if not published."""

    source: str
    """The publication."""

    protocol: str
    """The way in which the score was obtained."""

    steps: str = ""
    """Step count set by."""

    scoring: str = ""
    """The scoring here that parses answers as the source did."""

    note: str = ""
    """Further remarks."""


def published_beside(folder: Path, task: str, mode: str) -> list[Published]:
    """Return the published scores of a task in a mode, from the folder of its YAML; empty without such a file."""
    path = folder / FILE
    return [
        Published(
            model=model,
            score=row.score,
            channel=row.channel,
            value=round(value / 100, 9) if table.unit == "percent" else value,
            n=row.n,
            source=table.source,
            protocol=table.protocol,
            steps=table.steps,
            scoring=table.scoring,
            note=row.note,
        )
        for table in (read(path).published if path.is_file() else ())
        for row in table.figures
        if task in row.tasks and mode == row.mode
        for model, value in row.values.items()
    ]


@cache
def read(path: Path) -> PublishedFile:
    found = checked(load(path), PublishedFile, f"published figures {path}")
    for table in found.published:
        most = 100 if table.unit == "percent" else 1
        for row in table.figures:
            for model, value in row.values.items():
                if value > most:
                    raise BadInput(f"published figures {path}: {model} has {value:g}, more than {most} {table.unit}")
    return found
