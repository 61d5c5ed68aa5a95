"""An audit as text: one chart of all intervals, and a sentence for each. It fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from sketchmark.audit.findings import Audit, Finding, TaskAudit
from sketchmark.terminal.tables import wrapped

WIDTH = 80
_LABEL, _CHART = 17, 33
_NUMBERS = WIDTH - _CHART - 3
"""Where the chart begins."""


def lines(found: Audit) -> Iterator[str]:
    yield from _wrapped(f"Where drawing helps, and where it is lost: {found.model}")
    for task in found.tasks:
        yield ""
        yield from _task(task)
    yield ""
    yield from _wrapped(f"● settled, ○ not settled. {settled_when(found)}")
    for note in found.notes:
        yield from _wrapped(f"Note: {note}")


def settled_when(found: Audit) -> str:
    tests = sum(one.kind == "difference" for task in found.tasks for one in task.findings)
    near = f"{100 * found.margin:.0f} points"
    return (
        f"Intervals are 95 %. A difference is settled when p < 0.05 after Holm's correction over {tests} of them, or "
        f"when all of its interval lies within ±{near}; a share when it is known to within {near}."
    )


def _task(found: TaskAudit) -> Iterator[str]:
    yield from _wrapped(f"{found.task}: {found.metric} by {found.scoring}")
    scores = (f"{one.place} {100 * one.score.mean:.0f} %" for one in found.scores if one.score.mean is not None)
    yield from _wrapped(f"right: {', '.join(scores)}", "  ")
    yield ""
    yield f"{'':{_NUMBERS}}{'-100':<{_CHART // 2}}0{'+100':>{_CHART // 2}}"
    yield from map(_row, found.findings)
    yield ""
    for one in found.findings:
        yield from _wrapped(one.sentence, "• ")
    if found.anytime:
        low, high = 100 * found.anytime.low, 100 * found.anytime.high
        yield from _wrapped(f"However often one looks, the drawing gain lies within [{low:+.1f}, {high:+.1f}].", "• ")
    for one in found.findings:
        if one.left_out:
            yield from _wrapped(f"{one.label}: {one.left_out} of {one.n + one.left_out} samples do not count.", "• ")


def _row(found: Finding) -> str:
    sign = "+" if found.kind == "difference" else ""
    ends = ""
    if found.low is not None and found.high is not None:
        ends = f"[{100 * found.low:{sign}6.1f}, {100 * found.high:{sign}6.1f}]"
    return f"  {found.label:<{_LABEL}} {100 * found.mean:{sign}6.1f} {ends:<16} {_bar(found)}".rstrip()


def _bar(found: Finding) -> str:
    cells = [" "] * _CHART
    cells[_CHART // 2] = "│"
    if found.low is not None and found.high is not None:
        first, last = _column(found.low), _column(found.high)
        cells[first : last + 1] = "─" * (last + 1 - first)
        cells[first], cells[last] = "├", "┤"
    cells[_column(found.mean)] = "○" if found.verdict == "open" else "●"
    return "".join(cells)


def _column(value: float) -> int:
    return round((min(1.0, max(-1.0, value)) + 1) / 2 * (_CHART - 1))


def _wrapped(text: str, first: str = "") -> list[str]:
    return wrapped(text, WIDTH, first)
