"""Jigsaws and the scenes they are cut from."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from sketchmark.errors import BadInput, UnknownName
from sketchmark.media import Picture
from sketchmark.worlds.jigsaw import panels as jigsaw
from sketchmark.worlds.jigsaw import panels as scenes
from tests.worlds.pictures import from_pixels

DIFFICULTIES = tuple(jigsaw.WRONG_KINDS)


def _folder(tmp_path: Path, count: int) -> Path:
    for index, kind in zip(range(count), scenes.KINDS, strict=False):
        scenes.paint(index, kind, (240, 170)).save(tmp_path / f"{kind}.png")
    return tmp_path


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_right_candidate_has_the_better_seams(difficulty: str) -> None:
    for seed in range(1000, 1040):
        made = jigsaw.generate(seed, difficulty, size=128)
        costs = [jigsaw.seam_cost(frame) for frame in jigsaw.frames(made)]
        assert costs[made.label] < costs[1 - made.label]
        assert made.wrong_kind in jigsaw.WRONG_KINDS[difficulty]


def test_both_labels_and_all_kinds_of_wrong_patch_come_up() -> None:
    made = [jigsaw.generate(seed, "hard", size=64) for seed in range(60)]
    assert 15 < sum(one.label for one in made) < 45
    assert {one.wrong_kind for one in made} == {"neighbouring", "mirrored"}


def test_the_reference_hides_only_the_last_cell() -> None:
    made = jigsaw.generate(3)
    whole = np.asarray(jigsaw.complete(made.ref, made.candidates[made.label]).image())
    shown = np.asarray(made.ref.image())
    half = len(shown) // 2
    assert np.array_equal(whole[:half], shown[:half]) and np.array_equal(whole[:, :half], shown[:, :half])
    assert np.unique(shown[half + 2 : -2, half + 2 : -2]).tolist() == [jigsaw.HIDDEN]
    assert np.array_equal(whole[half:, half:], np.asarray(made.candidates[made.label].image()))


def test_a_candidate_of_another_size_is_scaled_into_the_cell() -> None:
    ref = from_pixels(np.full((41, 51, 3), 200, np.uint8))
    done = np.asarray(jigsaw.complete(ref, from_pixels(np.full((7, 9, 3), 10, np.uint8))).image())
    assert done.shape == (41, 51, 3)
    assert (done[20:, 25:] == 10).all() and (done[:20] == 200).all() and (done[:, :25] == 200).all()


def test_jigsaws_are_cut_from_the_pictures_of_a_folder(tmp_path: Path) -> None:
    folder = _folder(tmp_path, 3)
    (folder / "notes.txt").write_text("not a picture")
    for difficulty in DIFFICULTIES:
        made = jigsaw.generate(4, difficulty, folder, size=96)
        costs = [jigsaw.seam_cost(frame) for frame in jigsaw.frames(made)]
        assert costs[made.label] < costs[1 - made.label]
        assert jigsaw.generate(4, difficulty, folder, size=96) == made


def test_a_folder_that_cannot_be_used_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no folder"):
        jigsaw.generate(0, folder=tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no pictures"):
        jigsaw.generate(0, folder=tmp_path)
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\nrest is missing")
    with pytest.raises(BadInput, match=r"torn\.png"):
        jigsaw.generate(0, folder=tmp_path)
    (tmp_path / "torn.png").unlink()
    Image.new("RGB", (60, 40), "grey").save(tmp_path / "plain.png")
    with pytest.raises(BadInput, match="too plain"):
        jigsaw.generate(0, folder=tmp_path, size=32)
    with pytest.raises(BadInput, match="only one picture"):
        jigsaw.generate(0, "easy", tmp_path, size=32)


def test_an_unknown_difficulty_or_size_or_scene_is_refused() -> None:
    with pytest.raises(BadInput, match="no difficulty"):
        jigsaw.generate(0, "brutal")
    with pytest.raises(BadInput, match="pixels wide"):
        jigsaw.generate(0, size=8)
    with pytest.raises(UnknownName, match="landscape"):
        scenes.paint(0, "portrait")


def test_similarity_is_one_for_the_same_picture_and_falls_with_the_damage() -> None:
    scene = scenes.paint(5, "landscape", 128)
    original = Picture.from_image(scene)
    blurs = [Picture.from_image(scene.filter(ImageFilter.GaussianBlur(radius))) for radius in (1, 2, 5)]
    scores = [jigsaw.similarity(original, other) for other in (original, *blurs)]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True) and scores[-1] < 0.6
    assert jigsaw.similarity(original, Picture.from_image(scenes.paint(6, "city", 128))) < 0.3


def test_similarity_sees_colour_and_accepts_another_size() -> None:
    scene = scenes.paint(5, "bubbles", 96)
    original = Picture.from_image(scene)
    red, green, blue = scene.split()
    assert jigsaw.similarity(original, Picture.from_image(Image.merge("RGB", (blue, green, red)))) < 0.95
    assert 0.7 < jigsaw.similarity(original, Picture.from_image(scene.resize((192, 192)))) < 1
    assert jigsaw.similarity(from_pixels(np.zeros((3, 2, 3), np.uint8)), original) >= 0


@pytest.mark.parametrize("kind", scenes.KINDS)
@pytest.mark.parametrize("size", [(32, 32), (33, 47), (600, 400)])
def test_every_kind_of_scene_can_be_painted_small_and_large(kind: str, size: tuple[int, int]) -> None:
    scene = np.asarray(scenes.paint(11, kind, size))
    assert scene.shape == (size[1], size[0], 3)
    assert scene.std() > 8


def test_seeds_give_different_scenes() -> None:
    assert len({scenes.paint(seed, size=32).tobytes() for seed in range(40)}) == 40


def test_scenes_and_jigsaws_are_the_same_to_the_pixel_everywhere() -> None:
    painted = hashlib.sha256(b"".join(scenes.paint(7, kind, 96).tobytes() for kind in scenes.KINDS)).hexdigest()
    assert painted == "cb913c33801b73c90297a8beb646df002a56055e77a0b320a9d01b13f705178e"
    made = [jigsaw.generate(7, difficulty) for difficulty in DIFFICULTIES]
    digests = "".join(picture.identity for one in made for picture in (one.ref, *one.candidates))
    assert (
        hashlib.sha256(digests.encode()).hexdigest()
        == "09ca64210e720d2cbbd4acf1b041e434135e4f7044113130c4fb61fb886c2329"
    )
