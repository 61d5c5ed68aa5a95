"""Files for others to score: what a benchmark with withheld answers, or an external metric suite, takes.

A task names its writer under `submission:` in its YAML; the files go to `RUN/submission/CELL/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sketchmark.files.own import own_file, own_folder
from sketchmark.runs.store import RunFolder
from sketchmark.task import Task


def write_submissions(folder: RunFolder, tasks: Mapping[str, Task]) -> list[Path]:
    """Write the files of every cell whose task has a writer; the episodes come in the order of the samples."""
    written: list[Path] = []
    for cell, task in tasks.items():
        if writer := task.submission:
            episodes = (episode for _, episode in folder.played(cell))
            written += writer(episodes, _target(folder, cell))
    return written


def _target(folder: RunFolder, cell: str) -> Path:
    """Writers write by name: nothing there may be a link that leads elsewhere."""
    target = own_folder(folder.path, "submission", cell)
    for old in target.iterdir() if target.exists() else ():
        own_file(target, old.name)
    return target
