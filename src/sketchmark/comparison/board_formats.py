"""A leaderboard for the terminal, for a paper, and for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

from sketchmark.comparison.board_tables import board_tables
from sketchmark.comparison.formats import latex, markdown, no_formula
from sketchmark.comparison.leaderboard import Leaderboard
from sketchmark.comparison.terminal import printed
from sketchmark.files.plain import plain

_SCORE = ("mean", "low", "high", "n", "method")
_GAIN = ("mean", "low", "high", "p", "helped", "hurt", "same", "n")
_USAGE = ("calls", "tokens_in", "tokens_out", "pictures_in", "pictures_out")
BOARD_COLUMNS = (
    *("run", "model", "task", "mode", "canvas", "score", "scoring"),
    *(f"score_{name}" for name in _SCORE),
    *(f"gain_{name}" for name in _GAIN),
    *("episodes", "failures", *_USAGE, "cost"),
)


def to_csv(board: Leaderboard) -> str:
    """One line a run, task, mode and canvas, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(BOARD_COLUMNS)
    for row in board.rows:
        for one in row.standings:
            names = (row.run, row.model, one.task, one.mode, one.canvas, one.metric, one.scoring)
            score, gain = one.score, one.gain
            failures = ", ".join(f"{kind} {count}" for kind, count in one.failures.items())
            writer.writerow(
                [
                    *map(no_formula, names),
                    *((score.mean, *score.ci95, score.n, score.method) if score else [""] * len(_SCORE)),
                    *((gain.gain, *gain.ci95, gain.p) if gain else [""] * 4),
                    *((gain.helped, gain.hurt, gain.same, gain.n) if gain else [""] * 4),
                    *(one.played, no_formula(failures)),
                    *(one.usage.get(name, 0) for name in _USAGE),
                    row.costs.get(one.cell, ""),
                ]
            )
    return text.getvalue()


BOARD_FORMATS: dict[str, Callable[[Leaderboard], str]] = {
    "table": lambda board: printed(board_tables(board), (f"Note: {note}" for note in board.notes)),
    "md": lambda board: markdown(board_tables(board), board.notes),
    "csv": to_csv,
    "latex": lambda board: latex(board_tables(board), board.notes),
    "json": lambda board: json.dumps(plain(board), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
}
