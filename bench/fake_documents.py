"""Documents made up for task code that nobody has the data of: it is asked which fields it wants, and of what kind.

A document is a mapping that invents a value for every field that is asked for, and keeps what was asked. The code is
run on it; where it fails, the fields that it looked at last are given values of another kind, and whatever lets the
code come further is kept. What it compares a text with, and the keys of tables it looks a text up in, are tried too.
"""

from __future__ import annotations

import itertools
import re
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any

from PIL import Image

Progress = tuple[int, ...]
Shapes = dict[str, list[Any]]
"""Where a field stands (`conversations/0/value`) -> what may stand there, the best guess first."""


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
    """Makes up documents, and learns from what the code does with them."""

    def __init__(self) -> None:
        self.chosen: dict[str, int] = {}
        self._options: dict[str, list[Any]] = {}
        self.compared: dict[str, set[Any]] = {}
        self.asked: list[str] = []
        self.pairs = False
        """Every two documents share their ids, as those of some benchmarks do."""

    def document(self, number: int = 0) -> Document:
        self.asked = []
        return Document(self, "", number)

    def value(self, place: str, number: int) -> Any:
        """What stands there now, as the code gets it."""
        if place in self.asked:
            self.asked.remove(place)
        self.asked.append(place)
        options = self.options(place)
        value = options[self.chosen.get(place, 0) % len(options)]
        return self._alive(value, place, number)

    def options(self, place: str) -> list[Any]:
        """Only ever grows: what the code compares a value with is put at its end."""
        if place not in self._options:
            first = ["", "pairs"] if place == "@pairs" else [_guess(place.rpartition("/")[2]), *_kinds()]
            self._options[place] = first
        known = self._options[place]
        for one in sorted(self.compared.setdefault(place, set()), key=str)[:60]:
            if not any(type(one) is type(other) and one == other for other in known):
                known.append(one)
        return known

    def plain(self, document: Document) -> dict[str, Any]:
        """The document as a row of a table."""
        row = _plain(dict(document))
        assert isinstance(row, dict)
        return row

    def _alive(self, value: Any, place: str, number: int) -> Any:
        if isinstance(value, str):
            named_id = re.search(r"(id|idx|index|key|name)$", place.rpartition("/")[2].lower())
            own = f"validation_Art_{number // 2 if self.pairs else number}"
            told = own if named_id and value == "id" else value
            return Text(told, self.compared.setdefault(place, set()))
        if value is Document:
            return Document(self, f"{place}/", number)
        if isinstance(value, list):
            return [self._alive(one, f"{place}/0", number) for one in value]
        return value

    def search(self, attempt: Callable[[Inventor], None], code: Path, most: int = 800) -> BaseException | None:
        """Find values with which `attempt` ends; otherwise the error that stood at the furthest place."""
        best, error = self._tried(attempt, code)
        tries = 1
        while error is not None and tries < most:
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
                self.compared.setdefault(place, set()).update(map(_plain, known))


class Document(dict[str, Any]):
    """Holds every field that is asked for."""

    def __init__(self, inventor: Inventor, place: str, number: int) -> None:
        super().__init__()
        self._inventor, self._place, self._number = inventor, place, number

    def __missing__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise KeyError(key)
        self[key] = self._inventor.value(f"{self._place}{key}", self._number)
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
    """The stage that was reached, and the line of the task's function that was."""
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if str(code) in frame.filename]
    return (getattr(error, "stage", 0), lines[0] if lines else 0)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, str) else value


def picture() -> Image.Image:
    return Image.new("RGB", (64, 48), "teal")


def as_base64() -> str:
    """A picture as some data sets hold it."""
    file = BytesIO()
    picture().save(file, "PNG")
    return b64encode(file.getvalue()).decode()


def _guess(name: str) -> Any:
    """What a field of that name usually holds."""
    low = name.lower()
    for pattern, value in _USUAL:
        if re.search(pattern, low):
            return value() if callable(value) and value is not Document else value
    return "text"


_USUAL: list[tuple[str, Any]] = [
    (r"(id|idx|index|key)$", "id"),
    (r"(num|count|len|size|width|height)", 1),
    (r"^(images|image_list|imgs)$", lambda: [picture()]),
    (r"(inputs|outputs|examples|steps|_list|items|keywords|tags|types|words|frames)$", ["cat", "dog"]),
    (r"(boxes|bbox|box)$", [0, 0, 30, 30]),
    (r"(path|file|dir|url)", "media.jpg"),
    (r"(video|clip)", "media.mp4"),
    (r"(audio|speech|wav)", lambda: {"array": [0.0] * 160, "sampling_rate": 16000, "path": "media.wav"}),
    (r"(image|img|picture|photo|visual)", picture),
    (r"(option|choice|candidate)s?$", ["cat", "dog", "bird", "fish"]),
    (r"(option|choice)_?[a-z0-9]$", "cat"),
    (r"^[a-h]$", "cat"),
    (r"(answers|references|captions|labels)$", ["A", "cat"]),
    (r"(answer|label|target|solution|gt|correct|ground)", "A"),
    (r"(question|prompt|query|text|instruction|problem|caption)", "Which of them is it in <image 1>? A. cat\nB. dog"),
    (r"(conversation|messages)", [Document]),
]


def _kinds() -> Iterator[Any]:
    """Values of every kind that data sets hold, the likely ones first."""
    yield from ("A", 0, 1, 0.5, True, "yes", "1", "0.5", "cat")
    yield from (["cat", "dog", "bird", "fish"], '["cat", "dog", "bird", "fish"]', "['A', 'B']", ["A"])
    yield Document
    yield [Document]
    yield from ('{"A": "cat", "B": "dog"}', "[0, 0, 1, 1]", [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], [[0, 0, 1, 1]])
    yield from (None, "", [], "media.mp4", "media.jpg", ["media.jpg"], ["media.mp4"], "00:00:01", "A. cat\nB. dog")
    yield picture()
    yield [picture()]
    yield from (
        as_base64(),
        "en",
        "English",
        "food",
        '{"text": "cat"}',
        '[{"text": "cat"}]',
        "1.0",
        "media.jpg;media.jpg",
    )
    yield from ("1,2", "1-2", "(A) cat", "a_1_b_2.jpg", "2024-01-01", [[1, 2]], [["A", "B"]])


_KINDS = 1 + sum(1 for _ in _kinds())
"""What every field may be; what follows is what the code compares this one with."""
