"""One run on disk: everything needed to resume, re-score, compare and look."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import BadInput
from sketchmark.files.lines import read_lines
from sketchmark.files.pictures import PictureStore
from sketchmark.runs.record import unpack_episode

FORMAT = 1
_CELL = re.compile(r"[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)+(~[a-z\-]+)?")


class RunFolder:
    """Paths and readers of a run. Reading needs nothing but the folder; names in it are never trusted as paths."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pictures = PictureStore(path / "pictures")

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        folder = cls(Path(path))
        if not folder.run_file.exists():
            raise BadInput(
                f"{path} is not a run folder (it has no run.json)", "sketchmark run --output_path makes one"
            )
        return folder

    @property
    def run_file(self) -> Path:
        return self.path / "run.json"

    def about(self) -> dict[str, Any]:
        try:
            about = json.loads(self.run_file.read_bytes())
        except (OSError, ValueError) as error:
            raise BadInput(f"cannot read {self.run_file}: {error}") from error
        if not isinstance(about, dict) or not isinstance(about.get("cells", {}), dict):
            raise BadInput(f"{self.run_file} does not describe a run")
        if about.get("format") != FORMAT:
            raise BadInput(f"{self.path} was written by another version (format {about.get('format')!r})")
        return {"cells": {}, "seed": 0, "model": {"name": ""}, **about}

    @property
    def cells(self) -> list[str]:
        """`task.mode` (or `task.mode.canvas` when a run plays several canvases), in the order they were asked for."""
        return [name for name in self.about()["cells"] if _CELL.fullmatch(name)]

    def episodes_file(self, cell: str) -> Path:
        return self.path / "episodes" / f"{_checked(cell)}.jsonl"

    def scores_file(self, cell: str, scoring: str = "") -> Path:
        return self.path / "scores" / f"{_checked(cell + (f'~{scoring}' if scoring else ''))}.jsonl"

    def episodes(self, cell: str) -> Iterator[dict[str, Any]]:
        """One record a sample: where a failure was retried, the newest."""
        path = self.episodes_file(cell)
        newest = {record["sample"]["id"]: number for number, record in enumerate(read_lines(path))}
        for number, record in enumerate(read_lines(path)):
            if newest[record["sample"]["id"]] == number:
                yield record

    def played(self, cell: str) -> Iterator[tuple[int, Episode]]:
        """(the sample's number, its episode), in the order of the samples."""
        for record in sorted(self.episodes(cell), key=lambda record: int(record["index"])):
            yield int(record["index"]), unpack_episode(record, self.pictures.load)

    def scores(self, cell: str, scoring: str = "") -> Iterator[dict[str, Any]]:
        """One row a sample, in the order of the samples, whatever order they finished in."""
        rows = {row["sample"]: row for row in read_lines(self.scores_file(cell, scoring))}
        yield from sorted(rows.values(), key=lambda row: row["index"])

    def results(self) -> dict[str, Any]:
        path = self.path / "results.json"
        return dict(json.loads(path.read_bytes())) if path.exists() else {}


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """What changed between two descriptions, as `modes.direct.prompts.ask`-like paths with both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return [
            line
            for key in sorted({*before, *now}, key=str)
            for line in differences(before.get(key), now.get(key), f"{where}.{key}" if where else str(key))
        ]
    return [] if before == now else [f"{where}: {_short(before)} -> {_short(now)}"]


def _checked(cell: str) -> str:
    if not _CELL.fullmatch(cell):
        raise BadInput(f"not a name of a run's cell: {cell[:80]!r}")
    return cell


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."
