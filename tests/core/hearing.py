"""Tones, and models that listen to them."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from sketchmark import Context, Model, Options, Reply, Sound
from sketchmark.media import Picture
from sketchmark.testing import colour, tone

__all__ = ["CODECS", "DRAWN", "Deaf", "Ear", "encoded", "tone"]

CODECS = {"flac": "flac", "mp3": "libmp3lame", "ogg": "libopus", "m4a": "aac", "aac": "aac"}
_CONTAINERS = {"m4a": "mp4", "aac": "adts"}


def _wave(hertz: float, rate: int, seconds: float) -> NDArray[np.float32]:
    return np.asarray(np.sin(np.arange(int(rate * seconds)) * (2 * np.pi * hertz / rate)) * 0.5, np.float32)


def encoded(name: str, *, rate: int = 48000, seconds: float = 0.1) -> Sound:
    """A tone in one of the formats of `CODECS`."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format=_CONTAINERS.get(name, name)) as file:
        stream = file.add_stream(CODECS[name], rate=rate)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(_wave(440, rate, seconds)[None], format="fltp", layout="mono")
        frame.sample_rate = rate
        for piece in av.AudioResampler(format=stream.format, layout="mono", rate=rate).resample(frame):
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))
    return Sound.from_bytes(buffer.getvalue())


class Ear(Model):
    """Remembers what it heard, says how much that was, and draws."""

    hears = True

    def __init__(self, name: str = "ear") -> None:
        super().__init__(name)
        self.contexts: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.contexts.append(context)
        return Reply(text=f"{len(context.sounds)} sounds")

    async def draw(self, context: Context, options: Options) -> Reply:
        self.contexts.append(context)
        return Reply(picture=DRAWN)


class Deaf(Ear):
    hears = False


DRAWN: Picture = colour("red")
