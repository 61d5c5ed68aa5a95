"""`player/solver`: reads the pictures, plans perfectly, draws perfectly.

It must score 1.0 on every channel of every generated world; where it does not, the harness is wrong. Outside the
worlds it knows it guesses like `player/random`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.players import sight
from sketchmark.models.players.chance import dice, drawn, guess, said, scribble
from sketchmark.parts import Context, Picture
from sketchmark.worlds import jigsaw as jigsaws
from sketchmark.worlds import maze as mazes
from sketchmark.worlds import sliding as slidings


class Solver(Model):
    def __init__(self) -> None:
        super().__init__("player/solver")

    async def say(self, context: Context, options: Options) -> Reply:
        answer = _ANSWERS.get(sight.world_of(context), _nothing)(context)
        return said(answer or guess(context, dice(context, 0)))

    async def draw(self, context: Context, options: Options) -> Reply:
        picture = _PICTURES.get(sight.world_of(context), _nothing)(context)
        return drawn(picture or scribble(context, dice(context, 0)))


def tagged_moves(moves: list[str]) -> str:
    return f"<ANSWER_JSON>{json.dumps(moves)}</ANSWER_JSON>"


def tagged_choice(choice: int, why: str) -> str:
    return f"<FINAL_ANSWER_JSON>{json.dumps({'choice': choice, 'rationale': why})}</FINAL_ANSWER_JSON>"


def _maze_answer(context: Context) -> str | None:
    board = sight.board_of(context)
    maze = sight.read_maze(board.initial) if board else None
    if board is None or maze is None:
        return None
    way = mazes.solve(maze) or []
    want, done = sight.wanted(context), len(board.plans)
    if want == "plan":
        return sight.next_move_words(way[done]) if done < len(way) else "DONE"
    if want == "describe":
        row, col = _place(maze, board.plans)
        return f"The blue dot stands in row {row + 1}, column {col + 1}."
    return tagged_moves(way)


def _maze_picture(context: Context) -> Picture | None:
    board = sight.board_of(context)
    maze = sight.read_maze(board.initial) if board else None
    if board is None or maze is None:
        return None
    return mazes.render(maze, _place(maze, board.plans))


def _place(maze: mazes.Maze, plans: list[str]) -> tuple[int, int]:
    return mazes.replay(maze, plans)[-1] if plans else maze.start


def _sliding_answer(context: Context) -> str | None:
    found = read_sliding_board(context)
    if found is None:
        return None
    board, state, goal = found
    moves = slidings.solve(state, goal)
    want, done = sight.wanted(context), len(board.plans)
    if want == "plan":
        return sight.next_move_words(moves[done]) if done < len(moves) else "DONE"
    if want == "describe":
        return f"The cells hold, row by row, the colors numbered {list(_slid(state, board.plans))}."
    return tagged_moves(moves)


def _sliding_picture(context: Context) -> Picture | None:
    found = read_sliding_board(context)
    return slidings.render(_slid(found[1], found[0].plans)) if found else None


def read_sliding_board(context: Context) -> tuple[sight.Board, slidings.State, slidings.State] | None:
    """The puzzle, its state and its goal: the one shown, or the one all puzzles share."""
    board = sight.board_of(context)
    state = sight.read_sliding(board.initial) if board else None
    if board is None or state is None:
        return None
    goal = sight.read_sliding(board.goal) if board.goal else None
    return board, state, goal or slidings.goal_state(round(len(state) ** 0.5))


def _slid(state: slidings.State, plans: list[str]) -> slidings.State:
    for move in plans:
        state = slidings.apply(state, move) or state
    return state


def jigsaw_pieces(context: Context) -> tuple[Picture, Picture, Picture] | None:
    """Reference and candidates, by their labels."""
    reference = sight.labelled(context, "REFERENCE_2x2:")
    candidates = [sight.labelled(context, f"CANDIDATE_{i}:") for i in (0, 1)]
    if reference is None or candidates[0] is None or candidates[1] is None:
        return None
    return reference, candidates[0], candidates[1]


def _jigsaw_answer(context: Context) -> str | None:
    pieces = jigsaw_pieces(context)
    if pieces is None:
        return None
    costs = [jigsaws.seam_cost(jigsaws.complete(pieces[0], candidate)) for candidate in pieces[1:]]
    better = costs.index(min(costs))
    if sight.wanted(context) == "describe":
        return f"The seams {'run on' if asked_candidate(context) == better else 'break'} at the inner edges."
    return tagged_choice(better, "its seams run on across both inner edges")


def _jigsaw_picture(context: Context) -> Picture | None:
    pieces = jigsaw_pieces(context)
    return jigsaws.complete(pieces[0], pieces[1 + asked_candidate(context)]) if pieces else None


def asked_candidate(context: Context) -> int:
    found = re.search(r"Candidate (\d)", context.texts[-1])
    return int(found[1]) if found and found[1] in "01" else 0


def _voila_answer(context: Context) -> str | None:
    from sketchmark.models.players.analogy import solve_step

    return solve_step(context)


def _voila_picture(context: Context) -> Picture | None:
    from sketchmark.models.players.analogy import draw_answer

    return draw_answer(context)


def _nothing(context: Context) -> None:
    """A world the solver does not know."""


_ANSWERS: Mapping[str, Callable[[Context], str | None]] = {
    "maze": _maze_answer,
    "sliding": _sliding_answer,
    "jigsaw": _jigsaw_answer,
    "voila": _voila_answer,
}
_PICTURES: Mapping[str, Callable[[Context], Picture | None]] = {
    "maze": _maze_picture,
    "sliding": _sliding_picture,
    "jigsaw": _jigsaw_picture,
    "voila": _voila_picture,
}
