"""Uni-MMMU's scores (docs/benchmarks/uni-mmmu.md, "Picture scores"), of texts and of pictures, and fair ones beside.

Published: `*_text_exact`, `*_text_frame_acc` (extra moves go unpunished), `*_img_exact`, `*_img_frame_acc`,
`maze_parse_*`. Ours: `*_solved` (legal moves that reach the goal, whichever way), `*_img_legal` (drawn frames that
follow from the one before by one legal move), `sliding_parse_*`. Picture scores apply only to episodes that were
asked to draw, text scores only to items with a ground truth.

`--scoring` is how answers and boards are read: `official` as the published evaluator does, `strict` fairly, `lenient`
with the public port's reading of answers; boards are read our way for our own scores in all of them. `+dreamsim` adds
the published picture score of the jigsaw, which needs downloaded weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.scoring import frames, tagged
from sketchmark.tasks.worlds import answers, following
from sketchmark.worlds import maze as mazes
from sketchmark.worlds import sliding as slidings
from sketchmark.worlds.maze_play import MazePlay
from sketchmark.worlds.sliding_world import SlidingPlay

DREAMSIM = "+dreamsim"
OFFICIAL, STRICT = "official", "strict"
_OURS = ("maze_solved", "maze_img_legal")


def maze(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth, rows, cols = sample.target["moves"], sample.target["rows"], sample.target["cols"]
    official = _rules(grading) == OFFICIAL
    answer = _moves(episode, grading)

    def read(picture: Picture) -> tuple[mazes.MazeReading, mazes.MazeReading]:
        """Our reading, and the one that the published scores are made of."""
        ours = mazes.read(picture, rows, cols)
        return ours, mazes.read(picture, rows, cols, published=True) if official else ours

    ours, seen = read(initial(sample))
    board = mazes.to_maze(ours)
    values = _moves_scores("maze", answer, truth)
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
    values |= following.moves(MazePlay(), sample, episode, answer)
    if official and seen.start is None:
        notes["skipped"] = "the published evaluator finds no agent in the input and leaves the item out"
        values = {name: value if name in _OURS else None for name, value in values.items()}
    return Scores(_with_truth(values, truth, notes), notes, unparsed=answer is None)


def sliding(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth, n = sample.target["moves"], sample.target["n"]
    official = _rules(grading) == OFFICIAL
    answer = _moves(episode, grading)
    first = slidings.to_state(slidings.read(initial(sample), n))
    expected = _slides(first, truth or ()) if first else []
    values = _moves_scores("sliding", answer, truth)
    goal = expected[-1] if expected else None
    values["sliding_solved"] = float(answer is not None and first is not None and _slides_to(first, answer, goal))
    notes: dict[str, Any] = {"answer": answer, "expected": truth}
    if first is None:
        notes["input_unreadable"] = True
    if episode.draw_attempts:
        drawn = [slidings.read(picture, n) for picture in episode.drawings]
        published = [slidings.read(picture, n, published=True) for picture in episode.drawings] if official else drawn
        true_frames = sample.frames() if sample.frames else []
        expected_frames = [slidings.read(frame, n, published=official) for frame in true_frames]
        exact, share, right = frames.compare(published, expected_frames)
        parsed = [all(cell != "?" for row in reading for cell in row) for reading in drawn]
        values |= {
            "sliding_img_exact": exact,
            "sliding_img_frame_acc": share,
            "sliding_img_legal": frames.share_legal(
                first, [slidings.to_state(reading) for reading in drawn], _slide_follows
            ),
            "sliding_parse_frame_success": sum(parsed) / len(parsed) if parsed else 0.0,
            "sliding_parse_all_ok": float(bool(parsed) and all(parsed)),
        }
        notes["frames_right"] = right
    values |= following.moves(SlidingPlay(), sample, episode, answer)
    return Scores(_with_truth(values, truth, notes), notes, unparsed=answer is None)


def jigsaw(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`jigsaw_img_similarity` is our weight-free measure of the two drawn completions, `jigsaw_img_dreamsim` the
    published one (1 - mean distance). Both give nothing for anything but exactly two drawings."""
    from sketchmark.worlds import jigsaw as jigsaws

    rules = _rules(grading)
    answer = answers.choice(episode.answer) if rules == STRICT else tagged.choice(episode.answer, rules)
    label = int(sample.target["label"])
    values: dict[str, float | None] = {"jigsaw_text_acc": float(answer == label)}
    notes: dict[str, Any] = {"answer": answer, "expected": label}
    values |= following.choice(sample, episode, answer)
    if tagged.echoes_template(episode.answer):
        notes["echo"] = "the prompt's own template was repeated"
    if episode.draw_attempts:
        pairs = _pairs(sample, episode)
        likeness = [jigsaws.similarity(true, drawn) for true, drawn in pairs] or [0.0, 0.0]
        values["jigsaw_img_similarity"] = sum(likeness) / 2
        notes["frames_right"] = [value >= 0.95 for value in likeness]
        if grading.scoring.endswith(DREAMSIM):
            from sketchmark.scoring.dreamsim import distance

            values["jigsaw_img_dreamsim"] = 1 - sum(distance(*pair) for pair in pairs) / 2 if pairs else 0.0
    return Scores(values, notes, unparsed=answer is None)


def _moves(episode: Episode, grading: Grading) -> list[str] | None:
    rules = _rules(grading)
    return answers.moves(episode.answer) if rules == STRICT else tagged.moves(episode.answer, rules)


def _rules(grading: Grading) -> str:
    return grading.scoring.removesuffix(DREAMSIM)


def _pairs(sample: Sample, episode: Episode) -> list[tuple[Picture, Picture]]:
    """(true, drawn) completions; none unless exactly two were drawn."""
    if len(episode.drawings) != 2 or not sample.frames:
        return []
    return list(zip(sample.frames(), episode.drawings, strict=True))


def _with_truth(
    values: dict[str, float | None], truth: Sequence[str] | None, notes: dict[str, Any]
) -> dict[str, float | None]:
    """Without a ground truth there is nothing to be right or wrong about; what drawings show by themselves stays."""
    if truth is not None:
        return values
    notes["no_truth"] = True
    alone = ("_img_legal", "_parse_frame_success", "_parse_all_ok", "maze_solved")
    return {name: value if name.endswith(alone) else None for name, value in values.items()}


def _moves_scores(world: str, answer: Sequence[str] | None, truth: Sequence[str] | None) -> dict[str, float | None]:
    agreeing = sum(a == t for a, t in zip(answer or (), truth or (), strict=False))
    return {
        f"{world}_text_exact": float(answer is not None and answer == truth),
        f"{world}_text_frame_acc": agreeing / len(truth) if truth else 0.0,
    }


def initial(sample: Sample) -> Picture:
    picture = sample.pictures["initial"]
    assert isinstance(picture, Picture)
    return picture


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


def _slides(state: slidings.State, moves: Sequence[str]) -> list[slidings.State]:
    states = []
    for move in moves:
        state = slidings.apply(state, move) or state
        states.append(state)
    return states


def _slides_to(state: slidings.State, moves: Sequence[str], goal: slidings.State | None) -> bool:
    for move in moves:
        after = slidings.apply(state, move)
        if after is None:
            return False
        state = after
    return state == goal


def _slide_follows(before: slidings.State, after: slidings.State) -> bool:
    return any(slidings.apply(before, move) == after for move in slidings.legal_moves(before))
