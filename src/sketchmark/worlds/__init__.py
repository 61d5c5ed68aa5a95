"""Puzzle families: rules, generator, renderer (state to picture), reader (picture to state), solver.

Each is described by one `World` (description.py), and all that is done with worlds goes through the list below: a
new world is a module with a `WORLD` and one line here (docs/add-a-world.md).

What a world tells of itself, once, for everything that is done with worlds.

`sketchmark make`, `read` and `list`, the demonstration, the scripted players and the viewer know no world by name:
they ask these. docs/add-a-world.md makes one from nothing.

A seed of its own for each sample of a set.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Literal

from sketchmark.episode.sample import Context, Draft, Drafts, Sample
from sketchmark.errors import UnknownName
from sketchmark.media import Picture

WORLDS = {
    "maze": "sketchmark.worlds.maze",
    "sliding": "sketchmark.worlds.sliding",
    "jigsaw": "sketchmark.worlds.jigsaw",
    "voila": "sketchmark.worlds.voila.world",
}
"""name -> the module whose `WORLD` describes it. Nothing is imported until it is asked for."""


def world(name: str) -> World:
    if name not in WORLDS:
        raise UnknownName(f"there is no world called {name!r}", f"there are: {', '.join(WORLDS)}")
    found: World = import_module(WORLDS[name]).WORLD
    return found


def every_world() -> Iterator[World]:
    return map(world, WORLDS)


def world_of(target: Mapping[str, Any]) -> World | None:
    """Whose sample it is. A target that names its world is believed. The others (published sets, and run folders on
    disk, which must keep working) belong to the first world that claims them."""
    named = target.get("world")
    if named is None:
        return next((each for each in every_world() if each.claims(target)), None)
    return world(named) if isinstance(named, str) and named in WORLDS else None


def board_of(target: Mapping[str, Any]) -> tuple[Board, int, int] | None:
    """The board that a sample's pictures show, with its rows and columns; None: no board that can be read."""
    found = world_of(target)
    if found is None or found.board is None:
        return None
    try:
        return found.board, *found.board.size_of(target)
    except (KeyError, TypeError, ValueError):
        return None


Label = int | str
"""What is in one cell, in the reader's shorthand."""

Add = Callable[[int, Sample], None]
"""Writes one sample, given its number in the set."""


class Play:
    """How scripted players play a world, from the texts and pixels of a context alone. None: nothing to say or draw;
    the player then guesses or scribbles. Worlds that are played by moves inherit from `playing.StepByStep` instead.
    """

    def answer(self, context: Context) -> str | None:
        """What `player/solver` says: always right."""

    def draw(self, context: Context) -> Picture | None:
        """What `player/solver` draws: always right."""

    def guess(self, context: Context, rng: Random) -> str | None:
        """What `player/random` says: a final answer at random, of the form that is asked for."""

    def glance(self, context: Context, lookahead: int, seed: int) -> str | None:
        """What `player/sketcher` says, who sees `lookahead` moves ahead and what its own drawings show."""

    def sketch(self, context: Context, shaky: bool, rng: Random) -> Picture | None:
        """What `player/sketcher` draws; where its hand is `shaky`, something else than it meant."""

    def conclude(self, context: Context, by_drawings: bool, wrong: bool) -> str | None:
        """What `player/flawed` answers at the end: what the drawings show (None: nothing of this puzzle), or else
        what is true; either of them `wrong` in one thing."""

    def misdraw(self, context: Context) -> Picture | None:
        """What `player/flawed` draws in an episode in which one thing is to be drawn wrongly."""


@dataclass(frozen=True)
class Argument:
    """A setting of the generator, as an option of `sketchmark make`. Its kind is that of its default."""

    name: str
    default: int | str
    help: str
    among: tuple[str, ...] = ()
    option: str = ""
    """What the command line calls it, where that is not its name."""
    is_folder: bool = False


@dataclass(frozen=True)
class Making:
    """How samples are made, and how they are written to disk."""

    about: str
    """One sentence: what `sketchmark make` writes."""
    samples: Callable[..., Iterator[Sample]]
    """`samples(seed=…, data=None, **arguments)`: endless, the same for the same seed. A task's `source` names it."""
    answer: str
    """Where in a sample's target the answer is."""
    arguments: tuple[Argument, ...] = ()
    pictures: tuple[str, ...] = ("initial",)
    """The pictures of a sample that are written, each as the field NAME_image."""
    column: str = ""
    """What the published tables call the answer, where that is not its name in the target."""
    column_type: Literal["string", "int64"] = "string"
    """In parquet; a `string` holds JSON."""
    folder: Callable[[Path], AbstractContextManager[Add]] | None = None
    """Writes the folders of the published set, for worlds that have one."""


@dataclass(frozen=True)
class BoardReading:
    """What was seen in each cell, and where things were found that a board has one of."""

    grid: list[list[Label]]
    places: Mapping[str, tuple[int, int] | None] = field(default_factory=dict)


def in_words(seen: BoardReading, name: Callable[[Label], str]) -> str:
    """A board that was read, for the canvas `caption`."""
    rows = (f"Row {number}: {', '.join(map(name, row))}." for number, row in enumerate(seen.grid, 1))
    return " ".join(("The drawing shows a board.", *rows))


def _rows_and_cols(rows: int, cols: int) -> dict[str, int]:
    return {"rows": rows, "cols": cols}


def _size_in(target: Mapping[str, Any]) -> tuple[int, int]:
    return int(target["rows"]), int(target["cols"])


@dataclass(frozen=True)
class Board:
    """For worlds whose pictures are boards of cells: how they are read."""

    size: tuple[int, int]
    """Rows and columns, unless asked otherwise."""
    legend: str
    """One sentence: what `read` puts into the cells."""
    read: Callable[[Picture, int, int], BoardReading]
    edges: Callable[[Picture, int, int], tuple[list[int], list[int]]]
    """Where the rows and columns of cells begin in a picture, and where the last ones end."""
    name: Callable[[Label], str] = str
    """A label in plain words."""
    sized: Callable[[int, int], dict[str, int]] = _rows_and_cols
    """A size as the generator takes it and as targets write it down; BadInput for one that cannot be."""
    size_of: Callable[[Mapping[str, Any]], tuple[int, int]] = _size_in
    """The size that a target has written down."""


def _never(target: Mapping[str, Any]) -> bool:
    return False


@dataclass(frozen=True)
class World:
    """`about` is the docstring of the world's module: what one sees and may do. `told_by` are phrases of its prompts,
    by which players tell in which world they are."""

    name: str
    about: str
    told_by: tuple[str, ...]
    play: Play
    making: Making | None = None
    board: Board | None = None
    claims: Callable[[Mapping[str, Any]], bool] = _never
    """Whether a target that names no world is of this one. New worlds need none: their targets have the world's name
    as `world`."""
    corrupt: Callable[[Sample], list[Picture]] | None = None
    """The true pictures of a sample with one thing wrong, for the canvas of this name; none where nothing can be."""
    caption: Callable[[Sample, Picture], str] | None = None
    """What a drawing shows, in words, for the canvas of this name."""


_STRIDE = 1_000_003
"""Seeds of neighbouring runs must not overlap: run seed 1, sample 0 is not run seed 0, sample 1."""


def numbered_seeds(seed: int) -> Iterator[tuple[int, int]]:
    """Each sample's number and its seed, without end."""
    return ((number, seed * _STRIDE + number) for number in itertools.count())


def numbered_drafts(name: str, seed: int, make: Callable[[str, int, int], Sample]) -> Drafts:
    """`maze-0-000000`, `maze-0-000001` and so on, without end; `make` gets each id, its number and its own seed."""

    def draft(number: int, own_seed: int) -> Draft:
        id = f"{name}-{seed}-{number:06d}"
        return Draft(id, partial(make, id, number, own_seed))

    return Drafts(draft(number, own_seed) for number, own_seed in numbered_seeds(seed))
