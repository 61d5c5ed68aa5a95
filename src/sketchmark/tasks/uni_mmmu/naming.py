"""Who moves, the tile or the blank? One public port swaps the directions (docs/benchmarks/uni-mmmu.md, "Who moves").

The data itself tells: replayed on the input pictures under the right naming, all moves are legal and all puzzles end
in one state. Under the wrong one they do not.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from sketchmark.errors import BadInput, UnknownName
from sketchmark.tasks.uni_mmmu.puzzle import Puzzle
from sketchmark.worlds import sliding

NamedBy = Literal["tile", "blank"]

_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
_log = logging.getLogger("sketchmark")


def as_tile_moves(puzzle: Puzzle, named_by: NamedBy) -> Puzzle:
    if named_by == "tile" or puzzle.moves is None:
        return puzzle
    return replace(puzzle, moves=[_OPPOSITE[move] for move in puzzle.moves])


def shared_goal(puzzles: Sequence[Puzzle], named_by: NamedBy) -> sliding.State | None:
    """The state that all puzzles end in; None if none of them can be replayed.

    Data that is consistent under the other naming alone is refused: every answer would be scored against its
    opposite. Single puzzles that do not fit are reported and kept.
    """
    if named_by not in get_args(NamedBy):
        raise UnknownName(f"moves cannot be named by {named_by!r}", "moves_named_by is tile or blank")
    starts = [(puzzle, sliding.to_state(sliding.read(puzzle.picture, puzzle.rows))) for puzzle in puzzles]
    ends = {name: _ends(starts, name) for name in get_args(NamedBy)}
    consistent = {name: None not in found.values() and len(set(found.values())) == 1 for name, found in ends.items()}
    other = "blank" if named_by == "tile" else "tile"
    if consistent[other] and not consistent[named_by]:
        raise BadInput(
            f"the moves in this data are named by the {other}, not by the {named_by}: only so do all "
            f"{len(ends[other])} puzzles end in one state",
            f"add --task-args moves_named_by={other}",
        )
    reached = [state for state in ends[named_by].values() if state is not None]
    if not reached:
        return None
    goal = max(dict.fromkeys(reached), key=reached.count)
    for name, state in ends[named_by].items():
        if state is None:
            _log.warning("sliding puzzle %s: its moves are not legal as moves of the %s", name, named_by)
        elif state != goal:
            _log.warning("sliding puzzle %s ends in another state than the others", name)
    return goal


def _ends(
    starts: Sequence[tuple[Puzzle, sliding.State | None]], named_by: NamedBy
) -> dict[str, sliding.State | None]:
    """Where each readable puzzle ends, or None where a move is not legal."""
    found: dict[str, sliding.State | None] = {}
    for puzzle, state in starts:
        if state is None or puzzle.moves is None:
            continue
        end: sliding.State | None = state
        for move in as_tile_moves(puzzle, named_by).moves or ():
            end = sliding.apply(end, move) if end else None
        found[puzzle.id] = end
    return found
