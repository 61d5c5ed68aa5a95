"""How well a drawing fits the true rendering, pixel by pixel: exact, without weights, without a judge.

Each pixel gets the nearest of the eight colours that the task's drawings are made of, or the ground. The drawing is
brought to the reference's size first. What a person would forgive (a shift by a few pixels, thin lines) costs points
here, so these scores stand beside the judge's, not in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchmark.picture import Picture

PALETTE = ("#E74C3C", "#3498DB", "#2ECC71", "#F1C40F", "#9B59B6", "#34495E", "#1ABC9C", "#E67E22")
RIGHT = 0.9
"""From this share on a drawing counts as right where the answer is held against the drawing."""

_GROUND = len(PALETTE)
_MOST_SIDE = 1024
_SURE = 8
"""Distance, per channel, up to which a pixel surely has a colour."""

Labels = NDArray[np.int8]


@dataclass(frozen=True)
class Fit:
    """`iou`: mean over the reference's colours of intersection over union, the ground left out. `shape`: the same of
    all that is drawn, whatever its colour. `colour`: of what is drawn in both, the share in the same colour."""

    iou: float
    shape: float
    colour: float
    by_colour: dict[str, float]


def compare(reference: Picture, drawing: Picture) -> Fit | None:
    """None where the reference shows none of the palette's colours."""
    true = _array(reference, None)
    palette = _palette(true)
    wanted = _labels(true, palette)
    shown = [colour for colour in range(_GROUND) if _is_there(colour, wanted, true, palette)]
    if not shown:
        return None
    drawn = _labels(_array(drawing, (true.shape[1], true.shape[0])), palette)
    by_colour = {PALETTE[colour]: _iou(wanted == colour, drawn == colour) for colour in shown}
    both = (wanted != _GROUND) & (drawn != _GROUND)
    return Fit(
        iou=sum(by_colour.values()) / len(by_colour),
        shape=_iou(wanted != _GROUND, drawn != _GROUND),
        colour=float((wanted == drawn)[both].mean()) if both.any() else 0.0,
        by_colour={name: round(value, 4) for name, value in by_colour.items()},
    )


def _array(picture: Picture, size: tuple[int, int] | None) -> NDArray[np.int16]:
    """Brought to a size without mixing colours; a reference larger than need be is made smaller."""
    from PIL.Image import Resampling

    image = picture.image()
    if size is None:
        shrink = min(1.0, _MOST_SIDE / max(image.size))
        size = (max(1, round(image.width * shrink)), max(1, round(image.height * shrink)))
    if image.size != size:
        image = image.resize(size, Resampling.NEAREST)
    return np.asarray(image).astype(np.int16)


def _palette(reference: NDArray[np.int16]) -> NDArray[np.int16]:
    """The eight colours, and the ground's: the most frequent one along the reference's edge."""
    edge = np.concatenate([reference[0], reference[-1], reference[:, 0], reference[:, -1]])
    colours, counts = np.unique(edge, axis=0, return_counts=True)
    known = [[int(code[at : at + 2], 16) for at in (1, 3, 5)] for code in PALETTE]
    return np.array([*known, colours[counts.argmax()]], dtype=np.int16)


def _labels(pixels: NDArray[np.int16], palette: NDArray[np.int16]) -> Labels:
    """The nearest colour of each pixel; a ground in a palette's colour is ground."""
    best = np.full(pixels.shape[:2], np.iinfo(np.int32).max, dtype=np.int32)
    labels = np.full(pixels.shape[:2], _GROUND, dtype=np.int8)
    for number in (_GROUND, *range(_GROUND)):
        distance = ((pixels.astype(np.int32) - palette[number]) ** 2).sum(axis=2)
        nearer = distance < best
        best[nearer], labels[nearer] = distance[nearer], number
    return labels


def _is_there(colour: int, labels: Labels, pixels: NDArray[np.int16], palette: NDArray[np.int16]) -> bool:
    """Whether the reference was drawn in this colour. The blend at the edge of a red shape is nearest to orange: it
    takes a pixel that surely has the colour, or nine in a square that are nearest to it."""
    mask: NDArray[Any] = labels == colour
    if not mask.any():
        return False
    if (np.abs(pixels[mask] - palette[colour]).max(axis=1) <= _SURE).any():
        return True
    rows = mask[:-2] & mask[1:-1] & mask[2:]
    return bool((rows[:, :-2] & rows[:, 1:-1] & rows[:, 2:]).any())


def _iou(one: NDArray[Any], other: NDArray[Any]) -> float:
    union = int((one | other).sum())
    return int((one & other).sum()) / union if union else 0.0
