"""Documents made up for task code that nobody has the data of: it is asked which fields it wants, and of what kind.

A document is a mapping that invents a value for every field that is asked for, and keeps what was asked. The code is
run on it; where it fails, the fields that it looked at last are given values of another kind, and whatever lets the
code come further is kept. What it compares a text with, and the keys of tables it looks a text up in, are tried too.
What cannot be found out so is known beforehand (known_rows.yaml).
"""

from __future__ import annotations

import itertools
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.lmms_eval_tasks.guesses import NESTED, NUMBER, as_base64, as_bytes, is_sound, kinds, picture, sound, usual

Progress = tuple[int, ...]

ROWS = 4

TRIES = 800


class Text(str):
    """A text that remembers what it was compared with."""

    seen: set[Any]

    def __new__(cls, value: str, seen: set[Any] | None = None) -> Text:
        made = super().__new__(cls, value)
        made.seen = set() if seen is None else seen
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and 0 < len(other) < 60:
            self.seen.add(str(other))
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def lower(self) -> Text:
        return Text(str.lower(self), self.seen)

    def strip(self, chars: str | None = None) -> Text:
        return Text(str.strip(self, chars), self.seen)


class Inventor:
    """Makes up documents, and learns from what the code does with them. `known` is what stands in some columns: a
    value, or as `{each: […]}` one after the other, where `{turn}` in a text is how often all had their turn; its
    entry `rows` is how many documents there are."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = {key: value for key, value in known.items() if key != "rows"}
        self.rows = int(known.get("rows", ROWS))
        self.chosen: dict[str, int] = {}
        self._options: dict[str, list[Any]] = {}
        self._held: set[str] = {key for key in self.known if "/" not in key and not key.startswith("@")}
        """Columns that are in every document, whether or not its own code looks at them: others do."""
        self.compared: dict[str, set[Any]] = {}
        self.asked: list[str] = []
        self.pairs = False
        """Every two documents share their ids, as those of some benchmarks do."""

    def documents(self) -> list[Document]:
        self.asked = []
        made = [Document(self, "", number) for number in range(self.rows)]
        for document, name in itertools.product(made, sorted(self._held)):
            _ = document[name]
        return made

    def table(self) -> list[dict[str, Any]]:
        """What is known, and nothing else, as rows."""
        return [plain(document.row) for document in self.documents()]

    def value(self, place: str, number: int) -> Any:
        """What stands there now, as the code gets it."""
        if place in self.known:
            given = self.known[place]
            several = given["each"] if isinstance(given, Mapping) and "each" in given else [given]
            turn, one = number // len(several), several[number % len(several)]
            told = one.replace("{turn}", str(turn)) if isinstance(one, str) else one
            return plain(self._alive(told, place, number))
        if place in self.asked:
            self.asked.remove(place)
        self.asked.append(place)
        options = self.options(place)
        value = options[self.chosen.get(place, 0) % len(options)]
        return self._alive(value, place, number)

    def options(self, place: str) -> list[Any]:
        """Only ever grows: what the code compares a value with is put at its end."""
        if place not in self._options:
            first = ["", "pairs"] if place == "@pairs" else [usual(place.rpartition("/")[2]), *kinds()]
            self._options[place] = first
        known = self._options[place]
        for one in sorted(self.compared.setdefault(place, set()), key=str)[:60]:
            if not any(type(one) is type(other) and one == other for other in known):
                known.append(one)
        return known

    def _alive(self, value: Any, place: str, number: int) -> Any:
        if isinstance(value, str) and value in _NAMED:
            return _NAMED[value]()
        if value is NUMBER or (isinstance(value, str) and value == "@number"):
            return number
        if isinstance(value, str):
            named_id = re.search(r"(id|idx|index|key|name)$", place.rpartition("/")[2].lower())
            own = f"validation_Art_{number // 2 if self.pairs else number}"
            told = own if named_id and value == "id" else value
            return Text(told, self.compared.setdefault(place, set()))
        if value is NESTED:
            return Document(self, f"{place}/", number)
        if isinstance(value, Mapping) and not is_sound(value):
            return {key: self._alive(one, f"{place}/{key}", number) for key, one in value.items()}
        if isinstance(value, list):
            return [self._alive(one, f"{place}/0", number) for one in value]
        return value

    def search(self, attempt: Callable[[Inventor], None], code: Path, most: int = TRIES) -> BaseException | None:
        """Find values with which `attempt` ends; otherwise the error that stood at the furthest place."""
        best, error = self._tried(attempt, code)
        tries = 1
        while error is not None and tries < most:
            if self._holds_more(error):
                best, error = self._tried(attempt, code)
                tries += 1
                continue
            for places in self._suspects(error):
                was = {place: self.chosen.get(place, 0) for place in places}
                choices = range(min(len(self.options(place)) for place in places))
                for choice in [*reversed(choices[_KINDS:]), *choices[:_KINDS]]:
                    self.chosen |= dict.fromkeys(places, choice)
                    progress, failed = self._tried(attempt, code)
                    tries += 1
                    if failed is None or progress > best:
                        best, error = progress, failed
                        break
                else:
                    self.chosen |= was
                    continue
                break
            else:
                self._tried(attempt, code)
                break
        return error

    def _holds_more(self, error: BaseException) -> bool:
        """Whether a plain copy of a document was asked for a column that nobody had asked the document for."""
        name = error.args[0] if isinstance(error, KeyError) and error.args else None
        if (
            not isinstance(name, str)
            or name in self._held
            or any(one.rpartition("/")[2] == name for one in self.asked)
        ):
            return False
        self._held.add(name)
        return True

    def _suspects(self, error: BaseException) -> Iterator[list[str]]:
        """Fields that may be of the wrong kind, those that were asked for last first; then two of them at once."""
        asked = list(reversed(self.asked))
        for place in asked:
            self._learn_from(error, place)
            yield [place]
        for first, second in itertools.combinations(asked[:3], 2):
            yield [first, second]

    def _tried(self, attempt: Callable[[Inventor], None], code: Path) -> tuple[Progress, BaseException | None]:
        try:
            attempt(self)
        except (Exception, SystemExit) as error:
            return (*_how_far(error, code), len(self.asked)), error
        return (10**9,), None

    def _learn_from(self, error: BaseException, place: str) -> None:
        """What the tables and lists hold that the failing line may have looked a value up in."""
        last: TracebackType | None = error.__traceback__
        while last and last.tb_next:
            last = last.tb_next
        if last is None:
            return
        frame = last.tb_frame
        for table in [*frame.f_locals.values(), *(frame.f_globals.get(name) for name in frame.f_code.co_names)]:
            if isinstance(table, (dict, list, tuple, set)) and not isinstance(table, Document):
                known = [one for one in list(table)[:4] if isinstance(one, (str, int)) and len(str(one)) < 60]
                self.compared.setdefault(place, set()).update(map(plain, known))


class Document(dict[str, Any]):
    """Holds every field that is asked for."""

    def __init__(self, inventor: Inventor, place: str, number: int) -> None:
        super().__init__()
        self._inventor, self._place, self._number = inventor, place, number
        self.row: dict[str, Any] = {}
        """All that was asked for, also what the code has taken out or changed since."""

    def __missing__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise KeyError(key)
        self.row[key] = self[key] = self._inventor.value(f"{self._place}{key}", self._number)
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """A field that may be missing is there, unless it is only a second name for one that is."""
        return self[key] if default in (None, "", []) or dict.__contains__(self, key) else default

    def __contains__(self, key: object) -> bool:
        """All that is looked for is there."""
        return isinstance(key, str) and self[key] is not None

    def pop(self, key: str, *default: Any) -> Any:
        value = self[key]
        del self[key]
        return value

    def copy(self) -> Document:
        return self


def _how_far(error: BaseException, code: Path) -> Progress:
    """The step that was reached, and the line of the task's function that was."""
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if str(code) in frame.filename]
    return (getattr(error, "step", 0), lines[0] if lines else 0)


def plain(value: Any) -> Any:
    if isinstance(value, dict) and not is_sound(value):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return str(value) if isinstance(value, str) else value


_KINDS = 1 + sum(1 for _ in kinds())
"""What every field may be; what follows is what the code compares this one with."""

_NAMED: dict[str, Callable[[], Any]] = {
    "@picture": picture,
    "@bytes": as_bytes,
    "@base64": as_base64,
    "@sound": sound,
}
