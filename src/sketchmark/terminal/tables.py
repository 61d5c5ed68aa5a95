"""Tables that fit the terminal.

Numbers are never truncated, wrapped or left out. If a table is too wide, its first columns become headings over the
rows. If that is not enough, its last columns become another table below.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sketchmark.terminal import one_line, tell

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text


INTERVAL = re.compile(r"95 ?%")
"""Part of the name of a column that stays with the number before it."""
_GAP = _INDENT = "  "


@dataclass
class Table:
    """A table that `terminal.console` prints as one or several, as its width allows.

    `texts` is the number of first columns that name the row; the others are right-aligned. A name equal to the one
    above is not repeated. `below` are sentences.
    """

    title: str
    columns: tuple[str, ...]
    texts: int
    rows: list[tuple[str, ...]] = field(default_factory=list)
    below: tuple[str, ...] = ()
    styles: dict[int, str] = field(default_factory=dict)
    """Rich styles, by row."""
    rivals: tuple[int, ...] = ()
    """Columns of scores that compete in a row: papers print the best one in bold."""

    def add(self, *cells: str, style: str = "") -> None:
        """Add a row. Cells that are left out at the end are empty."""
        self.rows.append((*cells, *[""] * (len(self.columns) - len(cells))))
        if style:
            self.styles[len(self.rows) - 1] = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        width = options.max_width
        yield from (Text(line, "italic") for line in wrapped(self.title, width))
        fitting = Fitting(self, width)
        layout = fitting.layout()
        for part in layout.parts:
            yield from fitting.drawn(layout.headings, part)
            yield Text()
        for sentence in self.below:
            yield from map(Text, wrapped(sentence, width))
            yield Text()


def print_table(table: Table) -> None:
    """Print a table on standard output; with a console at hand, use `console.print(table)`."""
    from sketchmark.terminal.console import console

    console().print(table)


class Layout(NamedTuple):
    headings: int
    """Number of first columns that become headings over the rows that share them."""
    parts: list[list[int]]
    """The columns of each table. Each table repeats the names of the rows."""


class Fitting:
    def __init__(self, table: Table, width: int) -> None:
        self.table, self.width = table, width
        self.columns = tuple(map(one_line, table.columns))
        self.rows = [tuple(map(one_line, row)) for row in table.rows]
        self.widths = [max(map(_long, column)) for column in zip(self.columns, *self.rows, strict=True)]

    def layout(self) -> Layout:
        """Return the fewest tables, and among these the fewest headings; if none fits, one table per number."""
        tried = map(self._parted, range(self.table.texts + 1))
        alone = Layout(self.table.texts, self._groups())
        return min((one for one in tried if one), key=lambda one: len(one.parts), default=alone)

    def _parted(self, headings: int) -> Layout | None:
        """Put as many columns as fit into each table; None if not even one fits."""
        names = list(range(headings, self.table.texts))
        parts = [names]
        for group in self._groups():
            if self.wide(headings, parts[-1] + group) <= self.width:
                parts[-1] = parts[-1] + group
            else:
                parts.append(names + group)
        parts = [part for part in parts if part != names] or [names]
        fits = all(self.wide(headings, part) <= self.width for part in parts)
        return Layout(headings, parts) if fits else None

    def _groups(self) -> list[list[int]]:
        groups: list[list[int]] = []
        for at in range(self.table.texts, len(self.columns)):
            if groups and INTERVAL.search(self.columns[at]):
                groups[-1].append(at)
            else:
                groups.append([at])
        return groups

    def wide(self, headings: int, part: Sequence[int]) -> int:
        return sum(self.widths[at] for at in part) + len(_GAP) * (len(part) - 1) + len(_INDENT) * bool(headings)

    def drawn(self, headings: int, part: Sequence[int]) -> Iterator[Text]:
        from rich.text import Text

        texts = self.table.texts
        indent = _INDENT if headings else ""
        if headings:
            yield from self._heading(self.columns[:headings])
        yield Text(indent + self._line(part, self.columns), "bold")
        yield Text("─" * min(self.width, self.wide(headings, part)))
        spaced = not headings and texts > 1 and len({row[0] for row in self.rows}) < len(self.rows)
        above: tuple[str, ...] | None = None
        for number, row in enumerate(self.rows):
            same = 0 if above is None else _shared(above, row[:texts])
            if headings and same < headings:
                yield from self._heading(row[:headings])
            elif spaced and above and not same:
                yield Text()
            cells = ["" if headings <= at < min(same, texts - 1) else cell for at, cell in enumerate(row)]
            yield Text(indent + self._line(part, cells), self.table.styles.get(number, ""))
            above = row[:texts]

    def _heading(self, names: Iterable[str]) -> Iterator[Text]:
        from rich.text import Text

        yield from (Text(line, "bold") for line in wrapped(" · ".join(filter(None, names)), self.width))

    def _line(self, part: Sequence[int], cells: Sequence[str]) -> str:
        padded = []
        for at in part:
            room = " " * (min(self.widths[at], self.width) - _long(cells[at]))
            padded.append(cells[at] + room if at < self.table.texts else room + cells[at])
        return _GAP.join(padded).rstrip()


def _long(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _shared(above: Sequence[str], names: Sequence[str]) -> int:
    """Count the first names that equal those of the row above."""
    differs = (at for at, (one, other) in enumerate(zip(above, names, strict=True)) if one != other)
    return next(differs, len(names))


def tell_wrapped(text: str) -> None:
    """Print a sentence on as many lines as it needs."""
    from sketchmark.terminal.console import columns

    for line in wrapped(text, columns()):
        tell(line)


_TOGETHER = re.compile(r"\[[^\[\]]{1,60}\]|\d (?=%|points)")
_FIXED_SPACE = "\N{NO-BREAK SPACE}"


def wrapped(sentence: str, width: int, first: str = "") -> list[str]:
    """Return the lines of a sentence, after `first`. An interval, and a number with its unit, stay on one line."""
    held = _TOGETHER.sub(lambda found: found[0].replace(" ", _FIXED_SPACE), one_line(sentence))
    after = " " * len(first)
    lines = textwrap.wrap(held, width, initial_indent=first, subsequent_indent=after, break_on_hyphens=False)
    return [line.replace(_FIXED_SPACE, " ") for line in lines]
