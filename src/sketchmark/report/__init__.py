"""report.html: one self-contained file that opens from a mail attachment, with no network and no scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sketchmark.runs.store import RunFolder

__all__ = ["write_report"]


def write_report(folder: RunFolder) -> Path:
    """Make the run's report.html anew from its score lines and a few of its episodes; whole or not at all."""
    from sketchmark.files.atomic import write_atomic
    from sketchmark.report.page import page
    from sketchmark.runs.complete import refuse_partial_scores
    from sketchmark.runs.index import RunIndex

    refuse_partial_scores(folder)
    run = RunIndex.whole(folder)
    write_atomic(folder.report_file, page(run).encode())
    return folder.report_file
