"""The two CSV files that external report-metric suites take (docs/benchmarks/medical.md, "Report scoring")."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sketchmark.episode import Episode
from sketchmark.tasks.medical.radiology_metrics import write_report_files


def write(episodes: Iterable[Episode], folder: Path) -> list[Path]:
    pairs = [(episode.sample.target["reference"], episode.answer) for episode in episodes if episode.sample.target]
    return list(write_report_files(folder, [reference for reference, _ in pairs], [reply for _, reply in pairs]))
