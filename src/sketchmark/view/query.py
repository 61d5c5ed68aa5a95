"""Filters, order and text search of the samples view, and its cards."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, overload

import msgspec
import numpy as np

from sketchmark.episode import Act
from sketchmark.episode.model import Finish
from sketchmark.episode.sample import Author
from sketchmark.folder import EPISODES
from sketchmark.folder.columns import Array, Floats
from sketchmark.folder.format import EpisodeLine, Score, episode_key
from sketchmark.folder.index import CellView, RunView, outcome
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
CHANGES: tuple[str | None, ...] = ("helped", "hurt", "same", None)
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

    def hits(self, run: RunView, readings: Readings) -> Hits:
        wanted = [cell for cell in run.cells.values() if self._wants(cell)]
        found = Hits(wanted, [self._of_cell(run, cell, self._disagreed(readings, cell)) for cell in wanted])
        name, _, direction = self.sort.partition(":")
        return found.sorted(name, down=direction == "down") if self.sort else found

    def _wants(self, cell: CellView) -> bool:
        wanted = ((self.task, cell.task), (self.mode, cell.mode), (self.canvas, cell.canvas))
        return all(want in ("", ANY) or want == have for want, have in wanted)

    def _disagreed(self, readings: Readings, cell: CellView) -> set[str] | None:
        """Return the samples on which scorings disagree; None if the filter is not set."""
        if not self.read:
            return None
        of_cell = readings.get(cell.name, {})
        return {sample for name in of_cell if self.read in ("any", name) for sample in of_cell[name]}

    def _of_cell(self, run: RunView, cell: CellView, disagreed: set[str] | None) -> tuple[Array, Array]:
        """Return the places of the cell's episodes that match (`Hits`), and their change against direct."""
        rows, episodes = cell.rows, cell.episodes
        values = rows.metric(cell.headline)
        became = changes(run, cell)
        keep = np.zeros(len(rows), bool)
        keep[rows.align(episodes)[0]] = True
        unscored = not (self.groups or self.flag or self.change) and self.outcome in ("", "unscored")
        if self.groups:
            key, _, group = self.groups.partition("=")
            texts = [*(str(value) for value in rows.group_values(key)), "None"]  # the last: rows without the key
            keep &= np.array([text == group for text in texts])[rows.group(key)]
        if self.flag:
            keep &= rows.flagged(self.flag) if self.flag != ANY else ~rows.unflagged()
        if self.outcome:
            keep &= _outcomes(values) == self.outcome
        if self.change:
            keep &= became == (CHANGES.index(self.change) if self.change in CHANGES else -2)
        places = np.flatnonzero(keep)
        if unscored and len(episodes) > len(rows.align(episodes)[0]):
            scored = np.zeros(len(episodes), bool)
            scored[rows.align(episodes)[1]] = True
            places = np.concatenate([places, -1 - np.flatnonzero(~scored)])
        for chosen in (matching(cell, self.text) if self.text else None, disagreed):
            if chosen is not None:
                places = np.array([place for place in places.tolist() if key_at(cell, place) in chosen], np.intp)
        return places, np.where(places < 0, _NO_CHANGE, became[places] if len(became) else _NO_CHANGE)


_NO_CHANGE = CHANGES.index(None)
_OUTCOMES = np.array(["unscored", "right", "wrong", "partly"])


def _outcomes(values: Floats) -> Array:
    """Return `outcome` of each value."""
    found: Array = _OUTCOMES[np.select([np.isnan(values), values >= 1, values <= 0], [0, 1, 2], 3)]
    return found


def changes(run: RunView, cell: CellView) -> Array:
    """Return the change of each row against direct, as a place in `CHANGES`."""
    found = np.full(len(cell.rows), _NO_CHANGE, np.int8)
    if base := run.baseline(cell):
        mine, theirs = cell.rows.align(base.rows)
        after, before = cell.rows.metric(cell.headline)[mine], base.rows.metric(base.headline)[theirs]
        missing = np.isnan(after) | np.isnan(before)
        found[mine] = np.select([missing, after > before, after < before], [_NO_CHANGE, 0, 1], 2)
    return found


def key_at(cell: CellView, place: int) -> str:
    """Return the key of a row, or of an episode without one (`-1 - place`)."""
    return cell.rows.key(place) if place >= 0 else cell.episodes.key(-1 - place)


class Hits(Sequence[Hit]):
    """Matching episodes in order: the number of the cell, the place of the row (-1 - place of the episode if it has
    none), and the change. A million of them take seven megabytes."""

    def __init__(self, cells: Sequence[CellView], found: Sequence[tuple[Array, Array]]) -> None:
        self.cells = cells
        numbers = [np.full(len(places), number, np.int16) for number, (places, _) in enumerate(found)]
        self._cell = np.concatenate([*numbers, np.zeros(0, np.int16)])
        self._place = np.concatenate([*(places for places, _ in found), np.zeros(0, np.intp)]).astype(np.int32)
        self._change = np.concatenate([*(became for _, became in found), np.zeros(0, np.int8)]).astype(np.int8)

    @property
    def nbytes(self) -> int:
        return self._cell.nbytes + self._place.nbytes + self._change.nbytes

    def __len__(self) -> int:
        return len(self._cell)

    @overload
    def __getitem__(self, at: int) -> Hit: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Hit]: ...

    def __getitem__(self, at: int | slice) -> Hit | Sequence[Hit]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        cell, place = self.cells[int(self._cell[at])], int(self._place[at])
        row = cell.rows.at(place) if place >= 0 else None
        change = CHANGES[int(self._change[at])]
        return Hit(cell, key_at(cell, place), row, row.value(cell.headline) if row else None, change)

    def key(self, at: int) -> tuple[str, str]:
        """Return the names of the cell and the sample."""
        cell = self.cells[int(self._cell[at])]
        return cell.name, key_at(cell, int(self._place[at]))

    def find(self, sample: str) -> list[int]:
        """Return the places of a sample in the list."""
        wanted = np.full(len(self.cells), np.iinfo(np.int32).max, np.int64)
        for number, cell in enumerate(self.cells):
            place, played = cell.rows.place(sample), cell.episodes.place(sample)
            if place is not None:
                wanted[number] = place
            elif played is not None:
                wanted[number] = -1 - played
        found: list[int] = np.flatnonzero(self._place == wanted[self._cell]).tolist() if len(self) else []
        return found

    def values(self) -> Floats:
        """Return the headline score of each episode; NaN without one."""
        return self._spread(lambda cell: cell.rows.metric(cell.headline), np.nan)

    def _spread(self, of_cell: Callable[[CellView], Array], missing: float) -> Floats:
        found = np.full(len(self), missing)
        for number, cell in enumerate(self.cells):
            mine = np.flatnonzero((self._cell == number) & (self._place >= 0))
            if len(mine):
                found[mine] = of_cell(cell)[self._place[mine]]
        return found

    def counts(self) -> dict[str, int]:
        """Count episodes by their change against direct: helped, hurt, right in both, wrong in both."""
        right = self.values() >= 1
        same = self._change == CHANGES.index("same")
        kinds = {
            "helped": self._change == CHANGES.index("helped"),
            "hurt": self._change == CHANGES.index("hurt"),
            "right": same & right,
            "wrong": same & ~right,
        }
        return {kind: int(chosen.sum()) for kind, chosen in kinds.items() if chosen.any()}

    def sorted(self, name: str, *, down: bool) -> Hits:
        """Sort numbers before texts and missing values last; equals keep the file's order."""
        kinds: Array = np.zeros(len(self), np.int64)
        ranks: Array
        if name == "change":
            values = self.values()
            idle = (self._change == CHANGES.index("same")) & (np.isnan(values) | (values == 0))
            ranks = self._change + np.where(idle, 0.5, 0.0)
        elif name == "tokens":
            ranks = self._spread(lambda cell: cell.rows.arrays.get("u.tokens_out", np.zeros(len(cell.rows))), 0.0)
        elif name in ("score", "seconds"):
            ranks = self.values() if name == "score" else self._spread(lambda cell: cell.rows.numbers(name), np.nan)
            kinds = np.where(np.isnan(ranks), 2, 0)
        else:
            texts = sorted({str(v) for c in self.cells for v in c.rows.group_values(name) if not _is_number(v)})
            ranks = self._spread(lambda cell: _ranks(cell, name, texts)[1], 0.0)
            kinds = self._spread(lambda cell: _ranks(cell, name, texts)[0], 2.0)
        keys = (np.nan_to_num(ranks), kinds)
        order = np.lexsort(tuple(map(np.negative, keys)) if down else keys)
        found = Hits(self.cells, [])
        found._cell, found._place, found._change = self._cell[order], self._place[order], self._change[order]
        return found


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _ranks(cell: CellView, key: str, texts: Sequence[str]) -> tuple[Array, Array]:
    """Return kind (0 number, 1 text, 2 missing) and rank of each row's value of a group key."""
    places = {text: place for place, text in enumerate(texts)}
    values = cell.rows.group_values(key)
    kinds = [2 if value is None else 0 if _is_number(value) else 1 for value in values] + [2]
    ranks = [
        float(value) if kind == 0 else float(places[str(value)]) if kind == 1 else 0.0
        for value, kind in zip(values, kinds, strict=False)
    ] + [0.0]
    codes = cell.rows.group(key)
    return np.array(kinds)[codes], np.array(ranks)[codes]


def facets(run: RunView, readings: Readings) -> dict[str, Any]:
    """List the values of each filter with counts."""
    flags: Counter[str] = Counter()
    groups: dict[str, Counter[str]] = {}
    numeric: set[str] = set()
    for cell in run.cells.values():
        flags.update(cell.rows.flag_counts())
        for key in cell.rows.names("groups"):
            codes, values = cell.rows.group(key), cell.rows.group_values(key)
            found = groups.setdefault(key, Counter())
            for code, count in enumerate(np.bincount(codes[codes >= 0], minlength=len(values)).tolist()):
                if count:
                    found[str(values[code])] += count
                    if _is_number(values[code]):
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
        "outcome": outcome(hit.value),
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
        "direct": direct_answer(base, record) if base else None,
        "seconds": record.seconds,
        "tokens": hit.row.usage.get("tokens_out", 0) if hit.row else 0,
    }


def counterpart(cell: CellView, record: EpisodeLine) -> str | None:
    """Return the episode of another cell that belongs to this one: the same repeat and answer, else the same repeat,
    else the first of the sample; None if there is none."""
    sample = record.sample.id
    keys = record.key, episode_key(sample, record.repeat), sample
    return next((key for key in keys if key in cell.episodes), None)


def direct_answer(base: CellView, record: EpisodeLine) -> dict[str, Any] | None:
    """Return the answer without drawing to the same sample; None if there is none."""
    sample = counterpart(base, record)
    if sample is None:
        return None
    score = base.score(sample)
    answer = parsed(score.notes if score else {}, said(base.episode(sample)))
    return {"cell": base.name, "sample": sample, "outcome": outcome(base.value(sample)), "answer": answer}


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
