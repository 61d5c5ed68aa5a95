"""The doubles of `sketchmark.testing` under the names that older tests have for them."""

from sketchmark.testing import (
    BLANK,
    CELL,
    Judge,
    choice_answer,
    episode,
    flat,
    from_pixels,
    maze_sample,
    moves_answer,
    sliding_sample,
    smeared,
    solid,
)
from sketchmark.testing import maze_board as painted

__all__ = [
    "BLANK",
    "CELL",
    "Judge",
    "choice_answer",
    "episode",
    "flat",
    "from_pixels",
    "maze_sample",
    "moves_answer",
    "painted",
    "sliding_sample",
    "smeared",
    "solid",
]
