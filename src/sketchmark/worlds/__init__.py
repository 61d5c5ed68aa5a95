"""Worlds, that is, families of generated puzzles, and the registry that finds them by name.

A world has rules, a generator, a renderer (state to image), an image reader (image to state) and a solver. One
`World` describes it. Commands, scripted players, canvases and the viewer know no world by name: they ask `Worlds`.
docs/add-a-world.md builds one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import MappingProxyType, ModuleType
from typing import Any, Literal

from sketchmark.episode import Scorer
from sketchmark.episode.protocol import Protocol
from sketchmark.episode.sample import Context, Draft, Drafts, Sample
from sketchmark.errors import BadInput, UnknownName
from sketchmark.media import Picture

Label = int | str
"""Content of one cell, in the image reader's shorthand."""

LEVELS = (1, 2, 3, 4, 5)

Add = Callable[[int, Sample], None]
"""Writes one sample, given its number in the set."""


class Play:
    """Replies of the scripted players in a world, made only from the texts and pixels of a context. None: no answer
    or drawing; the player then guesses or scribbles. Worlds that are solved move by move inherit from
    `play.StepByStep` instead."""

    def answer(self, context: Context) -> str | None:
        """Return the reply of `player/solver`: always right."""

    def draw(self, context: Context) -> Picture | None:
        """Return the drawing of `player/solver`: always right."""

    def guess(self, context: Context, rng: Random) -> str | None:
        """Return the reply of `player/random`: a random final answer in the requested form."""

    def glance(self, context: Context, lookahead: int, seed: int) -> str | None:
        """Return the reply of `player/sketcher`, which sees `lookahead` moves ahead and its own drawings."""

    def sketch(self, context: Context, shaky: bool, rng: Random) -> Picture | None:
        """Return the drawing of `player/sketcher`; if its hand is `shaky`, not the one it meant."""

    def conclude(self, context: Context, by_drawings: bool, wrong: bool) -> str | None:
        """Return the final answer of `player/flawed`: as the drawings show (None: nothing of this puzzle), or else
        the ground truth; either of them with one error if `wrong`."""

    def misdraw(self, context: Context) -> Picture | None:
        """Return the drawing of `player/flawed` in an episode with one drawing error."""


@dataclass(frozen=True)
class Argument:
    """A setting of the generator, as an option of `sketchmark make`. Its kind is that of its default."""

    name: str
    default: int | str
    help: str
    among: tuple[str, ...] = ()
    option: str = ""
    """Its name on the command line, if different."""
    is_folder: bool = False


@dataclass(frozen=True)
class Making:
    """Generator of a world's samples, and their form on disk."""

    about: str
    """One sentence: what `sketchmark make` writes."""
    samples: Callable[..., Iterator[Sample]]
    """`samples(seed=…, data=None, **arguments)`: endless, the same for the same seed. A task's `source` names it."""
    answer: str
    """Key of the answer in a sample's target."""
    arguments: tuple[Argument, ...] = ()
    pictures: tuple[str, ...] = ("initial",)
    """The pictures of a sample that are written, each as the field NAME_image."""
    column: str = ""
    """Name of the answer in the published tables, if different from its key in the target."""
    column_type: Literal["string", "int64"] = "string"
    """In parquet; a `string` holds JSON."""
    folder: Callable[[Path], AbstractContextManager[Add]] | None = None
    """Writes the folders of the published set, for worlds that have one."""


@dataclass(frozen=True)
class BoardReading:
    """Label of each cell, and positions of the things that a board has one of."""

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
    """Returns where the rows and columns of cells begin in an image, and where the last ones end."""
    name: Callable[[Label], str] = str
    """Returns a label as text."""
    sized: Callable[[int, int], dict[str, int]] = _rows_and_cols
    """A size as the generator takes it and as targets write it down; BadInput for one that cannot be."""
    size_of: Callable[[Mapping[str, Any]], tuple[int, int]] = _size_in
    """The size that a target has written down."""

    def caption(self, sample: Sample, drawing: Picture) -> str:
        """Return a drawing as text, for a world's `caption`."""
        return in_words(self.read(drawing, *self.size_of(sample.target)), self.name)


def _never(target: Mapping[str, Any]) -> bool:
    return False


@dataclass(frozen=True)
class World:
    """Description of a world. `about` is the docstring of its module: what you see and may do. `told_by` are phrases
    of its prompts by which players recognise the world."""

    name: str
    about: str
    told_by: tuple[str, ...]
    play: Play
    making: Making | None = None
    board: Board | None = None
    claims: Callable[[Mapping[str, Any]], bool] = _never
    """Returns whether a target without `world` belongs here. New worlds need none: their targets have the name as
    `world`."""
    corrupt: Callable[[Sample], list[Picture]] | None = None
    """The true pictures of a sample with one thing wrong, for the canvas of this name; none where nothing can be."""
    caption: Callable[[Sample, Picture], str] | None = None
    """Returns a drawing as text, for the canvas of this name."""
    reading: Callable[[Picture], str | None] | None = None
    """For worlds without a `board`: returns what an image shows, line by line; None if it cannot be read."""
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    """Scorers by the name that task files and run folders use: `score` is `NAME.score` there."""
    chances: tuple[float, ...] = ()
    """Expected headline score of `player/random` at each level; empty for worlds without levels."""
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    """Protocols that any task file may name."""
    rank: int = 100
    """Position in lists and among the worlds that may claim a target. Equal ranks are ordered by name."""

    def code(self, name: str) -> Any:
        """Return what `NAME.name` means in a task file, or None. `NAME` without a dot is `NAME.samples`."""
        return self.making and self.making.samples if name == "samples" else self.scorers.get(name)


Load = Callable[[], ModuleType]
"""Imports the module that defines a `WORLD`."""

_NONE: Mapping[str, Load] = MappingProxyType({})


class Worlds:
    """Registry of worlds: the built-in ones, those of installed packages, and those in `included` files of the user.
    A world is imported when it is asked for. A later source replaces a world of the same name."""

    def __init__(self, included: Mapping[str, Load] = _NONE) -> None:
        self._load: Mapping[str, Load] = {**_built_in(), **_installed(), **included}

    def __contains__(self, name: object) -> bool:
        return name in self._load

    def __getitem__(self, name: str) -> World:
        if name not in self._load:
            raise UnknownName(f"there is no world called {name!r}", f"there are: {', '.join(self.names)}")
        try:
            found = getattr(self._load[name](), "WORLD", None)
        except ImportError as error:
            raise BadInput(f"the world {name!r} cannot be loaded: {error}", "reinstall its package") from error
        if not isinstance(found, World) or found.name != name:
            raise BadInput(
                f"the module of the world {name!r} has no WORLD of that name", "define WORLD = World(…) in it"
            )
        return found

    def __iter__(self) -> Iterator[World]:
        return iter(self._all)

    @cached_property
    def _all(self) -> list[World]:
        return sorted(map(self.__getitem__, sorted(self._load)), key=lambda world: world.rank)

    @property
    def names(self) -> list[str]:
        return [world.name for world in self]

    def of(self, target: Mapping[str, Any]) -> World | None:
        """Return the world of a sample's target. A target may name it. The others (published datasets and existing
        run folders) belong to the first world that claims them."""
        named = target.get("world")
        if named is None:
            return next((each for each in self if each.claims(target)), None)
        return self[named] if isinstance(named, str) and named in self else None

    def board_of(self, target: Mapping[str, Any]) -> tuple[Board, int, int] | None:
        """Return the board that a sample's images show, with its rows and columns; None without a readable board."""
        found = self.of(target)
        if found is None or found.board is None:
            return None
        try:
            return found.board, *found.board.size_of(target)
        except (KeyError, TypeError, ValueError):
            return None


@cache
def installed_worlds() -> Worlds:
    """Return the worlds that are found without `--include`."""
    return Worlds()


def task_files(module: Path) -> list[Path]:
    """Return the task files that belong to a world's Python file: those of its folder, or `NAME.yaml` and
    `NAME_hard.yaml`."""
    if module.name == "__init__.py":
        return sorted(path for path in module.parent.glob("*.yaml") if not path.name.startswith("_"))
    named = (module.with_name(f"{module.stem}{end}.yaml") for end in ("", "_hard"))
    return [path for path in named if path.is_file()]


def installed_task_files() -> list[Path]:
    """Return the task files of worlds in installed packages. Their modules are not imported."""
    found = []
    for point in metadata.entry_points(group=_GROUP):
        with suppress(ModuleNotFoundError):  # `Worlds` reports it when the world is asked for
            spec = find_spec(point.module)
            found += task_files(Path(spec.origin)) if spec and spec.origin else []
    return found


_GROUP = "sketchmark.worlds"
"""Entry points: the world's name, and the module that defines its `WORLD`."""


def _built_in() -> dict[str, Load]:
    """Each folder here is a world, and so is each module with a task file of its name."""
    here = Path(__file__).parent
    folders = [path.parent.name for path in here.glob("*/__init__.py")]
    modules = [path.stem for path in here.glob("*.yaml") if path.with_suffix(".py").is_file()]
    return {name: partial(import_module, f"{__name__}.{name}") for name in [*folders, *modules]}


def _installed() -> dict[str, Load]:
    return {point.name: partial(import_module, point.module) for point in metadata.entry_points(group=_GROUP)}


def check_level(name: str, level: int) -> None:
    """Refuse a level that a world does not have."""
    if level not in LEVELS:
        raise BadInput(f"{name} has no level {level}", f"levels are {LEVELS[0]} to {LEVELS[-1]}")


MIXED = "mixed"
"""The look of a set of samples that have all looks in turn."""


def look_in_turn(name: str, looks: Sequence[str], look: str, turn: int) -> str:
    """Return the look of a sample: the one that is asked for, or one of all in turn. Refuse an unknown one."""
    if look != MIXED and look not in looks:
        raise BadInput(f"{name} has no look {look!r}", f"looks are {', '.join(looks)}, or {MIXED}")
    return looks[turn % len(looks)] if look == MIXED else look


_STRIDE = 1_000_003
"""Seeds of neighbouring runs must not overlap: run seed 1, sample 0 is not run seed 0, sample 1."""


FIRST_TRAINING_SEED = 10**15
"""Seeds of this size, or below minus this, are for training (`sketchmark.training`). A task refuses them, so a run
never has a training sample. Python's generators ignore the sign of a seed."""


def refuse_training_seed(seed: int) -> None:
    if abs(seed) >= FIRST_TRAINING_SEED:
        raise BadInput(f"seed {seed} makes training samples", f"give a seed below {FIRST_TRAINING_SEED}")


def numbered_seeds(seed: int) -> Iterator[tuple[int, int]]:
    """Each sample's number and its seed, without end."""
    return ((number, seed * _STRIDE + number) for number in itertools.count())


def numbered_drafts(name: str, seed: int, make: Callable[[str, int, int], Sample]) -> Drafts:
    """`maze-0-000000`, `maze-0-000001` and so on, without end; `make` gets each id, its number and its own seed."""

    def draft(number: int, own_seed: int) -> Draft:
        id = f"{name}-{seed}-{number:06d}"
        return Draft(id, partial(make, id, number, own_seed))

    return Drafts(draft(number, own_seed) for number, own_seed in numbered_seeds(seed))
