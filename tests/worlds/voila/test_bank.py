"""The built-in pictures: made on demand, always the same, different where they should be."""

import math
from itertools import combinations

import pytest
from PIL import ImageChops

from sketchmark.worlds.voila import bank
from sketchmark.worlds.voila.bank.pen import FLOORS, GROUNDS, KEYS, OTHERS
from sketchmark.worlds.voila.scenes import SCENES, Scene


def test_the_same_arguments_give_the_same_pixels_everywhere() -> None:
    assert [bank.picture(Scene(3, subject, action), 4, seed=9).identity for subject, action in ((7, 2), (0, 8))] == [
        "ff3069a4531f0f54a674e990eda8dc570b2f59774a1ab4b81ad4e04e095243a8",
        "085ed45b935ec0c0fc210b35fadfb06f2c48cd7cc273dd33ef7f5acc22e60f44",
    ]


def test_all_ten_variations_of_a_scene_differ_and_so_do_two_seeds() -> None:
    scene = Scene(2, 5, 3)
    pictures = [bank.picture(scene, variation) for variation in range(bank.VARIATIONS)]
    assert len({*pictures, bank.picture(scene, 0, seed=1)}) == 11


def test_variations_differ_at_a_glance_and_not_by_a_few_pixels() -> None:
    first, *others = (bank.image(Scene(1, 9, 10), variation) for variation in range(4))
    for other in others:
        changed = ImageChops.difference(first, other).convert("L").point(lambda value: 255 if value > 24 else 0)
        assert changed.histogram()[255] > 0.1 * first.width * first.height


def test_a_picture_is_512_pixels_square_and_weighs_little() -> None:
    picture = bank.picture(SCENES[400])
    assert picture.size == (512, 512)
    assert picture.format == "png"
    assert len(picture.data) < 80_000


def test_a_scene_that_leaves_something_open_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="'any cats walking' leaves something open"):
        bank.image(Scene(None, 5, 3))


def test_the_colours_that_give_subjects_away_are_far_from_each_other_and_from_the_rest() -> None:
    assert min(math.dist(one, other) for one, other in combinations(KEYS.values(), 2)) > 40
    rest = {*OTHERS, *FLOORS, *(colour for colours in GROUNDS.values() for colour in colours)}
    assert min(math.dist(key, colour) for key in KEYS.values() for colour in rest) > 22


def test_the_grounds_that_give_actions_away_are_far_from_each_other() -> None:
    grounds = {"floor": FLOORS, **GROUNDS}
    for one, other in combinations(grounds.values(), 2):
        assert min(math.dist(a, b) for a in one for b in other) > 22
