"""What a leaderboard shows of one run, in the terminal and in the viewer."""

from __future__ import annotations

from msgspec import Struct, structs

from sketchmark.runs import gains as computed
from sketchmark.runs import summary
from sketchmark.runs.index import CellIndex, RunIndex
from sketchmark.runs.results_format import Gain, Metric


class Standing(Struct, kw_only=True):
    """One cell: its score, over how many samples, and what the mode changed over direct."""

    cell: str
    task: str
    mode: str
    canvas: str
    metric: str
    """The score's name: the task's headline, or the one that was asked for."""

    scoring: str
    score: Metric | None
    """None where there is none; `problem` then says why, if anybody knows."""

    gain: Gain | None
    n: int
    """Scored episodes that have this score."""

    played: int
    """All episodes."""

    failures: dict[str, int]
    problem: str
    usage: dict[str, int]


def standings(run: RunIndex, metric: str = "") -> list[Standing]:
    """The cells of a run as they stand now, in its order. `metric` replaces each task's headline score."""
    about = {name: structs.replace(cell.about, headline=metric or cell.headline) for name, cell in run.cells.items()}
    found = computed.gains(about, lambda name: run.cells[name].scored())
    gains = {(gain.task, gain.mode, gain.canvas): gain for gain in found}
    return [
        _standing(cell, metric or cell.headline, gains.get((cell.task, cell.mode, cell.canvas)))
        for cell in run.cells.values()
    ]


def _standing(cell: CellIndex, metric: str, gain: Gain | None) -> Standing:
    numbers = summary.of_cell(cell)
    score = numbers.metrics.get(metric)
    return Standing(
        cell=cell.name,
        task=cell.task,
        mode=cell.mode,
        canvas=cell.canvas,
        metric=metric,
        scoring=numbers.scoring,
        score=score,
        gain=gain,
        n=score.n if score else 0,
        played=len(cell.episodes) or numbers.episodes,
        failures=numbers.failures,
        problem=numbers.problem,
        usage=numbers.usage,
    )
