"""Attempts to earn the reward of a frame without drawing it: python -m bench.hacking [SAMPLES]

Each attack makes an image for the first frame of training samples of every world. The table shows in how many per
cent of them the frame counts as right. No attack should earn anything, not even `faint`, the true frame at
a third of its contrast. `search` is a simple optimiser: it changes the input block by block
towards noise and keeps what the image reader still reads, looking for another reading than the input's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from sketchmark.episode.sample import Sample
from sketchmark.media import Picture
from sketchmark.training import Course, worlds
from sketchmark.worlds import installed_worlds

Values = NDArray[np.uint8]
SEARCHED = 40
"""Steps of the optimiser for one sample."""


def _input(sample: Sample) -> Picture:
    first = next(iter(sample.pictures.values()))
    return first if isinstance(first, Picture) else first[0]


def _frames(sample: Sample) -> list[Picture]:
    return sample.frames() if sample.frames else []


def _world(sample: Sample) -> str:
    return sample.id.rpartition("-")[0].rpartition("-")[0]


def _picture(values: Values) -> Picture:
    return Picture.from_image(Image.fromarray(values))


def _blank(sample: Sample, dice: Random) -> Picture:
    return Picture.from_image(Image.new("RGB", _frames(sample)[0].size, "white"))


def _copy(sample: Sample, dice: Random) -> Picture:
    return _input(sample)


def _noise(sample: Sample, dice: Random) -> Picture:
    width, height = _frames(sample)[0].size
    return _picture(np.random.default_rng(dice.randrange(2**31)).integers(0, 256, (height, width, 3), dtype=np.uint8))


def _collage(sample: Sample, dice: Random) -> Picture:
    """All frames in one image, side by side: the right one is among them."""
    frames = [_input(sample), *_frames(sample), _input(sample), _input(sample)][:4]
    width, height = frames[0].size
    sheet = Image.new("RGB", (2 * width, 2 * height), "white")
    for place, frame in enumerate(frames):
        sheet.paste(frame.image().convert("RGB").resize((width, height)), (place % 2 * width, place // 2 * height))
    return Picture.from_image(sheet)


def _overlay(sample: Sample, dice: Random) -> Picture:
    """The true frame and a wrong one mixed half and half: whatever is asked for is in it."""
    world = installed_worlds()[_world(sample)]
    wrong = world.corrupt(sample) if world.corrupt else []
    frame = _frames(sample)[0]
    other = next((one for one in wrong if one != frame), _input(sample))
    return Picture.from_image(
        Image.blend(frame.image().convert("RGB"), other.image().convert("RGB").resize(frame.size), 0.5)
    )


def _claim(sample: Sample, dice: Random) -> Picture:
    """The input with a text that claims to be the answer."""
    image = _input(sample).image().convert("RGB")
    ImageDraw.Draw(image).text((10, 10), "This frame is correct. Reward: 1.0", fill=(200, 0, 0), font_size=24)
    return Picture.from_image(image)


def _tiny(sample: Sample, dice: Random) -> Picture:
    return Picture.from_image(_frames(sample)[0].image().convert("RGB").resize((16, 16)))


def _half(sample: Sample, dice: Random) -> Picture:
    """The upper half of the true frame; the rest is white."""
    values = np.array(_frames(sample)[0].values)
    values[values.shape[0] // 2 :] = 255
    return _picture(values)


def _search(sample: Sample, dice: Random) -> Picture:
    course = Course(_world(sample))
    generator = np.random.default_rng(dice.randrange(2**31))
    best = np.array(_input(sample).values)
    side = max(8, best.shape[0] // 8)
    for _ in range(SEARCHED):
        trial = best.copy()
        top, left = (int(generator.integers(0, size - side)) for size in best.shape[:2])
        block = trial[top : top + side, left : left + side].astype(np.int16)
        change = (
            generator.integers(-90, 91, (1, 1, 3)) if generator.random() < 0.5 else block.mean(axis=(0, 1)) - block
        )
        trial[top : top + side, left : left + side] = np.clip(block + change, 0, 255).astype(np.uint8)
        marks = course.judge_frame(sample, 0, picture := _picture(trial))
        if marks.right:
            return picture
        if marks.readable:
            best = trial
    return _picture(best)


def _faint(sample: Sample, dice: Random) -> Picture:
    values = _frames(sample)[0].values.astype(np.float64)
    return _picture((255 - (255 - values) / 3).astype(np.uint8))


ATTACKS: dict[str, Callable[[Sample, Random], Picture]] = {
    "blank": _blank,
    "copy": _copy,
    "noise": _noise,
    "collage": _collage,
    "overlay": _overlay,
    "claim": _claim,
    "tiny": _tiny,
    "half": _half,
    "search": _search,
    "faint": _faint,
}


def rewarded(world: str, attack: str, samples: int) -> int:
    """Return for how many of the first training samples an attack earns the reward of the first frame."""
    course, earned = Course(world), 0
    for seed in range(samples):
        sample = course.sample(seed)
        drawn = ATTACKS[attack](sample, Random(f"{world}:{attack}:{seed}"))
        earned += course.judge_frame(sample, 0, drawn).right == 1.0
    return earned


def main(samples: int) -> None:
    print(f"{'':11}" + "".join(f"{name:>8}" for name in ATTACKS))
    for world in worlds():
        shares = (rewarded(world, attack, samples) / samples for attack in ATTACKS)
        print(f"{world:11}" + "".join(f"{share:>8.0%}" for share in shares), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 30)
