"""Comparisons and leaderboards as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sketchmark.comparison.findings import COLUMNS, Findings, as_json, lines
from sketchmark.comparison.leaderboard import BoardRow, Leaderboard, Standing, board_tables
from sketchmark.comparison.tables import printed, tables, to_terminal
from sketchmark.files.jsonl import plain
from sketchmark.terminal import shown
from sketchmark.terminal.tables import Table


def to_json(comparison: Findings, details: bool = True) -> str:
    """Write everything; JSON and CSV are for programs, and `details` changes nothing."""
    return _as_json(as_json(comparison))


def to_markdown(comparison: Findings, details: bool = False) -> str:
    return markdown(tables(comparison, details), comparison.notes)


def markdown(tables: Iterable[Table], notes: Sequence[str]) -> str:
    blocks = []
    for table in tables:
        lines = [f"### {markdown_text(table.title)}", ""]
        lines.append(_line(table.columns))
        lines.append("|" + "---|" * table.texts + "---:|" * (len(table.columns) - table.texts))
        lines += [_line(row) for row in table.rows]
        lines += [f"\n{markdown_text(text)}" for text in table.below]
        blocks.append("\n".join(lines))
    if notes:
        blocks.append("\n".join(["### Notes", "", *(f"* {markdown_text(note)}" for note in notes)]))
    return "\n\n".join(blocks) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(markdown_text, cells)) + " |"


def markdown_text(text: str) -> str:
    """Escape untrusted text (file names, categories), so that it opens no tag, link or column."""
    flat = _flat_text(text)
    return "".join(
        f"\\{char}" if char in "\\|<>`*_" or (char == "[" and flat.find("](") > 0) else char for char in flat
    )


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
    "<": "$<$",
    ">": "$>$",
} | {char: f"\\{char}" for char in "&%$#_{}"}


def to_latex(comparison: Findings, details: bool = False) -> str:
    return latex(tables(comparison, details), comparison.notes)


def latex(tables: Iterable[Table], notes: Sequence[str]) -> str:
    r"""Write one `table` each; the document needs `\usepackage{booktabs}`."""
    blocks = ["% needs \\usepackage{booktabs}"]
    for table in tables:
        blocks.append(
            "\n".join(
                [
                    r"\begin{table}",
                    rf"\caption{{{_latex(' '.join((table.title + '.', *table.below)))}}}",
                    rf"\begin{{tabular}}{{{'l' * table.texts}{'r' * (len(table.columns) - table.texts)}}}",
                    r"\toprule",
                    _latex_row(table.columns),
                    r"\midrule",
                    *map(_latex_row, table.rows),
                    r"\bottomrule",
                    r"\end{tabular}",
                    r"\end{table}",
                ]
            )
        )
    blocks += [f"% {_flat_text(note)}" for note in notes]
    return "\n\n".join(blocks) + "\n"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in _flat_text(text))


def _latex_row(cells: tuple[str, ...]) -> str:
    """Protect a `[` at the start, which the command in the line before would take as its option."""
    row = " & ".join(map(_latex, cells)) + r" \\"
    return "{}" + row if row.startswith("[") else row


def _flat_text(text: str) -> str:
    return shown(" ".join(text.split()))


def to_csv(comparison: Findings, details: bool = True) -> str:
    """Write one line per difference, with all digits."""
    columns = [column for column in COLUMNS if column.csv]
    values = ([column.value(line) for column in columns] for line in lines(comparison))
    return _csv([column.name for column in columns], values)


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([no_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()


def no_formula(text: str) -> str:
    """Quote a text that a spreadsheet would run, such as a category named `=HYPERLINK(...)`."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


FORMATS: dict[str, Callable[..., str]] = {
    "table": to_terminal,
    "md": to_markdown,
    "csv": to_csv,
    "latex": to_latex,
    "json": to_json,
}


_USAGE = ("calls", "tokens_in", "tokens_out", "pictures_in", "pictures_out")
BOARD_COLUMNS = (
    *("run", "model", "task", "mode", "canvas", "score", "scoring"),
    *(f"score_{name}" for name in ("mean", "low", "high", "n", "method")),
    *(f"gain_{name}" for name in ("mean", "low", "high", "p", "helped", "hurt", "same", "n")),
    *("episodes", "failures", *_USAGE, "cost", "calls_paid", "cost_paid"),
)


def board_to_csv(board: Leaderboard) -> str:
    """Write one line per run, task, mode and canvas, with all digits."""
    return _csv(BOARD_COLUMNS, (_board_line(row, one) for row in board.rows for one in row.standings))


def _board_line(row: BoardRow, one: Standing) -> list[Any]:
    score, gain = one.score, one.gain
    return [
        *(row.run, row.model, one.task, one.mode, one.canvas, one.metric, one.scoring),
        *((score.mean, *score.ci95, score.n, score.method) if score else [""] * 5),
        *((gain.gain, *gain.ci95, gain.p) if gain else [""] * 4),
        *((gain.helped, gain.hurt, gain.same, gain.n) if gain else [""] * 4),
        *(one.played, ", ".join(f"{kind} {count}" for kind, count in one.failures.items())),
        *(one.usage.get(name, 0) for name in _USAGE),
        *(row.costs.get(one.cell, ""), one.paid.get("calls", 0), row.paid.get(one.cell, "")),
    ]


def _board_to_terminal(board: Leaderboard, details: bool = False) -> str:
    return printed(board_tables(board, details), (f"Note: {note}" for note in board.notes))


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


BOARD_FORMATS: dict[str, Callable[..., str]] = {
    "table": _board_to_terminal,
    "md": lambda board, details=False: markdown(board_tables(board, details), board.notes),
    "csv": lambda board, details=False: board_to_csv(board),
    "latex": lambda board, details=False: latex(board_tables(board, details), board.notes),
    "json": lambda board, details=False: _as_json(plain(board)),
}
