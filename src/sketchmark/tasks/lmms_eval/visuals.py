"""What `doc_to_visual` gives, as pictures and sounds: of a video, frames at even distances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.files.tables import as_picture, inside
from sketchmark.picture import Picture
from sketchmark.sounds import FORMATS, Sound, is_sound

_VIDEOS = frozenset((".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".mpg", ".mpeg", ".flv", ".wmv", ".ts"))
_SOUNDS = frozenset((*(f".{name}" for name in FORMATS), ".opus", ".oga"))
_FORMATS = "mov,mp4,matroska,webm,avi,mpeg,mpegts,flv,asf"
"""Containers that hold a video themselves. Play lists name other files and addresses, and are not opened."""


def shown(found: Any, where: str, root: Path | None, frames: int) -> Iterator[Picture | Sound]:
    """`root` is where paths may lead, None for those that a trusted function made."""
    for one in found if isinstance(found, (list, tuple)) else [found]:
        if isinstance(one, (list, tuple)):
            yield from shown(one, where, root, frames)
        elif isinstance(one, Mapping) and "sampling_rate" in one:
            yield _of_samples(one, where)
        elif isinstance(one, (str, Path)):
            yield from _of_path(inside(root, str(one), where) if root else Path(one).absolute(), where, frames)
        elif isinstance(one, Mapping) and (held := one.get("bytes") or one.get("path")):
            yield from shown([held], where, root, frames)
        elif is_sound(one):
            yield Sound.from_bytes(one)
        elif one is not None:
            yield as_picture(one, where, root or Path("/"))


def _of_samples(one: Mapping[str, Any], where: str) -> Sound:
    """As `datasets` has it, and as a function may have changed it."""
    try:
        return Sound.from_samples(one["array"], int(one["sampling_rate"]))
    except (BadInput, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{where}: {error}") from error


def _of_path(path: Path, where: str, frames: int) -> Iterator[Picture | Sound]:
    if not path.is_file():
        raise BadInput(f"{where}: there is no file {path}")
    if path.suffix.lower() in _SOUNDS:
        yield Sound.from_file(path)
    elif path.suffix.lower() in _VIDEOS:
        yield from frames_of(path, where, frames)
    else:
        yield as_picture(path.read_bytes(), where)


def frames_of(path: Path, where: str, count: int) -> Iterator[Picture]:
    """The frames in the middle of as many equal stretches of the video."""
    try:
        av = import_module("av")
    except ImportError as error:
        raise MissingExtra(f"{where}, which is a video,", "video") from error
    if count < 1:
        raise BadInput(f"{count} frames of a video", "--task_args frames=8")
    try:
        with av.open(str(path), options={"protocol_whitelist": "file", "format_whitelist": _FORMATS}) as video:
            stream = video.streams.video[0]
            length = float(video.duration or 0) / av.time_base
            for number in range(count):
                moment = length * (number + 0.5) / count
                video.seek(int(moment * av.time_base))
                shown = None
                for frame in video.decode(stream):
                    shown = frame
                    if frame.time is None or frame.time >= moment:
                        break
                if shown is None:
                    raise BadInput(f"{where}: {path.name} has no picture at {moment:.1f} s")
                yield Picture.from_image(shown.to_image())
    except (av.FFmpegError, IndexError, OSError) as error:
        raise BadInput(f"{where}: {path.name} cannot be read as a video: {error}") from error
