"""A small network that draws the next step of a maze, as a model for `sketchmark run`.

sketchmark run --include examples/drawer/drawer.py --model drawer/reward \\
    --model-args weights=runs/drawer/reward.pt --tasks maze --task-args level=2,look=plain --mode visual_cot

It sees the pixels of the last image, reduced to 96x96, and puts one of five stamps on each of the 36 cells: floor,
wall, goal, dot, or dot in the goal. So it draws every frame whole, but with stamps rather than pixel by pixel. Its
answer is the way that the dot went in its drawings, which the code below measures. `train.py` trains it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import nn

from sketchmark import CallFailed, Context, Model, Options, Picture, Reply

SIDE, CELL, EDGE = 6, 60, 22
"""Cells of the board, and pixels of a cell and around the board."""
SEEN = 96
FLOOR, WALL, GOAL, DOT, BOTH = range(5)
PAGES = {"plain": "#ffffff", "sand": "#dfc48c"}
STAMPS = {
    "plain": {FLOOR: "#f4efe6", WALL: "#1f2937", GOAL: "#22c55e", DOT: "#2563eb"},
    "sand": {FLOOR: "#fff6dc", WALL: "#7a3b16", GOAL: "#06b6d4", DOT: "#6d28d9"},
}
"""Colours of each look. The network does not know the look; the colours of its stamps follow the page's colour."""
MOVES = {(-1, 0): "up", (1, 0): "down", (0, -1): "left", (0, 1): "right"}


class Network(nn.Module):  # type: ignore[misc]
    """Four layers that reduce the image to the 36 cells, one layer that is applied ten times so that what is known of
    a cell reaches the others, and a choice among the stamps for each cell."""

    def __init__(self, width: int = 48, rounds: int = 10) -> None:
        super().__init__()
        sizes = [3, 16, 32, width, width]
        layers: list[nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.ReLU()]
        self.eye = nn.Sequential(*layers)
        self.spread = nn.Conv2d(2 * width, width, 3, padding=1)
        self.hand = nn.Conv2d(2 * width, 5, 1)
        self.rounds = rounds

    def forward(self, images: Any) -> Any:
        """Return the logits of the stamps: (images, 36, 5)."""
        seen = self.eye(images)
        known = torch.zeros_like(seen)
        for _ in range(self.rounds):
            known = torch.relu(self.spread(torch.cat([seen, known], 1)))
        return self.hand(torch.cat([seen, known], 1)).flatten(2).transpose(1, 2)


def as_tensor(pictures: Sequence[Picture]) -> Any:
    small = [np.asarray(one.image().resize((SEEN, SEEN), Image.Resampling.BOX)) for one in pictures]
    return torch.from_numpy(np.stack(small)).permute(0, 3, 1, 2).float() / 255


def look_of(picture: Picture) -> str:
    """Return the look whose page has the colour of the image's corner."""
    corner = np.asarray(picture.image())[0, 0].astype(int)
    return min(PAGES, key=lambda look: int(np.abs(_rgb(PAGES[look]) - corner).sum()))


def _rgb(colour: str) -> Any:
    return np.array(list(bytes.fromhex(colour[1:])))


def paint(stamps: Sequence[int], look: str = "plain") -> Picture:
    """Return the drawing that these 36 stamps make."""
    colours = STAMPS[look]
    page = Image.new("RGB", (SIDE * CELL + 2 * EDGE,) * 2, PAGES[look])
    pen = ImageDraw.Draw(page)
    pen.rectangle((EDGE - 2, EDGE - 2, page.width - EDGE + 1, page.height - EDGE + 1), fill=colours[WALL])
    for place, stamp in enumerate(stamps):
        top, left = EDGE + place // SIDE * CELL, EDGE + place % SIDE * CELL
        ground = colours[WALL if stamp == WALL else FLOOR]
        pen.rectangle((left, top, left + CELL - 1, top + CELL - 1), fill=ground)
        if stamp in (GOAL, BOTH):
            pen.rectangle((left + 3, top + 3, left + CELL - 4, top + CELL - 4), outline=colours[GOAL], width=9)
        if stamp in (DOT, BOTH):
            pen.ellipse((left + 13, top + 13, left + CELL - 14, top + CELL - 14), fill=colours[DOT])
    return Picture.from_image(page)


def stamps_in(picture: Picture) -> list[int]:
    """Return the stamps that an image of a board shows: the colour in the middle of each cell and near its edge."""
    values = np.asarray(picture.image().resize((SIDE * CELL + 2 * EDGE,) * 2)).astype(int)
    known = np.stack([_rgb(colour) for colour in STAMPS[look_of(picture)].values()])

    def colour(place: int, offset: int) -> int:
        top, left = EDGE + place // SIDE * CELL, EDGE + place % SIDE * CELL
        return int(np.abs(known - values[top + CELL // 2, left + offset]).sum(1).argmin())

    pairs = [(colour(place, CELL // 2), colour(place, 7)) for place in range(SIDE * SIDE)]
    return [BOTH if pair == (DOT, GOAL) else GOAL if pair[1] == GOAL else pair[0] for pair in pairs]


def moves_of(pictures: Sequence[Picture]) -> list[str]:
    """Return the moves of the dot from image to image, up to the first that is no move."""
    places = [[at for at, stamp in enumerate(stamps_in(one)) if stamp in (DOT, BOTH)] for one in pictures]
    moves: list[str] = []
    for before, after in pairwise(places):
        if len(before) != 1 or len(after) != 1:
            break
        change = (after[0] // SIDE - before[0] // SIDE, after[0] % SIDE - before[0] % SIDE)
        if change not in MOVES:
            break
        moves.append(MOVES[change])
    return moves


class Drawer(Model):
    """The network behind Sketchmark's interface. It is deterministic: each cell gets its likeliest stamp."""

    max_pictures = 64

    def __init__(self, name: str = "untrained", weights: str = "") -> None:
        super().__init__(name)
        torch.manual_seed(0)
        self.network, self.digest = Network(), ""
        if weights:
            self.digest = hashlib.sha256(Path(weights).read_bytes()).hexdigest()
            self.network.load_state_dict(torch.load(weights, weights_only=True))
        self.network.eval()

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "weights": self.digest}

    async def say(self, context: Context, options: Options) -> Reply:
        if not context.pictures:
            raise CallFailed("bad_request", "it answers only what it sees")
        quoted = ", ".join(f'"{move}"' for move in moves_of(context.pictures))
        return Reply(text=f"<ANSWER_JSON>[{quoted}]</ANSWER_JSON>")

    async def draw(self, context: Context, options: Options) -> Reply:
        if not context.pictures:
            raise CallFailed("bad_request", "there is no maze to draw")
        return Reply(picture=await asyncio.to_thread(self._next, context.pictures[-1]))

    def _next(self, shown: Picture) -> Picture:
        with torch.no_grad():
            return paint(self.network(as_tensor([shown]))[0].argmax(1).tolist(), look_of(shown))
