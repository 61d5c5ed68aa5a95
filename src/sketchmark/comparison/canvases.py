"""The canvas controls side by side: does the answer depend on the drawing, and what would a true one bring?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sketchmark.canvas import CANVASES
from sketchmark.comparison.findings import CanvasScore, CanvasTable
from sketchmark.comparison.verdicts import verdict
from sketchmark.comparison.wording import points, span
from sketchmark.runs.gains import Rows, pair
from sketchmark.runs.scored import ScoredCell, trouble
from sketchmark.stats import Difference, holm, interval


def canvas_table(cells: Mapping[str, tuple[ScoredCell, Rows]], metric: str) -> CanvasTable | None:
    """From canvas -> (cell, its rows); None with a single canvas, which controls nothing."""
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
        scored = [(row, value) for row in rows.values() if (value := row.value(metric)) is not None]
        found = interval([value for _, value in scored], [row.cluster for row, _ in scored])
        scores.append(CanvasScore(name, found, against[name], corrected[name], trouble(rows)))
    first = next(iter(ordered.values()))[0]
    return CanvasTable(first.task, metric, first.run, first.model, first.scoring, tuple(scores), _sentence(scores))


def _sentence(scores: list[CanvasScore]) -> str:
    by_name = {score.canvas: score for score in scores}
    if "own" not in by_name:
        return "The model's own drawings were not played: nothing to hold the controls against."
    said = [
        _tell(_TELL[name], score.own_minus_this, score.p_holm)
        for name, score in by_name.items()
        if score.own_minus_this is not None and score.own_minus_this.n
    ]
    return " ".join(said) or "The canvases share no scored sample."


class _Control(NamedTuple):
    """What a control's outcome means, in words: own clearly better, clearly worse, undecided, or about the same."""

    better: str
    worse: str
    undecided: str
    alike: str


_TELL = {
    "blank": _Control(
        better="The answer depends on the drawing: on a blank canvas it loses {size}.",
        worse="The drawing does harm: on a blank canvas the answer gains {size}.",
        undecided="Whether the drawing is looked at is not settled (own − blank {span}): more samples would tell.",
        alike="The drawing is hardly looked at: a blank canvas does about as well (own − blank {span}).",
    ),
    "other": _Control(
        better="What is drawn matters: with another sample's drawing it loses {size}.",
        worse="Another sample's drawing does better than the own one, by {size}.",
        undecided="Whether its content is used is not settled (own − other {span}).",
        alike="Its content is hardly used: another sample's drawing does about as well (own − other {span}).",
    ),
    "oracle": _Control(
        better="The true pictures do worse than the own ones, by {size}.",
        worse="Drawing is a bottleneck: with the true pictures it gains {size}.",
        undecided="Whether drawing holds it back is not settled (own − oracle {span}).",
        alike="Drawing hardly holds it back: the true pictures do about as well (own − oracle {span}).",
    ),
    "source": _Control(
        better="It is the picture that helps: shown its code instead, it loses {size}.",
        worse="Its code serves it better than the picture, by {size}.",
        undecided="Whether it is the picture or the code that helps is not settled (own − source {span}).",
        alike="The picture adds hardly anything to the code it was drawn by (own − source {span}).",
    ),
    "corrupt": _Control(
        better="It can be led astray: with one thing wrong in the true pictures it loses {size}.",
        worse="Its own drawings do worse than true pictures with one thing wrong, by {size}.",
        undecided="Whether one wrong thing leads it astray is not settled (own − corrupt {span}).",
        alike="True pictures with one thing wrong do about as well as its own drawings (own − corrupt {span}).",
    ),
    "caption": _Control(
        better="The picture says more than its content in words: with a caption it loses {size}.",
        worse="Its drawing in words does better than the picture itself, by {size}.",
        undecided="Whether the picture says more than its content in words is not settled (own − caption {span}).",
        alike="The drawing's content in words does about as well as the picture (own − caption {span}).",
    ),
}
_NEAR_ZERO = 0.1


def _tell(control: _Control, found: Difference, p: float | None) -> str:
    words = {"more": control.better, "less": control.worse, "open": control.undecided, "none": control.alike}
    return words[verdict(found, p, _NEAR_ZERO)].format(size=_size(found), span=span(found))


def _size(found: Difference) -> str:
    return points(abs(found.mean or 0), (found.low, found.high)).lstrip("+")
