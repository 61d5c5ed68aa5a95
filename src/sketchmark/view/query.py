"""Filters, order and text search of the samples view, and its cards."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from sketchmark.episode import Act
from sketchmark.episode.model import Finish
from sketchmark.episode.sample import Author
from sketchmark.folder import EPISODES
from sketchmark.folder.format import EpisodeLine, Score
from sketchmark.folder.index import CellView, RunView, change, outcome
from sketchmark.folder.records import drawings_right, drawn_names, input_names, said, sound_names
from sketchmark.folder.results_format import TwoReadings
from sketchmark.media.sound import FORMATS
from sketchmark.models.cache import USAGE
from sketchmark.results.scorings import disagreements

_COULD_BE_FORMAT = re.compile(r"[0-9a-f.,:{}\[\]]+")


def matching(cell: CellView, text: str) -> frozenset[str]:
    """Find the samples whose transcript contains the text, ignoring case.

    Without an index: lines are searched as bytes, and parsed only if the text could also be part of the format.
    """
    wanted = text.casefold()
    # bytes.lower() changes only ASCII letters, so other texts need the parsed line.
    needle = json.dumps(text, ensure_ascii=False)[1:-1].lower().encode() if text.isascii() else b""
    sure = bool(needle) and not _could_be_format(wanted)
    return frozenset(
        sample
        for sample, line in cell.raw_lines()
        if needle in line.lower() and (sure or any(wanted in part.casefold() for part in _texts(line, cell.name)))
    )


def _could_be_format(wanted: str) -> bool:
    """Test whether a text could be part of the format, which has no spaces between its parts."""
    return " " not in wanted and (wanted in _FORMAT or bool(_COULD_BE_FORMAT.fullmatch(wanted)))


def _words(kind: msgspec.inspect.Type) -> Iterator[str]:
    """Yield every key that a line of this kind can have."""
    if isinstance(kind, (msgspec.inspect.StructType, msgspec.inspect.DataclassType)):
        for field in kind.fields:
            yield field.encode_name
            yield from _words(field.type)
    elif isinstance(kind, msgspec.inspect.UnionType):
        for one in kind.types:
            yield from _words(one)
    elif isinstance(kind, msgspec.inspect.ListType):
        yield from _words(kind.item_type)


_VALUES: tuple[Any, ...] = (*get_args(Act), *get_args(Finish), *get_args(Author), *USAGE)
_ENDINGS = [f".{ending}" for ending in ("png", "jpeg", *sorted(FORMATS))]
_FORMAT = " ".join(
    [*_words(msgspec.inspect.type_info(EpisodeLine)), *_VALUES, *_ENDINGS, "null", "true", "false", "crc"]
)


def _texts(line: bytes, where: str) -> Iterator[str]:
    """Yield the texts of a line without the format."""
    record = EPISODES.one(line, where)
    yield record.sample.id
    yield from map(str, record.sample.fields.values())
    yield from map(str, record.sample.groups.values())
    for turn in record.turns:
        yield turn.suffix
        yield from (part.text for part in turn.added if part.text)
        yield turn.reply.text if turn.reply else ""
        yield turn.note
    if record.failure:
        yield record.failure.message


PAGE = 48
ANY = "any"
"""A filter that was taken away, where an empty one opens on drawn episodes."""
CHANGES = ("helped", "hurt", "same", None)
MANY = 60
"""Groups of a filter. A key with more identifies samples."""


Readings = Mapping[str, Mapping[str, Mapping[str, TwoReadings]]]
"""Cell → other scoring → sample → both parsed answers, for the replies on which the scorings disagree."""


def readings_of(run: RunView) -> Readings:
    return {
        cell: {scoring: {one.sample: one for one in found.replies} for scoring, found in of_cell.items()}
        for cell, of_cell in disagreements(run.folder).items()
    }


@dataclass(frozen=True)
class Hit:
    cell: CellView
    sample: str
    row: Score | None
    value: float | None
    change: str | None


@dataclass(frozen=True)
class Query:
    """The filters in the address of the samples view; an empty one matches all."""

    task: str = ""
    mode: str = ""
    canvas: str = ""
    outcome: str = ""
    change: str = ""
    flag: str = ""
    read: str = ""
    groups: str = ""
    text: str = ""
    sort: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Query:
        return cls(**{name: parameters.get(name, "")[:400] for name in cls.__dataclass_fields__})

    def hits(self, run: RunView, readings: Readings) -> list[Hit]:
        wanted = [cell for cell in run.cells.values() if self._wants(cell)]
        found = [hit for cell in wanted for hit in self._of_cell(run, cell, self._disagreed(readings, cell))]
        if self.sort:
            name, _, direction = self.sort.partition(":")
            found.sort(key=lambda hit: _order(hit, name), reverse=direction == "down")
        return found

    def _wants(self, cell: CellView) -> bool:
        wanted = ((self.task, cell.task), (self.mode, cell.mode), (self.canvas, cell.canvas))
        return all(want in ("", ANY) or want == have for want, have in wanted)

    def _disagreed(self, readings: Readings, cell: CellView) -> set[str] | None:
        """Return the samples on which scorings disagree; None if the filter is not set."""
        if not self.read:
            return None
        of_cell = readings.get(cell.name, {})
        return {sample for name in of_cell if self.read in ("any", name) for sample in of_cell[name]}

    def _of_cell(self, run: RunView, cell: CellView, disagreed: set[str] | None) -> Iterator[Hit]:
        base = run.baseline(cell)
        spoken = matching(cell, self.text) if self.text else None
        key, _, group = self.groups.partition("=")
        for sample in cell.order():
            row = cell.rows.get(sample)
            if spoken is not None and sample not in spoken:
                continue
            if disagreed is not None and sample not in disagreed:
                continue
            if self.groups and (row is None or str(row.groups.get(key)) != group):
                continue
            if self.flag and (row is None or not (row.flags if self.flag == "any" else self.flag in row.flags)):
                continue
            value = cell.value(sample)
            if self.outcome and outcome(row, value) != self.outcome:
                continue
            became = change(base.value(sample), value) if base else None
            if self.change and became != self.change:
                continue
            yield Hit(cell, sample, row, value, became)


def _order(hit: Hit, name: str) -> tuple[Any, ...]:
    """Sort numbers before texts and missing values last; equals keep the file's order."""
    wanted: Any = None
    if name == "change":
        wanted = CHANGES.index(hit.change) + (0.5 if hit.change == "same" and not hit.value else 0)
    elif name == "score":
        wanted = hit.value
    elif name == "tokens":
        wanted = hit.row.usage.get("tokens_out", 0) if hit.row else 0
    elif hit.row:
        wanted = hit.row.seconds if name == "seconds" else hit.row.groups.get(name)
    if isinstance(wanted, (int, float)):
        return (0, wanted, "")
    return (1, 0, str(wanted)) if wanted is not None else (2, 0, "")


def facets(run: RunView, readings: Readings) -> dict[str, Any]:
    """List the values of each filter with counts."""
    flags: Counter[str] = Counter()
    groups: dict[str, Counter[str]] = {}
    numeric: set[str] = set()
    for cell in run.cells.values():
        for row in cell.rows.values():
            flags.update(row.flags)
            for key, value in row.groups.items():
                counts = groups.setdefault(key, Counter())
                if len(counts) <= MANY:
                    counts[str(value)] += 1
                if isinstance(value, (int, float)):
                    numeric.add(key)
    read: Counter[str] = Counter()
    for name, of_cell in readings.items():
        if name in run.cells:
            read.update({scoring: len(samples) for scoring, samples in of_cell.items()})
    cells = run.cells.values()
    return {
        "task": sorted({cell.task for cell in cells}),
        "mode": list(dict.fromkeys(cell.mode for cell in cells)),
        "canvas": list(dict.fromkeys(cell.canvas for cell in cells)),
        "flag": dict(flags.most_common()),
        "read": {scoring: count for scoring, count in read.items() if count},
        "groups": {
            key: dict(sorted(counts.items(), key=lambda item: _number_first(item[0])))
            for key, counts in sorted(groups.items())
            if key != "cluster" and 1 < len(counts) <= MANY
        },
        "sort": sorted(numeric),
    }


def _number_first(text: str) -> tuple[int, float, str]:
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def counts(hits: Sequence[Hit]) -> dict[str, int]:
    """Count episodes by their change against direct: helped, hurt, right in both, wrong in both."""
    found: Counter[str] = Counter()
    for hit in hits:
        if hit.change is not None:
            same = "right" if hit.value is not None and hit.value >= 1 else "wrong"
            found[same if hit.change == "same" else hit.change] += 1
    return dict(found)


def card(run: RunView, hit: Hit) -> dict[str, Any]:
    """Return an episode for the gallery: its film strip, its answer, and the direct answer to the same sample."""
    record, cell = hit.cell.episode(hit.sample), hit.cell
    score, base = cell.score(hit.sample), run.baseline(cell)
    notes = score.notes if score else {}
    true, answers = record.sample.frames or [], said(record)
    right = drawings_right(record, notes)
    strip = [{"name": name, "right": one} for name, one in zip(drawn_names(record), right, strict=True)]
    wrong = right.index(False) if False in right else None
    return {
        "cell": cell.name,
        "task": cell.task,
        "mode": cell.mode,
        "canvas": cell.canvas,
        "draw_with": cell.about.draw_with,
        "sample": hit.sample,
        "outcome": outcome(hit.row, hit.value),
        "value": hit.value,
        "change": hit.change,
        "flags": hit.row.flags if hit.row else [],
        "groups": hit.row.groups if hit.row else {},
        "input": next(input_names(record.sample), None),
        "sounds": len(list(sound_names(record.sample))),
        "strip": strip,
        "true": true[wrong] if wrong is not None and wrong < len(true) else None,
        "answer": parsed(notes, answers),
        "expected": plain_answer(notes.get("expected")),
        "direct": direct_answer(base, hit.sample) if base else None,
        "seconds": record.seconds,
        "tokens": hit.row.usage.get("tokens_out", 0) if hit.row else 0,
    }


def direct_answer(base: CellView, sample: str) -> dict[str, Any] | None:
    """Return the answer without drawing to the same sample; None if there is none."""
    if sample not in base.episodes:
        return None
    score = base.score(sample)
    answer = parsed(score.notes if score else {}, said(base.episode(sample)))
    return {"cell": base.name, "outcome": outcome(base.rows.get(sample), base.value(sample)), "answer": answer}


def parsed(notes: Mapping[str, Any], answers: Sequence[str]) -> Any:
    """Return what the scorer parsed, or else the end of the last reply."""
    if "answer" in notes and notes["answer"] is not None:
        return plain_answer(notes["answer"])
    return answers[-1][-240:] if answers else ""


def plain_answer(answer: Any) -> Any:
    """Return an answer that a page can show: a list of short texts, or one text."""
    if (
        isinstance(answer, list)
        and len(answer) <= 200
        and all(isinstance(one, str) and len(one) < 20 for one in answer)
    ):
        return answer
    return None if answer is None else str(answer)[:240]
