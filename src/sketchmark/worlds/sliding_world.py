"""Sliding puzzles as a world: samples, how a board is read, the published folders, and how players play them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.worlds import sliding, writing
from sketchmark.worlds.description import Add, Argument, Board, BoardReading, Label, Making, World, in_words
from sketchmark.worlds.playing import Shown, StepByStep
from sketchmark.worlds.seeding import numbered_drafts
from sketchmark.worlds.sliding import State

_NAMES = ("red", "blue", "green", "purple", "orange", "yellow", "brown", "pink", "grey")
_LONGEST_GUESS = 12


def samples(*, seed: int, data: Path | None, n: int, min_depth: int, max_depth: int) -> Iterator[Sample]:
    if min_depth > max_depth:
        raise BadInput(f"min_depth {min_depth} is over max_depth {max_depth}")
    goal = sliding.render(sliding.goal_state(n))

    def make(id: str, number: int, own_seed: int) -> Sample:
        state = sliding.generate(own_seed, min_depth + number % (max_depth - min_depth + 1), n)
        moves = sliding.solve(state)
        return Sample(
            id=id,
            pictures={"initial": sliding.render(state), "goal": goal},
            fields={"n": str(n), "tiles": str(n * n - 1)},
            target={"moves": moves, "n": n},
            groups={"steps": len(moves), "size": f"{n}x{n}"},
            steps=len(moves),
            frames=partial(sliding.frames, state, moves),
        )

    return numbered_drafts("sliding", seed, make)


class Sliding(NamedTuple):
    """Where the tiles are, and where they should be."""

    tiles: State
    goal: State


class SlidingPlay(StepByStep[Sliding]):
    unpictured = "I see the tiles before me, but I cannot picture them moved."

    def begin(self, shown: Shown) -> Sliding | None:
        """The goal is the one shown, or the one all puzzles share."""
        tiles = _read_tiles(shown.initial)
        if tiles is None:
            return None
        goal = _read_tiles(shown.goal) if shown.goal else None
        return Sliding(tiles, goal or sliding.goal_state(sliding.side_of(tiles)))

    def solve(self, state: Sliding) -> list[str]:
        return sliding.solve(state.tiles, state.goal)

    def after(self, state: Sliding, move: str) -> Sliding:
        return state._replace(tiles=sliding.apply(state.tiles, move) or state.tiles)

    def render(self, state: Sliding) -> Picture:
        return sliding.render(state.tiles)

    def shows(self, picture: Picture, state: Sliding) -> bool:
        return _read_tiles(picture) == state.tiles

    def in_words(self, state: Sliding) -> str:
        return f"The cells hold, row by row, the colors numbered {list(state.tiles)}."

    def slips(self, state: Sliding) -> Sequence[str]:
        return sliding.legal_moves(state.tiles)

    def blindly(self, state: Sliding) -> list[str]:
        """Moves at random until it happens to be solved, or the player gives up."""
        tiles, moves = state.tiles, list[str]()
        rng = Random(sum(place * tile for place, tile in enumerate(tiles)))
        while tiles != state.goal and len(moves) < _LONGEST_GUESS:
            move = rng.choice(sliding.legal_moves(tiles))
            tiles = sliding.apply(tiles, move) or tiles
            moves.append(move)
        return moves


_PLAY = SlidingPlay()


def _read_tiles(picture: Picture) -> State | None:
    for n in (3, 2, 4, 5):
        state = sliding.to_state(sliding.read(picture, n))
        if state is not None:
            return state
    return None


def _sized(rows: int, cols: int) -> dict[str, int]:
    if rows != cols:
        raise BadInput(f"a sliding puzzle of {rows}x{cols} cells is not square")
    return {"n": rows}


def _size_of(target: Mapping[str, Any]) -> tuple[int, int]:
    return int(target["n"]), int(target["n"])


def _read(picture: Picture, rows: int, cols: int) -> BoardReading:
    return BoardReading(sliding.read(picture, _sized(rows, cols)["n"]))


def _caption(sample: Sample, drawing: Picture) -> str:
    return in_words(_read(drawing, *_size_of(sample.target)), _name)


def _edges(picture: Picture, rows: int, cols: int) -> tuple[list[int], list[int]]:
    return sliding.edges(picture, **_sized(rows, cols))


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
    writing.refuse_existing(out / "sliding")
    with writing.index(out / "sliding/summary_steps_le_8.json") as enter:

        def add(number: int, sample: Sample) -> None:
            size = f"{sample.target['n']}x{sample.target['n']}"
            steps, words = (
                f"sliding/demo_{size}_{number:05d}_steps",
                f"sliding/demo_{size}_steps_words_{number:05d}.json",
            )
            pictures = [writing.picture_of(sample, "initial"), *writing.frames_of(sample)]
            saved = writing.save_steps(out, f"{steps}/demo_step_{{:04d}}.png", pictures)
            writing.save_json(out / words, {"steps_words": sample.target["moves"]})
            enter(steps_dir=steps, steps_words_json=words, initial_png=saved[0], final_png=saved[-1])

        yield add


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
        ),
        answer="moves",
        column="steps_words",
        folder=_folder,
    ),
    board=Board(
        size=(3, 3),
        legend="The number of each cell's colour (1 is red, the empty cell), or ? where it is unclear.",
        read=_read,
        edges=_edges,
        name=_name,
        sized=_sized,
        size_of=_size_of,
    ),
    claims=_claims,
    corrupt=_PLAY.corrupted,
    caption=_caption,
)

ALIASES = {
    "samples": "sketchmark.worlds.sliding_world:samples",
    "score": "sketchmark.tasks.worlds.sliding_scoring:score",
    "drawn": "sketchmark.tasks.worlds.sliding_scoring:score_drawings",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
