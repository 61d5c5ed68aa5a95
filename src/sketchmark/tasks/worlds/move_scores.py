"""Scores that the worlds of moves share: of the moves that were answered, and of frames that were drawn.

`--scoring` is how answers and boards are read: `official` as the published evaluator does, `strict` fairly, `lenient`
with the public port's reading of answers; boards are read our way for our own scores in all of them. `+dreamsim` adds
the published picture score of the jigsaw, which needs downloaded weights.

RA and AL without a judge: `drawing_right` is the share of the true frames that were drawn, `answer_as_drawn` the
share of the drawn frames that show where the answer's moves lead. A drawing that cannot be read shows nothing and is
left out; where none can be read, there is no share.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.scoring import tagged
from sketchmark.scoring.frames import State
from sketchmark.tasks.worlds import answers

DREAMSIM = "+dreamsim"
OFFICIAL, STRICT = "official", "strict"


def rules(grading: Grading) -> str:
    return grading.scoring.removesuffix(DREAMSIM)


def answered_moves(episode: Episode, grading: Grading) -> list[str] | None:
    chosen = rules(grading)
    return answers.strict_moves(episode.answer) if chosen == STRICT else tagged.moves(episode.answer, chosen)


def initial(sample: Sample) -> Picture:
    picture = sample.pictures["initial"]
    assert isinstance(picture, Picture)
    return picture


def moves_scores(world: str, answer: Sequence[str] | None, truth: Sequence[str] | None) -> dict[str, float | None]:
    agreeing = sum(a == t for a, t in zip(answer or (), truth or (), strict=False))
    return {
        f"{world}_text_exact": float(answer is not None and answer == truth),
        f"{world}_text_frame_acc": agreeing / len(truth) if truth else 0.0,
    }


def with_truth(
    values: dict[str, float | None], truth: Sequence[str] | None, notes: dict[str, Any]
) -> dict[str, float | None]:
    """Without a ground truth there is nothing to be right or wrong about; what drawings show by themselves stays."""
    if truth is not None:
        return values
    notes["no_truth"] = True
    alone = ("_img_legal", "_parse_frame_success", "_parse_all_ok", "maze_solved")
    return {name: value if name.endswith(alone) else None for name, value in values.items()}


def aligned(found: Scores, metric: str, said: Sequence[State], drawn: Sequence[State | None]) -> Scores:
    answer = found.notes["answer"]
    agrees = _agreement(said, drawn) if answer is not None else None
    read = sum(state is not None for state in drawn)
    notes = {"answer": answer, "drawings_read": f"{read} of {len(drawn)}"}
    return Scores({"drawing_right": found.values.get(metric), "answer_as_drawn": agrees}, notes)


def _agreement(said: Sequence[State], drawn: Sequence[State | None]) -> float | None:
    """Frames are paired by their place; one that is drawn and not said, or said and not drawn, does not agree."""
    if not any(state is not None for state in drawn):
        return None
    missing = object()
    pairs = [
        (one, other)
        for one, other in zip_longest(said, drawn, fillvalue=missing)
        if other is not None  # it cannot be read
    ]
    return sum(one == other for one, other in pairs) / len(pairs)
