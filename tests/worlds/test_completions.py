"""Completed jigsaws: where the patch goes, what the seams cost, and how alike two pictures are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sketchmark.worlds.jigsaw import panels as jigsaw
from tests.episodes import flat, from_pixels, solid

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


def test_dark_and_plain_pictures_are_held_apart_by_the_usual_constants() -> None:
    assert jigsaw.similarity(flat(0), flat(10)) == pytest.approx(6.5025 / 106.5025)
    assert jigsaw.similarity(flat(100), flat(140)) == pytest.approx((28000 + 6.5025) / (29600 + 6.5025))


def test_one_channel_of_three_counts_a_third() -> None:
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
