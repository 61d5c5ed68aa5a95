"""Uni-MMMU's scores of sliding puzzles (docs/benchmarks/uni-mmmu.md, "Picture scores"), and fair ones of our own.

Published: `sliding_text_exact`, `sliding_text_frame_acc` (extra moves go unpunished), `sliding_img_exact`,
`sliding_img_frame_acc`. Ours: `sliding_solved` (legal moves that reach the goal, whichever way), `sliding_img_legal`
(drawn frames that follow from the one before by one legal move), `sliding_parse_*`. Picture scores apply only to
episodes that were asked to draw, text scores only to items with a ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring import frames
from sketchmark.tasks.worlds import following
from sketchmark.tasks.worlds.move_scores import (
    OFFICIAL,
    aligned,
    answered_moves,
    initial,
    moves_scores,
    rules,
    with_truth,
)
from sketchmark.worlds import sliding as slidings
from sketchmark.worlds.sliding_world import SlidingPlay


def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth, n = sample.target["moves"], sample.target["n"]
    official = rules(grading) == OFFICIAL
    answer = answered_moves(episode, grading)
    first = slidings.to_state(slidings.read(initial(sample), n))
    expected = _slides(first, truth or ()) if first else []
    values = moves_scores("sliding", answer, truth)
    goal = expected[-1] if expected else None
    values["sliding_solved"] = float(answer is not None and first is not None and _slides_to(first, answer, goal))
    notes: dict[str, Any] = {"answer": answer, "expected": truth}
    if first is None:
        notes["input_unreadable"] = True
    if episode.draw_attempts:
        drawn = [slidings.read(picture, n) for picture in episode.drawings]
        published = [slidings.read(picture, n, published=True) for picture in episode.drawings] if official else drawn
        true_frames = sample.frames() if sample.frames else []
        expected_frames = [slidings.read(frame, n, published=official) for frame in true_frames]
        exact, share, right = frames.compare(published, expected_frames)
        parsed = [all(cell != "?" for row in reading for cell in row) for reading in drawn]
        values |= {
            "sliding_img_exact": exact,
            "sliding_img_frame_acc": share,
            "sliding_img_legal": frames.share_legal(
                first, [slidings.to_state(reading) for reading in drawn], _slide_follows
            ),
            "sliding_parse_frame_success": sum(parsed) / len(parsed) if parsed else 0.0,
            "sliding_parse_all_ok": float(bool(parsed) and all(parsed)),
        }
        notes["frames_right"] = right
    values |= following.followed_moves(SlidingPlay(), sample, episode, answer)
    return Scores(with_truth(values, truth, notes), notes, unparsed=answer is None)


def score_drawings(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    if not episode.drawings:
        return Scores({})
    n = sample.target["n"]
    found = score(sample, episode, Grading())
    state = slidings.to_state(slidings.read(initial(sample), n))
    drawn = [slidings.to_state(slidings.read(picture, n)) for picture in episode.drawings]
    said = list[slidings.State]()
    for move in found.notes["answer"] or ():
        state = slidings.apply(state, move) or state if state else None
        said += [state] if state else []
    return aligned(found, "sliding_img_frame_acc", said, drawn)


def _slides(state: slidings.State, moves: Sequence[str]) -> list[slidings.State]:
    states = []
    for move in moves:
        state = slidings.apply(state, move) or state
        states.append(state)
    return states


def _slides_to(state: slidings.State, moves: Sequence[str], goal: slidings.State | None) -> bool:
    for move in moves:
        after = slidings.apply(state, move)
        if after is None:
            return False
        state = after
    return state == goal


def _slide_follows(before: slidings.State, after: slidings.State) -> bool:
    return any(slidings.apply(before, move) == after for move in slidings.legal_moves(before))
