"""Audio inputs."""

from __future__ import annotations

import hashlib
import io
import wave
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchmark.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_BYTES = 100_000_000
"""Sounds are untrusted input. This is an hour as WAV at 13 kHz, and more than providers accept."""

_MEDIA_TYPES = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "aac": "audio/aac",
    "m4a": "audio/mp4",
}
FORMATS = frozenset(_MEDIA_TYPES)
_CONTAINERS = "wav,mp3,flac,ogg,aac,mov,mp4"
"""Formats that contain their sound. Playlists name other files and addresses, and are not opened."""


def is_sound(value: object) -> bool:
    return isinstance(value, bytes) and _format_of(value) is not None


def _format_of(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    for signature, name in ((b"fLaC", "flac"), (b"OggS", "ogg"), (b"ID3", "mp3")):
        if data.startswith(signature):
            return name
    if data[4:8] == b"ftyp":
        return "m4a"
    if len(data) > 1 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0:  # a frame of MPEG audio; layer 0 is AAC's
        return "mp3" if data[1] & 0x06 else "aac"
    return None


@dataclass(frozen=True, eq=False)
class Sound:
    """A recording with its original bytes. It is decoded only if a provider needs another format."""

    data: bytes
    format: str

    @classmethod
    def from_bytes(cls, data: bytes) -> Sound:
        if len(data) > MAX_BYTES:
            raise BadInput(f"a sound of {len(data)} bytes is over the limit of {MAX_BYTES}")
        if (kind := _format_of(data)) is None:
            known = ", ".join(map(str.upper, _MEDIA_TYPES))
            raise BadInput(f"not a sound: {len(data)} bytes starting {data[:8]!r}", known)
        return cls(data, kind)

    @classmethod
    def from_file(cls, path: Path | str) -> Sound:
        try:
            if (size := Path(path).stat().st_size) > MAX_BYTES:
                raise BadInput(f"{path}: a sound of {size} bytes is over the limit of {MAX_BYTES}")
            data = Path(path).read_bytes()
        except OSError as error:
            raise BadInput(f"cannot read sound {path}: {error.strerror}") from error
        try:
            return cls.from_bytes(data)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from error

    @classmethod
    def from_samples(cls, samples: NDArray[Any], rate: int) -> Sound:
        """Make a 16-bit WAV of numbers between -1 and 1, or of 16-bit numbers: (length), or (channels, length)."""
        import numpy as np

        values = np.atleast_2d(np.asarray(samples))
        if values.ndim != 2 or not 1 <= len(values) <= 64 or not 1 <= rate <= 2**20:
            raise BadInput(f"not a sound: numbers of the shape {np.shape(samples)} at {rate} Hz")
        if values.dtype != np.int16:
            values = np.clip(np.rint(np.nan_to_num(values.astype(np.float64)) * 2**15), -(2**15), 2**15 - 1)
        if values.size * 2 > MAX_BYTES:
            raise BadInput(f"a sound of {values.size * 2} bytes is over the limit of {MAX_BYTES}")
        return cls(_wav(values.astype("<i2").T.tobytes(), len(values), rate), "wav")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes: the name of its file, and its identity."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def media_type(self) -> str:
        return _MEDIA_TYPES[self.format]

    def samples(self, rate: int | None = None) -> tuple[NDArray[Any], int]:
        """Return numbers between -1 and 1 as (channels, length), and their rate: `rate`, or the original one."""
        return self._decoded("fltp", rate)

    def as_wav(self) -> Sound:
        """Convert to WAV, for providers that read few formats."""
        return self if self.format == "wav" else Sound.from_samples(*self._decoded("s16p"))

    def _decoded(self, kind: str, rate: int | None = None) -> tuple[NDArray[Any], int]:
        import numpy as np

        try:
            av = import_module("av")
        except ImportError as error:
            raise MissingExtra(f"decoding a sound ({self.format})", "video") from error
        pieces: list[NDArray[Any]] = []
        left = MAX_BYTES
        try:
            with av.open(io.BytesIO(self.data), options={"format_whitelist": _CONTAINERS}) as file:
                stream = file.streams.audio[0]
                converter = av.AudioResampler(format=kind, layout=stream.layout, rate=rate or stream.rate)
                for frame in chain(file.decode(stream), [None]):
                    for piece in converter.resample(frame):
                        pieces.append(piece.to_ndarray())
                        left -= pieces[-1].nbytes
                        if left < 0:
                            raise BadInput(f"a {self.format} sound of over {MAX_BYTES} bytes when decoded")
        except (av.FFmpegError, IndexError, ValueError) as error:
            raise BadInput(f"broken {self.format} sound: {error}") from error
        if not pieces:
            raise BadInput(f"broken {self.format} sound: there is nothing in it")
        return np.concatenate(pieces, axis=1), rate or int(stream.rate)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sound) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Sound({self.format}, {self.digest[:12]})"


def _wav(frames: bytes, channels: int, rate: int) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(frames)
    return buffer.getvalue()
