"""What all exports ask of a run: its episodes one by one, and the plain standard error that other tools print."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sketchmark.runs.format import EpisodeLine, ScoreRow
from sketchmark.runs.index import CellIndex
from sketchmark.runs.record import said
from sketchmark.runs.results import withheld


def episodes(cell: CellIndex) -> Iterator[tuple[EpisodeLine, ScoreRow | None]]:
    """(episode line, score line) of every sample in the task's order; one pair in memory at a time."""
    for sample in cell.order():
        yield cell.episode(sample), cell.score(sample)


def name_of(cell: CellIndex) -> str:
    """`maze` when answered directly, otherwise `maze_visual_cot`: the way such tasks are named elsewhere."""
    parts = [cell.task] + ([cell.mode] if cell.mode != "direct" else [])
    return "_".join(parts + ([cell.canvas] if cell.canvas != "own" else []))


def means(cell: CellIndex) -> dict[str, tuple[float, float | None, int]]:
    """name -> (mean, standard error of the mean, n) over the episodes that say something about the model; nothing
    where the cell's scores are withheld."""
    if withheld(cell.rows.values()):
        return {}
    values: dict[str, list[float]] = {}
    for row in cell.rows.values():
        if row.scored:
            for name, value in row.values.items():
                if value is not None:
                    values.setdefault(name, []).append(float(value))
    found = {}
    for name, all_of in values.items():
        n = len(all_of)
        mean = sum(all_of) / n
        spread = math.sqrt(sum((v - mean) ** 2 for v in all_of) / (n - 1) / n) if n > 1 else None
        found[name] = (mean, spread, n)
    return found


def problem(cell: CellIndex) -> dict[str, str]:
    """Why there are no means, under the key it is exported by; empty where there are."""
    reason = withheld(cell.rows.values())
    return {"sketchmark_problem": reason} if reason else {}


def answer_of(line: EpisodeLine) -> str | None:
    """The last thing said; None where nothing was, or the episode failed: a failure must not be read as an answer."""
    answers = said(line)
    return answers[-1] if answers and not line.failure else None


def asked(line: EpisodeLine) -> str:
    """The texts that were put before the model first."""
    shown = (part.text for turn in line.turns if turn.act == "show" for part in turn.added)
    return "\n".join(text for text in shown if text is not None)
