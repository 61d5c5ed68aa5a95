"""What a field of a data set may hold: the usual value for its name first, then values of every kind."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, Final

import numpy as np
from PIL import Image

from sketchmark.lmms_eval.data import AudioDecoder

RATE = 16_000
"""Of a sound, in a second."""


class Nested:
    """Stands for a mapping whose fields are made up in turn."""


class Number:
    """Stands for the number of the document."""


NESTED: Final = Nested()
NUMBER: Final = Number()


def picture() -> Image.Image:
    return Image.new("RGB", (64, 48), "teal")


def as_bytes() -> bytes:
    file = BytesIO()
    picture().save(file, "PNG")
    return file.getvalue()


def as_base64() -> str:
    return b64encode(as_bytes()).decode()


def sound() -> dict[str, Any]:
    """A tenth of a second, as a run gives it to a task's code."""
    wave = np.sin(np.arange(RATE // 10) * 0.1).astype(np.float32)
    return AudioDecoder(array=wave, sampling_rate=RATE, path="media.wav")


def is_sound(value: Any) -> bool:
    return isinstance(value, dict) and {"array", "sampling_rate"} <= value.keys()


def usual(name: str) -> Any:
    """What a field of that name usually holds."""
    for pattern, value in _USUAL:
        if re.search(pattern, name.lower()):
            return value() if isinstance(value, Callable) else value  # type: ignore[arg-type]
    return "text"


def kinds() -> Iterator[Any]:
    """Values of every kind that data sets hold, the likely ones first."""
    yield from ("A", 0, 1, 0.5, True, "yes", "1", "0.5", "cat", NUMBER)
    yield from (["cat", "dog", "bird", "fish"], '["cat", "dog", "bird", "fish"]', "['A', 'B']", ["A"])
    yield NESTED
    yield [NESTED]
    yield from ('{"A": "cat", "B": "dog"}', "[0, 0, 1, 1]", [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], [[0, 0, 1, 1]])
    yield from (None, "", [], "media.mp4", "media.jpg", ["media.jpg"], ["media.mp4"], "00:00:01", "A. cat\nB. dog")
    yield picture()
    yield [picture()]
    yield sound()
    yield [sound()]
    yield from (
        as_base64(),
        as_bytes(),
        "en",
        "English",
        "food",
        '{"text": "cat"}',
        '[{"text": "cat"}]',
        "1.0",
    )
    yield from ("media.jpg;media.jpg", "1,2", "1-2", "(A) cat", "a_1_b_2.jpg", "2024-01-01", [[1, 2]], [["A", "B"]])


_USUAL: list[tuple[str, Any]] = [
    (r"(id|idx|index|key)$", "id"),
    (r"(width|height)", 64),
    (r"(num|count|len|size)", 1),
    (r"^(images|image_list|imgs)$", lambda: [picture()]),
    (r"(inputs|outputs|examples|steps|_list|items|keywords|tags|types|words|frames)$", ["cat", "dog"]),
    (r"(boxes|bbox|box)$", [0, 0, 30, 30]),
    (r"(path|file|dir|url)", "media.jpg"),
    (r"(video|clip)", "media.mp4"),
    (r"(audio|speech|wav)", sound),
    (r"(image|img|picture|photo|visual)", picture),
    (r"(option|choice|candidate)s?$", ["cat", "dog", "bird", "fish"]),
    (r"(option|choice)_?[a-z0-9]$", "cat"),
    (r"^[a-h]$", "cat"),
    (r"(answers|references|captions|labels)$", ["A", "cat"]),
    (r"(answer|label|target|solution|gt|correct|ground)", "A"),
    (r"(question|prompt|query|text|instruction|problem|caption)", "Which of them is it in <image 1>? A. cat\nB. dog"),
    (r"(conversation|messages)", [NESTED]),
]
