"""Looks of mazes and sliding puzzles: what changes with them, and what stays as Uni-MMMU has it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

import pytest
from PIL import Image

from sketchmark import Sample
from sketchmark.catalog import Catalog
from sketchmark.episode import Grading, Scores
from sketchmark.episode.protocol import FilledPrompts
from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.tasks import TaskOptions
from sketchmark.worlds import LEVELS, installed_worlds
from sketchmark.worlds import maze as maze_world
from sketchmark.worlds import sliding as sliding_world
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding
from tests.episodes import episode, moves_answer

LOOKS = {"maze": tuple(maze.LOOKS), "sliding": tuple(sliding.LOOKS)}
WORLDS = tuple(LOOKS)
MAKE: dict[str, Callable[..., Iterator[Sample]]] = {"maze": maze_world.samples, "sliding": sliding_world.samples}


def made(world: str, count: int = 1, **arguments: Any) -> list[Sample]:
    return list(islice(MAKE[world](seed=2, data=None, **arguments), count))


def frames(sample: Sample) -> list[Picture]:
    assert sample.frames is not None
    return sample.frames()


def initial(sample: Sample) -> Picture:
    found = sample.pictures["initial"]
    assert isinstance(found, Picture)
    return found


def scored(world: str, sample: Sample, drawn: list[Picture], how: str = "strict") -> dict[str, float | None]:
    whole = episode(moves_answer(*sample.target["moves"]), drawings=drawn)
    found = installed_worlds()[world].scorers["score"](sample, whole, Grading(how))
    assert isinstance(found, Scores)
    return dict(found.values)


@pytest.mark.parametrize("world", WORLDS)
def test_a_set_with_a_level_has_all_looks_in_turn_and_one_without_has_uni_mmmus(world: str) -> None:
    assert len(LOOKS[world]) >= 3
    for level in LEVELS:
        found = made(world, 2 * len(LOOKS[world]), level=level)
        assert [one.groups["look"] for one in found] == [*LOOKS[world], *LOOKS[world]]
    for one in made(world, 4):
        assert "look" not in one.groups and "look" not in one.target


@pytest.mark.parametrize("world", WORLDS)
def test_the_default_set_is_the_same_to_the_byte(world: str) -> None:
    """Fingerprints and files of the first samples, as they were when there was one look."""
    digest = hashlib.sha256()
    for one in made(world, 5):
        digest.update(one.fingerprint().encode())
        for picture in (initial(one), *frames(one)):
            digest.update(picture.identity.encode())
    assert digest.hexdigest()[:16] == {"maze": "9b03083d93871f12", "sliding": "cc6d2ff9e504a8eb"}[world]


@pytest.mark.parametrize("world", WORLDS)
def test_looks_show_the_same_puzzles_in_other_images(world: str) -> None:
    sets = [made(world, 3, level=4, look=look) for look in LOOKS[world]]
    for same in zip(*sets, strict=True):
        assert len({str(one.target["moves"]) for one in same}) == 1
        assert len({initial(one).identity for one in same}) == len(LOOKS[world])


@pytest.mark.parametrize(("world", "how"), list(product(WORLDS, ("strict", "lenient", "official"))))
def test_ground_truth_is_right_in_its_look_and_wrong_in_another(world: str, how: str) -> None:
    for look, other in zip(LOOKS[world], (*LOOKS[world][1:], LOOKS[world][0]), strict=True):
        (sample,), (foreign,) = (made(world, level=3, look=one) for one in (look, other))
        assert set(scored(world, sample, frames(sample), how).values()) == {1.0}, look
        if how == "strict":
            assert scored(world, sample, frames(foreign))[f"{world}_img_frame_acc"] == 0.0, (look, other)


@pytest.mark.parametrize("world", WORLDS)
def test_prompts_name_the_colours_of_the_look(world: str) -> None:
    task = Catalog().task(world, TaskOptions(steps="model"))
    for look, mode in product(LOOKS[world], ("direct", "visual_cot", "text_cot")):
        (sample,) = made(world, level=2, look=look)
        prompts = FilledPrompts(sample, task.mode(mode).prompts)
        whole = "\n".join([str(part) for part in prompts.parts()] + [prompts.text("plan", i=1)])
        assert "{" not in whole.replace("{i}", "")
        if world == "maze":
            names = maze.LOOKS[look]
            for said in (f"{names.walls} squares: walls", f"{names.agent.capitalize()} dot: start", names.frame):
                assert said in whole
            assert ("blue dot" in whole.lower()) == (look == maze.PLAIN)
            assert mode == "direct" or f"If the {names.agent} dot already stands inside the {names.frame}" in whole


def test_the_solver_describes_a_maze_in_the_colours_of_its_look() -> None:
    play = maze_world.MazePlay()
    for look, names in maze.LOOKS.items():
        shown = play.in_words(replace(maze.generate(1), look=look))
        assert shown.startswith(f"The {names.agent} dot stands in row ")


@pytest.mark.parametrize(("world", "look"), [(world, look) for world in WORLDS for look in LOOKS[world]])
def test_captions_and_readings_know_the_look(world: str, look: str) -> None:
    found = installed_worlds()[world]
    (sample,), (plain,) = made(world, level=3, look=look), made(world, level=3, look="plain")
    assert found.caption is not None and found.board is not None
    assert found.caption(sample, frames(sample)[0]) == found.caption(plain, frames(plain)[0])
    size = found.board.size
    assert found.board.read(initial(sample), *size) == found.board.read(initial(plain), *size)
    assert found.board.edges(initial(sample), *size) == found.board.edges(initial(plain), *size)


@pytest.mark.parametrize("look", LOOKS["sliding"])
@pytest.mark.parametrize("n", [2, 4, 5])
def test_tiles_of_every_size_are_read_strictly_in_every_look(n: int, look: str) -> None:
    for seed in range(3):
        state = sliding.generate(seed, 4, n)
        assert sliding.to_state(sliding.read_strictly(sliding.render(state, look=look), n, look=look)) == state


@pytest.mark.parametrize(("rows", "cols"), [(3, 4), (10, 10), (5, 9)])
def test_mazes_of_every_shape_are_read_by_players_in_every_look(rows: int, cols: int) -> None:
    for look in LOOKS["maze"]:
        state = replace(maze.generate(3, rows, cols, 2, 5), look=look)
        found = maze_world.read_maze(maze.render(state))
        assert found == state and found.look == look


@pytest.mark.parametrize(("world", "size"), [("maze", 250), ("maze", 512), ("sliding", 130), ("sliding", 1024)])
def test_images_have_at_most_the_size_that_is_asked_for_and_are_read(world: str, size: int) -> None:
    for sample in made(world, 3, level=2, size=size):
        assert size - 9 <= max(initial(sample).size) <= size
        assert scored(world, sample, frames(sample))[f"{world}_img_exact"] == 1.0


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("arguments", "problem"), [
    ({"look": "neon"}, "no look 'neon'"), ({"level": 2, "look": "neon"}, "no look 'neon'"),
    ({"size": 60}, "too small"), ({"size": 10**9}, "cannot be made"), ({"size": -5}, "cannot be made"),
])  # fmt: skip
def test_a_look_or_size_that_cannot_be_is_refused(world: str, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        made(world, **arguments)


@pytest.mark.parametrize("world", WORLDS)
def test_a_sample_of_an_unknown_look_is_reported_and_not_scored_as_another(world: str) -> None:
    (sample,) = made(world, level=2)
    odd = replace(sample, target={**sample.target, "look": "neon"})
    with pytest.raises(BadInput, match="no look 'neon'"):
        scored(world, odd, frames(sample))


@pytest.mark.parametrize("world", WORLDS)
def test_a_mark_is_seen_in_every_look(world: str) -> None:
    for look in LOOKS[world]:
        (sample,) = made(world, level=1, look=look)
        image = frames(sample)[0].image()
        image.paste("#888888", (170, 170, 186, 186))
        marked = Picture.from_image(image)
        assert scored(world, sample, [marked])[f"{world}_img_exact"] == 0.0, look


@pytest.mark.parametrize("world", WORLDS)
def test_a_drawing_of_a_plain_puzzle_is_read_as_before_whatever_its_page(world: str) -> None:
    """The look belongs to the sample: the page of a drawing does not choose how it is read."""
    (sample,) = made(world, min_steps=1, max_steps=1) if world == "maze" else made(world, min_depth=1, max_depth=1)
    values = frames(sample)[0].values.copy()
    values[:12] = values[-12:] = values[:, :12] = values[:, -12:] = (17, 24, 39)
    framed = Picture.from_image(Image.fromarray(values))
    reader: Any = maze.read if world == "maze" else sliding.read
    found, read = installed_worlds()[world], reader(framed)
    assert found.caption is not None
    grid = read.grid if world == "maze" else read
    assert found.caption(sample, framed).count("unclear") == sum(cell == "?" for row in grid for cell in row)
    assert "unclear" in found.caption(sample, framed)
