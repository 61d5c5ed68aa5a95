"""One published maze or sliding puzzle, from whichever file it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sketchmark.picture import Picture


@dataclass(frozen=True)
class Puzzle:
    """`moves` is None where the file gives no ground truth; `frames` loads the step frames where there are any."""

    id: str
    picture: Picture
    moves: list[str] | None
    rows: int
    cols: int
    frames: Callable[[], list[Picture]] | None = None
    frame_count: int | None = None

    @property
    def steps(self) -> int | None:
        return self.frame_count if self.moves is None else len(self.moves)
