"""Figures that others published, in a small file beside a task's YAML: `_published.yaml`.

They are shown beside a user's own figures and marked; no statistic is made of them but whether the two agree.
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
    """One published number for each of some models."""

    tasks: Annotated[list[Name], Meta(min_length=1, max_length=50)]
    """The tasks that ask the same."""

    mode: Name
    """The mode that is played alike."""

    score: Words
    """What the number is called here."""

    channel: Words
    """What it is called there."""

    values: Annotated[dict[Annotated[str, Meta(max_length=80)], Number], Meta(max_length=200)]
    """Model -> the number, as printed."""

    n: Count | None = None
    """Over how many items; nothing where nobody says."""

    note: Words = ""


class FigureTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one source published, and how it was come by."""

    source: Words
    protocol: Words
    unit: Literal["percent", "fraction"] = "percent"
    steps: Literal["truth", "model", ""] = ""
    """Who said how many steps are drawn; empty where no steps are."""

    scoring: Name = "official"
    """The scoring here that reads as they did."""

    figures: Annotated[list[FigureRow], Meta(min_length=1, max_length=200)]


class PublishedFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    published: Annotated[list[FigureTable], Meta(min_length=1, max_length=20)]


class Published(Struct, kw_only=True, omit_defaults=True):
    """A figure that others published for what this cell plays. It is shown, and in no number of the run."""

    model: str
    """Whose figure it is: a model, `human` or `chance`."""

    score: str
    """The score here that measures the same."""

    channel: str
    """What the source calls it."""

    value: float
    """The figure, as a share."""

    n: int | None = None
    """Over how many items; absent: not published."""

    source: str
    """Where it was published."""

    protocol: str
    """How it was come by."""

    steps: str = ""
    """Who said there how many steps are drawn."""

    scoring: str = ""
    """The scoring here that reads answers as they did."""

    note: str = ""
    """What else is known of it."""


def published_beside(folder: Path, task: str, mode: str) -> list[Published]:
    """The figures for a task in a mode, from the file in the folder of its YAML; none where there is no such file."""
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
