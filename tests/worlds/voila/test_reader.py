"""Reading number, subject and action back from pixels. All 7,280 pictures: bench/voila_reading.py."""

import io
import random
from itertools import islice, product

import numpy as np
import pytest
from PIL import Image

from sketchmark.media import Picture
from sketchmark.worlds.voila import bank
from sketchmark.worlds.voila.bank.pen import Pen
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
