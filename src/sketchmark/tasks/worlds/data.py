"""Samples from the generated worlds: endless, streamed, the same for the same seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.worlds import maze as mazes_
from sketchmark.worlds import sliding as slidings_

_STRIDE = 1_000_003
"""Seeds of neighbouring runs must not overlap: run seed 1, sample 0 is not run seed 0, sample 1."""


def mazes(*, seed: int, data: Path | None, rows: int, cols: int, min_steps: int, max_steps: int) -> Iterator[Sample]:
    for number, own_seed in _seeds(seed):
        maze = mazes_.generate(own_seed, rows, cols, min_steps, max_steps)
        moves = mazes_.solve(maze) or []
        yield Sample(
            id=f"maze-{seed}-{number:06d}",
            pictures={"initial": mazes_.render(maze)},
            target={"moves": moves, "rows": rows, "cols": cols},
            groups={"steps": len(moves), "size": f"{rows}x{cols}"},
            steps=len(moves),
            frames=partial(mazes_.frames, maze, moves),
        )


def slidings(*, seed: int, data: Path | None, n: int, min_depth: int, max_depth: int) -> Iterator[Sample]:
    if min_depth > max_depth:
        raise BadInput(f"min_depth {min_depth} is over max_depth {max_depth}")
    goal = slidings_.render(slidings_.goal_state(n))
    for number, own_seed in _seeds(seed):
        state = slidings_.generate(own_seed, min_depth + number % (max_depth - min_depth + 1), n)
        moves = slidings_.solve(state)
        yield Sample(
            id=f"sliding-{seed}-{number:06d}",
            pictures={"initial": slidings_.render(state), "goal": goal},
            fields={"n": str(n), "tiles": str(n * n - 1)},
            target={"moves": moves, "n": n},
            groups={"steps": len(moves), "size": f"{n}x{n}"},
            steps=len(moves),
            frames=partial(slidings_.frames, state, moves),
        )


def jigsaws(*, seed: int, data: Path | None, difficulty: str, folder: str = "") -> Iterator[Sample]:
    from sketchmark.worlds import jigsaw as jigsaws_

    pictures = Path(folder) if folder else None
    for number, own_seed in _seeds(seed):
        puzzle = jigsaws_.generate(own_seed, difficulty, pictures)
        yield Sample(
            id=f"jigsaw-{seed}-{number:06d}",
            pictures={"ref": puzzle.ref, "cand0": puzzle.candidates[0], "cand1": puzzle.candidates[1]},
            target={"label": puzzle.label},
            groups={"wrong_kind": puzzle.wrong_kind, "difficulty": difficulty},
            steps=2,
            frames=partial(jigsaws_.frames, puzzle),
        )


def _seeds(seed: int) -> Iterator[tuple[int, int]]:
    return ((number, seed * _STRIDE + number) for number in itertools.count())
