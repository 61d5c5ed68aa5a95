"""The one sentence that a reader takes away."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.comparison import TableRow
from sketchmark.report.numbers import bracket, p_value, percent, points
from sketchmark.runs.results_format import CellSummary

_MOST = 6
_PHRASES = {"better": "Drawing helped on", "worse": "Drawing hurt on", "unclear": "No clear difference on"}


def headline(cells: Sequence[CellSummary], gains: Sequence[TableRow]) -> str:
    """Whether drawing helped, task by task: by the corrected test, as everywhere."""
    drawn = [gain for gain in gains if gain.after.mode == "visual_cot" and gain.before.mode == "direct"]
    if drawn:
        shown, hidden = drawn[:_MOST], len(drawn) - _MOST
        told = [_told(phrase, [gain for gain in shown if gain.verdict == kind]) for kind, phrase in _PHRASES.items()]
        more = f" And {hidden} more tasks." if hidden > 0 else ""
        return " ".join(sentence for sentence in told if sentence) + more
    scored = [(cell, cell.metrics.get(cell.headline)) for cell in cells]
    told = [
        f"{percent(metric.mean, metric.ci95)} % {bracket(metric.ci95)} on {cell.task} ({cell.mode})"
        for cell, metric in scored
        if metric
    ]
    return f"Scored {'; '.join(told[:_MOST])}." if told else "Nothing has been scored yet."


def _told(phrase: str, gains: Sequence[TableRow]) -> str:
    tasks = [
        f"{gain.task}: {change_of(gain)}{'' if number else ' points'} {interval_of(gain)}".rstrip()
        + f", p {p_value(gain.p_holm)}"
        for number, gain in enumerate(gains)
    ]
    return f"{phrase} {'; '.join(tasks)}." if tasks else ""


def change_of(gain: TableRow) -> str:
    return points(gain.difference.mean, (gain.difference.low, gain.difference.high))


def interval_of(gain: TableRow) -> str:
    return bracket((gain.difference.low, gain.difference.high))
