"""Charts as inline SVG, drawn by pygal and reduced to the image."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.folder.results_format import Mean
from sketchmark.markup import Html, bracket, percent, tag
from sketchmark.stats.intervals import in_points

Point = Mean | None
"""None without a score."""

_COLOURS = tuple(f"var(--series-{number})" for number in range(1, 7))
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
"""Left out: HTML does not need it, and a file without any address is easier to trust."""


def bars(
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Point]],
    *,
    signed: bool = False,
    slanted: bool = False,
) -> Html:
    """Draw bars with their intervals.

    `signed` is for differences, whose scale follows the data. `slanted` keeps many labels from being truncated.
    """
    import pygal

    drawn = [point for values in series.values() for point in values if point]
    ends = [in_points(end, point.ci95) for point in drawn for end in point.ci95 if end]
    low = min(0, 25 * math.floor(min(ends, default=0) / 25)) if signed else 0
    high = max(25, 25 * math.ceil(max(ends, default=0) / 25)) if signed else 100
    whole = {"x_label_rotation": 30, "truncate_label": -1, "height": 400} if slanted else {}
    chart = pygal.Bar(**(_look(len(series), low, high) | whole))
    return _figure(chart, title, labels, series)


def lines(title: str, labels: Sequence[str], series: Mapping[str, Sequence[Point]], across: str) -> Html:
    """Draw lines of means. Their intervals would overlap, so only the table below has them."""
    import pygal

    chart = pygal.Line(**_look(len(series), 0, 100), x_title=across, dots_size=4)
    return _figure(chart, title, labels, series, with_intervals=False)


def _look(series: int, low: int, high: int) -> dict[str, Any]:
    from pygal.style import Style

    style = Style(
        background="transparent",
        plot_background="transparent",
        foreground="var(--ink)",
        foreground_strong="var(--ink)",
        foreground_subtle="var(--line)",
        guide_stroke_color="var(--line)",
        major_guide_stroke_color="var(--line)",
        colors=_COLOURS,
        value_colors=("var(--ink)",) * len(_COLOURS),
        ci_colors=("var(--ink)",) * len(_COLOURS),
        font_family="inherit",
        label_font_size=13,
        major_label_font_size=13,
        legend_font_size=13,
        title_font_size=15,
        opacity=".85",
        transition="none",
    )
    return {
        "style": style,
        "js": [],
        "width": 720,
        "height": 320,
        "explicit_size": False,
        "show_legend": series > 1,
        "legend_at_bottom": True,
        "legend_at_bottom_columns": min(4, series),
        "legend_box_size": 11,
        "range": (low, high),
        "y_labels": list(range(low, high + 1, 25 * math.ceil((high - low) / 500))),
        "show_y_guides": True,
        "print_values": False,
        "no_data_text": "nothing scored",
        "max_scale": 10,
        "spacing": 8,
        "margin_top": 8,
    }


def _figure(
    chart: Any, title: str, labels: Sequence[str], series: Mapping[str, Sequence[Point]], with_intervals: bool = True
) -> Html:
    chart.x_labels = list(labels)
    chart.uuid = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    for name, values in series.items():
        chart.add(name, [_value(point, with_intervals) for point in values])
    table = tag(
        "details",
        tag("summary", "The numbers, with 95 % intervals"),
        tag(
            "div",
            tag(
                "table",
                tag("thead", tag("tr", tag("td"), *(tag("th", name, scope="col") for name in series))),
                tag("tbody", *(_table_row(label, number, series) for number, label in enumerate(labels))),
            ),
            class_="scroll",
        ),
    )
    return tag("figure", tag("figcaption", title), _drawn(chart, title), table)


def _table_row(label: str, number: int, series: Mapping[str, Sequence[Point]]) -> Html:
    values = [tag("td", _told(points[number])) for points in series.values()]
    return tag("tr", tag("th", label, scope="row"), *values)


def _told(point: Point) -> str:
    if point is None or point.mean is None:
        return "–"
    return f"{percent(point.mean, point.ci95)} {bracket(point.ci95)} (n = {point.n})"


def _value(point: Point, with_interval: bool) -> dict[str, Any] | None:
    if point is None or point.mean is None:
        return None
    value: dict[str, Any] = {"value": in_points(point.mean, point.ci95)}
    low, high = point.ci95
    if with_interval and low is not None and high is not None:
        value["ci"] = {"low": in_points(low, point.ci95), "high": in_points(high, point.ci95)}
    return value


def _drawn(chart: Any, title: str) -> Html:
    """Return the SVG element without scripts, links and hidden text."""
    from xml.etree import ElementTree

    root = chart.render_tree()
    for parent in list(root.iter()):
        for child in list(parent):
            name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
            if name in ("script", "title", "desc", "a") or not name:
                parent.remove(child)
        for attribute in [name for name in parent.attrib if name.rpartition("}")[2] == "href"]:
            del parent.attrib[attribute]
    root.set("role", "img")
    root.set("aria-label", title)
    root.attrib.pop("style", None)
    drawn = ElementTree.tostring(root, encoding="unicode")
    return tag("div", Html(drawn.replace(_NAMESPACE, "")), class_="chart")
