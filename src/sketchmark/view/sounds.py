"""Sounds for the browser."""

from __future__ import annotations

from sketchmark.runs.format import EpisodeLine
from sketchmark.runs.record import sound_names
from sketchmark.runs.store import RunFolder


def recording(folder: RunFolder, name: str) -> tuple[bytes, str]:
    """Bytes and media type, as the model heard it."""
    sound = folder.pictures.load_sound(name)
    return sound.data, sound.media_type


def in_words(folder: RunFolder, line: EpisodeLine) -> dict[str, str]:
    """Name → what it is, of every sound in an episode: a player shows no format and no size."""
    shown = (part.sound for turn in line.turns for part in turn.added if part.sound)
    return {name: folder.pictures.sound_in_words(name) for name in (*sound_names(line.sample), *shown)}
