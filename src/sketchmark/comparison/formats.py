"""Tables as Markdown or LaTeX; the numbers behind them as CSV or JSON.

A leaderboard for the terminal, for a paper, and for other programs.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from sketchmark.comparison.findings import Findings, as_json
from sketchmark.comparison.leaderboard import Leaderboard, board_tables
from sketchmark.comparison.tables import printed, tables, to_terminal
from sketchmark.files.jsonl import plain
from sketchmark.stats.differences import Apart, Difference, share_of, verdict
from sketchmark.stats.intervals import Interval
from sketchmark.terminal import shown
from sketchmark.terminal.tables import Table


def to_json(comparison: Findings) -> str:
    return json.dumps(as_json(comparison), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_markdown(comparison: Findings) -> str:
    return markdown(tables(comparison), comparison.notes)


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
    """File names and categories come from strangers: nothing in them may open a tag, a link or a column."""
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


def to_latex(comparison: Findings) -> str:
    return latex(tables(comparison), comparison.notes)


def latex(tables: Iterable[Table], notes: Sequence[str]) -> str:
    r"""One `table` each; the document needs `\usepackage{booktabs}`."""
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
    """The command in the line before would take a `[` at the beginning for its option."""
    row = " & ".join(map(_latex, cells)) + r" \\"
    return "{}" + row if row.startswith("[") else row


def _flat_text(text: str) -> str:
    return shown(" ".join(text.split()))


_SCORE = ("mean", "low", "high", "n", "method")
_DIFFERENCE = ("mean", "low", "high", "p", "helped", "hurt", "same", "n", "method")
CSV_COLUMNS = (
    *("table", "task", "compared", "score", "key", "value"),
    *("run_before", "run_after", "scoring_before", "scoring_after"),
    *(f"before_{name}" for name in _SCORE),
    *(f"after_{name}" for name in _SCORE),
    *(f"difference_{name}" for name in _DIFFERENCE),
    "p_holm",
    "verdict",
)


def to_csv(comparison: Findings) -> str:
    """One line a difference, with all digits. On canvas lines `before` is the control, `after` the own drawing; on
    published lines `before` is the published figure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for labels, before, after, difference, p_holm in _flat(comparison):
        numbers = [getattr(before, name, "") for name in _SCORE] + [getattr(after, name, "") for name in _SCORE]
        numbers += [getattr(difference, name, "") for name in _DIFFERENCE]
        judged = "" if p_holm is None or difference is None else verdict(difference.mean, p_holm)
        writer.writerow([*map(no_formula, labels), *numbers, p_holm, judged])
    return text.getvalue()


Flat = tuple[tuple[str, ...], Interval | None, Interval | None, Difference | Apart | None, float | None]


def _flat(comparison: Findings) -> Iterator[Flat]:
    for row in comparison.rows:
        sides = (row.before.run, row.after.run, row.before.scoring, row.after.scoring)
        name = (row.task, row.label, row.metric)
        yield ("difference", *name, "", "", *sides), row.before.score, row.after.score, row.difference, row.p_holm
        for found in row.breakdowns:
            for group in found.groups:
                place = (found.kind, *name, found.key, group.value, *sides)
                yield place, group.before, group.after, group.difference, group.p_holm
        if row.drawing:
            for value, score, gain in (
                ("right", row.drawing.right, row.drawing.gain_right),
                ("wrong", row.drawing.wrong, row.drawing.gain_wrong),
            ):
                yield ("drawing", *name, "drawing", value, *sides), None, score, gain, None
    for table in comparison.canvases:
        own = next((one.score for one in table.scores if one.canvas == "own"), None)
        for one in table.scores:
            if one.own_minus_this:
                name = (table.task, f"own − {one.canvas}", table.metric)
                labels = ("canvas", *name, "canvas", one.canvas, *[table.run] * 2, *[table.scoring] * 2)
                yield labels, one.score, own, one.own_minus_this, one.p_holm
    for theirs in comparison.published:
        for figure in theirs.rows:
            score = share_of(figure.value, figure.n) if figure.n else Interval(figure.value, None, None, 0, "")
            name = (theirs.task, f"{theirs.mode} − {figure.model}", figure.score)
            labels = ("published", *name, "published", figure.channel, figure.model, theirs.run, "", figure.scoring)
            yield labels, score, figure.yours, figure.apart, None


def no_formula(text: str) -> str:
    """A spreadsheet would run a category named `=HYPERLINK(...)`."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


FORMATS: dict[str, Callable[[Findings], str]] = {
    "table": to_terminal,
    "md": to_markdown,
    "csv": to_csv,
    "latex": to_latex,
    "json": to_json,
}


_GAIN = ("mean", "low", "high", "p", "helped", "hurt", "same", "n")
_USAGE = ("calls", "tokens_in", "tokens_out", "pictures_in", "pictures_out")
BOARD_COLUMNS = (
    *("run", "model", "task", "mode", "canvas", "score", "scoring"),
    *(f"score_{name}" for name in _SCORE),
    *(f"gain_{name}" for name in _GAIN),
    *("episodes", "failures", *_USAGE, "cost"),
)


def board_to_csv(board: Leaderboard) -> str:
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
    "csv": board_to_csv,
    "latex": lambda board: latex(board_tables(board), board.notes),
    "json": lambda board: json.dumps(plain(board), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
}
