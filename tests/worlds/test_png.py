"""The PNG writer: exact pixels, and bytes that no zlib build can change."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sketchmark.worlds import png


def _random(seed: int, shape: tuple[int, ...], colours: int) -> NDArray[np.uint8]:
    return np.random.Generator(np.random.PCG64(seed)).integers(0, colours, shape).astype(np.uint8)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), height=st.integers(1, 40), width=st.integers(1, 400), colours=st.integers(1, 26))
def test_an_indexed_picture_decodes_to_the_pixels_it_was_made_of(
    seed: int, height: int, width: int, colours: int
) -> None:
    palette = _random(seed, (colours, 3), 256)
    for indices in (
        _random(seed, (height, width), colours),
        np.sort(_random(seed, (height, width), colours), axis=1),
        np.repeat(_random(seed, (1, width), colours), height, axis=0),
    ):
        assert np.array_equal(np.asarray(png.indexed(indices, palette).image()), palette[indices])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), height=st.integers(1, 60), width=st.integers(1, 200), colours=st.integers(1, 256))
def test_a_colour_picture_decodes_to_the_pixels_it_was_made_of(
    seed: int, height: int, width: int, colours: int
) -> None:
    pixels = _random(seed, (height, width, 3), colours)
    assert np.array_equal(np.asarray(png.rgb(pixels).image()), pixels)


def test_a_very_skewed_picture_keeps_its_codes_within_fifteen_bits() -> None:
    counts = [1, 1]
    while sum(counts) < 200_000:
        counts.append(counts[-1] + counts[-2])
    steps = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    np.random.Generator(np.random.PCG64(0)).shuffle(steps)
    pixels = np.zeros((500, len(steps) // 500, 3), np.uint8)
    pixels[..., 0] = np.cumsum(steps[: pixels[..., 0].size]).reshape(pixels.shape[:2]) % 256
    assert np.array_equal(np.asarray(png.rgb(pixels).image()), pixels)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 6, 130, 257, 258, 259, 260, 518, 2000, 10_000])
def test_repeated_rows_of_every_length_survive(width: int) -> None:
    indices = np.repeat(_random(width, (2, width), 20), 9, axis=0)
    palette = _random(1, (20, 3), 256)
    assert np.array_equal(np.asarray(png.indexed(indices, palette).image()), palette[indices])


def test_the_bytes_are_fixed_for_ever() -> None:
    pixels = (np.arange(120 * 90 * 3) ** 2 // 77 % 256).astype(np.uint8).reshape(90, 120, 3)
    digest = hashlib.sha256(png.rgb(pixels).data + png.indexed(pixels[..., 0] // 32, pixels[0, :8]).data).hexdigest()
    assert digest == "030494db7444d487cc1bd654548b556b42a3ca834ecc3ab534c5d9d35dbb1ca5"
