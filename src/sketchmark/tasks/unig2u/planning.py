"""VSP: a route on a street map, and when a car and a person reach the goal.

`strict` reads the last answer that a reply gives, in Markdown too; `official` is the published program's reading. The
published tolerance of one second is as large as the answers: `collision_exact` is ours, and the baselines show what
one and the same answer to every map would score (docs/benchmarks/unig2u.md, "A constant answer").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.numbers import read_number
from sketchmark.scoring.thinking import without_thinking
from sketchmark.tasks.unig2u import published

_MARKS = re.compile(r"[*_`\"'<>]")
"""Of Markdown, quotes and tags."""

_MOVE = (
    r"(?:go |move |head )?(north|south|east|west|[nsew])(?:\s?[:=]\s?|\s(?:by\s)?)(\d{1,6})"
    r"(?:\s(?:crossroads?|blocks?|steps?))?"
)
_MOVES = re.compile(
    rf"\s*(?:\d{{1,2}}[.)]\s*|[-•]\s*)?{_MOVE}(?:(?:\s?[,;]\s?|\s)(?:and\s|then\s)?{_MOVE}){{0,9}}\s*[.,;]?\s*"
)
_ONE = re.compile(_MOVE)
_SAYS = re.compile(r"\b(car|person)\b[^:=\n]{0,20}[:=][ \t]*\n?([^\n]{1,200})", re.IGNORECASE)
WHO = ("car", "person")
TOLERANCE = 1.0


def pairs_of_seconds(sample: Sample) -> Sequence[str]:
    """What a guesser may reply about a collision: the prompt's own example first, then all pairs up to eight."""
    example = (2, 2)
    pairs = [example, *((car, person) for car in range(1, 9) for person in range(1, 9) if (car, person) != example)]
    return [f"Car: {car}.0\nPerson: {person}.0" for car, person in pairs]


def route(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth = (sample.target["north"], sample.target["east"])
    answer = _route(episode.answer) if grading.scoring == "strict" else published.route(episode.answer)
    notes = {"answer": list(answer) if answer else None, "expected": list(truth)}
    return Scores({"gmap_acc": float(answer == truth)}, notes, unparsed=answer is None)


def _route(reply: str) -> tuple[int, int] | None:
    """(north - south, east - west) of the last lines in a row that are nothing but moves."""
    block: list[str] = []
    last: list[str] = []
    for line in _MARKS.sub("", without_thinking(reply)).lower().split("\n"):
        if _MOVES.fullmatch(line[:400]):
            block.append(line)
            last = block
        elif line.strip():
            block = []
    if not last:
        return None
    sums = dict.fromkeys("nsew", 0)
    for direction, count in _ONE.findall("\n".join(last)):
        sums[direction[0]] += int(count)
    return sums["n"] - sums["s"], sums["e"] - sums["w"]


def collision(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Each of the two is worth a half."""
    truth: Mapping[str, float] = {who: float(sample.target[who]) for who in WHO}
    said = _times(episode.answer) if grading.scoring == "strict" else published.times(episode.answer)
    notes: dict[str, Any] = {"answer": dict(said) or None, "expected": dict(truth)}
    return Scores(_worth(said, truth), notes, unparsed=not all(who in said for who in WHO))


def _times(reply: str) -> dict[str, float]:
    """The last time that is given for each, by the reader of numbers: of `3 / 0.5 = 6.0` it is 6."""
    found = {}
    for who, rest in _SAYS.findall(_MARKS.sub("", without_thinking(reply))):
        seconds = read_number(rest).value
        if seconds is not None:
            found[who.lower()] = seconds
    return found


def _worth(said: Mapping[str, float], truth: Mapping[str, float]) -> dict[str, float | None]:
    near = sum(who in said and abs(said[who] - truth[who]) <= TOLERANCE for who in WHO)
    exact = sum(who in said and abs(said[who] - truth[who]) <= 1e-6 + 0.05 * abs(truth[who]) for who in WHO)
    return {"collision_acc": near / 2, "collision_exact": exact / 2}
