"""What an audit finds, as plain data: terminal, report and JSON show nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from sketchmark.comparison.verdicts import Verdict
from sketchmark.stats import Interval
from sketchmark.stats.sequence import Sequence


@dataclass(frozen=True)
class Finding:
    """One difference (after - before on the same samples) or one share, with its 95 % interval and what it means.

    `p_holm` is corrected over all differences of the audit. `more_needed` is how many samples beyond the present
    ones would settle it, if what was seen so far is typical; None where it is settled. `left_out` samples were not
    scored on both sides. The `verdict` on a share is `more` where it is known to within the margin, else `open`.
    """

    name: str
    label: str
    kind: Literal["difference", "share"]
    mean: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    n: int
    left_out: int
    verdict: Verdict
    more_needed: int | None
    sentence: str


@dataclass(frozen=True)
class CellScore:
    """`place` is a mode, or the canvas of visual_cot."""

    place: str
    score: Interval


@dataclass(frozen=True)
class TaskAudit:
    """One task. `anytime` is the drawing gain's interval however often one looked (stats/sequence.py)."""

    task: str
    metric: str
    scoring: str
    scores: tuple[CellScore, ...]
    findings: tuple[Finding, ...]
    anytime: Sequence | None


@dataclass(frozen=True)
class Audit:
    """Of one run. `notes` says what could not be looked at, and why."""

    run: str
    model: str
    margin: float
    tasks: tuple[TaskAudit, ...]
    notes: tuple[str, ...]


def as_json(found: Audit) -> dict[str, Any]:
    return asdict(found)
