"""Is the answer right when the drawing is?"""

from __future__ import annotations

from sketchmark.comparison.findings import DrawingSplit
from sketchmark.comparison.wording import share
from sketchmark.runs.gains import Pairs
from sketchmark.stats import Interval


def split_by_drawing(pairs: Pairs) -> DrawingSplit | None:
    """None where no drawing could be judged."""
    right = pairs.where(lambda pair: pair.drawing_right is True)
    wrong = pairs.where(lambda pair: pair.drawing_right is False)
    if not right.pairs and not wrong.pairs:
        return None
    when_right, when_wrong = right.scores()[1], wrong.scores()[1]
    binary = all(pair.after in (0, 1) for part in (right, wrong) for pair in part.pairs)
    return DrawingSplit(
        when_right, when_wrong, right.difference(), wrong.difference(), _sentence(when_right, when_wrong, binary)
    )


def _sentence(right: Interval, wrong: Interval, binary: bool) -> str:
    if not right.n:
        return f"The drawn frames are never all right (0 of {wrong.n}); {_then(wrong, binary)}."
    if not wrong.n:
        return f"The drawn frames are always right ({right.n} of {right.n}); {_then(right, binary)}."
    return (
        f"When the drawn frames are right, {_then(right, binary)} ({right.n} samples); "
        f"when wrong, {share(wrong.mean)} ({wrong.n} samples)."
    )


def _then(found: Interval, binary: bool) -> str:
    if binary:
        return f"the answer is right {share(found.mean)} of the time"
    return f"the answer scores {share(found.mean)} on average"
