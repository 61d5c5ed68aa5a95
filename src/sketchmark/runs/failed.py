"""Why episodes failed, read without their transcripts."""

from __future__ import annotations

from sketchmark.episode import Failure
from sketchmark.files.lines import LineReader
from sketchmark.runs.store import Opening, RunFolder

_LONGEST = 300


class _Ending(Opening):
    failure: Failure | None = None


_ENDINGS = LineReader(_Ending, "an episode line")


def failed(folder: RunFolder, cell: str) -> dict[str, Failure]:
    """Sample → why its last try failed; of the samples that were asked for."""
    found: dict[str, Failure] = {}
    limit = folder.limit(cell)
    for line in _ENDINGS.all(folder.episodes_file(cell)):
        found.pop(line.key, None)
        if line.failure and (limit is None or line.index < limit):
            found[line.key] = line.failure
    return found


def first_of_each_kind(failures: dict[str, Failure]) -> dict[str, str]:
    """Kind → the first sample that failed so, and what was said."""
    reasons: dict[str, str] = {}
    for sample, failure in failures.items():
        reasons.setdefault(failure.kind, f"{sample}: {' '.join(failure.message.split())[:_LONGEST]}")
    return reasons
