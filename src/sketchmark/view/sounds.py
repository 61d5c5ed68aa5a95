"""Sounds for the browser."""

from __future__ import annotations

from pathlib import Path

from sketchmark.runs.format import EpisodeLine
from sketchmark.runs.record import sound_names
from sketchmark.runs.store import RunFolder


def recording(folder: RunFolder, name: str) -> tuple[Path, str]:
    """File and media type of a sound that is what its name says."""
    return folder.pictures.path(name), folder.pictures.load_sound(name).media_type


def in_words(folder: RunFolder, line: EpisodeLine) -> dict[str, str]:
    """Name → what it is, of every sound in an episode: a player shows no format and no size."""
    shown = (part.sound for turn in line.turns for part in turn.added if part.sound)
    return {name: folder.pictures.sound_in_words(name) for name in (*sound_names(line.sample), *shown)}
