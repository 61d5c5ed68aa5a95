"""Mazes as a world: samples, how a board is read, the published folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.worlds import maze, writing
from sketchmark.worlds.description import Add, Argument, Board, BoardReading, Label, Making, World, in_words
from sketchmark.worlds.maze_play import MazePlay
from sketchmark.worlds.seeding import numbered_drafts

_PLAY = MazePlay()


def samples(
    *, seed: int, data: Path | None, rows: int, cols: int, min_steps: int, max_steps: int
) -> Iterator[Sample]:
    def make(id: str, number: int, own_seed: int) -> Sample:
        made = maze.generate(own_seed, rows, cols, min_steps, max_steps)
        moves = maze.solve(made) or []
        return Sample(
            id=id,
            pictures={"initial": maze.render(made)},
            target={"moves": moves, "rows": rows, "cols": cols},
            groups={"steps": len(moves), "size": f"{rows}x{cols}"},
            steps=len(moves),
            frames=partial(maze.frames, made, moves),
        )

    return numbered_drafts("maze", seed, make)


def _read_board(picture: Picture, rows: int, cols: int) -> BoardReading:
    seen = maze.read(picture, rows, cols)
    return BoardReading([[*row] for row in seen.grid], {"start": seen.start, "goal": seen.goal})


def _caption(sample: Sample, drawing: Picture) -> str:
    return in_words(_read_board(drawing, sample.target["rows"], sample.target["cols"]), _name)


def _name(label: Label) -> str:
    names = {"#": "wall", " ": "floor", "S": "agent", "G": "goal", "SG": "agent in the goal", "?": "unclear"}
    return names[str(label)]


def _claims(target: Mapping[str, Any]) -> bool:
    return {"moves", "rows", "cols"} <= set(target)


@contextmanager
def _folder(out: Path) -> Iterator[Add]:
    """The mazes of the published `data.tar`."""
    writing.refuse_existing(out / "maze")

    def add(number: int, sample: Sample) -> None:
        size = f"{sample.target['rows']}x{sample.target['cols']}"
        pictures = [writing.picture_of(sample, "initial"), *writing.frames_of(sample)]
        writing.save_steps(out, f"maze/maze_{size}_{number:05d}_steps/maze_step_{{:04d}}.png", pictures)
        writing.save_json(out / f"maze/maze_{size}_steps_{number:05d}.json", {"steps_long": sample.target["moves"]})

    yield add


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
        ),
        answer="moves",
        column="steps",
        folder=_folder,
    ),
    board=Board(
        size=(6, 6),
        legend="Walls (#), floor, start (S), goal (G), both (SG), or unclear (?) for each cell.",
        read=_read_board,
        edges=maze.edges,
        name=_name,
    ),
    claims=_claims,
    corrupt=_PLAY.corrupted,
    caption=_caption,
)

ALIASES = {
    "samples": "sketchmark.worlds.maze_world:samples",
    "score": "sketchmark.tasks.worlds.maze_scoring:score",
    "drawn": "sketchmark.tasks.worlds.maze_scoring:score_drawings",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
