"""Reading number, subject and action back from pixels. All 7,280 pictures: bench/voila_reading.py."""

import io
import math
import random
from itertools import combinations, islice, product

import numpy as np
import pytest
from PIL import Image, ImageChops

from sketchmark.media import Picture
from sketchmark.worlds.voila import bank
from sketchmark.worlds.voila.bank.pen import FLOORS, GROUNDS, KEYS, OTHERS, Pen
from sketchmark.worlds.voila.bank.places import draw_place
from sketchmark.worlds.voila.make import collage
from sketchmark.worlds.voila.reader import read, read_collage
from sketchmark.worlds.voila.scenes import SCENES, Scene
from sketchmark.worlds.voila.sets import sample_questions


def _treated(picture: Picture, scale: float, quality: int | None) -> Picture:
    image = picture.image()
    image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BICUBIC)
    if quality is None:
        return Picture.from_image(image)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Picture.from_bytes(buffer.getvalue())


TREATMENTS = [(1.0, None), (1.0, 75), (0.5, None), (0.5, 75), (0.77, 85), (1.5, 90)]


@pytest.mark.parametrize(("scale", "quality"), TREATMENTS)
def test_scenes_are_read_right_from_any_variation_and_seed_after_resizing_and_jpeg(
    scale: float, quality: int | None
) -> None:
    rng = random.Random(round(scale * 100) + (quality or 0))
    for scene in rng.sample(SCENES, 12):
        picture = bank.picture(scene, rng.randrange(bank.VARIATIONS), seed=rng.randrange(3))
        assert read(_treated(picture, scale, quality)) == scene


def test_every_subject_and_every_action_is_read_right_in_a_crowd_of_four() -> None:
    scenes = [Scene(4, subject, subject % 13) for subject in range(14)] + [
        Scene(4, 7, action) for action in range(13)
    ]
    assert [read(bank.picture(scene)) for scene in scenes] == scenes


@pytest.mark.parametrize(("scale", "quality"), [(1.0, None), (0.5, 75), (1.2, 85)])
def test_the_three_scenes_of_a_collage_are_read_in_order(scale: float, quality: int | None) -> None:
    for question in islice(sample_questions(19, 3, distraction=True), 0, None, 6):
        joined = collage([bank.picture(scene) for scene in question.scenes])
        assert read_collage(_treated(joined, scale, quality)) == list(question.scenes)


def test_a_single_picture_is_no_collage() -> None:
    assert read_collage(bank.picture(SCENES[0])) == []


@pytest.mark.parametrize(("action", "number"), list(product([0, 4, 9], [1, 4])))
def test_a_place_with_nobody_in_it_shows_no_scene(action: int, number: int) -> None:
    pen = Pen(512, (255, 255, 255))
    draw_place(pen, action, random.Random(number), 250)
    assert read(Picture.from_image(pen.finish())) is None


def test_blank_noisy_and_tiny_pictures_show_no_scene() -> None:
    noise = np.random.Generator(np.random.PCG64(1)).integers(0, 256, (300, 300, 3), dtype=np.uint8)
    for image in (Image.new("RGB", (512, 512), "white"), Image.fromarray(noise), Image.new("RGB", (1, 1), "orange")):
        assert read(Picture.from_image(image)) is None


def test_figures_without_the_thing_the_action_needs_do_not_do_it() -> None:
    scene = Scene(2, 12, 9)
    image = bank.image(scene)
    box = np.array(image)
    near_cardboard = np.abs(box.astype(int) - (216, 168, 116)).sum(axis=2) < 40
    box[near_cardboard] = (60, 60, 60)
    assert read(Picture.from_image(image)) == scene
    assert read(Picture.from_image(Image.fromarray(box))) is None


def test_two_heads_that_were_painted_over_are_not_counted() -> None:
    image = bank.image(Scene(4, 7, 5))
    image.paste((174, 212, 92), (0, 280, 512, 512))
    assert read(Picture.from_image(image)) == Scene(2, 7, 5)


# The built-in pictures: made on demand, always the same, different where they should be.


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
