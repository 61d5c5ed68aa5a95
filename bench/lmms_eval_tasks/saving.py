"""Made-up rows as a data set that `datasets` saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.lmms_eval_tasks.guesses import is_sound
from sketchmark.media.sound import Sound


def save(splits: dict[str, list[dict[str, Any]]], folder: Path) -> None:
    import datasets  # type: ignore[import-untyped]

    made = datasets.DatasetDict({name: datasets.Dataset.from_list(_stored(rows)) for name, rows in splits.items()})
    for name, rate in _sounds(splits).items():
        made = made.cast_column(name, datasets.Audio(sampling_rate=rate))
    made.save_to_disk(str(folder))


def _sounds(splits: dict[str, list[dict[str, Any]]]) -> dict[str, int]:
    """Columns of sounds, and their rate. They are stored as on the hub: as files, which are decoded when read."""
    rows = (row for one in splits.values() for row in one)
    return {name: value["sampling_rate"] for row in rows for name, value in row.items() if is_sound(value)}


def _stored(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: _file(value) if is_sound(value) else value for name, value in row.items()} for row in rows]


def _file(sound: dict[str, Any]) -> dict[str, Any]:
    return {"bytes": Sound.from_samples(sound["array"], sound["sampling_rate"]).data, "path": sound.get("path")}
