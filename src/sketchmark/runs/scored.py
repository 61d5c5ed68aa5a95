"""What a comparison needs to know of a cell: one small record a sample, read line by line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sketchmark.errors import BadInput
from sketchmark.files.lines import read_lines
from sketchmark.runs.store import RunFolder

Groups = Mapping[str, str | int | float]


class ScoredSample(NamedTuple):
    """One sample as it was scored. `value` is None where the score does not apply or the episode was not scored."""

    fingerprint: str
    value: float | None
    scored: bool
    drawing_right: bool | None
    groups: Groups
    flags: tuple[str, ...]


@dataclass(frozen=True)
class ScoredCell:
    """A cell of a run as run.json describes it; `items` reads its scores."""

    folder: RunFolder
    run: str
    model: str
    name: str
    about: Mapping[str, Any]
    scoring: str

    @property
    def task(self) -> str:
        return str(self.about["task"])

    @property
    def mode(self) -> str:
        return str(self.about["mode"])

    @property
    def canvas(self) -> str:
        return str(self.about["canvas"])

    @property
    def headline(self) -> str:
        return str(self.about.get("headline", ""))

    @property
    def player(self) -> str:
        """Equal for cells that the same model played with the same arguments, in whatever folder."""
        return json.dumps(self.about.get("model"), sort_keys=True)

    def items(self, metric: str, shelf: dict[str, Groups]) -> dict[str, ScoredSample]:
        """Items by sample id, in the samples' order; where a sample was scored again, the newest row.

        `shelf` keeps one copy of how each sample is filed for all cells of a task: equal fingerprints, equal files.
        """
        path = self.folder.scores_file(self.name)
        found: dict[str, tuple[int, ScoredSample]] = {}
        for row in read_lines(path):
            try:
                fingerprint = str(row["fingerprint"])
                value = row["values"].get(metric)
                item = ScoredSample(
                    fingerprint,
                    float(value) if row["scored"] and value is not None else None,
                    bool(row["scored"]),
                    drawing_right(row),
                    shelf.setdefault(fingerprint, dict(row["groups"])),
                    tuple(map(str, row["flags"])),
                )
                found[str(row["sample"])] = (int(row["index"]), item)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise BadInput(
                    f"{path}: a line is not a score row ({error!r})", "sketchmark score RUN remakes it"
                ) from error
        ordered = sorted(found.items(), key=lambda entry: entry[1][0])
        return {sample: item for sample, (_, item) in ordered}


def cells_of(path: Path | str, run: str) -> list[ScoredCell]:
    folder = RunFolder.open(path)
    about = folder.about()
    scored = folder.results().get("tasks", {})
    cells = []
    for name in folder.cells:
        cell = about["cells"][name]
        if not isinstance(cell, dict) or not {"task", "mode", "canvas"} <= cell.keys():
            raise BadInput(f"{folder.run_file}: the cell {name} has no task, mode or canvas")
        scoring = str(scored.get(name, {}).get("scoring", ""))
        cells.append(ScoredCell(folder, run, str(about.get("model", {}).get("name", "")), name, cell, scoring))
    return cells


def trouble(items: Mapping[str, ScoredSample]) -> dict[str, int]:
    return dict(sorted(Counter(flag for item in items.values() for flag in item.flags).items()))


def drawing_right(row: Mapping[str, Any]) -> bool | None:
    """Was everything drawn in this episode right? None where nothing was drawn or nobody can tell.

    A whole-sequence score (`…_img_exact`) also demands that no frame is missing, so it goes before the frames.
    """
    for name, value in row["values"].items():
        if name.endswith("_img_exact") and value is not None:
            return bool(value == 1)
    frames = row.get("notes", {}).get("frames_right")
    return all(frames) if frames else None
