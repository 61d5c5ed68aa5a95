"""One difference or share: its interval, whether it is settled, and how many samples it would take.

The cells of a run by what they show the model: a mode without drawings, or a canvas of visual_cot.

From a run folder to what its cells say together.

Where a drawing gain comes from, or where it is lost: the cells of one run taken apart (docs/audit.md).

`--until settled`: samples are added in blocks until each task's drawing gain is settled, or a limit is reached.

One may look after every block because the gain's interval is a confidence sequence (stats/power.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sketchmark.audit.contrasts import (
    DRAWING_MODE,
    GAIN,
    MODES,
    Audit,
    ConditionScore,
    Contrast,
    Finding,
    TaskAudit,
    as_json,
    contrasts,
)
from sketchmark.comparison import pairs as fairness
from sketchmark.comparison.findings import direction, span
from sketchmark.episode.desk import CANVASES
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.folder.format import Score
from sketchmark.folder.index import CellView, open_cells
from sketchmark.results.summary import Pairs, Rows, pair, withheld
from sketchmark.runs import More
from sketchmark.stats.differences import CLEAR, Difference, holm
from sketchmark.stats.intervals import Interval, interval
from sketchmark.stats.power import MISSES, Pilot, Sequence, samples_needed, sequence


class Look(NamedTuple):
    """How closely one looks: what counts as no difference, and over how many tests it is corrected."""

    margin: float
    tests: int


def difference(contrast: Contrast, pairs: Pairs, found: Difference, p_holm: float | None, look: Look) -> Finding:
    seen = direction(found, p_holm, look.margin)
    words: str = getattr(contrast, seen)
    more = _more_needed(pairs, found, look) if seen == "open" else None
    return Finding(
        name=contrast.name,
        label=contrast.label,
        kind="difference",
        mean=found.mean or 0.0,
        low=found.low,
        high=found.high,
        p=found.p,
        p_holm=p_holm,
        n=found.n,
        left_out=pairs.unpaired + pairs.unscored,
        verdict=seen,
        more_needed=more,
        sentence=words.format(span=span(found), size=_size(found)) + _would_settle(more),
    )


def share(
    name: str, label: str, words: str, rows: Rows, value: Callable[[Score], float | None], look: Look
) -> Finding | None:
    """The mean of a value from 0 to 1 over those rows that have it; None: no row has."""
    found = [(row, number) for row in rows.values() if (number := value(row)) is not None]
    if not found or any(not 0 <= number <= 1 for _, number in found):
        return None
    measured = interval([number for _, number in found], [row.cluster for row, _ in found])
    assert measured.mean is not None and measured.low is not None and measured.high is not None
    half = (measured.high - measured.low) / 2
    more = max(1, math.ceil(measured.n * (half / look.margin) ** 2) - measured.n) if half > look.margin else None
    wide = f" It is not settled to within {100 * look.margin:.0f} points." if more else ""
    return Finding(
        name=name,
        label=label,
        kind="share",
        mean=measured.mean,
        low=measured.low,
        high=measured.high,
        p=None,
        p_holm=None,
        n=measured.n,
        left_out=len(rows) - len(found),
        verdict="open" if more else "more",
        more_needed=more,
        sentence=words.format(share=_percent(measured), n=measured.n) + wide + _would_settle(more),
    )


def _more_needed(pairs: Pairs, found: Difference, look: Look) -> int | None:
    """To show the difference that was seen (corrected, in four of five audits), or that it is within the margin:
    whichever takes fewer."""
    assert found.mean is not None
    pilot = Pilot.of(pairs.before, pairs.after, pairs.clusters)
    ways = []
    if 0 < abs(found.mean) <= 1:
        effect, kind = pilot.design_effect, pilot.right_wrong
        alpha = CLEAR / look.tests
        ways.append(
            samples_needed(found.mean, pilot.discordance, alpha=alpha, design_effect=effect, right_wrong=kind)
        )
    if found.low is not None and found.high is not None and abs(found.mean) < look.margin:
        half = (found.high - found.low) / 2
        ways.append(math.ceil(found.n * (half / (look.margin - abs(found.mean))) ** 2))
    return max(1, min(ways) - found.n) if ways else None


def _would_settle(more: int | None) -> str:
    if more is None:
        return ""
    rounded = more if more < 20 else round(more, -1) if more < 1000 else round(more, -2)
    return f" About {rounded:,} more samples would settle it."


def _size(found: Difference) -> str:
    if found.low is None or found.high is None:
        return f"{100 * abs(found.mean or 0):.1f} points"
    low, high = (found.low, found.high) if (found.mean or 0) > 0 else (-found.high, -found.low)
    return f"{100 * abs(found.mean or 0):.1f} points [{100 * low:.1f}, {100 * high:.1f}]"


def _percent(found: Interval) -> str:
    assert found.mean is not None and found.low is not None and found.high is not None
    return f"{100 * found.mean:.1f} % [{100 * found.low:.1f}, {100 * found.high:.1f}]"


PLACES = (*(mode for mode in MODES if mode != DRAWING_MODE), *CANVASES)


@dataclass(frozen=True, eq=False)
class PlayedTask:
    """`rows` by place, in the order of `PLACES`."""

    name: str
    metric: str
    scoring: str
    model: str
    rows: Mapping[str, Rows]


def played_tasks(run: Path | str) -> tuple[list[PlayedTask], list[str]]:
    """Those that can be audited, and in words why others cannot."""
    cells = open_cells(run, Path(run).resolve().name)
    notes: list[str] = []
    tasks = []
    for name in dict.fromkeys(cell.task for cell in cells):
        places = {_place(cell): cell for cell in cells if cell.task == name}
        played = {place: places[place] for place in PLACES if place in places}
        if found := _played(name, played, notes):
            tasks.append(found)
    if not tasks:
        raise BadInput(
            f"nothing to audit in {run}: {'; '.join(notes) or 'it holds no cell'}",
            "sketchmark audit --model MODEL --tasks maze plays all that an audit needs",
        )
    return tasks, notes


def _place(cell: CellView) -> str:
    return cell.canvas if cell.mode == DRAWING_MODE else cell.mode


def _played(name: str, cells: Mapping[str, CellView], notes: list[str]) -> PlayedTask | None:
    if "own" not in cells or len(cells) < 2:
        notes.append(f"{name} was not played in {DRAWING_MODE} and in another mode or on another canvas")
        return None
    own = cells["own"]
    if not own.about.headline:
        notes.append(f"{name} names no headline score")
        return None
    rows: dict[str, Rows] = {}
    empty = []  # a run that stopped early may not have come to it
    for place, cell in cells.items():
        found = cell.complete_scores()
        if reason := withheld(found.values()):
            notes.append(f"{cell.name}: {reason}; `sketchmark score {cell.folder.path}` tries again")
        elif found:
            rows[place] = found
        else:
            empty.append(cell.name)
    if "own" not in rows or len(rows) < 2:
        notes += [f"nothing of {', '.join(empty)} is scored yet"] if empty else []
        return None
    for place in rows:
        _refuse_others(own, cells[place], rows["own"], rows[place])
    _tell_missing(name, rows, notes)
    return PlayedTask(name, own.about.headline, own.scoring, own.model, rows)


def _refuse_others(own: CellView, cell: CellView, own_rows: Rows, rows: Rows) -> None:
    """Cells of one folder may come from different commands: other data or other prompts cannot be held together."""
    found = fairness.how_grouped(own_rows, rows)
    if cell.mode == DRAWING_MODE:
        found = [*fairness.how_asked(own, cell), *found]
    if own.player != cell.player:
        found.append("the model's arguments")
    if found:
        raise RunConflict(
            f"{own.name} and {cell.name} cannot be held together; what differs: {'; '.join(found[:3])}",
            "audit in a folder of its own: --output-path",
        )


def _tell_missing(name: str, rows: Mapping[str, Rows], notes: list[str]) -> None:
    missing = [place for place in PLACES if place not in rows]
    if missing:
        notes.append(f"{name} was not played with: {', '.join(missing)}")


MARGIN = 0.1
"""Ten points: what is nearer to zero for certain is called no difference."""

FOLLOWS = "follows_corrupt"
"""The score of worlds (worlds/moves.py): does the answer follow the corrupt drawing?"""


@dataclass(frozen=True)
class _Compared:
    task: PlayedTask
    contrast: Contrast
    pairs: Pairs
    difference: Difference


def audit(run: Path | str, margin: float = MARGIN) -> Audit:
    """Every task of the run that was played with drawings and with something to hold them against."""
    if not 0 < margin < 1:
        raise BadInput(f"a margin of {margin:g} is no difference of scores", "give one between 0 and 1, such as 0.1")
    tasks, notes = played_tasks(run)
    compared = [
        _Compared(task, contrast, pairs, pairs.difference())
        for task in tasks
        for contrast in contrasts()
        if {contrast.before, contrast.after} <= task.rows.keys()
        if (pairs := pair(task.rows[contrast.before], task.rows[contrast.after], task.metric)).pairs
    ]
    corrected = holm([one.difference.p for one in compared])
    look = Look(margin, len(compared))
    findings = [
        (one.task, difference(one.contrast, one.pairs, one.difference, p, look))
        for one, p in zip(compared, corrected, strict=True)
    ]
    gains = {one.task.name: one.pairs for one in compared if one.contrast.name == GAIN}
    found = tuple(
        TaskAudit(
            task.name,
            task.metric,
            task.scoring,
            tuple(ConditionScore(place, _score(rows, task.metric)) for place, rows in task.rows.items()),
            (*(finding for of, finding in findings if of is task), *_shares(task, look)),
            gain_sequence(gains[task.name], len(tasks)) if task.name in gains else None,
        )
        for task in tasks
    )
    return Audit(str(run), tasks[0].model, margin, found, tuple(notes))


def gain_sequence(pairs: Pairs, tasks: int) -> Sequence | None:
    """The drawing gain's confidence sequence. All tasks together may miss the truth as often as one. Samples that
    share a source are not independent: the first of each counts. None where the score is not from 0 to 1."""
    first = {one.cluster: one.after - one.before for one in reversed(pairs.pairs)}
    if any(not -1 <= difference <= 1 for difference in first.values()):
        return None
    return sequence(list(first.values()), MISSES / tasks)


def _score(rows: Rows, metric: str) -> Interval:
    scored = [(row, value) for row in rows.values() if (value := row.value(metric)) is not None]
    return interval([value for _, value in scored], [row.cluster for row, _ in scored])


def _shares(task: PlayedTask, look: Look) -> list[Finding]:
    def wrong(row: Score) -> float | None:
        value = row.value(task.metric)
        return None if value is None else 1 - value

    def drawn_wrongly(row: Score) -> float | None:
        return None if row.drawing_right is None else float(not row.drawing_right)

    found = (
        share(
            "lost by reading", "oracle, not right",
            "Lost by reading: {share} is not right although it saw the true pictures.",
            task.rows.get("oracle", {}), wrong, look,
        ),
        share(
            "drawn wrongly", "drawn wrongly",
            "Drawn wrongly: in {share} of {n} episodes not all drawings are right.",
            task.rows.get("own", {}), drawn_wrongly, look,
        ),
        share(
            "follows corrupt", "follows corrupt",
            "It follows a corrupt drawing in {share} of {n} cases.",
            task.rows.get("corrupt", {}), lambda row: row.value(FOLLOWS), look,
        ),
    )  # fmt: skip
    return [one for one in found if one]


__all__ = ["Audit", "ConditionScore", "Finding", "TaskAudit", "as_json", "audit"]


AT_COST_LIMIT = "not settled at the limit of cost"


class Settling:
    """Asked after each block (`grow`). `outcomes` says of each task, in words, why it got no more samples."""

    def __init__(
        self, tasks: frozenset[str], margin: float, block: int, most: int, out_of_money: Callable[[], bool]
    ) -> None:
        self.outcomes: dict[str, str] = {}
        self._tasks, self._margin, self._block, self._most = tasks, margin, block, most
        self._limit, self._out_of_money = min(block, most), out_of_money

    def grow(self, folder: RunFolder) -> More | None:
        open_tasks = self._tasks - self.outcomes.keys()
        for task in sorted(open_tasks):
            if why := self._why_enough(folder, task):
                self.outcomes[task] = why
        self._limit = min(self._limit + self._block, self._most)
        left = open_tasks - self.outcomes.keys()
        return More(self._limit, left) if left else None

    def _why_enough(self, folder: RunFolder, task: str) -> str:
        direct, own = f"{task}.direct", f"{task}.{DRAWING_MODE}"
        about = folder.about()
        found = pair(folder.scored(direct), folder.scored(own), about.cells[own].headline)
        if found.withheld:
            return found.withheld
        now = gain_sequence(found, len(self._tasks))
        if now is None and found.pairs:
            return "its score is not from 0 to 1: the drawing gain cannot be followed"
        if now and (settled := now.settled(self._margin)):
            span = f"[{100 * now.low:+.1f}, {100 * now.high:+.1f}]"
            return f"settled after {now.n} samples: {_MEANING[settled]} {span}"
        if self._out_of_money():
            return AT_COST_LIMIT
        if about.totals.get(own, self._limit) < self._limit:
            return "not settled, and there are no more samples"
        return f"not settled at the limit of {self._most} samples" if self._limit >= self._most else ""


_MEANING = {"gain": "drawing helps", "loss": "drawing hurts", "no difference": "no difference worth naming"}
