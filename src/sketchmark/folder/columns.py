"""Score rows and episodes of a cell as columns: about a hundred bytes per row, and statistics without a loop.

Whole numbers are in the smallest type that holds them. Texts, dicts and numbers with few different values are codes
into lists. A row is made as an object only if it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import pairwise
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from sketchmark.errors import BadInput
from sketchmark.folder.format import LARGEST, DrawingNotes, Score, episode_key

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Lists = dict[str, list[Any]]
Value = TypeVar("Value")

PLACE = ("index", "repeat", "branch")
_AT_ONCE = 10_000
UNKNOWN, WRONG, RIGHT = -1, 0, 1


class Codes:
    """Numbers of values, in the order of their first appearance."""

    def __init__(self, known: Iterable[Any] = ()) -> None:
        self.known = {value: code for code, value in enumerate(known)}

    def __call__(self, value: Any) -> int:
        return self.known.setdefault(value, len(self.known))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.known)


def small(values: Array) -> Array:
    """Return whole numbers in the smallest type that holds them."""
    if not len(values):
        return values.astype(np.int8)
    low, high = int(values.min()), int(values.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.int64)


def first_seen(codes: Array) -> list[int]:
    """Return the distinct codes in the order of their first appearance."""
    found, first = np.unique(codes, return_index=True)
    return [int(code) for code in found[np.argsort(first, kind="stable")]]


class Strings:
    """Texts in one buffer: their lengths, and their bytes one after the other."""

    def __init__(self, lengths: Array, data: Array) -> None:
        self.lengths, self.data = lengths, data

    @classmethod
    def of(cls, texts: Sequence[str]) -> Strings:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(small(lengths), np.frombuffer(b"".join(encoded), np.uint8))

    @classmethod
    def joined(cls, parts: Sequence[Strings]) -> Strings:
        lengths = np.concatenate([part.lengths.astype(np.int64) for part in parts])
        return cls(small(lengths), np.concatenate([part.data for part in parts]))

    def __len__(self) -> int:
        return len(self.lengths)

    def starts(self) -> Array:
        """Return the byte at which each text begins, and the end of the last one."""
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    def __iter__(self) -> Iterator[str]:
        """Yield the texts, a part of which is decoded at a time."""
        begin = 0
        for first in range(0, len(self), _AT_ONCE):
            ends = begin + np.cumsum(self.lengths[first : first + _AT_ONCE], dtype=np.int64)
            at = [0, *(ends - begin).tolist()]
            data = self.data[begin : begin + at[-1]].tobytes()
            yield from (data[one:end].decode("utf-8", "surrogatepass") for one, end in pairwise(at))
            begin += at[-1]

    def at(self, place: int, starts: Array) -> str:
        return self.data[starts[place] : starts[place + 1]].tobytes().decode("utf-8", "surrogatepass")

    def take(self, places: Places) -> Strings:
        at, parts = self.starts(), []
        for some in np.array_split(places, max(1, len(places) // 50_000)):
            lengths = self.lengths[some].astype(np.int64)
            ends = np.cumsum(lengths)
            moved = np.repeat(at[some] - (ends - lengths), lengths)
            parts.append(self.data[moved + np.arange(len(moved))])
        return Strings(self.lengths[places], np.concatenate(parts))

    def same(self, other: Strings) -> bool:
        return np.array_equal(self.lengths, other.lengths) and np.array_equal(self.data, other.data)


class Columns(Mapping[str, Value]):
    """Columns by name, with the key of each row. Whole numbers are stored in the smallest type, and numbers of few
    different values as codes."""

    def __init__(self, arrays: dict[str, Array], lists: Lists) -> None:
        self.arrays, self.lists = arrays, lists
        self._kept: dict[str, Any] = {}

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a value that is computed once."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def __len__(self) -> int:
        return len(self.arrays["index"])

    @property
    def samples(self) -> Strings:
        return Strings(self.arrays["sample.lengths"], self.arrays["sample"])

    def __iter__(self) -> Iterator[str]:
        """Yield the keys in order; a list of them all is not kept."""
        if "keys" in self._kept:
            return iter(self._kept["keys"])
        if not self.repeats:
            return iter(self.samples)
        nths = (self.arrays[name].tolist() for name in PLACE[1:])
        return (episode_key(*each) for each in zip(self.samples, *nths, strict=True))

    def key(self, place: int) -> str:
        """Return the key of a row."""
        if "keys" in self._kept:
            found: str = self._kept["keys"][place]
            return found
        sample = self.samples.at(place, self.kept("sample", self.samples.starts))
        return episode_key(sample, *(int(self.arrays[name][place]) for name in PLACE[1:]))

    @property
    def repeats(self) -> bool:
        """Whether a row is of a further repeat or branch."""
        found: bool = self.kept("repeats", lambda: any(bool(self.arrays[name].any()) for name in PLACE[1:]))
        return found

    def hashes(self) -> Array:
        """Return a hash of each key. It differs from process to process, so it is not stored."""
        found: Array = self.kept("hashes", lambda: np.fromiter(map(hash, self), np.int64, len(self)))
        return found

    def _by_hash(self) -> tuple[Array, Array]:
        order = np.argsort(self.hashes(), kind="stable").astype(np.int32)
        return order, self.hashes()[order]

    def place(self, key: object) -> int | None:
        """Return the number of a key's row, of the last one if there are several."""
        order, hashes = self.kept("by hash", self._by_hash)
        wanted = hash(key)
        first, end = (int(np.searchsorted(hashes, wanted, side)) for side in ("left", "right"))
        return next((place for place in order[first:end][::-1].tolist() if self.key(place) == key), None)

    def __contains__(self, key: object) -> bool:
        return self.place(key) is not None

    def __getitem__(self, key: str) -> Value:
        place = self.place(key)
        if place is None:
            raise KeyError(key)
        return self.at(place)

    def at(self, place: int) -> Value:
        raise NotImplementedError

    def numbers(self, name: str) -> Array:
        """Return a column, decoded."""
        values = self.arrays[name]
        return np.asarray(self.lists[name], float)[values] if name in self.lists else values

    def align(self, other: Columns[Any]) -> tuple[Places, Places]:
        """Return the rows of both sides that have the same key, in the order of this side."""
        plain = not (self.lists.get("unsorted") or other.lists.get("unsorted"))
        nths = all(np.array_equal(self.arrays[name], other.arrays[name]) for name in PLACE[1:])
        if plain and nths and self.samples.same(other.samples):
            return np.arange(len(self)), np.arange(len(self))
        order, hashes = other.kept("by hash", other._by_hash)
        at = np.searchsorted(hashes, self.hashes(), "right") - 1
        mine = np.flatnonzero((at >= 0) & (hashes[at] == self.hashes()) if len(hashes) else np.zeros(len(self), bool))
        theirs = order[at[mine]]
        if plain and self._same_keys(mine, other, theirs):
            return mine, theirs
        found = np.array([-1 if (place := other.place(key)) is None else place for key in self], dtype=np.intp)
        mine = np.flatnonzero(found >= 0)
        return mine, found[mine]

    def _same_keys(self, mine: Places, other: Columns[Any], theirs: Places) -> bool:
        nths = all(np.array_equal(self.arrays[name][mine], other.arrays[name][theirs]) for name in PLACE[1:])
        return nths and self.samples.take(mine).same(other.samples.take(theirs))


class Rows(Columns[Score]):
    """Score rows by key (`episode_key`), in the order of the samples; `rows[key]` makes one row."""

    def where(self, chosen: Array) -> Rows:
        """Return the rows of a mask or of numbers."""
        places = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return _selected(self, places)

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        return self.arrays["scored"].astype(bool)

    def at(self, place: int) -> Score:
        texts = (("sample", self.samples), ("fingerprint", self.fingerprints))
        return self._row(place, *(one.at(place, self.kept(name, one.starts)) for name, one in texts))

    def _row(self, place: int, sample: str, fingerprint: str) -> Score:
        arrays, lists = self.arrays, self.lists
        scoring, judge, extractor = lists["kinds"][arrays["kind"][place]]
        frames = int(arrays["frames"][place])
        return Score(
            index=int(arrays["index"][place]),
            sample=sample,
            fingerprint=fingerprint,
            groups={key: self.group_values(key)[arrays[f"g.{key}"][place]] for key in self._shape("groups", place)},
            scored=bool(arrays["scored"][place]),
            values={
                name: None if np.isnan(value := self._float(f"v.{name}", place)) else value
                for name in self._shape("values", place)
            },
            flags=list(lists["flags"][arrays["flag"][place]]),
            calls_left_out=int(arrays["left_out"][place]),
            scoring=scoring,
            judge=judge,
            extractor=msgspec.UNSET if extractor is None else extractor,
            usage={name: int(arrays[f"u.{name}"][place]) for name in self._shape("usage", place)},
            paid=msgspec.UNSET
            if arrays["paid"][place] < 0
            else {name: int(arrays[f"p.{name}"][place]) for name in self._shape("paid", place)},
            started=float(arrays["started"][place]),
            seconds=float(arrays["seconds"][place]),
            repeat=int(arrays["repeat"][place]) or msgspec.UNSET,
            branch=int(arrays["branch"][place]) or msgspec.UNSET,
            notes=DrawingNotes() if frames == UNKNOWN else DrawingNotes(frames_right=(frames == RIGHT,)),
        )

    def values(self) -> ValuesView[Score]:
        return _Values(self)

    def items(self) -> Any:
        return zip(self, self.values(), strict=True)

    def _float(self, name: str, place: int) -> float:
        value = self.arrays[name][place]
        return float(self.lists[name][value] if name in self.lists else value)

    def _shape(self, name: str, place: int) -> list[str]:
        found: list[str] = self.lists[name][self.arrays[name][place]]
        return found

    @property
    def fingerprints(self) -> Strings:
        return Strings(self.arrays["fingerprint.lengths"], self.arrays["fingerprint"])

    def begin(self, key: str) -> int:
        """Return the byte at which the row's line begins."""
        place = self.place(key)
        if place is None:
            raise KeyError(key)
        return int(self.arrays["begin"][place])

    def names(self, shape: str = "values", chosen: Array | None = None) -> list[str]:
        """Return the names of the `values`, `usage`, `paid` or `groups` of some rows, in the order of appearance."""
        codes = self.arrays[shape] if chosen is None else self.arrays[shape][chosen]
        return list(
            dict.fromkeys(name for code in first_seen(codes) if code >= 0 for name in self.lists[shape][code])
        )

    def metric(self, name: str) -> Floats:
        """Return a score of each row; NaN if it does not apply or the episode was not scored."""
        if f"v.{name}" not in self.arrays:
            return np.full(len(self), np.nan)
        values = np.where(self.scored, self.numbers(f"v.{name}"), np.nan)
        if (large := np.abs(values) > LARGEST).any():
            sample = self.samples.at(int(np.argmax(large)), self.samples.starts())
            raise BadInput(f"the score {name} of {sample} is too large to compute with", "score the run again")
        return values

    def value(self, name: str, key: str) -> float | None:
        """Return one score; None without a row."""
        place = self.place(key)
        return None if place is None else self.at(place).value(name)

    def flagged(self, flag: str) -> npt.NDArray[np.bool_]:
        having = np.array([flag in flags for flags in self.lists["flags"]], bool)
        return having[self.arrays["flag"]] if len(having) else np.zeros(len(self), bool)

    def unflagged(self) -> npt.NDArray[np.bool_]:
        """Return which rows have no flag."""
        none = np.array([not flags for flags in self.lists["flags"]], bool)
        return none[self.arrays["flag"]] if len(none) else np.zeros(len(self), bool)

    def flag_counts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        counts = np.bincount(self.arrays["flag"], minlength=len(self.lists["flags"])).tolist()
        for flags, count in zip(self.lists["flags"], counts, strict=True):
            for flag in flags if count else ():
                found[flag] = found.get(flag, 0) + count
        return dict(sorted(found.items()))

    def group_values(self, key: str) -> list[Any]:
        """Return the values of a group key, which `group` numbers."""
        texts = self.lists.get(f"g.{key}", ())
        found: list[Any] = self.kept(f"group {key}", lambda: [msgspec.json.decode(one) for one in texts])
        return found

    def group(self, key: str) -> Array:
        """Return the number of each row's value of a group key; -1 for rows without the key."""
        name = f"g.{key}"
        return self.arrays[name] if name in self.arrays else np.full(len(self), -1, np.int8)

    def judges(self) -> set[str]:
        return {
            kind[1]
            for code, kind in enumerate(self.lists["kinds"])
            if kind[1] and (self.arrays["kind"] == code).any()
        }

    def drawing_right(self) -> Array:
        """Return 1 if every drawing of the episode is right, 0 if one is wrong, -1 if this is not known."""
        return self.arrays["drawn"]

    def total(self, name: str, chosen: Array | None = None) -> int:
        """Return the sum of a column of counts; it does not overflow."""
        values = self.arrays.get(name, np.zeros(len(self), np.int8))
        values = values if chosen is None else values[chosen]
        if len(values) and max(abs(int(values.max())), abs(int(values.min()))) > 2**62 // len(values):
            return sum(values.tolist())
        return int(values.sum(dtype=np.int64))

    def labels(self) -> tuple[Array, bool]:
        """Return the cluster of each row as a number, and whether rows share one: the sample's cluster, or else the
        sample."""
        found: tuple[Array, bool] = self.kept("labels", self._labels)
        return found

    def _labels(self) -> tuple[Array, bool]:
        if "g.cluster" not in self.arrays and not self.repeats and not self.lists.get("unsorted"):
            return np.arange(len(self)), False
        codes, cluster = Codes(), self.group("cluster").tolist()
        values = [_label(value) for value in self.group_values("cluster")]
        labels = (
            sample if code < 0 or values[code] is None else values[code]
            for sample, code in zip(self.samples, cluster, strict=True)
        )
        found = np.fromiter(map(codes, labels), np.int64, len(self))
        return found, len(codes.known) < len(self)


def _label(value: Any) -> Any:
    return value if isinstance(value, (str, int, float)) or value is None else str(value)


class _Values(ValuesView[Score]):
    """Rows one by one, each made when it is reached."""

    def __iter__(self) -> Iterator[Score]:
        rows: Rows = self._mapping  # type: ignore[attr-defined]
        return map(rows._row, range(len(rows)), rows.samples, rows.fingerprints)


def _selected(rows: Rows, places: Places) -> Rows:
    arrays = {
        name: values[places]
        for name, values in rows.arrays.items()
        if name not in ("sample", "sample.lengths", "fingerprint", "fingerprint.lengths")
    }
    for name, strings in (("sample", rows.samples), ("fingerprint", rows.fingerprints)):
        taken = strings.take(places)
        arrays[name], arrays[f"{name}.lengths"] = taken.data, taken.lengths
    return Rows(arrays, rows.lists)


class Episodes(Columns[int]):
    """The newest line of each episode by key, in the order of the samples: the byte at which it begins."""

    def at(self, place: int) -> int:
        return int(self.arrays["begin"][place])

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        return self.arrays["failed"].astype(bool)
