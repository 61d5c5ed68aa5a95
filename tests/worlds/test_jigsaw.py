"""Jigsaws and the scenes they are cut from."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from sketchmark.errors import BadInput, UnknownName
from sketchmark.media import Picture
from sketchmark.worlds import LEVELS
from sketchmark.worlds.jigsaw import panel_as_text, samples, scenes
from sketchmark.worlds.jigsaw import panels as jigsaw
from tests.episodes import flat, from_pixels, solid

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


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("look", jigsaw.LOOKS)
def test_every_level_and_look_has_one_right_patch_and_both_completed_panels(level: int, look: str) -> None:
    for seed in range(4):
        made = jigsaw.generate(seed, size=128, level=level, look=look)
        frames = jigsaw.frames(made)
        assert frames == [jigsaw.complete(made.ref, one) for one in made.candidates]
        costs = [jigsaw.seam_cost(frame) for frame in frames]
        assert costs[1 - made.label] > 1.3 * costs[made.label] + 2
        assert made.wrong_kind == jigsaw.LEVEL_KINDS[level - 1]
        assert panel_as_text(made.ref) and not panel_as_text(frames[0])


def test_prints_come_in_turn_with_a_level_and_painted_scenes_without_one() -> None:
    leveled = list(islice(samples(seed=1, data=None, level=3), 6))
    assert [one.groups["look"] for one in leveled] == [*jigsaw.PRINTED, *jigsaw.PRINTED]
    (plain,) = islice(samples(seed=1, data=None), 1)
    assert plain.groups == {"wrong_kind": plain.groups["wrong_kind"], "difficulty": "medium"}
    (asked,) = islice(samples(seed=1, data=None, look="painted", level=2, size=96), 1)
    assert asked.groups["look"] == "painted"
    assert isinstance(asked.pictures["ref"], Picture) and asked.pictures["ref"].size == (96, 96)
    (same,) = islice(samples(seed=1, data=None, look="painted"), 1)
    assert same.pictures == plain.pictures


def test_a_look_that_is_not_there_or_has_no_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no look 'neon'"):
        samples(seed=1, data=None, level=1, look="neon")
    with pytest.raises(BadInput, match="no look 'neon'"):
        jigsaw.generate(1, look="neon")
    with pytest.raises(BadInput, match="have no look"):
        samples(seed=1, data=None, folder=str(tmp_path), look="town")


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


def test_jigsaws_are_cut_from_the_pictures_of_a_folder(tmp_path: Path) -> None:
    folder = _folder(tmp_path, 3)
    (folder / "notes.txt").write_text("not a picture")
    for difficulty in DIFFICULTIES:
        made = jigsaw.generate(4, difficulty, folder, size=96)
        costs = [jigsaw.seam_cost(frame) for frame in jigsaw.frames(made)]
        assert costs[made.label] < costs[1 - made.label]
        assert jigsaw.generate(4, difficulty, folder, size=96) == made


def test_a_folder_that_cannot_be_used_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a folder"):
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
    with pytest.raises(BadInput, match="not a difficulty"):
        jigsaw.generate(0, "brutal")
    with pytest.raises(BadInput, match="pixels wide"):
        jigsaw.generate(0, size=8)
    with pytest.raises(UnknownName, match="landscape"):
        scenes.paint(0, "portrait")


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


def test_prints_are_the_same_to_the_pixel_everywhere() -> None:
    made = [jigsaw.generate(7, level=level, look=look) for look in jigsaw.PRINTED for level in LEVELS]
    digests = "".join(picture.identity for one in made for picture in (one.ref, *one.candidates, *one.completed))
    assert (
        hashlib.sha256(digests.encode()).hexdigest()
        == "fadc8ef30866b6a8d0822e1b84397f01798b4ce147910d8a1ce08b8d5bc8537d"
    )


Pixels = NDArray[np.uint8]


def _noise(height: int, width: int, seed: int) -> Pixels:
    return np.random.Generator(np.random.PCG64(seed)).integers(0, 256, (height, width, 3), np.uint8)


def _slow_similarity(one: Pixels, two: Pixels) -> float:
    """Structural similarity window by window and channel by channel, to hold the running sums against."""
    c1, c2 = 2.55**2, 7.65**2
    found = []
    height, width, channels = one.shape
    for top in range(height - 6):
        for left in range(width - 6):
            for channel in range(channels):
                x, y = (pixels[top : top + 7, left : left + 7, channel].astype(float) for pixels in (one, two))
                light = (2 * x.mean() * y.mean() + c1) / (x.mean() ** 2 + y.mean() ** 2 + c1)
                shared = ((x - x.mean()) * (y - y.mean())).mean()
                found.append(light * (2 * shared + c2) / (x.var() + y.var() + c2))
    return float(np.mean(found))


def test_similarity_is_that_of_all_seven_by_seven_windows() -> None:
    one = _noise(9, 11, 1)
    two = (one * 0.7 + _noise(9, 11, 2) * 0.1 + 30).astype(np.uint8)
    expected = _slow_similarity(one, two)
    assert 0.2 < expected < 0.98
    assert jigsaw.similarity(from_pixels(one), from_pixels(two)) == pytest.approx(expected)
    assert jigsaw.similarity(from_pixels(two), from_pixels(one)) == pytest.approx(expected)


def test_plain_pictures_are_held_apart_by_the_usual_constants_and_each_channel_counts_a_third() -> None:
    assert jigsaw.similarity(flat(0), flat(10)) == pytest.approx(6.5025 / 106.5025)
    assert jigsaw.similarity(flat(100), flat(140)) == pytest.approx((28000 + 6.5025) / (29600 + 6.5025))
    assert jigsaw.similarity(solid(100, 50, 200), solid(140, 50, 200)) == pytest.approx((0.94596 + 2) / 3, abs=1e-4)


def test_the_same_picture_has_one_and_an_inverted_one_nothing() -> None:
    noise = _noise(12, 12, 3)
    assert jigsaw.similarity(from_pixels(noise), from_pixels(noise)) == 1.0
    assert jigsaw.similarity(from_pixels(noise), from_pixels(255 - noise)) == 0.0


def test_the_second_picture_is_scaled_to_the_first_and_small_ones_have_small_windows() -> None:
    assert jigsaw.similarity(flat(90, (9, 20)), flat(90, (30, 14))) == 1.0
    assert jigsaw.similarity(flat(100, (2, 3)), flat(140, (5, 5))) == pytest.approx(0.94596, abs=1e-4)


def test_a_patch_goes_into_the_last_cell_and_nowhere_else() -> None:
    panel = _noise(11, 8, 4)
    patch = _noise(6, 4, 5)
    done = np.asarray(jigsaw.complete(from_pixels(panel), from_pixels(patch)).image())
    expected = panel.copy()
    expected[5:, 4:] = patch
    assert np.array_equal(done, expected)
    scaled = np.asarray(jigsaw.complete(from_pixels(panel), flat(7, (9, 3))).image())
    expected[5:, 4:] = 7
    assert np.array_equal(scaled, expected)


def test_frames_are_the_panel_with_each_candidate_in_their_order() -> None:
    ref, first, second = flat(200, (8, 8)), flat(10, (4, 4)), flat(20, (4, 4))
    for label in (0, 1):
        made = jigsaw.frames(jigsaw.Jigsaw(ref, (first, second), label, "mirrored"))
        assert made == [jigsaw.complete(ref, first), jigsaw.complete(ref, second)]


@pytest.mark.parametrize(
    ("across", "down", "cost"), [(10, 0, 5.0), (0, 10, 5.0), (30, 50, 40.0), (-30, -50, 40.0), (0, 0, 0.0)]
)
def test_the_seams_cost_the_mean_step_across_both(across: int, down: int, cost: float) -> None:
    """The last cell is 100; its left neighbours differ by `across`, its upper ones by `down`, the rest is noise."""
    panel = _noise(10, 12, 6)
    panel[5:, 6:] = 100
    panel[5:, 5] = 100 + across
    panel[4, 6:] = 100 + down
    assert jigsaw.seam_cost(from_pixels(panel)) == pytest.approx(cost)
