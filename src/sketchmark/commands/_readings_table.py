"""Where the scorings of a run disagree: what the difference is made of, and the replies that make it."""

from __future__ import annotations

from sketchmark.runs.readings import sentences
from sketchmark.runs.results_format import Results
from sketchmark.terminal.tables import Table, print_table, tell_wrapped

_MOST = 10
"""Replies a screen has room for; those that make the greatest difference come first."""


def print_readings(results: Results, all_of_them: str) -> None:
    """Nothing where there is one scoring. `results` hold the replies; `all_of_them` says where to find the rest."""
    hidden = 0
    for name, cell in results.tasks.items():
        for scoring, other in cell.scorings.items():
            if other.against is None or not other.against.replies:
                continue
            replies = other.against.replies
            table = Table(f"{name}: what each scoring read", ("sample", "scoring", "read as", "score"), texts=3)
            for reply in replies[:_MOST]:
                for one in (cell.scoring or "strict", scoring):
                    table.add(reply.sample, one, _read(reply.readings, one), _score(reply.values.get(one)))
            print_table(table)
            hidden += len(replies[_MOST:])
    for line in sentences(results.tasks):
        tell_wrapped(line)
    if hidden:
        tell_wrapped(f"{hidden} more replies are read or scored differently: {all_of_them}")


def _read(readings: dict[str, str | None], scoring: str) -> str:
    if scoring not in readings:
        return "?"
    text = readings[scoring]
    return "(unparsed)" if text is None else text if len(text) <= 40 else f"{text[:39]}…"


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
