"""Image reading, speed, players and contact sheets of the worlds.

python -m bench.worlds reading [WORLD,…] [IMAGES]   accuracy of the image reader, clean and after each distortion
python -m bench.worlds speed [WORLD,…] [IMAGES]     frames made, drawn and read per second at 512x512, on one core
python -m bench.worlds players [WORLD,…] [SAMPLES]  solver, random and flawed in all worlds, by level
python -m bench.worlds unique [WORLD,…] [PUZZLES]   puzzles with one shortest solution, by search
python -m bench.worlds sheets [WORLD,…]             docs/pictures/worlds/WORLD.png: levels, looks and steps
"""

from __future__ import annotations

import io
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from PIL import Image, ImageDraw, ImageFilter, ImageFont

import sketchmark
from sketchmark.audit import audit
from sketchmark.media import Picture
from sketchmark.notebook import Run
from sketchmark.stats.intervals import binomial_cdf
from sketchmark.worlds import LEVELS, MIXED, World, installed_worlds
from sketchmark.worlds.jigsaw import panels as jigsaw
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding
from sketchmark.worlds.steps import SIZE, StepWorld

Distortion = Callable[[Image.Image, random.Random], Image.Image]
SHEETS = Path(__file__).parents[1] / "docs/pictures/worlds"


def _clean(image: Image.Image, dice: random.Random) -> Image.Image:
    return image


def _jpeg(image: Image.Image, dice: random.Random) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=dice.randint(60, 90))
    return Image.open(io.BytesIO(buffer.getvalue())).convert("RGB")


def _resized(image: Image.Image, dice: random.Random) -> Image.Image:
    side = dice.randint(256, 1024)
    return image.resize((side, side), dice.choice((Image.Resampling.BILINEAR, Image.Resampling.LANCZOS)))


def _blurred(image: Image.Image, dice: random.Random) -> Image.Image:
    """Blur by up to two pixels of an image of the usual size."""
    return image.filter(ImageFilter.GaussianBlur(dice.uniform(0.5, 2.0) * image.width / SIZE))


def _recoloured(image: Image.Image, dice: random.Random) -> Image.Image:
    """Change brightness by up to a tenth, and each channel by up to 6% and 8 of 255 more."""
    bright = dice.uniform(0.9, 1.1)
    bands = []
    for band in image.split():
        gain, offset = bright * dice.uniform(0.94, 1.06), dice.uniform(-8, 8)
        bands.append(band.point([min(255, max(0, round(gain * value + offset))) for value in range(256)]))
    return Image.merge("RGB", bands)


def _all(image: Image.Image, dice: random.Random) -> Image.Image:
    for distort in (_resized, _blurred, _recoloured, _jpeg):
        image = distort(image, dice)
    return image


DISTORTIONS: Mapping[str, Distortion] = MappingProxyType(
    {
        "clean": _clean,
        "jpeg": _jpeg,
        "resized": _resized,
        "blurred": _blurred,
        "recoloured": _recoloured,
        "all four": _all,
    }
)


def step_worlds() -> dict[str, StepWorld[Any]]:
    return {world.name: world.play for world in installed_worlds() if isinstance(world.play, StepWorld)}


def scenes(world: StepWorld[Any], count: int) -> Iterator[Any]:
    """Yield scenes of all levels and looks: puzzles, and the states on the way to their solution."""
    for number in itertools.count():
        level, look = LEVELS[number % len(LEVELS)], world.looks[number // len(LEVELS) % len(world.looks)]
        state = world.puzzle(number, level, look)
        for step in ("", *world.solve(state)):
            state = world.after(state, step) if step else state
            if count <= 0:
                return
            yield state
            count -= 1


@dataclass(frozen=True)
class Subject:
    """What is measured of a world. `read` gets an image and what it shows, from which it may take no more than a
    scorer knows: the size of the board, and for a jigsaw the two completions."""

    scenes: Callable[[int], Iterator[Any]]
    draw: Callable[[Any], Picture]
    read: Callable[[Picture, Any], Any]


def _mazes(count: int) -> Iterator[maze.Maze]:
    for seed in range(count):
        made = replace(maze.generate(seed), look=list(maze.LOOKS)[seed % len(maze.LOOKS)])
        yield from (replace(made, start=at) for at in (made.start, *maze.replay(made, maze.solve(made) or ())))


def _tiles(count: int) -> Iterator[tuple[sliding.State, str]]:
    for seed in range(count):
        state, look = sliding.generate(seed, 1 + seed % 8), list(sliding.LOOKS)[seed % len(sliding.LOOKS)]
        yield from ((one, look) for one in (state, *sliding.replay(state, sliding.solve(state))))


def _tiles_in(picture: Picture, shown: tuple[sliding.State, str]) -> tuple[sliding.State, str] | None:
    found = sliding.to_state(sliding.read_strictly(picture, look=shown[1]))
    return (found, shown[1]) if found else None


def _panels(looks: Sequence[str], count: int) -> Iterator[tuple[int, list[Picture]]]:
    for seed in range(count):
        level, look = LEVELS[seed % len(LEVELS)], looks[seed // len(LEVELS) % len(looks)]
        frames = jigsaw.frames(jigsaw.generate(seed, size=SIZE, level=level, look=look))
        yield from ((label, frames) for label in (0, 1))


def _redrawn(panel: tuple[int, list[Picture]]) -> Picture:
    """Return a panel with one other pixel: a reader knows the file of the ground truth without looking at it."""
    image = panel[1][panel[0]].image()
    image.paste("black", (0, 0, 1, 1))
    return Picture.from_image(image)


def _panel_in(picture: Picture, panel: tuple[int, list[Picture]]) -> tuple[int, list[Picture]] | None:
    shown = [label for label in (0, 1) if jigsaw.shows(picture, panel[1][label], panel[1][1 - label])]
    return (shown[0], panel[1]) if shown else None


@dataclass(frozen=True)
class Drawn:
    """A scene, and those of which its image may have no trace if it is scored as a drawing."""

    scene: Any
    rivals: tuple[Any, ...] = field(default=(), compare=False)


def _steps(world: StepWorld[Any], scored: bool, count: int) -> Iterator[Drawn]:
    first: Any = None
    before: Any = None
    for state in scenes(world, count):
        steps = world.choices(before) if before else ()
        step: str | None = next((each for each in steps if world.after(before, each) == state), None)
        first = first if step else state
        yield Drawn(state, world.rivals(first, before, step) if scored and step else ())
        before = state


def subject_of(world: StepWorld[Any], scored: bool = True) -> Subject:
    fresh = type(world)()  # it does not know the images that the other one drew

    def read(picture: Picture, drawn: Drawn) -> Drawn | None:
        found = fresh.read(picture, *drawn.rivals)
        return None if found is None else Drawn(found)

    return Subject(partial(_steps, world, scored), lambda drawn: world.render(drawn.scene), read)


def subjects(scored: bool = True) -> dict[str, Subject]:
    """All worlds. Images are read as in scoring, or without the scenes of which a drawing may have no trace. Mazes
    and tiles are drawn with cells that make a page of 512x512. Painted jigsaws, which take long to make, are apart
    from the printed ones."""
    return {
        "maze": Subject(
            _mazes,
            lambda state: maze.render(state, size=76),
            lambda picture, state: maze.to_maze(maze.read_strictly(picture, look=state.look)),
        ),
        "sliding": Subject(
            _tiles,
            lambda shown: sliding.render(shown[0], size=146, look=shown[1]),
            _tiles_in,
        ),
        **{
            name: Subject(partial(_panels, looks), _redrawn, _panel_in)
            for name, looks in (("jigsaw", jigsaw.PRINTED), ("jigsaw_painted", (jigsaw.PAINTED,)))
        },
        **{name: subject_of(world, scored) for name, world in sorted(step_worlds().items())},
    }


def misread(subject: Subject, count: int, distort: Distortion) -> list[tuple[Any, Any]]:
    """Return what images show and what was read in them, where that differs; None is unread."""
    wrong = []
    for number, state in enumerate(itertools.islice(subject.scenes(count), count)):
        picture = subject.draw(state)
        if distort is not _clean:
            buffer = io.BytesIO()
            distort(picture.image(), random.Random(number)).save(buffer, "BMP")
            picture = Picture.from_bytes(buffer.getvalue())
        found = subject.read(picture, state)
        if found != state:
            wrong.append((state, found))
    return wrong


def solutions(world: StepWorld[Any], first: Any, most: int) -> dict[int, int]:
    """Return how many lists of legal steps lead to an accepted answer, by their length up to `most`: a search that
    does not ask the solver."""
    found: dict[int, int] = {}
    layer: dict[Any, tuple[int, tuple[str, ...]]] = {first: (1, ())}
    for length in range(1, most + 1):
        following: dict[Any, tuple[int, tuple[str, ...]]] = {}
        for state, (count, steps) in layer.items():
            for step in world.choices(state):
                if world.legal(state, step):
                    after = world.after(state, step)
                    following[after] = (following.get(after, (0,))[0] + count, (*steps, step))
        right = {state for state, (_, steps) in following.items() if _solves(world, first, state, steps)}
        if right:
            found[length] = sum(following[state][0] for state in right)
        layer = {state: following[state] for state in following if state not in right}
    return found


def _solves(world: StepWorld[Any], first: Any, state: Any, steps: Sequence[str]) -> bool:
    """Return whether steps are a solution. If the answer is not the steps, no step may be left: a die may show its
    last number before."""
    left = not world.answers_in_moves and any(world.legal(state, step) for step in world.choices(state))
    return not left and world.accepts(first, world.conclude_from(first, steps))


def unique(worlds: Mapping[str, StepWorld[Any]], count: int) -> None:
    """Print the puzzles whose least number of steps is the level, with one list of so many steps."""
    print(f"Puzzles with one shortest solution, as long as the level, of {count} per level\n")
    for name, world in worlds.items():
        print(f"{name:<12}", end="", flush=True)
        for level in LEVELS:
            puzzles = (world.puzzle(seed, level, world.looks[0]) for seed in range(count))
            right = sum(solutions(world, puzzle, level) == {level: 1} for puzzle in puzzles)
            print(f"{right:>6}", end="", flush=True)
        print()


def reading(chosen: Mapping[str, Subject], count: int) -> None:
    print(f"Images read right, of {count:,} each; below: wrong/unread. {time.strftime('%Y-%m-%d')}\n")
    print(f"{'':<15}" + "".join(f"{name:>11}" for name in DISTORTIONS))
    for name, subject in chosen.items():
        missed = [misread(subject, count, distort) for distort in DISTORTIONS.values()]
        print(f"{name:<15}" + "".join(f"{1 - len(wrong) / count:>11.2%}" for wrong in missed))
        unread = [sum(found is None for _, found in wrong) for wrong in missed]
        pairs = (f"{len(wrong) - lost}/{lost}" for wrong, lost in zip(missed, unread, strict=True))
        print(f"{'':<15}" + "".join(f"{pair:>11}" for pair in pairs), flush=True)


def speed(chosen: Mapping[str, Subject], count: int) -> None:
    """Made and drawn: a file for each image. Read: from that file. Together: one after the other, as in training."""
    print(f"Images of {SIZE}x{SIZE} per second of CPU time, {count:,} each, {time.strftime('%Y-%m-%d')}\n")
    print(f"{'world':<15}{'made':>10}{'drawn':>10}{'made+drawn':>12}{'read':>10}{'together':>10}")
    for name, subject in chosen.items():
        list(itertools.islice(subject.scenes(5), 5))  # imports
        begin = time.process_time()
        states = list(itertools.islice(subject.scenes(count), count))
        made = time.process_time()
        pictures = [subject.draw(state) for state in states]
        drawn = time.process_time()
        for picture, state in zip(pictures, states, strict=True):
            subject.read(picture, state)
        read = time.process_time()
        spent = (made - begin, drawn - made, drawn - begin, read - drawn, read - begin)
        widths = (10, 10, 12, 10, 10)
        print(
            f"{name:<15}" + "".join(f"{count / part:>{wide},.0f}" for part, wide in zip(spent, widths, strict=True))
        )


FAULTS: Mapping[str, tuple[dict[str, float], dict[str, float]]] = MappingProxyType(
    {
        "none": ({}, {"gain": 1, "content": 1, "drawn wrongly": 0, "lost by drawing": 0, "lost by reading": 0}),
        "draw_error": (
            {"draw_error": 1.0},
            {"gain": 0, "drawn wrongly": 1, "lost by drawing": 1, "lost by reading": 0},
        ),
        "read_error": (
            {"read_error": 1.0},
            {"gain": 0, "drawn wrongly": 0, "lost by drawing": 0, "lost by reading": 1},
        ),
        "ignores": ({"ignores": 1.0}, {"gain": 0, "drawn wrongly": 0, "lost by reading": 1}),
    }
)
"""What is planted in `player/flawed` → its arguments, and the means that the audit must find."""
_SOLVED = "direct,visual_cot,text_cot,text_input"


def leveled_worlds() -> list[World]:
    return [world for world in installed_worlds() if world.chances]


def looks_of(world: World) -> tuple[str, ...]:
    """Return the looks of a world, in the order in which a set has them."""
    arguments = world.making.arguments if world.making else ()
    return tuple(look for one in arguments if one.name == "look" for look in one.among if look != MIXED)


def run_at(world: World, level: int, player: str, count: int, root: Path, look: str = MIXED, **settings: Any) -> Run:
    """Run a scripted player on samples of one level, by default in all looks in turn."""
    arguments = {"level": level, "look": look}
    path = root / f"{world.name}{level}{player}{len(list(root.iterdir()))}"
    return sketchmark.run(
        f"player/{player}",
        world.name,
        limit=count,
        task_args=",".join(f"{name}={value}" for name, value in arguments.items()),
        output_path=path,
        no_cache=True,
        **settings,
    )


def solved(world: World, level: int, root: Path, count: int = 2) -> tuple[float, int]:
    """Return the least mean of any metric of the solver in any mode and look, and the number of looks."""
    means, shown = list[float](), set[object]()
    for look in looks_of(world):
        cells = run_at(world, level, "solver", count, root, look, mode=_SOLVED).results.tasks.values()
        assert not any(cell.failures for cell in cells)
        means += [found.mean or 0.0 for cell in cells for found in cell.metrics.values()]
        shown |= {look for cell in cells for look in cell.by["look"]}
    return min(means), len(shown)


def guessed(world: World, level: int, root: Path, count: int) -> tuple[float, float]:
    """Return the random player's score, and the chance of one at least as far from the stated chance."""
    (cell,) = run_at(world, level, "random", count, root, mode="direct").results.tasks.values()
    mean, stated = cell.metrics[cell.headline].mean or 0.0, world.chances[level - 1]
    right = round(mean * count)
    tails = binomial_cdf(right, count, stated), 1 - binomial_cdf(right - 1, count, stated)
    return mean, min(1.0, 2 * min(tails))


def missed(world: World, level: int, root: Path, count: int = 4) -> list[str]:
    """Return what the audit does not find of what was planted in the flawed player."""
    wrong = []
    for fault, (arguments, expected) in FAULTS.items():
        run = run_at(
            world,
            level,
            "flawed",
            count,
            root,
            mode="direct,visual_cot",
            canvas="own,blank,oracle,corrupt",
            model_args={"knows": 0.0, **arguments},
        )
        (task,) = audit(run.path).tasks
        found = {one.name: one.mean for one in task.findings}
        wrong += [f"{fault}: {name} is {found.get(name)}" for name in expected if found.get(name) != expected[name]]
    return wrong


def players(worlds: Sequence[World], count: int) -> None:
    print(f"Scripted players by level, {time.strftime('%Y-%m-%d')}")
    print(
        f"solver: least score of any metric, mode and look; random: score of {count} in direct, stated chance and p;"
    )
    print("flawed: faults that the audit found, of those planted\n")
    print(f"{'world':<12}{'level':>5}{'looks':>6}{'solver':>8}{'random':>8}{'stated':>10}{'p':>7}  flawed")
    for world in worlds:
        for level in LEVELS:
            with TemporaryDirectory() as folder:
                least, looks = solved(world, level, Path(folder))
                mean, p = guessed(world, level, Path(folder), count)
                lost = missed(world, level, Path(folder))
                kept = len(FAULTS) - len({line.partition(":")[0] for line in lost})
            print(f"{world.name:<12}{level:>5}{looks:>6}{least:>8.1%}{mean:>8.1%}", end="")
            print(f"{world.chances[level - 1]:>10.2%}{p:>7.3f}  {kept} of {len(FAULTS)}", *lost, flush=True)


_TILE, _GAP, _HEAD, _WIDEST = 116, 6, 20, 980
_MOST_BYTES = 240_000


def sheet(world: World) -> Image.Image:
    """Draw a puzzle of each level in each look with all its steps, as many levels next to each other as fit."""
    rows: list[list[tuple[str, list[Picture]]]] = []
    for look in looks_of(world):
        shown = {level: _pictures(world, level, look) for level in LEVELS}
        for pair in ((1, 5), (2, 4), (3,)) if len(shown[1]) < len(shown[5]) else ((1, 2), (3, 4), (5,)):
            rows.append([(f"level {level}, {look}", shown[level]) for level in pair])
    columns = max(sum(len(pictures) for _, pictures in row) for row in rows)
    tile_side = min(_TILE, _WIDEST // columns - _GAP)
    side, high = tile_side + _GAP, tile_side + _GAP + _HEAD
    page = Image.new("RGB", (_GAP + side * columns, high * len(rows)), "#ffffff")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(13)
    for number, row in enumerate(rows):
        x, y = _GAP, high * number
        for title, pictures in row:
            pen.text((x, y + 2), title, "#4b5563", font)
            for picture in pictures:
                tile = picture.image()
                tile.thumbnail((tile_side, tile_side), Image.Resampling.LANCZOS)
                page.paste(tile, (x, y + _HEAD))
                x += side
    return page


def _pictures(world: World, level: int, look: str) -> list[Picture]:
    """Return the images of one sample, then its ground-truth images."""
    assert world.making is not None
    sample = next(iter(world.making.samples(seed=level, data=None, level=level, look=look)))
    shown = [picture for name, picture in sample.pictures.items() if name != "goal" and isinstance(picture, Picture)]
    return [*shown, *(sample.frames() if sample.frames else ())]


def sheets(worlds: Sequence[World]) -> None:
    SHEETS.mkdir(parents=True, exist_ok=True)
    for world in worlds:
        path = SHEETS / f"{world.name}.png"
        page = sheet(world)
        for colours in (256, 96, 48):  # a small file for a page of documentation
            few = page.quantize(colours, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
            few.save(path, optimize=True)
            if path.stat().st_size < _MOST_BYTES:
                break
        print(f"{path.name}: {few.width}x{few.height}, {path.stat().st_size // 1024} KB")


def main() -> None:
    what, named, count = (*sys.argv[1:], "", "")[:3] if len(sys.argv) > 1 else ("", "", "")
    worlds = {name: world for name, world in step_worlds().items() if not named or name in named.split(",")}
    leveled = [world for world in leveled_worlds() if not named or world.name in named.split(",")]
    every = subjects(scored=what == "reading")
    chosen = {name: subject for name, subject in every.items() if not named or name in named.split(",")}
    if what == "sheets":
        sheets(leveled)
    elif what == "players":
        players(leveled, int(count or 100))
    elif what == "unique":
        unique(worlds, int(count or 100))
    elif what in ("reading", "speed"):
        {"reading": reading, "speed": speed}[what](chosen, int(count or 100))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
