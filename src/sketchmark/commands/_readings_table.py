"""Where the scorings of a run disagree: what the difference is made of, and the replies that make it."""

from __future__ import annotations

from sketchmark.runs.readings import sentences
from sketchmark.runs.results_format import Results

_MOST = 10
"""Replies a screen has room for; those that make the greatest difference come first."""


def print_readings(results: Results, all_of_them: str) -> None:
    """Nothing where there is one scoring. `results` hold the replies; `all_of_them` says where to find the rest."""
    from rich import box
    from rich.table import Table

    from sketchmark.terminal import tell
    from sketchmark.terminal.console import console

    out, hidden = console(), 0
    for name, cell in results.tasks.items():
        for scoring, other in cell.scorings.items():
            if other.against is None or not other.against.replies:
                continue
            replies, names = other.against.replies, (cell.scoring or "strict", scoring)
            table = Table(title=f"{name}: what each scoring read", title_justify="left", box=box.SIMPLE_HEAD)
            table.add_column("sample", overflow="fold")
            for one in names:
                table.add_column(one, overflow="fold")
                table.add_column("score", justify="right", no_wrap=True)
            for reply in replies[:_MOST]:
                cells = ((_read(reply.readings, one), _score(reply.values.get(one))) for one in names)
                table.add_row(reply.sample, *(text for pair in cells for text in pair))
            out.print(table)
            hidden += len(replies[_MOST:])
    for line in sentences(results.tasks):
        tell(line)
    if hidden:
        tell(f"{hidden} more replies are read or scored differently: {all_of_them}")


def _read(readings: dict[str, str | None], scoring: str) -> str:
    if scoring not in readings:
        return "?"
    text = readings[scoring]
    return "(unparsed)" if text is None else text if len(text) <= 40 else f"{text[:39]}…"


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
