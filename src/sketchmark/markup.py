"""HTML in which all text is escaped, so that replies never become markup, and numbers as text."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from sketchmark.folder.results_format import Mean
from sketchmark.stats.intervals import Bounds, as_bracket, as_p, as_percent, as_points

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_VOID = frozenset({"img", "meta", "br"})


class Html(str):
    """Finished markup. Only `tag`, `join` and constants of this program make it."""

    __slots__ = ()


Child = str | int | None
"""A plain string is escaped, `Html` is not; None is left out."""


def text(value: object) -> Html:
    """Escape a value. Characters that HTML forbids become a replacement mark, so that nothing is hidden."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(_CONTROL.sub("\ufffd", str(value)), quote=True))


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """Make an element: `tag("th", "n", scope="col")`. `class_` becomes `class`, other underscores become dashes."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    return Html("".join(text(child) for child in children if child is not None))


def words(value: str, most: int = 4000) -> Html:
    """Show a text by a model or dataset with its line breaks and direction, truncated if very long."""
    shown = value if len(value) <= most else f"{value[:most]}… ({len(value) - most:,} more characters)"
    return tag("div", shown, class_="words", dir="auto")


def as_table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Child]]) -> Html:
    """Make a table whose first column names the row."""
    head = tag("thead", tag("tr", *(tag("th", column, scope="col") for column in columns)))
    body = [tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows]
    return tag("div", tag("table", tag("caption", caption), head, tag("tbody", *body)), class_="scroll", tabindex="0")


MINUS = "\N{MINUS SIGN}"


def percent(value: float | None, ci: Bounds = ()) -> str:
    return as_percent(value, ci).replace("-", MINUS)


def points(value: float | None, ci: Bounds = ()) -> str:
    """Return a difference in percentage points, always with its sign."""
    return as_points(value, ci).replace("-", MINUS)


def bracket(ci: Bounds) -> str:
    """Return `[12.0, 34.5]`; empty without an interval."""
    return as_bracket(ci).replace("-", MINUS)


p_value = as_p


def with_interval(mean: Mean | None) -> str:
    """Return a score for a table: `31.3 [22.0, 41.5], n = 80`."""
    if mean is None or mean.mean is None:
        return "–"
    return f"{percent(mean.mean, mean.ci95)} {bracket(mean.ci95)}, n = {mean.n}".replace(" ,", ",")
