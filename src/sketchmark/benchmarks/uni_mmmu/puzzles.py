"""Samples of the published mazes, sliding puzzles and jigsaws: parquet rows, hub rows, or the extracted folder.

The parquet files hold no step frames. For them the ground-truth frames are made by reading the input image and
replaying the moves (docs/benchmarks/uni-mmmu.md, "The extracted folder"). An image that cannot be read has no
ground-truth frames, and its drawings cannot be scored.

One public port names sliding moves by the blank, not by the tile (docs/benchmarks/uni-mmmu.md, "Who moves"). The data
shows which: replayed under the right naming, all moves are legal and all puzzles end in one state.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from sketchmark.benchmarks.uni_mmmu import find, path_in, read_json
from sketchmark.episode.sample import Pictures, Sample
from sketchmark.errors import BadInput, UnknownName
from sketchmark.files.tables import Row, as_picture, rows
from sketchmark.media import Picture
from sketchmark.worlds.boards import MOVES
from sketchmark.worlds.jigsaw import panels
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding


@dataclass(frozen=True)
class Puzzle:
    """`moves` is None where the file gives no ground truth; `frames` loads the step frames where there are any."""

    id: str
    picture: Picture
    moves: list[str] | None
    rows: int
    cols: int
    frames: Callable[[], list[Picture]] | None = None
    frame_count: int | None = None

    @property
    def steps(self) -> int | None:
        return self.frame_count if self.moves is None else len(self.moves)


NamedBy = Literal["tile", "blank"]

_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
_log = logging.getLogger("sketchmark")


def as_tile_moves(puzzle: Puzzle, named_by: NamedBy) -> Puzzle:
    if named_by == "tile" or puzzle.moves is None:
        return puzzle
    return replace(puzzle, moves=[_OPPOSITE[move] for move in puzzle.moves])


def shared_goal(puzzles: Sequence[Puzzle], named_by: NamedBy) -> sliding.State | None:
    """The state that all puzzles end in; None if none of them can be replayed.

    Data that is consistent only under the other naming is refused: every answer would be scored against its
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
    """Return the final state of each readable puzzle, or None if a move is not legal."""
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
    *, seed: int, data: Path | None, origin: Mapping[str, str], demonstration: bool = False, limit: int | None = None
) -> Iterator[Sample]:
    found = _folder_puzzles(data, "maze")
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
    """Yield the samples (at most 84), read at once: all puzzles must end in one state before the first is used."""
    found = _folder_puzzles(data, "sliding", SLIDING_EXAMPLE if demonstration else "")
    if found is None:
        found = _puzzles(rows(data, **origin, limit=limit), "steps_words", 3)
    puzzles = list(found)
    goal = shared_goal(puzzles, moves_named_by)
    if show_goal and goal is None:
        raise BadInput("the goal of the sliding puzzles cannot be shown: no puzzle of the set can be replayed")
    shown: dict[str, Pictures] = {"goal": sliding.render(goal)} if show_goal and goal else {}
    named = (as_tile_moves(puzzle, moves_named_by) for puzzle in puzzles)
    for puzzle, example in _with_example(named, SLIDING_EXAMPLE if demonstration else ""):
        target = {"moves": puzzle.moves, "n": puzzle.rows}
        yield _sample(puzzle, target, puzzle.frames or _sliding_frames(puzzle), example, shown)


def jigsaws(*, seed: int, data: Path | None, origin: Mapping[str, str], limit: int | None = None) -> Iterator[Sample]:
    found = _folder_jigsaws(data)
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
    board = maze.to_maze(maze.read(puzzle.picture, puzzle.rows, puzzle.cols))
    return partial(maze.frames, board, puzzle.moves) if board and puzzle.moves is not None else None


def _sliding_frames(puzzle: Puzzle) -> Callable[[], list[Picture]] | None:
    state = sliding.to_state(sliding.read(puzzle.picture, puzzle.rows))
    return partial(sliding.frames, state, puzzle.moves) if state and puzzle.moves is not None else None


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
    return [panels.complete(ref, candidate) for candidate in candidates]


_STEPS = re.compile(r"(?P<kind>maze|demo)_(?P<rows>\d+)x(?P<cols>\d+)_(?P<id>\d+)_steps")

_JIGSAW = "jigsaw_dataset_2x2ref"

_SUMMARY = "summary_steps_le_8.json"


def _folder_puzzles(data: Path | None, kind: str, example: str = "") -> Iterator[Puzzle] | None:
    """Return the puzzles of `maze` or `sliding` in this layout, by number; None if `data` is not such a folder.

    If a summary lists the benchmark's puzzles, others in the folder are left out, except for `example`.
    """
    prefix = {"maze": "maze", "sliding": "demo"}[kind]
    folder = find(data, kind, lambda place: any(place.glob(f"{prefix}_*_steps")))
    if folder is None:
        return None
    matches = (_STEPS.fullmatch(entry.name) for entry in sorted(folder.glob(f"{prefix}_*_steps")))
    listed = _listed(folder / _SUMMARY)
    chosen = (
        match for match in matches if match and (listed is None or match[0] in listed or match["id"] == example)
    )
    return (_puzzle(folder, match) for match in chosen)


def _listed(summary: Path) -> set[str] | None:
    if not summary.exists():
        return None
    body = read_json(summary)
    items = body.get("items") if isinstance(body, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) and item.get("steps_dir") for item in items):
        raise BadInput(f"{summary} has no list of items, each with its steps_dir")
    return {PurePosixPath(str(item["steps_dir"]).replace("\\", "/")).name for item in items}


def _puzzle(folder: Path, match: re.Match[str]) -> Puzzle:
    """Read a puzzle. Frame 0 is the input, then one frame per move. Without its JSON file it still has its length."""
    kind, rows, cols, number = match["kind"], match["rows"], match["cols"], match["id"]
    first, *later = sorted((folder / match[0]).glob(f"{kind}_step_*.png")) or [
        folder / match[0] / f"{kind}_step_0000"
    ]
    words = "steps_words" if kind == "demo" else "steps"
    file = folder / f"{kind}_{rows}x{cols}_{words}_{number}.json"
    moves = None
    if file.exists():
        body = read_json(file)
        names = ("steps_words",) if kind == "demo" else ("steps_long", "steps")
        given = next((body[name] for name in names if body.get(name)), None) if isinstance(body, dict) else body
        moves = moves_of(given, str(file))
    if moves is not None and len(moves) != len(later):
        raise BadInput(f"{folder / match[0]} holds {len(later)} step frames for {len(moves)} moves")
    return Puzzle(number, Picture.from_file(first), moves, int(rows), int(cols), partial(_load, later), len(later))


def _load(files: list[Path]) -> list[Picture]:
    return [Picture.from_file(file) for file in files]


def _folder_jigsaws(data: Path | None) -> Iterator[Row] | None:
    """The items of metadata.json as rows with the parquet's names, and `completions`: the right and the wrong one."""
    folder = find(data, _JIGSAW, lambda place: (place / "metadata.json").is_file())
    return _jigsaw_rows(folder) if folder else None


def _jigsaw_rows(folder: Path) -> Iterator[Row]:
    file = folder / "metadata.json"
    items = read_json(file)
    items = items.get("items") if isinstance(items, dict) else items
    if not isinstance(items, list):
        raise BadInput(f"{file} has no list of items")
    for number, item in enumerate(items):
        where = f"{file}, item {number}"
        try:
            first, second = item["candidate_paths"]
            names = (item["ref_panel"]["ref_image_path"], first, second)
            completions = (item["gt_completed_2x2_path"], item["gt_wrong_2x2_path"])
            row = {"id": item.get("id", f"{number:05d}"), "label": item["label"]}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"{where}: {type(error).__name__}: {error}") from error
        pictures = [Picture.from_file(path_in(folder, name, where)) for name in names]
        row |= dict(zip(("ref_image", "cand0_image", "cand1_image"), pictures, strict=True))
        yield {**row, "completions": partial(_load, [path_in(folder, name, where) for name in completions])}


def moves_of(value: object, where: str) -> list[str] | None:
    """Move words from a list, a JSON list or plain words; None where the file gives no ground truth at all."""
    if value is None or value == "":
        return None
    found = _parsed(value)
    if isinstance(found, str):
        found = re.findall(r"[^\s,;]+", found)
    if not isinstance(found, (list, tuple)) or not all(isinstance(move, str) for move in found):
        raise BadInput(f"{where}: the moves are {value!r}", "a list of up, down, left and right")
    moves = [move.strip().lower() for move in found]
    if unknown := [move for move in moves if move not in MOVES]:
        raise BadInput(f"{where}: {unknown[0]!r} is not a move", "up, down, left and right")
    return moves


def label_of(value: object, where: str) -> int:
    """0 or 1, from `0`, `"0"`, `"[0]"` or `[0]`."""
    found = _parsed(value)
    if isinstance(found, (list, tuple)) and len(found) == 1:
        found = _parsed(found[0])
    if isinstance(found, bool) or found not in (0, 1):
        raise BadInput(f"{where}: the label is {value!r}", "0 or 1")
    return int(found)


def _parsed(value: object) -> Any:
    """A text that holds JSON, opened; twice where a JSON text holds JSON again."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value
