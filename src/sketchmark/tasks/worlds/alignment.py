"""What drawings show, and whether the answer says the same, right or wrong: RA and AL without a judge.

`drawing_right`: the share of the true frames that were drawn. `answer_as_drawn`: the share of the drawn frames that
show where the answer's moves lead; for the jigsaw, whether the answer is the candidate that looks better in the two
drawings. A drawing that cannot be read shows nothing and is left out; where none can be read, there is no share.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeVar

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.tasks.worlds import scoring
from sketchmark.worlds import maze as mazes
from sketchmark.worlds import sliding as slidings

State = TypeVar("State")
_STRICT = Grading()
_SAME = 0.95
"""How alike a drawn completion and a true one must be to be the same."""


def maze(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Where the agent stands, frame by frame; walls that were drawn wrongly are another matter."""
    if not episode.drawings:
        return Scores({})
    rows, cols = sample.target["rows"], sample.target["cols"]
    found = scoring.maze(sample, episode, _STRICT)
    board = mazes.to_maze(mazes.read(scoring.initial(sample), rows, cols))
    seen = [mazes.to_maze(mazes.read(picture, rows, cols)) for picture in episode.drawings]
    drawn = [state.start if state else None for state in seen]
    said = mazes.replay(board, found.notes["answer"] or ()) if board else []
    return _scores(found, "maze_img_frame_acc", said, drawn)


def sliding(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    if not episode.drawings:
        return Scores({})
    n = sample.target["n"]
    found = scoring.sliding(sample, episode, _STRICT)
    state = slidings.to_state(slidings.read(scoring.initial(sample), n))
    drawn = [slidings.to_state(slidings.read(picture, n)) for picture in episode.drawings]
    said = list[slidings.State]()
    for move in found.notes["answer"] or ():
        state = slidings.apply(state, move) or state if state else None
        said += [state] if state else []
    return _scores(found, "sliding_img_frame_acc", said, drawn)


def jigsaw(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    if not episode.drawings:
        return Scores({})
    found = scoring.jigsaw(sample, episode, _STRICT)
    right = found.notes["frames_right"]
    answer = found.notes["answer"]
    better = _better_looking(episode.drawings, sample.frames() if sample.frames else [])
    agrees = float(answer == better) if answer is not None and better is not None else None
    notes = {"drawn": better, "answer": answer}
    return Scores({"drawing_right": sum(right) / len(right), "answer_as_drawn": agrees}, notes)


def _better_looking(drawn: Sequence[Picture], true: Sequence[Picture]) -> int | None:
    """Which of two drawn completions runs on more smoothly; None unless both show the panel completed."""
    from sketchmark.worlds import jigsaw as jigsaws

    if len(drawn) != 2 or not true:
        return None
    if any(max(jigsaws.similarity(one, picture) for one in true) < _SAME for picture in drawn):
        return None
    costs = [jigsaws.seam_cost(picture) for picture in drawn]
    return costs.index(min(costs))


def _scores(found: Scores, metric: str, said: Sequence[State], drawn: Sequence[State | None]) -> Scores:
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
