"""Uni-MMMU's scores of mazes (docs/benchmarks/uni-mmmu.md, "Picture scores"), and fair ones of our own.

Published: `maze_text_exact`, `maze_text_frame_acc` (extra moves go unpunished), `maze_img_exact`,
`maze_img_frame_acc`, `maze_parse_*`. Ours: `maze_solved` (legal moves that reach the goal, whichever way) and
`maze_img_legal` (drawn frames that follow from the one before by one legal move). Picture scores apply only to
episodes that were asked to draw, text scores only to items with a ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.scoring import frames
from sketchmark.tasks.worlds import following
from sketchmark.tasks.worlds.move_scores import (
    OFFICIAL,
    aligned,
    answered_moves,
    initial,
    moves_scores,
    rules,
    with_truth,
)
from sketchmark.worlds import maze as mazes
from sketchmark.worlds.maze_play import MazePlay

_OURS = ("maze_solved", "maze_img_legal")


def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth, rows, cols = sample.target["moves"], sample.target["rows"], sample.target["cols"]
    official = rules(grading) == OFFICIAL
    answer = answered_moves(episode, grading)

    def read(picture: Picture) -> tuple[mazes.MazeReading, mazes.MazeReading]:
        """Our reading, and the one that the published scores are made of."""
        ours = mazes.read(picture, rows, cols)
        return ours, mazes.read(picture, rows, cols, published=True) if official else ours

    ours, seen = read(initial(sample))
    board = mazes.to_maze(ours)
    values = moves_scores("maze", answer, truth)
    values["maze_solved"] = float(answer is not None and board is not None and _walks(board, answer))
    notes: dict[str, Any] = {"answer": answer, "expected": truth}
    if board is None:
        notes["input_unreadable"] = True
    if episode.draw_attempts:
        expected = mazes.published_grids(seen, truth or ()) if board or official else []
        drawn = [read(picture) for picture in episode.drawings]
        exact, share, right = frames.compare([published.grid for _, published in drawn], expected)
        parsed = [_maze_parses(published, seen) for _, published in drawn]
        states = [mazes.to_maze(ours) for ours, _ in drawn]
        values |= {
            "maze_img_exact": exact,
            "maze_img_frame_acc": share,
            "maze_img_legal": frames.share_legal(board, states, _maze_follows),
            "maze_parse_frame_success": sum(parsed) / len(parsed) if parsed else 0.0,
            "maze_parse_all_ok": float(bool(parsed) and all(parsed)),
        }
        notes["frames_right"] = right
    values |= following.followed_moves(MazePlay(), sample, episode, answer)
    if official and seen.start is None:
        notes["skipped"] = "the published evaluator finds no agent in the input and leaves the item out"
        values = {name: value if name in _OURS else None for name, value in values.items()}
    return Scores(with_truth(values, truth, notes), notes, unparsed=answer is None)


def score_drawings(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Where the agent stands, frame by frame; walls that were drawn wrongly are another matter."""
    if not episode.drawings:
        return Scores({})
    rows, cols = sample.target["rows"], sample.target["cols"]
    found = score(sample, episode, Grading())
    board = mazes.to_maze(mazes.read(initial(sample), rows, cols))
    seen = [mazes.to_maze(mazes.read(picture, rows, cols)) for picture in episode.drawings]
    drawn = [state.start if state else None for state in seen]
    said = mazes.replay(board, found.notes["answer"] or ()) if board else []
    return aligned(found, "maze_img_frame_acc", said, drawn)


def _walks(board: mazes.Maze, moves: Sequence[str]) -> bool:
    """Only legal moves, and the last one reaches the goal (walking on past it does not count)."""
    at = board.start
    for move in moves:
        if not mazes.legal(board, at, move):
            return False
        at = mazes.step(board, at, move)
    return at == board.goal


def _maze_parses(drawn: mazes.MazeReading, seen: mazes.MazeReading) -> bool:
    """No `?`, the input's walls, and exactly one S and one G, or exactly one SG."""
    cells = [cell for row in drawn.grid for cell in row]
    walls = [[cell == "#" for cell in row] for row in drawn.grid]
    marks = (cells.count("S"), cells.count("G"), cells.count("SG"))
    same = walls == [[cell == "#" for cell in row] for row in seen.grid]
    return "?" not in cells and same and marks in ((1, 1, 0), (0, 0, 1))


def _maze_follows(before: mazes.Maze, after: mazes.Maze) -> bool:
    same = before.walls == after.walls and before.goal == after.goal
    return same and any(
        mazes.legal(before, before.start, move) and mazes.step(before, before.start, move) == after.start
        for move in mazes.MOVES
    )
