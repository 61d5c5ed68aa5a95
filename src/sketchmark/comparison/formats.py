"""Comparisons and leaderboards as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sketchmark.comparison.findings import COLUMNS, Findings, as_json, lines
from sketchmark.comparison.leaderboard import BoardRow, Leaderboard, Standing, board_tables
from sketchmark.comparison.tables import printed, tables, to_terminal
from sketchmark.files.jsonl import plain
from sketchmark.folder.results_format import Repeats
from sketchmark.terminal import shown
from sketchmark.terminal.tables import INTERVAL, Fitting, Table


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
    "±": r"$\pm$",
    "→": r"$\to$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "’": "'",
} | {char: f"\\{char}" for char in "&%$#_{}"}


def to_latex(comparison: Findings, details: bool = False) -> str:
    """Write the answer as one narrow table: runs compared, or drawn against direct; with `details` all tables."""
    made = tables(comparison, details)
    return latex(made if details else islice(made, 1), comparison.notes)


_LINE = 72
"""Characters that fit the text of a two-column paper in small print: 410 points at 10-point type."""
_COLUMN = 34
"""Characters that fit one column of it."""


def latex(tables: Iterable[Table], notes: Sequence[str]) -> str:
    r"""Write one `table` each, at most as wide as the text; the document needs `\usepackage{booktabs}`."""
    blocks = ["% needs \\usepackage{booktabs}", *(_latex_table(at, table) for at, table in enumerate(tables, 1))]
    return "\n\n".join([*blocks, *(f"% {_flat_text(note)}" for note in notes)]) + "\n"


def _latex_table(at: int, table: Table) -> str:
    fitting = Fitting(table, _LINE)
    layout = fitting.layout()
    # one of several columns, or the whole width of a two-column page
    place = "table" if fitting.wide(0, range(len(table.columns))) <= _COLUMN else "table*"
    lines = [rf"\begin{{{place}}}[tb]", r"\centering\small\sloppy\setlength{\tabcolsep}{4pt}"]
    caption = re.sub(r"(\\_|/|-)", r"\1\\allowbreak{}", _latex(" ".join((table.title + ".", *table.below))))
    lines.append(rf"\caption{{{caption}}}")
    lines.append(rf"\label{{tab:sketchmark-{at}}}")
    for part in layout.parts:
        names = sum(column < table.texts for column in part)
        lines.append(rf"\begin{{tabular}}{{@{{}}{'l' * names}{'r' * (len(part) - names)}@{{}}}}")
        lines += [r"\toprule", _latex_row(table.columns[column] for column in part), r"\midrule"]
        above: tuple[str, ...] = ()
        for row in table.rows:
            heading = row[: layout.headings]
            if heading != above:
                text = " · ".join(filter(None, heading))
                span = len(part)
                lines += [rf"\multicolumn{{{span}}}{{@{{}}l@{{}}}}{{{_latex(one)}}} \\" for one in _folded(text)]
            above = heading
            lines.append(_latex_cells(table, row, part))
        lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join([*lines[:-1], rf"\end{{{place}}}"])


def _folded(text: str) -> list[str]:
    """Return the lines of a long heading; a name without a space is broken anywhere."""
    return textwrap.wrap(text, _LINE - 8, break_on_hyphens=False)


def _latex_cells(table: Table, row: Sequence[str], part: Sequence[int]) -> str:
    """Write a row with the best of competing scores in bold, and intervals in small print."""
    rivals = {column: float(row[column]) for column in table.rivals if _is_number(row[column])}
    best = {column for column, value in rivals.items() if value == max(rivals.values()) > min(rivals.values())}
    cells = []
    for column in part:
        text = _latex(row[column])
        if column in best:
            text = rf"\textbf{{{text}}}"
        elif INTERVAL.search(table.columns[column]) and text:
            text = rf"{{\scriptsize {text}}}"
        cells.append(text)
    return _protected(" & ".join(cells) + r" \\")


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", text))


def _latex(text: str) -> str:
    signed = re.sub(r"(?<!\w)-(?=\d)", "−", _flat_text(text))
    return "".join(_LATEX.get(char) or _plain_letter(char) for char in signed)


def _plain_letter(char: str) -> str:
    """Keep letters that every LaTeX can print, and spell out the rest: one unknown letter stops a compilation."""
    return char if char < "\u0180" else rf"U+{ord(char):04X}"


def _latex_row(cells: Iterable[str]) -> str:
    return _protected(" & ".join(map(_latex, cells)) + r" \\")


def _protected(row: str) -> str:
    """Protect a `[` at the start, which the command in the line before would take as its option."""
    return "{}" + row if row.startswith("[") else row


def _flat_text(text: str) -> str:
    return shown(" ".join(text.split()))


_NARROW = ("task", "compared", "before_mean", "after_mean", "difference_mean", "difference_low", "difference_high",
           "p_holm", "verdict", "difference_n")  # fmt: skip


def to_csv(comparison: Findings, details: bool = True) -> str:
    """Write one line per difference, with all digits; without `details` only the main lines and columns."""
    columns = [column for column in COLUMNS if column.csv and (details or column.name in _NARROW)]
    wanted = [line for line in lines(comparison) if details or line.table in ("difference", "canvas")]
    values = ([column.value(line) for column in columns] for line in wanted)
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
    *("repeats", "answers", "pass_at", "pass_all", "vote", "ties", "best_image", "agreement", "best_of_all"),
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
        *(_repeated(one.repeats) if one.repeats else [""] * 9),
        *(one.played, ", ".join(f"{kind} {count}" for kind, count in one.failures.items())),
        *(one.usage.get(name, 0) for name in _USAGE),
        *(row.costs.get(one.cell, ""), one.paid.get("calls", 0), row.paid.get(one.cell, "")),
    ]


def _repeated(found: Repeats) -> Iterator[Any]:
    """Yield the columns of repeated episodes; k of pass@k and pass^k is the number of repeats."""
    last, room = str(found.repeats), found.headroom
    yield from (found.repeats, found.answers)
    best = (room.best or room.best_drawing) if room else None
    for mean in (found.pass_at.get(last), found.pass_all.get(last), found.majority):
        yield "" if mean is None else mean.mean
    yield found.ties if found.majority else ""
    for mean in (found.best_of, found.agreement, best):
        yield "" if mean is None else mean.mean


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
