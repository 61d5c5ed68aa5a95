"""Parts of a difference: by group of samples, by canvas, and by whether the drawing was right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sketchmark.comparison.findings import (
    Breakdown,
    CanvasScore,
    CanvasTable,
    DrawingSplit,
    Group,
    direction,
    span,
)
from sketchmark.episode.desk import CANVASES
from sketchmark.folder.builders import as_rows
from sketchmark.folder.columns import Floats, Rows, first_seen
from sketchmark.folder.index import CellView
from sketchmark.results.gains import Pairs, pair
from sketchmark.results.summary import Mask, mean_of
from sketchmark.stats.differences import Difference, holm, trend
from sketchmark.stats.intervals import Interval, as_percent

MOST_CATEGORIES = 40
"""Values of a group key. One with more identifies samples instead of grouping them."""
MOST_LEVELS = 8
"""Levels of a difficulty. One with more is shown in ranges of about equal size."""
RANGES = 5
_LARGEST = 1e100
"""Numbers beyond this are names, since they cannot be computed with."""


def breakdowns(pairs: Pairs, first: list[str]) -> tuple[Breakdown, ...]:
    """Break a difference down by each group key with at least two values, the task's own keys `first`."""
    found = (_breakdown(pairs, key) for key in dict.fromkeys([*first, *pairs.group_keys()]) if key != "cluster")
    return tuple(one for one in found if one is not None)


def _breakdown(pairs: Pairs, key: str) -> Breakdown | None:
    codes, values = pairs.group(key)
    having = pairs.where(codes >= 0)
    codes = codes[codes >= 0]
    present = first_seen(codes)
    names = sorted({str(values[code]) for code in present})
    if len(names) < 2:
        return None
    if all(isinstance(values[code], (int, float)) and abs(values[code]) < _LARGEST for code in present):
        table = [value if isinstance(value, (int, float)) else math.nan for value in values]
        levels = np.array(table, float)[codes]
        differences = having.after - having.before
        return Breakdown(
            key, "difficulty", _groups(having, _ranges(levels)), trend(levels, differences, having.clusters)
        )
    if len(names) > MOST_CATEGORIES:
        return None
    texts = np.array([str(value) for value in values])[codes]
    return Breakdown(key, "category", _groups(having, [(name, texts == name) for name in names]), None)


def _groups(pairs: Pairs, parts: list[tuple[str, Mask]]) -> tuple[Group, ...]:
    made = []
    for name, wanted in parts:
        part = pairs.where(wanted)
        made.append((name, *part.scores(), part.difference()))
    corrected = holm([difference.p for *_, difference in made])
    return tuple(
        Group(name, before, after, difference, p)
        for (name, before, after, difference), p in zip(made, corrected, strict=True)
    )


def _ranges(levels: Floats) -> list[tuple[str, Mask]]:
    distinct: list[float] = np.unique(levels).tolist()
    if len(distinct) <= MOST_LEVELS:
        return [(f"{level:g}", levels == level) for level in distinct]
    ends = np.unique(np.quantile(levels, np.arange(1, RANGES + 1) / RANGES, method="inverted_cdf"))
    parts = []
    low = distinct[0]
    for end in ends.tolist():
        inside = (low <= levels) & (levels <= end)
        parts.append((f"{low:g}" if low == end else f"{low:g} to {end:g}", inside))
        low = next((level for level in distinct if level > end), end)
    return parts


def canvas_table(cells: Mapping[str, tuple[CellView, Rows]], metric: str) -> CanvasTable | None:
    """Compare canvases, given as canvas → (cell, its rows); None for a single canvas."""
    if len(cells) < 2:
        return None
    ordered = {name: cells[name] for name in CANVASES if name in cells}
    own = ordered.get("own")
    against = {
        name: pair(rows, own[1], metric).difference() if own and name != "own" else None
        for name, (_, rows) in ordered.items()
    }
    corrected = dict(zip(against, holm([found.p if found else None for found in against.values()]), strict=True))
    scores = []
    for name, (_, rows) in ordered.items():
        score = mean_of(metric, rows.values())
        scores.append(CanvasScore(name, score, against[name], corrected[name], as_rows(rows).flag_counts()))
    first = next(iter(ordered.values()))[0]
    return CanvasTable(
        first.task, metric, first.run, first.model, first.scoring, tuple(scores), _canvas_sentence(scores)
    )


def _canvas_sentence(scores: list[CanvasScore]) -> str:
    by_name = {score.canvas: score for score in scores}
    if "own" not in by_name:
        return "The canvas own was not run, so the controls have nothing to be compared with."
    said = [
        _tell(_TELL[name], score.own_minus_this, score.p_holm)
        for name, score in by_name.items()
        if score.own_minus_this is not None and score.own_minus_this.n
    ]
    return " ".join(said) or "The canvases share no scored sample."


class _Control(NamedTuple):
    """Sentences for the outcomes of a control: own clearly better, clearly worse, not settled, about the same."""

    better: str
    worse: str
    undecided: str
    alike: str


_TELL = {
    "blank": _Control(
        better="The answer depends on the drawing: on a blank canvas it loses {size}.",
        worse="The drawing does harm: on a blank canvas the answer gains {size}.",
        undecided="Whether the model uses its drawing is unclear: own − blank is {span}.",
        alike="The drawing is hardly used: a blank canvas does about as well (own − blank {span}).",
    ),
    "other": _Control(
        better="The content matters: with another sample's drawing it loses {size}.",
        worse="Another sample's drawing does better than its own, by {size}.",
        undecided="Whether the content is used is unclear: own − other is {span}.",
        alike="The content is hardly used: another sample's drawing does about as well (own − other {span}).",
    ),
    "oracle": _Control(
        better="Ground-truth images do worse than its own, by {size}.",
        worse="Wrong drawings cost {size} against ground-truth images.",
        undecided="Whether wrong drawings hold it back is unclear: own − oracle is {span}.",
        alike="Wrong drawings cost hardly anything: ground-truth images do about as well (own − oracle {span}).",
    ),
    "source": _Control(
        better="The image helps: shown its code instead, it loses {size}.",
        worse="Its code does better than the image, by {size}.",
        undecided="Whether the image or its code helps is unclear: own − source is {span}.",
        alike="The image adds hardly anything to its code (own − source {span}).",
    ),
    "corrupt": _Control(
        better="Errors mislead it: with one error in the ground-truth images it loses {size}.",
        worse="Its own drawings do worse than ground-truth images with one error, by {size}.",
        undecided="Whether one error misleads it is unclear: own − corrupt is {span}.",
        alike="Ground-truth images with one error do about as well as its own (own − corrupt {span}).",
    ),
    "caption": _Control(
        better="The image adds to its description: with a caption it loses {size}.",
        worse="A description does better than the image itself, by {size}.",
        undecided="Whether the image adds to its description is unclear: own − caption is {span}.",
        alike="A description does about as well as the image (own − caption {span}).",
    ),
}
_NEAR_ZERO = 0.1


def _tell(control: _Control, found: Difference, p: float | None) -> str:
    words = {"more": control.better, "less": control.worse, "open": control.undecided, "none": control.alike}
    return words[direction(found, p, _NEAR_ZERO)].format(size=_size(found), span=span(found))


def _size(found: Difference) -> str:
    """Return `12.0 points [5.1, 18.8]`, positive in the direction of the sentence."""
    turned = found if (found.mean or 0) > 0 else _negated(found)
    return span(turned).replace("+", "")


def _negated(found: Difference) -> Difference:
    mean, low, high = (None if end is None else -end for end in (found.mean, found.high, found.low))
    return replace(found, mean=mean, low=low, high=high)


def split_by_drawing(pairs: Pairs) -> DrawingSplit | None:
    """Split the pairs by whether the drawing was right; None if no drawing was scored."""
    right, wrong = pairs.where(pairs.drawing_right == 1), pairs.where(pairs.drawing_right == 0)
    if not len(right) and not len(wrong):
        return None
    when_right, when_wrong = right.scores()[1], wrong.scores()[1]
    binary = all(bool(np.isin(part.after, (0, 1)).all()) for part in (right, wrong))
    return DrawingSplit(
        when_right,
        when_wrong,
        right.difference(),
        wrong.difference(),
        _frames_sentence(when_right, when_wrong, binary),
    )


def _frames_sentence(right: Interval, wrong: Interval, binary: bool) -> str:
    if not right.n:
        return f"The drawn frames are never all right (0 of {wrong.n}); {_then(wrong, binary)}."
    if not wrong.n:
        return f"The drawn frames are always right ({right.n} of {right.n}); {_then(right, binary)}."
    return (
        f"When the drawn frames are right, {_then(right, binary)} ({right.n} samples); "
        f"when wrong, {as_percent(wrong.mean)}% ({wrong.n} samples)."
    )


def _then(found: Interval, binary: bool) -> str:
    if binary:
        return f"the answer is right {as_percent(found.mean)}% of the time"
    return f"the answer scores {as_percent(found.mean)}% on average"
