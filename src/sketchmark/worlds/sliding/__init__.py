"""Sliding puzzles: the world, its scores and its scripted players.

Scores published by Uni-MMMU (docs/benchmarks/uni-mmmu.md, "Picture scores"): `sliding_text_exact`,
`sliding_text_frame_acc` (extra moves cost nothing), `sliding_img_exact`, `sliding_img_frame_acc`. Ours:
`sliding_solved` (legal moves that reach the goal on any path), `sliding_img_legal` (drawn frames that follow from the
one before by one legal move), `sliding_parse_*`. Drawings are scored only if the episode was asked to draw, texts
only if the sample has a ground truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Context, Sample
from sketchmark.errors import BadInput
from sketchmark.media import Picture
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
from sketchmark.worlds.play import Shown, StepByStep, random_moves_are
from sketchmark.worlds.sliding import board as sliding
from sketchmark.worlds.sliding.board import State

_NAMES = ("red", "blue", "green", "purple", "orange", "yellow", "brown", "pink", "grey")
_LONGEST_GUESS = 12


def samples(
    *,
    seed: int,
    data: Path | None,
    n: int = 3,
    min_depth: int = 2,
    max_depth: int = 8,
    level: int = 0,
    look: str = MIXED,
    size: int = 0,
) -> Iterator[Sample]:
    """Yield samples. With a level they have all looks in turn, without one that of Uni-MMMU."""
    if level:
        check_level("sliding", level)
        min_depth = max_depth = level
    if min_depth > max_depth:
        raise BadInput(f"min_depth {min_depth} is over max_depth {max_depth}")
    look_in_turn("sliding", tuple(sliding.LOOKS), look, 0)  # refuses an unknown one
    looks = tuple(sliding.LOOKS) if level or look != MIXED else (sliding.PLAIN,)
    cell, end = boards.cell_for(size, n, sliding.around) if size else None, sliding.goal_state(n)
    sliding.render(end, size=cell)  # refuses what cannot be

    def make(id: str, number: int, own_seed: int) -> Sample:
        state = sliding.generate(own_seed, min_depth + number % (max_depth - min_depth + 1), n)
        way, seen = sliding.solve(state), look_in_turn("sliding", looks, look, number)
        return Sample(
            id=id,
            pictures={
                "initial": sliding.render(state, size=cell, look=seen),
                "goal": sliding.render(end, size=cell, look=seen),
            },
            fields={"n": str(n), "tiles": str(n * n - 1), "puzzle": _to_text(state), "puzzle_goal": _to_text(end)},
            target={"moves": way, "n": n, **({} if seen == sliding.PLAIN else {"look": seen})},
            groups={
                "steps": len(way),
                "size": f"{n}x{n}",
                **({"level": level} if level else {}),
                **({"look": seen} if len(looks) > 1 else {}),
            },
            steps=len(way),
            frames=partial(sliding.frames, state, way, cell, seen),
        )

    return numbered_drafts("sliding", seed, make)


class Sliding(NamedTuple):
    """Positions of the tiles, now and in the goal, and the look of the images."""

    tiles: State
    goal: State
    look: str = sliding.PLAIN


class SlidingPlay(StepByStep[Sliding]):
    unpictured = "I see the tiles before me, but I cannot picture them moved."

    def begin(self, shown: Shown) -> Sliding | None:
        """The goal is the one shown, or the one all puzzles share."""
        for look in dict.fromkeys((boards.look_in(shown.initial, sliding.LOOKS), sliding.PLAIN)):
            if tiles := _read_tiles(shown.initial, look):
                goal = _read_tiles(shown.goal, look) if shown.goal else None
                return Sliding(tiles, goal or sliding.goal_state(sliding.side_of(tiles)), look)
        return None

    def _in_text(self, context: Context) -> Shown | None:
        tiles, goal = (_from_text(context, label) for label in ("INITIAL state:", "FINAL state:"))
        return Shown(sliding.render(tiles), sliding.render(goal), ()) if tiles and goal else None

    def solve(self, state: Sliding) -> list[str]:
        return sliding.solve(state.tiles, state.goal)

    def after(self, state: Sliding, move: str) -> Sliding:
        return state._replace(tiles=sliding.apply(state.tiles, move) or state.tiles)

    def render(self, state: Sliding) -> Picture:
        return sliding.render(state.tiles, look=state.look)

    def shows(self, picture: Picture, state: Sliding) -> bool:
        return _read_tiles(picture, state.look) == state.tiles

    def in_words(self, state: Sliding) -> str:
        return f"The cells hold, row by row, the colors numbered {list(state.tiles)}."

    def slips(self, state: Sliding) -> Sequence[str]:
        return sliding.legal_moves(state.tiles)

    def blindly(self, state: Sliding) -> list[str]:
        """Moves at random until it happens to be solved, or the player gives up."""
        tiles, guess = state.tiles, list[str]()
        rng = Random(sum(place * tile for place, tile in enumerate(tiles)))
        while tiles != state.goal and len(guess) < _LONGEST_GUESS:
            move = rng.choice(sliding.legal_moves(tiles))
            tiles = sliding.apply(tiles, move) or tiles
            guess.append(move)
        return guess


_PLAY = SlidingPlay()


def _read_tiles(picture: Picture, look: str) -> State | None:
    for n in (3, 2, 4, 5):
        state = sliding.to_state(sliding.read(picture, n, look=look))
        if state is not None:
            return state
    return None


def _to_text(state: State) -> str:
    """Write the cells for the mode text_input, a line per row."""
    n = sliding.side_of(state)
    return "\n".join(
        " ".join(_name(tile).replace(" ", "") for tile in state[at : at + n]) for at in range(0, n * n, n)
    )


def _from_text(context: Context, label: str) -> State | None:
    """Return the cells that `_to_text` wrote behind a label; None if there are none."""
    behind = next((text.partition(label)[2] for text in context.texts if text.startswith(label)), "")
    cells = behind.split()
    numbers = {_name(number).replace(" ", ""): number for number in range(1, len(cells) + 1)}
    state = tuple(numbers.get(cell, 0) for cell in cells)
    return state if len(cells) in (4, 9, 16, 25) and sorted(state) == list(range(1, len(cells) + 1)) else None


def _sized(rows: int, cols: int) -> dict[str, int]:
    if rows != cols:
        raise BadInput(f"a sliding puzzle of {rows}x{cols} cells is not square")
    return {"n": rows}


def _size_of(target: Mapping[str, Any]) -> tuple[int, int]:
    return int(target["n"]), int(target["n"])


def _read(picture: Picture, rows: int, cols: int) -> BoardReading:
    return BoardReading(sliding.read(picture, _sized(rows, cols)["n"], look=boards.look_in(picture, sliding.LOOKS)))


def _edges(picture: Picture, rows: int, cols: int) -> tuple[list[int], list[int]]:
    return sliding.edges(picture, _sized(rows, cols)["n"], boards.look_in(picture, sliding.LOOKS))


def _caption(sample: Sample, drawing: Picture) -> str:
    n, look = _form(sample)
    return in_words(BoardReading(sliding.read(drawing, n, look=look)), _name)


def _form(sample: Sample) -> tuple[int, str]:
    """Return the cells per side and the look of a sample's images. Published samples have no look."""
    return sample.target["n"], look_in_turn(
        "sliding", tuple(sliding.LOOKS), sample.target.get("look", sliding.PLAIN), 0
    )


def _name(label: Label) -> str:
    if label == "?":
        return "unclear"
    number = int(label)
    return _NAMES[number - 1] if number <= len(_NAMES) else f"tile {number}"


def _claims(target: Mapping[str, Any]) -> bool:
    return {"moves", "n"} <= set(target)


@contextmanager
def _folder(out: Path) -> Iterator[Add]:
    """The sliding puzzles of the published `data.tar`. Paths in the index file are relative to `out`."""
    disk.refuse_existing(out / "sliding")
    with disk.index(out / "sliding/summary_steps_le_8.json") as enter:

        def add(number: int, sample: Sample) -> None:
            size = f"{sample.target['n']}x{sample.target['n']}"
            steps = f"sliding/demo_{size}_{number:05d}_steps"
            words = f"sliding/demo_{size}_steps_words_{number:05d}.json"
            pictures = [disk.picture_of(sample, "initial"), *disk.frames_of(sample)]
            saved = disk.save_steps(out, f"{steps}/demo_step_{{:04d}}.png", pictures)
            disk.save_json(out / words, {"steps_words": sample.target["moves"]})
            enter(steps_dir=steps, steps_words_json=words, initial_png=saved[0], final_png=saved[-1])

        yield add


def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth, (n, look) = sample.target["moves"], _form(sample)
    official = moves.rules(grading) == moves.OFFICIAL
    answer = moves.answered_moves(episode, grading)
    first = sliding.to_state(sliding.read(moves.initial(sample), n, look=look))
    expected = sliding.replay(first, truth or ()) if first else []
    values = moves.moves_scores("sliding", answer, truth)
    goal = expected[-1] if expected else None
    values["sliding_solved"] = float(answer is not None and first is not None and _slides_to(first, answer, goal))
    notes: dict[str, Any] = {"answer": answer, "expected": truth}
    if first is None:
        notes["input_unreadable"] = True
    if episode.draw_attempts:
        drawn = _drawn(sample, episode, grading)
        read = partial(sliding.read, n=n, published=official, look=look)
        published = list(map(read, episode.drawings)) if official else drawn
        expected_frames = list(map(read, sample.frames() if sample.frames else []))
        parsed = [all(cell != "?" for row in reading for cell in row) for reading in drawn]
        legal = moves.share_legal(first, [sliding.to_state(reading) for reading in drawn], _slide_follows)
        found, notes["frames_right"] = moves.frame_scores("sliding", published, expected_frames, legal, parsed)
        values |= found
    values |= moves.followed_moves(_PLAY, sample, episode, answer)
    return Scores(moves.with_truth(values, truth, notes), notes, unparsed=answer is None)


def score_drawings(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    if not episode.drawings:
        return Scores({})
    n, look = _form(sample)
    found = score(sample, episode, Grading())
    state = sliding.to_state(sliding.read(moves.initial(sample), n, look=look))
    drawn = list(map(sliding.to_state, _drawn(sample, episode, Grading())))
    said = sliding.replay(state, found.notes["answer"] or ()) if state else []
    return moves.aligned(found, "sliding_img_frame_acc", said, drawn)


def _drawn(sample: Sample, episode: Episode, grading: Grading) -> list[list[list[int | str]]]:
    """Read the drawings. `strict` accepts nothing but the tiles in them, if the input shows nothing else either."""
    (n, look), given = _form(sample), moves.initial(sample)
    plainly, strictly = (partial(read, n=n, look=look) for read in (sliding.read, sliding.read_strictly))
    read = strictly if moves.rules(grading) == moves.STRICT and strictly(given) == plainly(given) else plainly
    unread: list[list[int | str]] = [["?"] * n for _ in range(n)]
    return [unread if moves.is_refused(picture, grading) else read(picture) for picture in episode.drawings]


def _slides_to(state: State, answer: Sequence[str], goal: State | None) -> bool:
    for move in answer:
        after = sliding.apply(state, move)
        if after is None:
            return False
        state = after
    return state == goal


def _slide_follows(before: State, after: State) -> bool:
    return any(sliding.apply(before, move) == after for move in sliding.legal_moves(before))


_BOARD = Board(
    size=(3, 3),
    legend="The number of each cell's colour (1 is red, the empty cell), or ? where it is unclear.",
    read=_read,
    edges=_edges,
    name=_name,
    sized=_sized,
    size_of=_size_of,
)
WORLD = World(
    name="sliding",
    about=sliding.__doc__ or "",
    told_by=("sliding puzzle solver",),
    play=_PLAY,
    making=Making(
        about="Sliding puzzles of exact depth, 2x2 to 5x5, all with one goal.",
        samples=samples,
        arguments=(
            Argument("min_depth", 1, "Moves to the goal, at least."),
            Argument("max_depth", 8, "Moves to the goal, at most."),
            Argument("level", 0, "Moves to the goal, 1 to 5; 0: as min_depth and max_depth say."),
            Argument("look", MIXED, "Look; mixed: all in turn, without a level plain.", (*sliding.LOOKS, MIXED)),
            Argument("size", 0, "Pixels a side, at most; 0: as Uni-MMMU."),
        ),
        answer="moves",
        column="steps_words",
        folder=_folder,
    ),
    board=_BOARD,
    claims=_claims,
    corrupt=_PLAY.corrupted,
    caption=_caption,
    scorers={"score": score, "drawn": score_drawings},
    chances=tuple(random_moves_are(level) for level in LEVELS),
    rank=2,
)
