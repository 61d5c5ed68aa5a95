"""Whether every episode of a run has its score: numbers over a part of them would look like numbers over all."""

from __future__ import annotations

from sketchmark.errors import BadInput
from sketchmark.files.lines import LineReader
from sketchmark.runs.store import NUMBERS, Opening, RunFolder


class _Try(Opening):
    """Which try at which sample a line is of, without the transcript."""

    started: float = 0.0


_TRIES = LineReader(_Try, "an episode line")


def refuse_partial_scores(folder: RunFolder, *cells: str) -> None:
    """Of these cells, or of all. Lines of samples beyond the last `--limit` do not matter."""
    for cell in cells or folder.cells:
        limit, lines = folder.limit(cell), _TRIES.all(folder.episodes_file(cell))
        tries = {line.key: line.started for line in lines if limit is None or line.index < limit}
        for row in NUMBERS.all(folder.scores_file(cell)):
            if tries.get(row.key) == row.started:
                del tries[row.key]
        if tries:
            raise BadInput(
                f"{len(tries)} episodes of {cell} in {folder.path} have no scores (one is {next(iter(tries))})",
                f"sketchmark score {folder.path}, or the same `sketchmark run` again, scores them",
            )
