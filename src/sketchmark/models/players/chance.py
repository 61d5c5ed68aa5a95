"""`player/random`: answers in the right form and knows nothing. It sits at chance level, which calibrates."""

from __future__ import annotations

import hashlib
import re
from random import Random
from typing import Any

from sketchmark.models.base import Model, Options, Reply, Usage
from sketchmark.models.players.code import as_svg, without_asking_for_code
from sketchmark.models.players.sight import play_of
from sketchmark.parts import Context
from sketchmark.picture import Picture
from sketchmark.worlds.boards import MOVES
from sketchmark.worlds.playing import may_stop, next_move_words, wanted

_LETTER = re.compile(r"(?:^|[\s(])([A-L])(?:[.):]|\))", re.MULTILINE)


class Chance(Model):
    hears = True

    def __init__(self, seed: int = 0) -> None:
        super().__init__("player/random")
        self._seed = seed

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "seed": self._seed}

    async def say(self, context: Context, options: Options) -> Reply:
        if (before := without_asking_for_code(context)) is not None:
            return coded(await self.draw(before, options), before)
        return said(guess(context, dice(context, self._seed)))

    async def draw(self, context: Context, options: Options) -> Reply:
        return drawn(scribble(context, dice(context, self._seed)))


def dice(context: Context, seed: int) -> Random:
    """Chance that depends on the context alone: the order in which episodes finish changes nothing."""
    digest = hashlib.sha256(f"{seed}:{context.key()}".encode()).digest()
    return Random(int.from_bytes(digest[:8], "big"))


def guess(context: Context, rng: Random) -> str:
    """An answer of the form that is asked for, chosen at random."""
    want = wanted(context)
    if want == "plan":
        if may_stop(context) and rng.random() < 0.15:
            return "DONE"
        return next_move_words(rng.choice(list(MOVES)))
    if want == "describe":
        return "I cannot picture it."
    return play_of(context).guess(context, rng) or _guess_choice(context, rng)


def _guess_choice(context: Context, rng: Random) -> str:
    """A letter of the options shown, yes or no where that is asked, or an admission."""
    text = "\n".join(part.text or "" for part in context if part.by == "task")
    letters = sorted(set(_LETTER.findall(text)))
    if len(letters) > 1:
        return f"``{rng.choice(letters)}``" if "within ``" in text else rng.choice(letters)
    if re.search(r"'yes' or 'no'|\"yes\" or \"no\"", text):
        return rng.choice(("yes", "no"))
    return "I do not know."


def scribble(context: Context, rng: Random) -> Picture:
    """The newest picture with a mark on it, wherever."""
    from PIL import Image, ImageDraw

    image = context.pictures[-1].image() if context.pictures else Image.new("RGB", (256, 256), "white")
    width, height = image.size
    x, y = rng.randrange(max(1, width - 8)), rng.randrange(max(1, height - 8))
    ImageDraw.Draw(image).rectangle((x, y, x + width // 6, y + height // 6), outline=(220, 40, 40), width=3)
    return Picture.from_image(image)


def said(text: str) -> Reply:
    return Reply(text=text, usage=Usage(tokens_out=len(text.split())))


def coded(drawing: Reply, context: Context) -> Reply:
    """A drawing as a player writes it that was asked for code."""
    assert drawing.picture is not None
    return said(as_svg(drawing.picture, context.pictures))


def drawn(picture: Picture) -> Reply:
    return Reply(picture=picture, usage=Usage(pictures_out=1))
