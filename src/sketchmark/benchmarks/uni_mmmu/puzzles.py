"""Who moves, the tile or the blank? One public port swaps the directions (docs/benchmarks/uni-mmmu.md, "Who moves").

The data itself tells: replayed on the input pictures under the right naming, all moves are legal and all puzzles end
in one state. Under the wrong one they do not.

Samples of the published Uni-MMMU sets: parquet rows, hub rows, or the extracted folder.

The parquet files hold no step frames. There the true frames are made by reading the input picture and replaying the
moves (docs/benchmarks/uni-mmmu.md, "The extracted folder"); a picture that cannot be read has no true frames,
and its drawings cannot be scored.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from sketchmark.benchmarks import uni_mmmu as folder
from sketchmark.benchmarks.uni_mmmu import Puzzle, label_of, moves_of
from sketchmark.episode.sample import Pictures, Sample
from sketchmark.errors import BadInput, UnknownName
from sketchmark.files.tables import Row, as_picture, rows
from sketchmark.media import Picture
from sketchmark.worlds.maze import board as mazes_
from sketchmark.worlds.sliding import board as sliding
from sketchmark.worlds.sliding import board as slidings_

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


MAZE_EXAMPLE, SLIDING_EXAMPLE = "00015", "00001"
"""The items that the original benchmark demonstrates. Where they are demonstrated they are not asked."""


def mazes(
    *,
    seed: int,
    data: Path | None,
    origin: Mapping[str, str],
    demonstration: bool = False,
    limit: int | None = None,
) -> Iterator[Sample]:
    found = folder.read_puzzles(data, "maze")
    if found is None:
        found = _puzzles(rows(data, **origin, limit=limit), "steps", 6)
    for puzzle, example in _with_example(found, MAZE_EXAMPLE if demonstration else ""):
        target = {"moves": puzzle.moves, "rows": puzzle.rows, "cols": puzzle.cols}
        yield _sample(puzzle, target, puzzle.frames or _maze_frames(puzzle), example)


def slidings(
    *,
    seed: int,
    data: Path | None,
    origin: Mapping[str, str],
    demonstration: bool = False,
    show_goal: bool = False,
    moves_named_by: NamedBy = "tile",
    limit: int | None = None,
) -> Iterator[Sample]:
    """The set (at most 84) is read whole: that all puzzles end in one state is checked before the first is played."""
    found = folder.read_puzzles(data, "sliding", SLIDING_EXAMPLE if demonstration else "")
    if found is None:
        found = _puzzles(rows(data, **origin, limit=limit), "steps_words", 3)
    puzzles = list(found)
    goal = shared_goal(puzzles, moves_named_by)
    if show_goal and goal is None:
        raise BadInput("the goal of the sliding puzzles cannot be shown: no puzzle of the set can be replayed")
    shown: dict[str, Pictures] = {"goal": slidings_.render(goal)} if show_goal and goal else {}
    named = (as_tile_moves(puzzle, moves_named_by) for puzzle in puzzles)
    for puzzle, example in _with_example(named, SLIDING_EXAMPLE if demonstration else ""):
        target = {"moves": puzzle.moves, "n": puzzle.rows}
        yield _sample(puzzle, target, puzzle.frames or _sliding_frames(puzzle), example, shown)


def jigsaws(
    *,
    seed: int,
    data: Path | None,
    origin: Mapping[str, str],
    limit: int | None = None,
) -> Iterator[Sample]:
    found = folder.jigsaws(data)
    if found is None:
        found = rows(data, **origin, limit=limit)
    for where, name, row in named(found):
        label = label_of(column(row, "label", where), where)
        pictures = {
            part: as_picture(column(row, f"{part}_image", where), f"{where}, {part}_image")
            for part in ("ref", "cand0", "cand1")
        }
        frames = partial(_right_and_wrong, row["completions"], label) if "completions" in row else None
        yield Sample(
            id=name,
            pictures=pictures,
            target={"label": label},
            steps=2,
            frames=frames or partial(_completed, pictures["ref"], pictures["cand0"], pictures["cand1"]),
        )


def named(found: Iterable[Row]) -> Iterator[tuple[str, str, Row]]:
    """Each row with the words that name it in an error, and its id: its own where it has one, else its number."""
    for number, row in enumerate(found):
        given = row.get("id")
        name = f"{number:05d}" if given in (None, "") else str(given)
        yield (f"row {number}" if given in (None, "") else f"row {number} (id {name})"), name, row


def column(row: Row, name: str, where: str, otherwise: str = "") -> Any:
    for key in filter(None, (name, otherwise)):
        if key in row and (row[key] is not None or not otherwise):
            return row[key]
    raise BadInput(f"{where} has no {' or '.join(filter(None, (name, otherwise)))}", f"it has: {', '.join(row)}")


def _puzzles(found: Iterable[Row], moves: str, size: int) -> Iterator[Puzzle]:
    for where, name, row in named(found):
        picture = as_picture(column(row, "initial_image", where), f"{where}, initial_image")
        yield Puzzle(name, picture, moves_of(column(row, moves, where), where), size, size)


def _maze_frames(puzzle: Puzzle) -> Callable[[], list[Picture]] | None:
    board = mazes_.to_maze(mazes_.read(puzzle.picture, puzzle.rows, puzzle.cols))
    return partial(mazes_.frames, board, puzzle.moves) if board and puzzle.moves is not None else None


def _sliding_frames(puzzle: Puzzle) -> Callable[[], list[Picture]] | None:
    state = slidings_.to_state(slidings_.read(puzzle.picture, puzzle.rows))
    return partial(slidings_.frames, state, puzzle.moves) if state and puzzle.moves is not None else None


def _with_example(found: Iterable[Puzzle], example_id: str) -> Iterator[tuple[Puzzle, Puzzle | None]]:
    if not example_id:
        yield from ((puzzle, None) for puzzle in found)
        return
    puzzles = list(found)
    example = next((puzzle for puzzle in puzzles if puzzle.id == example_id and puzzle.frames and puzzle.moves), None)
    if example is None:
        raise BadInput(
            f"the demonstration needs puzzle {example_id} with its step frames",
            "give --data with the extracted data.tar of Vchitect/Uni-MMMU-Eval",
        )
    yield from ((puzzle, example) for puzzle in puzzles if puzzle is not example)


def _sample(
    puzzle: Puzzle,
    target: dict[str, Any],
    frames: Callable[[], list[Picture]] | None,
    example: Puzzle | None,
    shown: dict[str, Pictures] | None = None,
) -> Sample:
    pictures: dict[str, Pictures] = {"initial": puzzle.picture, **(shown or {})}
    fields: dict[str, str] = {}
    if example and example.frames:
        steps = example.frames()
        pictures |= {"example": example.picture, "example_steps": steps, "example_goal": steps[-1]}
        fields["example_moves"] = json.dumps(example.moves)
    groups: dict[str, str | int | float] = {"size": f"{puzzle.rows}x{puzzle.cols}"}
    if puzzle.moves is not None:
        groups["steps"] = len(puzzle.moves)
    return Sample(
        id=puzzle.id,
        pictures=pictures,
        fields=fields,
        target=target,
        groups=groups,
        steps=puzzle.steps,
        frames=frames,
    )


def _right_and_wrong(load: Callable[[], list[Picture]], label: int) -> list[Picture]:
    """The true completions in the order of the candidates."""
    right, wrong = load()
    return [right, wrong] if label == 0 else [wrong, right]


def _completed(ref: Picture, *candidates: Picture) -> list[Picture]:
    from sketchmark.worlds.jigsaw import panels as jigsaw

    return [jigsaw.complete(ref, candidate) for candidate in candidates]
