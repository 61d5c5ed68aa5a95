"""Contexts of many lengths and shapes, as concurrent episodes bring them."""

from __future__ import annotations

from PIL import Image

from sketchmark.episode.sample import Context, Part, of
from sketchmark.media import Picture


def painted(colour: str, size: tuple[int, int] = (40, 30)) -> Picture:
    return Picture.from_image(Image.new("RGB", size, colour))


RED, BLUE, GREEN = painted("red"), painted("blue", (30, 60)), painted("green", (64, 64))

MIXED: list[Context] = [
    of("What is between ", RED, " and ", BLUE, "?"),
    of("Hi"),
    of(GREEN, "A much longer question about a thing that is green and has four corners, I believe."),
    of("A question without any picture."),
    of(RED, BLUE, GREEN, BLUE, "Which one is odd?"),
    Context((Part("Plan."), Part(RED), Part("I go up.", "model"), Part(BLUE, "model"), Part("And now?"))),
    of("?", BLUE),
]
