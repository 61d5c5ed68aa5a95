"""Does the answer follow a corrupt drawing? `follows_corrupt`, for episodes on the canvas `corrupt`.

What was shown is in the transcript, and our readers read from it what it implies. Maze and sliding: the moves that
lead from frame to frame; the answer follows when it begins with them, the wrong one among them. Jigsaw: the candidate
whose panel runs on more smoothly; the answer follows when it is that one. There is no score where what was shown
implies nothing wrong (the model ended before the corrupt frame). An answer that cannot be read follows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scoring.frames import State
from sketchmark.worlds.playing import Shown, StepByStep

FOLLOWS = "follows_corrupt"


def shown(episode: Episode) -> list[Picture]:
    """What the model saw in place of its drawings."""
    return [part.picture for turn in episode.turns if turn.act == "draw" for part in turn.added if part.picture]


def followed_moves(
    play: StepByStep[State], sample: Sample, episode: Episode, answer: Sequence[str] | None
) -> dict[str, Any]:
    """`{}` unless the canvas is corrupt."""
    if episode.settings.get("canvas") != "corrupt":
        return {}
    initial, truth = sample.pictures["initial"], list(sample.target["moves"] or ())
    first = play.begin(Shown(initial, None, ())) if isinstance(initial, Picture) else None
    implied = play.moves_in(first, shown(episode)) if first is not None else None
    if not implied or implied == truth[: len(implied)]:
        return {FOLLOWS: None}
    return {FOLLOWS: float(answer is not None and list(answer[: len(implied)]) == implied)}
