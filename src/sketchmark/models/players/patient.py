"""`player/patient`: a healthy model for `sketchmark doctor`.

It understands the doctor's prompts, reads and draws cards, and obeys its settings. Behind `sketchmark serve` it shows
a healthy server, or, with `--silent`, one that drops things without an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.media import Picture
from sketchmark.worlds import cards
from sketchmark.worlds.cards import COLOURS, KINDS, Shape

_SHAPE = re.compile(rf"\b({'|'.join(COLOURS)})\b(?: colou?red)? ({'|'.join(KINDS)})\b")
_COLOUR = re.compile(rf"\b({'|'.join(COLOURS)})\b")
_KIND = re.compile(rf"\b({'|'.join(KINDS)})\b")
_CALLED = re.compile(r"called (\w+)")
_WORD = re.compile(r"the word (\w+)")
_UP_TO = re.compile(r"from 1 to (\d{1,4})\b")


class Patient(Model):
    def __init__(self) -> None:
        super().__init__("player/patient")

    def identity(self) -> dict[str, Any]:
        return {"name": self.name}

    async def say(self, context: Context, options: Options) -> Reply:
        words = answer(context).split(" ")
        most = options.max_new_tokens or len(words)
        usage = Usage(tokens_out=min(most, len(words)), pictures_in=len(context.pictures))
        return Reply(" ".join(words[:most]), finish="length" if most < len(words) else "stop", usage=usage)

    async def draw(self, context: Context, options: Options) -> Reply:
        usage = Usage(pictures_in=len(context.pictures), pictures_out=1)
        return Reply(picture=_drawing(context, options), usage=usage)


def answer(context: Context) -> str:
    question = context.texts[-1] if context.texts else ""
    if found := _WORD.search(question):
        return found[1]
    if found := _UP_TO.search(question):
        return " ".join(map(str, range(1, int(found[1]) + 1)))
    if found := _CALLED.search(question):
        return dict(_named(context)).get(found[1], "I do not see it.")
    if context.pictures and "each end" in question:
        return " ".join(cards.read_ends(context.pictures[-1]))
    if context.pictures and "blue shape" in question:
        return cards.read_oval(context.pictures[-1])
    if "the second picture" in question:
        return cards.read_number(context.pictures[1]) if len(context.pictures) > 1 else "I see no second picture."
    numbers = [cards.read_number(picture) for picture in context.pictures]
    return " ".join(numbers) or "I see no picture."


def _named(context: Context) -> Iterator[tuple[str, str]]:
    """Yield (name, number) of each card that is followed by its name."""
    for picture, text in pairwise(context):
        if picture.picture and text.text and (found := _CALLED.search(text.text)):
            yield found[1], cards.read_number(picture.picture)


def _drawing(context: Context, options: Options) -> Picture:
    from PIL import Image

    size = _size(options)
    asked = context.texts[-1] if context.texts else ""
    if "add" in asked and context.pictures and (found := _SHAPE.search(asked)):
        image = context.pictures[-1].image().convert("RGB")
        width, height = image.size
        box = (width * 5 // 8, height * 11 // 16, width * 7 // 8, height * 15 // 16)
        cards.paint(image, Shape(found[1], found[2]), box)
        return Picture.from_image(image)
    if "half" in asked:
        image = Image.new("RGB", size, "white")
        colours = [cards.main_colour(picture) for picture in context.pictures[:2]]
        for place, colour in enumerate(filter(None, colours)):
            image.paste(COLOURS[colour], (place * size[0] // 2, 0, (place + 1) * size[0] // 2, size[1]))
        return Picture.from_image(image)
    if found := _SHAPE.search(asked):
        return cards.shape_card(Shape(found[1], found[2]), size)
    if (kind := _KIND.search(asked)) and (said := _COLOUR.findall(" ".join(context.texts))):
        return cards.shape_card(Shape(said[-1], kind[1]), size)
    return _pattern(options.seed or 0, size)


def _size(options: Options) -> tuple[int, int]:
    text = str(options.extra.get("size") or f"{options.extra.get('width')}x{options.extra.get('height')}")
    found = re.fullmatch(r"(\d{2,4})x(\d{2,4})", text)
    return (int(found[1]), int(found[2])) if found else (384, 384)


def _pattern(seed: int, size: tuple[int, int]) -> Picture:
    """Draw a pattern that depends on the seed."""
    from PIL import Image, ImageDraw

    rng, image = Random(seed), Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for _ in range(24):
        x, y, side = rng.randrange(size[0]), rng.randrange(size[1]), rng.randrange(16, 96)
        pen.rectangle((x, y, x + side, y + side), fill=rng.choice(list(COLOURS.values())))
    return Picture.from_image(image)
