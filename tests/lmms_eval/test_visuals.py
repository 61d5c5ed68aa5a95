"""What `doc_to_visual` may give: pictures in any form, and videos, of which frames are shown."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from sketchmark import Sound
from sketchmark.errors import BadInput
from sketchmark.lmms_eval.data import to_media
from sketchmark.media import Picture
from tests.core.helpers import colour


def video(path: Path, seconds: int = 4) -> Path:
    """Gets lighter by 40 every second."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=5)
        stream.width, stream.height = 64, 48
        for number in range(5 * seconds):
            level = 40 + 40 * (number // 5)
            image = Image.new("RGB", (64, 48), (level, level, level))
            file.mux(stream.encode(av.VideoFrame.from_image(image)))  # type: ignore[no-untyped-call]
        file.mux(stream.encode())
    return path


def levels(found: object, frames: int, root: Path | None = None) -> list[int]:
    return [one.convert("L").resize((1, 1)).tobytes()[0] for one in images(found, frames, root)]


def images(found: object, frames: int = 8, root: Path | None = None) -> list[Image.Image]:
    return [one.image() for one in to_media(found, "document 0", root, frames) if isinstance(one, Picture)]


def test_of_a_video_frames_at_even_distances_are_shown(tmp_path: Path) -> None:
    path = str(video(tmp_path / "a.mp4"))
    assert levels([path], 4) == pytest.approx([40, 80, 120, 160], abs=6)
    assert levels(path, 2) == pytest.approx([80, 160], abs=6)


def test_pictures_come_as_paths_images_bytes_and_lists_of_them(tmp_path: Path) -> None:
    red = colour("red")
    (tmp_path / "red.png").write_bytes(red.data)
    given = [str(tmp_path / "red.png"), [red.image(), {"bytes": red.data}], None]
    assert [one.getpixel((0, 0)) for one in images(given)] == [(255, 0, 0)] * 3


def test_a_path_in_a_column_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    video(tmp_path / "mine.mp4")
    with pytest.raises(BadInput, match="leads out of"):
        levels("../mine.mp4", 1, tmp_path / "data")


def test_a_play_list_that_calls_itself_a_video_is_not_followed(tmp_path: Path) -> None:
    video(tmp_path / "secret.mp4")
    (tmp_path / "a.mp4").write_text("ffconcat version 1.0\nfile secret.mp4\n")
    with pytest.raises(BadInput, match=r"a\.mp4 cannot be read as a video"):
        levels(str(tmp_path / "a.mp4"), 1)


def test_a_sound_comes_as_numbers_as_bytes_or_as_a_path(tmp_path: Path) -> None:
    numbers = [0.0, 0.5, -0.5]
    sound = Sound.from_samples(np.array(numbers), 16000)
    (tmp_path / "a.WAV").write_bytes(sound.data)
    given = [{"array": numbers, "sampling_rate": 16000}, {"bytes": sound.data, "path": "x"}, str(tmp_path / "a.WAV")]
    assert list(to_media(given, "document 0", None, 8)) == [sound] * 3


@pytest.mark.parametrize(
    "sound",
    [{"sampling_rate": 16000}, {"array": [0.0], "sampling_rate": 0}, {"array": ["x"], "sampling_rate": 16000}],
)
def test_numbers_that_are_no_sound_are_named(sound: object) -> None:
    with pytest.raises(BadInput, match="document 0: "):
        list(to_media(sound, "document 0", None, 8))


@pytest.mark.parametrize(
    ("name", "told"), [("gone.mp4", "there is no file"), ("bad.mp4", "cannot be read as a video")]
)
def test_a_video_that_is_not_there_or_none_is_named(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"nothing")
    with pytest.raises(BadInput, match=f"document 0: .*{told}"):
        levels(str(tmp_path / name), 1)
