"""What UniG2U's port makes of Uni-MMMU's answers, beside the scores of Uni-MMMU itself.

The port reads leniently, and turns the moves of a sliding puzzle round in the truth before it compares
(docs/benchmarks/unig2u.md, "Uni-MMMU in UniG2U"). These scores go into the overall by `official` alone.
"""

from __future__ import annotations

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring import tagged

_TURNED = {"up": "down", "down": "up", "left": "right", "right": "left"}


def jigsaw(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    right = tagged.choice(episode.answer, "lenient") == int(sample.target["label"])
    return Scores({"jigsaw_text_acc_unig2u": float(right)})


def maze(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    return Scores({"maze_text_frame_acc_unig2u": _agreeing(episode, sample.target["moves"])})


def sliding(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth = sample.target["moves"]
    turned = None if truth is None else [_TURNED.get(move, move) for move in truth]
    return Scores({"sliding_text_frame_acc_unig2u": _agreeing(episode, turned)})


def _agreeing(episode: Episode, truth: list[str] | None) -> float | None:
    if truth is None:
        return None
    said = tagged.moves(episode.answer, "lenient") or []
    return sum(one == other for one, other in zip(said, truth, strict=False)) / len(truth) if truth else 0.0
