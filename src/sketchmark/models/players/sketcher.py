"""`player/sketcher`: sees only a few moves ahead, and draws with a shaky hand.

Drawing helps it: each drawing is a new starting point, and at the end it reads its moves off the drawings. A canvas
that shows nothing of its own puzzle (blank, or another's) takes that help away, and then it answers exactly as it
would have without drawing. It is the harness's control: a positive drawing gain that must vanish with the canvas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.players import sight
from sketchmark.models.players.chance import dice, drawn, guess, said, scribble
from sketchmark.models.players.solver import (
    asked_candidate,
    jigsaw_pieces,
    read_sliding_board,
    tagged_choice,
    tagged_moves,
)
from sketchmark.parts import Context, Picture
from sketchmark.worlds import jigsaw as jigsaws
from sketchmark.worlds import maze as mazes
from sketchmark.worlds import sliding as slidings

State = TypeVar("State")
_LONGEST_GUESS = 12


class Sketcher(Model):
    def __init__(self, seed: int = 0, lookahead: int = 3, hand_error: float = 0.02) -> None:
        super().__init__("player/sketcher")
        self._seed, self._lookahead, self._hand_error = seed, lookahead, hand_error

    def identity(self) -> dict[str, Any]:
        return {
            "name": self.name, "seed": self._seed, "lookahead": self._lookahead, "hand_error": self._hand_error
        }  # fmt: skip

    async def say(self, context: Context, options: Options) -> Reply:
        world = sight.world_of(context)
        answer = {"maze": self._maze_say, "sliding": self._sliding_say, "jigsaw": self._jigsaw_say}.get(world)
        return said((answer and answer(context)) or guess(context, dice(context, self._seed)))

    async def draw(self, context: Context, options: Options) -> Reply:
        world = sight.world_of(context)
        rng = dice(context, self._seed)
        shaky = rng.random() < self._hand_error
        sketch = {"maze": _maze_draw, "sliding": _sliding_draw, "jigsaw": _jigsaw_draw}.get(world)
        return drawn((sketch and sketch(context, shaky, rng)) or scribble(context, rng))

    def _maze_say(self, context: Context) -> str | None:
        found = _maze_seen(context)
        if found is None:
            return None
        done, now = found
        ahead = (mazes.solve(now) or [])[: self._lookahead]
        if sight.wanted(context) == "plan":
            return sight.next_move_words(ahead[0]) if ahead else "DONE"
        if sight.wanted(context) == "describe":
            return "I see the maze before me, but I cannot picture the next one."
        at = mazes.replay(now, ahead)[-1] if ahead else now.start
        return tagged_moves(done + ahead + _grope(at, now.goal))

    def _sliding_say(self, context: Context) -> str | None:
        found = _sliding_seen(context)
        if found is None:
            return None
        done, now, goal = found
        ahead = slidings.solve(now, goal)[: self._lookahead]
        if sight.wanted(context) == "plan":
            return sight.next_move_words(ahead[0]) if ahead else "DONE"
        if sight.wanted(context) == "describe":
            return "I see the tiles before me, but I cannot picture them moved."
        for move in ahead:
            now = slidings.apply(now, move) or now
        rng = Random(sum(place * tile for place, tile in enumerate(now)))
        return tagged_moves(done + ahead + _shuffle(now, goal, rng))

    def _jigsaw_say(self, context: Context) -> str | None:
        pieces = jigsaw_pieces(context)
        if pieces is None:
            return None
        if sight.wanted(context) == "describe":
            return "I see both patches, but I cannot picture them in place."
        labels = [sight.labelled(context, f"COMPLETED WITH CANDIDATE {i}:") for i in (0, 1)]
        completed = [picture for picture in labels if picture and _belongs(picture, pieces[0])]
        if len(completed) == 2:
            costs = [jigsaws.seam_cost(picture) for picture in completed]
            return tagged_choice(costs.index(min(costs)), "in my drawing its seams run on")
        coin = Random(int(pieces[1].digest[:12], 16) + self._seed)
        return tagged_choice(coin.randrange(2), "at a glance both fit")


def _maze_seen(context: Context) -> tuple[list[str], mazes.Maze] | None:
    """The moves its drawings show, and the maze as the last of them shows it."""
    board = sight.board_of(context)
    first = sight.read_maze(board.initial) if board else None
    if board is None or first is None:
        return None

    def after(maze: mazes.Maze, move: str) -> mazes.Maze:
        return replace(maze, start=mazes.step(maze, maze.start, move))

    return _followed(first, board, sight.read_maze, after)


def _sliding_seen(context: Context) -> tuple[list[str], slidings.State, slidings.State] | None:
    """The moves its drawings show, the puzzle as the last of them shows it, and the goal."""
    found = read_sliding_board(context)
    if found is None:
        return None
    board, first, goal = found
    done, now = _followed(first, board, sight.read_sliding, lambda state, move: slidings.apply(state, move) or state)
    return done, now, goal


def _followed(
    first: State,
    board: sight.Board,
    read: Callable[[Picture], State | None],
    after: Callable[[State, str], State],
) -> tuple[list[str], State]:
    """How far the drawings show what was planned, and where that leads.

    The first one that shows anything else (a slip of the hand, white paper, another puzzle) ends it: a page that does
    not fit is not trusted, nor are those behind it.
    """
    done, now = list[str](), first
    for move, picture in zip(board.plans, board.drawings, strict=False):
        expected = after(now, move)
        if read(picture) != expected:
            break
        done.append(move)
        now = expected
    return done, now


def _grope(at: tuple[int, int], goal: tuple[int, int]) -> list[str]:
    """Straight towards the goal, blind to walls: what is left when one sees no further."""
    down, right = goal[0] - at[0], goal[1] - at[1]
    vertical = ["down" if down > 0 else "up"] * abs(down)
    return vertical + ["right" if right > 0 else "left"] * abs(right)


def _shuffle(state: slidings.State, goal: slidings.State, rng: Random) -> list[str]:
    """Moves at random until it happens to be solved, or the player gives up."""
    moves: list[str] = []
    while state != goal and len(moves) < _LONGEST_GUESS:
        move = rng.choice(slidings.legal_moves(state))
        state = slidings.apply(state, move) or state
        moves.append(move)
    return moves


def _maze_draw(context: Context, shaky: bool, rng: Random) -> Picture | None:
    found = _maze_seen(context)
    if found is None:
        return None
    now = found[1]
    move = rng.choice(list(mazes.MOVES)) if shaky else _planned(context)
    return mazes.render(now, mazes.step(now, now.start, move))


def _sliding_draw(context: Context, shaky: bool, rng: Random) -> Picture | None:
    found = _sliding_seen(context)
    if found is None:
        return None
    now = found[1]
    move = rng.choice(slidings.legal_moves(now)) if shaky else _planned(context)
    return slidings.render(slidings.apply(now, move) or now)


def _planned(context: Context) -> str:
    board = sight.board_of(context)
    return board.plans[-1] if board and board.plans else "up"


def _jigsaw_draw(context: Context, shaky: bool, rng: Random) -> Picture | None:
    pieces = jigsaw_pieces(context)
    if pieces is None:
        return None
    candidate = asked_candidate(context)
    return jigsaws.complete(pieces[0], pieces[1 + (1 - candidate if shaky else candidate)])


def _belongs(completed: Picture, reference: Picture) -> bool:
    """Does a completed panel show this puzzle? Its upper half must look like the reference's."""
    if completed.size != reference.size:
        return False
    import numpy as np

    half = reference.size[1] // 2
    mine, its = (np.asarray(picture.image(), np.int16)[:half] for picture in (completed, reference))
    return bool(np.abs(mine - its).mean() < 8)
