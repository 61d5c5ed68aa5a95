"""Audit of a drawing gain: where it comes from, and where it is lost, in the cells of one run (docs/audit.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sketchmark.audit.contrasts import (
    DRAWING_MODE,
    GAIN,
    MODES,
    TEXT_INPUT,
    Audit,
    ConditionScore,
    Contrast,
    Finding,
    TaskAudit,
    all_contrasts,
    as_json,
)
from sketchmark.comparison.findings import direction, span
from sketchmark.comparison.pairs import how_asked, how_grouped
from sketchmark.episode.desk import CANVASES
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.folder.builders import as_rows
from sketchmark.folder.columns import Floats, Rows
from sketchmark.folder.index import CellView, RunView, open_cells
from sketchmark.results.gains import Pairs, pair
from sketchmark.results.repeats import gain_spread, sample_codes
from sketchmark.results.summary import Mask, interval_of, mean_of, withheld
from sketchmark.runs import More
from sketchmark.stats.differences import CLEAR, Difference, holm
from sketchmark.stats.intervals import Interval, as_bracket, as_percent
from sketchmark.stats.power import MISSES, Pilot, Sequence, samples_needed, sequence
from sketchmark.stats.repeats import Division, Prices, divide

__all__ = ["Audit", "ConditionScore", "Finding", "TaskAudit", "as_json", "audit"]

MARGIN = 0.1
"""Ten points. A difference whose interval is within this of zero is negligible."""

_FOLLOWS = "follows_corrupt"
"""Score of worlds (worlds/moves.py): 1 if the answer follows the corrupt drawing."""

_PLACES = (*(mode for mode in MODES if mode != DRAWING_MODE), *CANVASES)
"""Conditions: a mode without drawings, or the canvas of visual_cot."""


class Look(NamedTuple):
    """Margin of a negligible difference, and the number of tests to correct for."""

    margin: float
    tests: int


@dataclass(frozen=True, eq=False)
class _Task:
    """A task to audit; `rows` by condition, in the order of `_PLACES`."""

    name: str
    metric: str
    scoring: str
    model: str
    rows: Mapping[str, Rows]


Run = Path | str | RunView
"""Path of a run folder, or a run that is open already: its rows are not read again."""


def audit(run: Run, margin: float = MARGIN) -> Audit:
    """Audit every task of the run that has drawings and another cell to compare them with."""
    if not 0 < margin < 1:
        raise BadInput(
            f"a margin of {margin:g} is not a difference of scores", "give one between 0 and 1, such as 0.1"
        )
    tasks, notes = _tasks(run)
    compared = [
        (task, contrast, pairs, pairs.difference())
        for task in tasks
        for contrast in all_contrasts()
        if {contrast.before, contrast.after} <= task.rows.keys()
        if len(pairs := pair(task.rows[contrast.before], task.rows[contrast.after], task.metric))
    ]
    corrected = holm([found.p for *_, found in compared])
    look = Look(margin, len(compared))
    audits = []
    for task in tasks:
        of_task = [(one, p) for one, p in zip(compared, corrected, strict=True) if one[0] is task]
        gain = next((pairs for (_, contrast, pairs, _), _ in of_task if contrast.name == GAIN), None)
        scores = [ConditionScore(place, mean_of(task.metric, rows.values())) for place, rows in task.rows.items()]
        findings = (*(difference(*one[1:], p, look) for one, p in of_task), *_shares(task, look))
        anytime = gain_sequence(gain, len(tasks)) if gain else None
        audits.append(TaskAudit(task.name, task.metric, task.scoring, tuple(scores), findings, anytime))
    return Audit(str(_path(run)), tasks[0].model, margin, tuple(audits), tuple(notes))


Cost = Callable[[Mapping[str, int]], float]
"""Usage, also of replies from the cache → its cost: the number of calls, or money."""


def divided(run: Run, budget: float, cost: Cost, most_samples: int | None = None) -> dict[str, Division | str]:
    """Return task → how to divide a budget among samples, repeats and answers for the narrowest interval of the gain,
    or why this cannot be said."""
    found: dict[str, Division | str] = {}
    for task in _tasks(run)[0]:
        direct, own = task.rows.get("direct"), task.rows["own"]
        spread = gain_spread(direct, own, task.metric) if direct else None
        if direct is None or spread is None:
            found[task.name] = (
                "a plan needs two samples with direct and drawn episodes, each with --repeats 2 or more"
            )
            continue
        price = _prices(direct, own, cost)
        if not spread.variance(1, 1):
            found[task.name] = "the gain is the same on every sample, so these do not show how to divide a budget"
        elif not price.of(1, 1, 1):
            found[task.name] = "its episodes cost nothing by these prices"
        else:
            best = divide(budget, spread, price, most_samples)
            found[task.name] = best or "the budget does not pay for two samples"
    return found


def _prices(direct: Rows, own: Rows, cost: Cost) -> Prices:
    """Return the mean costs of the episodes of a run."""

    def mean(rows: Rows, chosen: Mask) -> float:
        n = max(1, int(chosen.sum()))
        return cost({name: rows.total(f"u.{name}", chosen) for name in rows.names("usage", chosen)}) / n

    again = own.arrays["branch"] > 0
    first = mean(own, ~again)
    calls = own.total("u.calls", ~again) / max(1, int((~again).sum()))
    answer = mean(own, again) if again.any() else first / max(1.0, calls)
    return Prices(mean(direct, np.ones(len(direct), bool)), max(0.0, first - answer), answer)


def _path(run: Run) -> Path | str:
    return run.folder.path if isinstance(run, RunView) else run


def _tasks(run: Run) -> tuple[list[_Task], list[str]]:
    """Return the tasks that can be audited, and notes on the others."""
    cells = open_cells(run, Path(_path(run)).resolve().name)
    notes: list[str] = []
    tasks = []
    for name in dict.fromkeys(cell.task for cell in cells):
        of_task = {_place(cell): cell for cell in cells if cell.task == name}
        if found := _task(name, {place: of_task[place] for place in _PLACES if place in of_task}, notes):
            tasks.append(found)
    if not tasks:
        raise BadInput(
            f"nothing to audit in {_path(run)}: {'; '.join(notes) or 'it holds no cell'}",
            "sketchmark audit --model MODEL --tasks maze runs all cells of an audit",
        )
    return tasks, notes


def _place(cell: CellView) -> str:
    return cell.canvas if cell.mode == DRAWING_MODE else cell.mode


def _task(name: str, cells: Mapping[str, CellView], notes: list[str]) -> _Task | None:
    if "own" not in cells or len(cells) < 2:
        notes.append(f"{name} was not run in {DRAWING_MODE} and in another mode or on another canvas")
        return None
    own = cells["own"]
    if not own.about.headline:
        notes.append(f"{name} names no headline score")
        return None
    rows: dict[str, Rows] = {}
    empty = []  # cells that a run did not reach before it stopped
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
    if missing := [place for place in _PLACES if place not in rows and place != TEXT_INPUT]:
        notes.append(f"{name} was not run with: {', '.join(missing)}")
    return _Task(name, own.about.headline, own.scoring, own.model, rows)


def _refuse_others(own: CellView, cell: CellView, own_rows: Rows, rows: Rows) -> None:
    """Refuse cells of one folder that different commands made, with other data, prompts or model arguments."""
    found = how_grouped(own_rows, rows)
    if cell.mode == DRAWING_MODE:
        found = [*how_asked(own, cell), *found]
    if own.player != cell.player:
        found.append("the model's arguments")
    if found:
        raise RunConflict(
            f"{own.name} and {cell.name} cannot be compared; what differs: {'; '.join(found[:3])}",
            "audit in a separate folder: --output-path",
        )


def difference(contrast: Contrast, pairs: Pairs, found: Difference, p_holm: float | None, look: Look) -> Finding:
    seen = direction(found, p_holm, look.margin)
    words: str = getattr(contrast, seen)
    more = _more_needed(pairs, found, look) if seen == "open" else None
    sentence = words.format(span=span(found), size=_size(found)) + _would_settle(more)
    left_out = pairs.unpaired + pairs.unscored
    return Finding(
        contrast.name, contrast.label, "difference", found.mean or 0.0, found.low, found.high, found.p, p_holm,
        n=found.n, left_out=left_out, verdict=seen, more_needed=more, sentence=sentence,
        family=f"differences of this audit: {look.tests}",
    )  # fmt: skip


def _more_needed(pairs: Pairs, found: Difference, look: Look) -> int | None:
    """Return how many more samples settle a difference. Either they show the difference seen so far (corrected, in
    four of five audits), or they show that it is within the margin. The smaller number counts."""
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
    return f" About {rounded:,} more sample{'s' * (rounded > 1)} would settle it."


def _size(found: Difference) -> str:
    if found.low is None or found.high is None:
        return f"{100 * abs(found.mean or 0):.1f} points"
    low, high = (found.low, found.high) if (found.mean or 0) > 0 else (-found.high, -found.low)
    return f"{as_percent(abs(found.mean or 0))} points {as_bracket((low, high))}"


def _shares(task: _Task, look: Look) -> list[Finding]:
    none = as_rows(())
    oracle, own, corrupt = (task.rows.get(place, none) for place in ("oracle", "own", "corrupt"))
    drawn = own.drawing_right()
    found = (
        _share(
            "lost by reading", "oracle, not right",
            "Misreading: {share} wrong despite ground-truth images.",
            oracle, 1 - oracle.metric(task.metric), look,
        ),
        _share(
            "drawn wrongly", "drawn wrongly",
            "Wrong drawings in {share} of {of}.",
            own, np.where(drawn < 0, np.nan, drawn == 0), look,
        ),
        _share(
            "follows corrupt", "follows corrupt",
            "Follows a corrupted drawing in {share} of {of}.",
            corrupt, corrupt.metric(_FOLLOWS), look,
        ),
    )  # fmt: skip
    return [one for one in found if one]


def _share(name: str, label: str, words: str, rows: Rows, values: Floats, look: Look) -> Finding | None:
    """Average a value from 0 to 1 over the rows that have it (the others have NaN); None if no row has."""
    having = ~np.isnan(values)
    if not having.any() or bool(((values[having] < 0) | (values[having] > 1)).any()):
        return None
    measured, samples = interval_of(rows, values), len(np.unique(sample_codes(rows)))
    assert measured.mean is not None and measured.low is not None and measured.high is not None
    half = (measured.high - measured.low) / 2
    more = max(1, math.ceil(measured.n * (half / look.margin) ** 2) - measured.n) if half > look.margin else None
    wide = f" It is not settled to within {100 * look.margin:.0f} points." if more else ""
    of = f"the episodes of {measured.n} samples" if rows.repeats else f"{measured.n} episodes"
    sentence = words.format(share=_percent(measured), of=of) + wide + _would_settle(more)
    return Finding(
        name, label, "share", measured.mean, measured.low, measured.high, p=None, p_holm=None, n=measured.n,
        left_out=samples - measured.n, verdict="open" if more else "more", more_needed=more, sentence=sentence,
    )  # fmt: skip


def _percent(found: Interval) -> str:
    assert found.mean is not None and found.low is not None and found.high is not None
    return f"{as_percent(found.mean)}% {as_bracket((found.low, found.high))}"


def gain_sequence(pairs: Pairs, tasks: int) -> Sequence | None:
    """Return the confidence sequence of a drawing gain; None if the score is not from 0 to 1. The error rate is that
    of all tasks together. Samples that share a source are not independent, so only the first of each source
    counts."""
    labels = pairs.clusters
    changes = (pairs.after - pairs.before).tolist()
    keys = range(len(changes)) if labels is None else labels
    first = dict(zip(reversed(keys), reversed(changes), strict=True))
    if any(not -1 <= difference <= 1 for difference in first.values()):
        return None
    return sequence(list(first.values()), MISSES / tasks)


AT_COST_LIMIT = "not settled at the cost limit"
_MEANING = {"gain": "drawing helps", "loss": "drawing hurts", "no difference": "negligible difference"}


class Settling:
    """`--until settled`: blocks of samples until each task's drawing gain is settled, or a limit is reached. `grow`
    decides after each block; the confidence sequence (stats/power.py) stays valid however often it is looked at.
    `outcomes` says for each task why it got no more samples."""

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
        if now is None and len(found):
            return "its score is not from 0 to 1, so the drawing gain cannot be tracked"
        if now and (settled := now.settled(self._margin)):
            span = f"[{100 * now.low:+.1f}, {100 * now.high:+.1f}]"
            return f"settled after {now.n} samples: {_MEANING[settled]} {span}"
        if self._out_of_money():
            return AT_COST_LIMIT
        if about.totals.get(own, self._limit) < self._limit:
            return "not settled, and there are no more samples"
        return f"not settled at the limit of {self._most} samples" if self._limit >= self._most else ""
