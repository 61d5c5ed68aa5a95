"""Question files in three formats, and a model that knows some answers."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from sketchmark import Context, Model, Options, Reply, Sample
from sketchmark.catalog import Catalog
from sketchmark.media import Picture

Row = Mapping[str, Any]


def picture(path: Path, colour: str = "red", size: tuple[int, int] = (16, 12)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


def jsonl(path: Path, *rows: Row | str) -> Path:
    """Write a JSONL file; a text is an unchanged line."""
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def table(path: Path, rows: Sequence[Row]) -> Path:
    """Write a CSV file, with lists as JSON."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for row in rows:
            writer.writerow({name: json.dumps(one) if isinstance(one, list) else one for name, one in row.items()})
    return path


def samples(path: Path, data: Path | None = None, **arguments: str) -> list[Sample]:
    return list(Catalog().task(str(path), None, arguments).samples(data=data))


class Knowing(Model):
    """A model with given answers that draws a blue page and keeps its prompts."""

    def __init__(self, answers: Mapping[str, str], name: str = "knowing") -> None:
        super().__init__(name)
        self.answers = answers
        self.said: list[str] = []
        self.drawn: list[str] = []
        self.pictures: list[int] = []

    async def say(self, context: Context, options: Options) -> Reply:
        asked = "\n".join(context.texts)
        self.said.append(asked)
        self.pictures.append(len(context.pictures))
        return Reply(text=next((reply for words, reply in self.answers.items() if words in asked), "I do not know."))

    async def draw(self, context: Context, options: Options) -> Reply:
        self.drawn.append(context.texts[-1])
        return Reply(picture=Picture.from_image(Image.new("RGB", (8, 8), "blue")))
