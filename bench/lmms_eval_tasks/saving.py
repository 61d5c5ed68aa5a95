"""Made-up rows as a data set that `datasets` saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.lmms_eval_tasks.guesses import is_sound
from sketchmark.sounds import Sound


def save(rows: list[dict[str, Any]], split: str, folder: Path) -> None:
    """A column of sounds is stored as data sets on the hub have it: as files, which are decoded when it is read."""
    import datasets  # type: ignore[import-untyped]

    sounds = {name: row[name]["sampling_rate"] for row in rows for name in row if is_sound(row[name])}
    made = datasets.Dataset.from_list([{name: _stored(value) for name, value in row.items()} for row in rows])
    for name, rate in sounds.items():
        made = made.cast_column(name, datasets.Audio(sampling_rate=rate))
    datasets.DatasetDict({split: made}).save_to_disk(str(folder))


def _stored(value: Any) -> Any:
    if not is_sound(value):
        return value
    return {"bytes": Sound.from_samples(value["array"], value["sampling_rate"]).data, "path": value.get("path")}
