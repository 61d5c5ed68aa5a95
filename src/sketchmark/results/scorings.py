"""Differences between two scorings of the same replies: answers parsed differently, and their effect on the score.

"Why is my number 4 points from theirs?" can be answered only reply by reply. The parsed answer is the note `answer`
of a row, in every task. A scorer without this note is compared by whether it parsed the reply, and by score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from sketchmark.errors import SketchmarkError
from sketchmark.folder import RunFolder
from sketchmark.folder.format import ScoreRow
from sketchmark.folder.results_format import CellResult, Extraction, Results, ScoringDifference, TwoReadings
from sketchmark.stats.intervals import as_percent, as_points

_LONGEST = 200
"""Characters of an answer that are shown; whole answers are compared."""

_Answer = str | UnsetType | None
"""UNSET: the scorer does not say; None: the reply is unparsed."""


class _Read(NamedTuple):
    started: float
    value: float | None
    answer: _Answer


def held_against(own: Sequence[ScoreRow], other: Sequence[ScoreRow], headline: str) -> ScoringDifference:
    """Compare the rows of two scorings, on the attempts that both have."""
    mine, theirs = _by_sample(own, headline), _by_sample(other, headline)
    names = tuple(next((row.scoring for row in rows), "") for rows in (own, other))
    found = ScoringDifference(
        difference=None, n=0, read_differently=0, unparsed=0, unparsed_own=0, read_otherwise=0, from_readings=0.0,
        scored_differently=0,
    )  # fmt: skip
    total = 0.0
    replies: list[tuple[float, TwoReadings]] = []
    for sample, one in mine.items():
        two = theirs.get(sample)
        if two is None or two.started != one.started:
            continue
        worth = 0.0
        if one.value is not None and two.value is not None:
            found.n += 1
            worth = one.value - two.value
            total += worth
        differently = _differ(one.answer, two.answer)
        if not differently and one.value == two.value:
            continue
        if differently:
            found.read_differently += 1
            found.unparsed += two.answer is None
            found.unparsed_own += one.answer is None
            found.read_otherwise += one.answer is not None and two.answer is not None
            found.from_readings += worth
        else:
            found.scored_differently += 1
        replies.append((abs(worth), _pair(sample, names, one, two)))
    if found.n:
        found.difference = total / found.n
        found.from_readings /= found.n
    replies.sort(key=lambda reply: -reply[0])
    found.replies = [reply for _, reply in replies]
    return found


def _by_sample(rows: Iterable[ScoreRow], headline: str) -> dict[str, _Read]:
    return {row.key: _Read(row.started, row.value(headline), _answer(row)) for row in rows}


def _answer(row: ScoreRow) -> _Answer:
    return None if "unparsed" in row.flags else in_words(row.notes["answer"]) if "answer" in row.notes else UNSET


def in_words(answer: Any) -> str | None:
    """Return a scorer's note `answer` as text; None if the reply is unparsed."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, Mapping):
        return ", ".join(f"{key} {in_words(value)}" for key, value in answer.items()) or None
    if isinstance(answer, list | tuple | AbstractSet):
        return ", ".join(str(in_words(one)) for one in answer) or None
    return None if answer is None else str(answer).strip() or None


def _differ(one: _Answer, two: _Answer) -> bool:
    """Compare answers apart from case, spaces and a final full stop. If one side does not give its answer, only an
    unparsed other side is a difference."""
    if one is UNSET or two is UNSET:
        return (one is None) != (two is None)
    return _folded(one) != _folded(two)


def _folded(text: Any) -> str | None:
    return None if text is None else " ".join(str(text).casefold().split()).rstrip(".")


def _pair(sample: str, names: tuple[str, ...], one: _Read, two: _Read) -> TwoReadings:
    reads = dict(zip(names, (one, two), strict=True))
    return TwoReadings(
        sample,
        {name: read.value for name, read in reads.items()},
        {name: _short(read.answer) for name, read in reads.items() if read.answer is not UNSET},
    )


def _short(answer: Any) -> str | None:
    return None if answer is None else answer if len(answer) <= _LONGEST else f"{answer[: _LONGEST - 1]}…"


def difference_in(folder: RunFolder, cell: str, scoring: str, headline: str) -> ScoringDifference:
    """Compare a cell's own scores with those of another scoring."""
    return held_against(list(folder.scores(cell)), list(folder.scores(cell, scoring)), headline)


def with_replies(folder: RunFolder, results: Results) -> Results:
    """Add every reply on which scorings disagree to the results, from the score rows."""
    for name, cell in results.tasks.items():
        for scoring, other in cell.scorings.items():
            if other.against:
                other.against = difference_in(folder, name, scoring, cell.headline)
    return results


def disagreements(folder: RunFolder) -> dict[str, dict[str, ScoringDifference]]:
    """Return the differences by cell and scoring; empty if the results cannot be read."""
    try:
        tasks = with_replies(folder, folder.results()).tasks
    except (SketchmarkError, OSError):
        return {}
    return {
        name: {scoring: other.against for scoring, other in cell.scorings.items() if other.against}
        for name, cell in tasks.items()
    }


def told(folder: RunFolder) -> list[str]:
    """Return the sentences of a run; empty if its results cannot be read."""
    try:
        return list(sentences(folder.results().tasks))
    except (SketchmarkError, OSError):
        return []


def sentences(cells: Mapping[str, CellResult]) -> Iterator[str]:
    """Yield one line per further scoring of a cell: the two scores, and the causes of their difference. Another says
    what the extractor contributed."""
    for name, cell in cells.items():
        for one in (cell, *cell.scorings.values()):
            if one.extraction:
                yield f"{name}: {_extraction(one.extraction, one.n)}"
        for scoring, other in cell.scorings.items():
            if other.against:
                yield f"{name}: {_sentence(cell, scoring, other, other.against)}"


def _sentence(cell: CellResult, scoring: str, other: CellResult, found: ScoringDifference) -> str:
    own = cell.scoring or "strict"
    causes = {}
    if found.read_differently:
        causes[_read_differently(found, own, scoring)] = found.from_readings
    if found.scored_differently:
        alike = f"{_replies(found.scored_differently)} read alike and scored differently"
        causes[alike] = (found.difference or 0.0) - found.from_readings
    if not causes:
        return f"{own} and {scoring} read and score every reply alike"
    here, there = cell.metrics.get(cell.headline), other.metrics.get(cell.headline)
    if found.difference is None or here is None or there is None:
        return f"{own} and {scoring}: {'; '.join(causes)}"
    shared = f" on the {found.n} replies that both score" if found.n < max(here.n, there.n) else ""
    scores = (f"{name} {as_percent(one.mean, one.ci95)}" for name, one in ((scoring, there), (own, here)))
    begin = f"{', '.join(scores)}: {_points(found.difference)} points{shared}"
    if len(causes) == 1:
        return f"{begin}, all from {next(iter(causes))}"
    return f"{begin}: {'; '.join(f'{_points(worth)} from {cause}' for cause, worth in causes.items())}"


def _extraction(found: Extraction, scores: int) -> str:
    calls, tokens = found.usage.get("calls", 0), found.usage.get("tokens_in", 0) + found.usage.get("tokens_out", 0)
    parts = [
        f"{found.rests} of {scores} scores rest on quotes of {found.model}",
        f"asked about {found.asked} unparsed replies: {found.without} without answer, {found.rejected} rejected",
        f"agrees with strict on {found.agreed} of {found.compared} replies that both parse ({found.checked} checked)",
        f"paid calls: {calls}, tokens: {tokens}",
    ]
    return "; ".join([*parts, *([f"{found.failed} calls failed"] if found.failed else [])])


def _read_differently(found: ScoringDifference, own: str, scoring: str) -> str:
    kinds = {
        f"unparsed by {scoring}": found.unparsed,
        f"unparsed by {own}": found.unparsed_own,
        "read as another answer": found.read_otherwise,
    }
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return f"{_replies(found.read_differently)} read differently ({counts})"


def _replies(count: int) -> str:
    return f"{count} repl{'y' if count == 1 else 'ies'}"


def _points(difference: float) -> str:
    return as_points(difference)
