"""What all heads share: where the face looks, and how eyes, mouth and cheeks are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from sketchmark.worlds.voila.bank.palette import (
    BLUSH,
    INK,
    SKIN_LIGHT,
    TONGUE,
    WHITE,
)
from sketchmark.worlds.voila.bank.pen import Colour, Pen


@dataclass(frozen=True)
class Face:
    """What changes from picture to picture: where the face looks, whether it chews or laughs, its skin."""

    look: float = 0.0
    mouth_open: bool = False
    skin: Colour = SKIN_LIGHT


def eyes(pen: Pen, look: float, y: float, gap: float = 7.0, size: float = 2.6, iris: Colour = INK) -> None:
    for x in (look - gap, look + gap):
        if iris != INK:
            pen.oval(x, y, size * 1.35, size * 1.45, iris)
            pen.oval(x, y, size * 0.7, size * 1.3, INK)
        else:
            pen.oval(x, y, size, size * 1.3, INK)
        pen.circle(x + 0.8, y - 1.2, size * 0.36, WHITE)


def mouth(pen: Pen, face: Face, y: float, width: float = 4.0) -> None:
    if face.mouth_open:
        pen.oval(face.look, y + 1.2, width * 0.8, width * 0.85, INK)
        pen.oval(face.look, y + 2.6, width * 0.5, width * 0.4, TONGUE)
    else:
        pen.arc(face.look, y - 1, width, 3.0, 20, 160, 1.3, INK)


def blush(pen: Pen, look: float, y: float, gap: float = 11.0) -> None:
    for x in (look * 0.6 - gap, look * 0.6 + gap):
        pen.oval(x, y, 2.8, 1.8, BLUSH)
