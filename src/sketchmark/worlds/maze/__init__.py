"""Mazes: the world, its scores and its scripted players, for boards of any size that an image shows.

Scores published by Uni-MMMU (docs/benchmarks/uni-mmmu.md, "Picture scores"): `maze_text_exact`, `maze_text_frame_acc`
(extra moves cost nothing), `maze_img_exact`, `maze_img_frame_acc`, `maze_parse_*`. Ours: `maze_solved` (legal moves
that reach the goal on any path) and `maze_img_legal` (drawn frames that follow from the one before by one legal
move). Drawings are scored only if the episode was asked to draw, texts only if the sample has a ground truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Sample
from sketchmark.media import Picture
from sketchmark.media.pixels import Recent
from sketchmark.worlds import (
    LEVELS,
    MIXED,
    Add,
    Argument,
    Board,
    BoardReading,
    Label,
    Making,
    World,
    boards,
    check_level,
    disk,
    in_words,
    look_in_turn,
    moves,
    numbered_drafts,
)
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.maze.generator import Maze
from sketchmark.worlds.play import Shown, StepByStep, random_moves_are

_SQUARE = [(n, n) for n in (6, *range(2, 6), *range(7, 26))]
_OBLONG = [(rows, cols) for rows in range(2, 16) for cols in range(2, 16) if rows != cols]


class MazePlay(StepByStep[Maze]):
    """A state is the maze with its start where the agent is."""

    unpictured = "I see the maze before me, but I cannot picture the next one."

    def begin(self, shown: Shown) -> Maze | None:
        return read_maze(shown.initial)

    def parse(self, text: str) -> Maze | None:
        return maze.from_text(text)

    def solve(self, state: Maze) -> list[str]:
        return maze.solve(state) or []

    def after(self, state: Maze, move: str) -> Maze:
        return replace(state, start=maze.step(state, state.start, move))

    def render(self, state: Maze) -> Picture:
        return maze.render(state)

    def shows(self, picture: Picture, state: Maze) -> bool:
        return read_maze(picture) == state

    def in_words(self, state: Maze) -> str:
        agent = maze.LOOKS[state.look or maze.PLAIN].agent
        return f"The {agent} dot stands in row {state.start[0] + 1}, column {state.start[1] + 1}."

    def blindly(self, state: Maze) -> list[str]:
        """Straight towards the goal, blind to walls: what is left when one sees no further."""
        down, right = state.goal[0] - state.start[0], state.goal[1] - state.start[1]
        vertical = ["down" if down > 0 else "up"] * abs(down)
        return vertical + ["right" if right > 0 else "left"] * abs(right)


_PLAY = MazePlay()
_READ: Recent[tuple[Maze | None]] = Recent(512)


def read_maze(picture: Picture) -> Maze | None:
    """Return the maze in an image, of any size that fits; None if it is not a maze."""
    (found,) = _READ.get(picture.digest) or _READ.keep(picture.digest, (_read(picture),))
    return found


def _read(picture: Picture) -> Maze | None:
    for look in dict.fromkeys((boards.look_in(picture, maze.LOOKS), maze.PLAIN)):
        for rows, cols in _likely_sizes(picture, maze.LOOKS[look]):
            if found := maze.to_maze(maze.read(picture, rows, cols, look=look)):
                return found
    return None


def _likely_sizes(picture: Picture, look: maze.Look) -> Iterator[tuple[int, int]]:
    """Yield sizes. The goal's frame gives the first: it is nearly as wide as its cell. Without its colour, none."""
    pixels = boards.pixels_of(picture)
    content, page = boards.rgb01(look.wall, look.start, look.goal), boards.rgb01(look.page, look.floor)
    goal = boards.nearest(pixels, look.labelled) == 3
    columns = goal.any(axis=0).nonzero()[0]
    if not len(columns):
        return
    width = (columns[-1] - columns[0] + 1) / 0.92
    box = boards.find_board(pixels, content, page, 0.003, square=False)
    first = [
        (round((box.bottom - box.top) / cell), round((box.right - box.left) / cell))
        for cell in (round(width), width, round(width) - 1, round(width) + 1)
        if cell >= 1
    ]
    yield from (size for size in dict.fromkeys(first + _SQUARE + _OBLONG) if 1 <= min(size) <= max(size) <= 100)


_OURS = ("maze_solved", "maze_img_legal")


def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth, (rows, cols, look) = sample.target["moves"], _form(sample)
    official = moves.rules(grading) == moves.OFFICIAL
    answer = moves.answered_moves(episode, grading)
    ours = maze.read(moves.initial(sample), rows, cols, look=look)
    seen = maze.read(moves.initial(sample), rows, cols, look=look, published=True) if official else ours
    board = maze.to_maze(ours)
    values = moves.moves_scores("maze", answer, truth)
    values["maze_solved"] = float(answer is not None and board is not None and _walks(board, answer))
    notes: dict[str, Any] = {"answer": answer, "expected": truth}
    if board is None:
        notes["input_unreadable"] = True
    if episode.draw_attempts:
        expected = maze.published_grids(seen, truth or ()) if board or official else []
        drawn = _drawn(sample, episode, grading)
        as_published = partial(maze.read, rows=rows, cols=cols, look=look, published=True)
        published = list(map(as_published, episode.drawings)) if official else drawn
        parsed = [_maze_parses(reading, seen) for reading in published]
        legal = moves.share_legal(board, list(map(maze.to_maze, drawn)), _maze_follows)
        grids = [reading.grid for reading in published]
        found, notes["frames_right"] = moves.frame_scores("maze", grids, expected, legal, parsed)
        values |= found
    values |= moves.followed_moves(_PLAY, sample, episode, answer)
    if official and seen.start is None:
        notes["skipped"] = "the published evaluator finds no agent in the input and leaves the item out"
        values = {name: value if name in _OURS else None for name, value in values.items()}
    return Scores(moves.with_truth(values, truth, notes, "maze_solved"), notes, unparsed=answer is None)


def score_drawings(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Compare the agent's position frame by frame; wrongly drawn walls do not count here."""
    if not episode.drawings:
        return Scores({})
    found = score(sample, episode, Grading())
    rows, cols, look = _form(sample)
    board = maze.to_maze(maze.read(moves.initial(sample), rows, cols, look=look))
    drawn = [state.start if state else None for state in map(maze.to_maze, _drawn(sample, episode, Grading()))]
    said = maze.replay(board, found.notes["answer"] or ()) if board else []
    return moves.aligned(found, "maze_img_frame_acc", said, drawn)


def _drawn(sample: Sample, episode: Episode, grading: Grading) -> list[maze.MazeReading]:
    """Read the drawings. `strict` accepts nothing but the maze in them, if the input shows nothing else either."""
    rows, cols, look = _form(sample)
    plainly, strictly = (partial(read, rows=rows, cols=cols, look=look) for read in (maze.read, maze.read_strictly))
    given, unread = moves.initial(sample), maze.unread(rows, cols, look)
    read = strictly if moves.rules(grading) == moves.STRICT and strictly(given) == plainly(given) else plainly
    return [unread if moves.is_refused(picture, grading) else read(picture) for picture in episode.drawings]


def _form(sample: Sample) -> tuple[int, int, str]:
    """Return rows, columns and look of a sample's images. Published samples have no look."""
    look = look_in_turn("maze", tuple(maze.LOOKS), sample.target.get("look", maze.PLAIN), 0)
    return sample.target["rows"], sample.target["cols"], look


def _walks(board: maze.Maze, answer: Sequence[str]) -> bool:
    """Only legal moves, and the last one reaches the goal (walking on past it does not count)."""
    at = board.start
    for move in answer:
        if not maze.legal(board, at, move):
            return False
        at = maze.step(board, at, move)
    return at == board.goal


def _maze_parses(drawn: maze.MazeReading, seen: maze.MazeReading) -> bool:
    """A whole maze with the input's walls."""
    walls, its = ([[cell == "#" for cell in row] for row in reading.grid] for reading in (drawn, seen))
    return walls == its and maze.to_maze(drawn) is not None


def _maze_follows(before: maze.Maze, after: maze.Maze) -> bool:
    same = before.walls == after.walls and before.goal == after.goal
    return same and any(
        maze.legal(before, before.start, move) and maze.step(before, before.start, move) == after.start
        for move in maze.MOVES
    )


def samples(
    *,
    seed: int,
    data: Path | None,
    rows: int = 6,
    cols: int = 6,
    min_steps: int = 3,
    max_steps: int = 12,
    level: int = 0,
    look: str = MIXED,
    size: int = 0,
) -> Iterator[Sample]:
    """Yield samples. With a level they have all looks in turn, without one that of Uni-MMMU."""
    if level:
        check_level("maze", level)
        min_steps = max_steps = level
    look_in_turn("maze", tuple(maze.LOOKS), look, 0)  # refuses an unknown one
    looks = tuple(maze.LOOKS) if level or look != MIXED else (maze.PLAIN,)
    cell = boards.cell_for(size, max(rows, cols), maze.around) if size else None

    def make(id: str, number: int, own_seed: int) -> Sample:
        made = maze.generate(own_seed, rows, cols, min_steps, max_steps)
        for other_seed in _SEEDS if level == 1 else ():  # with one exit, no other step could be drawn by mistake
            if len(_exits(made)) > 1:
                break
            made = maze.generate(own_seed + other_seed, rows, cols, min_steps, max_steps)
        seen = look_in_turn("maze", looks, look, number)
        made, way = replace(made, look=seen), maze.solve(made) or []
        return Sample(
            id=id,
            pictures={"initial": maze.render(made, size=cell)},
            fields={"puzzle": maze.to_text(made), **_legend(seen)},
            target={"moves": way, "rows": rows, "cols": cols, **({} if seen == maze.PLAIN else {"look": seen})},
            groups={
                "steps": len(way),
                "size": f"{rows}x{cols}",
                **({"level": level} if level else {}),
                **({"look": seen} if len(looks) > 1 else {}),
            },
            steps=len(way),
            frames=partial(maze.frames, made, way, cell),
        )

    return numbered_drafts("maze", seed, make)


def _legend(look: str) -> dict[str, str]:
    """Return the names of a look's colours for the prompts. Those of Uni-MMMU's look are in the task file."""
    if look == maze.PLAIN:
        return {}
    names = maze.LOOKS[look]
    goal = f"reaching any {names.floors.lower()} cell inside the {names.frame} frame counts as success"
    lines = (
        f"- {names.walls} squares: walls (impassable)",
        f"- {names.floors} squares: path (walkable)",
        f"- {names.agent.capitalize()} dot: start (the agent)",
        f"- {names.frame.capitalize()} rectangular frame: goal ({goal})",
    )
    return {"legend": "\n".join(lines), "dot": f"{names.agent} dot", "frame": f"{names.frame} frame"}


_SEEDS = tuple(range(10**12, 10**12 + 50))
"""Added to a sample's seed for another maze."""


def _exits(made: Maze) -> list[str]:
    return [move for move in maze.MOVES if maze.legal(made, made.start, move)]


def _read_board(picture: Picture, rows: int, cols: int) -> BoardReading:
    return _labels(maze.read(picture, rows, cols, look=boards.look_in(picture, maze.LOOKS)))


def _labels(seen: maze.MazeReading) -> BoardReading:
    return BoardReading([[*row] for row in seen.grid], {"start": seen.start, "goal": seen.goal})


def _caption(sample: Sample, drawing: Picture) -> str:
    rows, cols, look = _form(sample)
    return in_words(_labels(maze.read(drawing, rows, cols, look=look)), _name)


def _name(label: Label) -> str:
    names = {"#": "wall", " ": "floor", "S": "agent", "G": "goal", "SG": "agent in the goal", "?": "unclear"}
    return names[str(label)]


def _claims(target: Mapping[str, Any]) -> bool:
    return {"moves", "rows", "cols"} <= set(target)


@contextmanager
def _folder(out: Path) -> Iterator[Add]:
    """The mazes of the published `data.tar`."""
    disk.refuse_existing(out / "maze")

    def add(number: int, sample: Sample) -> None:
        size = f"{sample.target['rows']}x{sample.target['cols']}"
        pictures = [disk.picture_of(sample, "initial"), *disk.frames_of(sample)]
        disk.save_steps(out, f"maze/maze_{size}_{number:05d}_steps/maze_step_{{:04d}}.png", pictures)
        disk.save_json(out / f"maze/maze_{size}_steps_{number:05d}.json", {"steps_long": sample.target["moves"]})

    yield add


_BOARD = Board(
    size=(6, 6),
    legend="Walls (#), floor, start (S), goal (G), both (SG), or unclear (?) for each cell.",
    read=_read_board,
    edges=lambda picture, rows, cols: maze.edges(picture, rows, cols, boards.look_in(picture, maze.LOOKS)),
    name=_name,
)
WORLD = World(
    name="maze",
    about=maze.__doc__ or "",
    told_by=("maze solver",),
    play=_PLAY,
    making=Making(
        about="Mazes with exactly one shortest way.",
        samples=samples,
        arguments=(
            Argument("min_steps", 3, "Length of the shortest way, at least."),
            Argument("max_steps", 12, "Length of the shortest way, at most."),
            Argument("level", 0, "Length of the shortest way, 1 to 5; 0: as min_steps and max_steps say."),
            Argument("look", MIXED, "Look; mixed: all in turn, without a level plain.", (*maze.LOOKS, MIXED)),
            Argument("size", 0, "Pixels a side, at most; 0: as Uni-MMMU."),
        ),
        answer="moves",
        column="steps",
        folder=_folder,
    ),
    board=_BOARD,
    claims=_claims,
    corrupt=_PLAY.corrupted,
    caption=_caption,
    scorers={"score": score, "drawn": score_drawings},
    chances=tuple(random_moves_are(level) for level in LEVELS),
    rank=1,
)
