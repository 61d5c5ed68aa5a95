"""What was drawn, frame by frame, against what is true (docs/benchmarks/uni-mmmu.md, "Picture scores")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Grid = list[list[str]] | list[list[int | str]]
State = TypeVar("State")


def compare(drawn: Sequence[Grid], expected: Sequence[Grid]) -> tuple[float, float, list[bool]]:
    """(`img_exact`, `img_frame_acc`, which drawn frames are right). Frames are paired by their index; the share is
    of the frames expected, and surplus drawings spoil only `img_exact`."""
    right = [d == e for d, e in zip(drawn, expected, strict=False)]
    share = sum(right) / len(expected) if expected else 0.0
    exact = len(drawn) == len(expected) and all(right) and bool(expected)
    return float(exact), share, right + [False] * (len(drawn) - len(right))


def share_legal(first: State | None, drawn: Sequence[State | None], follows: Callable[[State, State], bool]) -> float:
    """The share of drawn frames that follow from the frame before by one legal move. A frame that cannot be read
    follows from nothing, and nothing follows from it. No frames: 0."""
    if not drawn:
        return 0.0
    legal = 0
    before = first
    for state in drawn:
        legal += before is not None and state is not None and follows(before, state)
        before = state
    return legal / len(drawn)
