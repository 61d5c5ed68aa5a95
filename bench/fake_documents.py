"""Documents made up for task code that nobody has the data of: it is asked which fields it wants, and of what kind.

A document is a mapping that invents a value for every field that is asked for, and keeps what was asked. The code is
run on it; where it fails, the fields that it looked at last are given values of another kind, and whatever lets the
code come further is kept. What it compares a text with, and the keys of tables it looks a text up in, are tried too.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from PIL import Image

Progress = tuple[int, ...]
Shapes = dict[str, list[Any]]
"""Where a field stands (`conversations/0/value`) -> what may stand there, the best guess first."""


class Text(str):
    """A text that remembers what it was compared with."""

    seen: set[str]

    def __new__(cls, value: str, seen: set[str]) -> Text:
        made = super().__new__(cls, value)
        made.seen = seen
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

    def __init__(self, media: Path) -> None:
        self._media = media
        self.chosen: dict[str, int] = {}
        self.compared: dict[str, set[str]] = {}
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
        if place == "@pairs":
            return ["", "pairs"]
        guess = _guess(place.rpartition("/")[2], self._media)
        seen = sorted(self.compared.setdefault(place, set()))
        return [guess, *seen, *_kinds(self._media)]

    def plain(self, document: Document) -> dict[str, Any]:
        """The document as a row of a table."""
        row = _plain(dict(document))
        assert isinstance(row, dict)
        return row

    def _alive(self, value: Any, place: str, number: int) -> Any:
        if isinstance(value, str):
            named_id = re.search(r"(^|_)(id|idx|index|key|name)$", place.rpartition("/")[2].lower())
            told = f"{value}{number // 2 if self.pairs else number}" if named_id and value == "id" else value
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
            for place in list(reversed(self.asked)):
                was, found = self.chosen.get(place, 0), False
                if error is not None:
                    self._learn_from(error, place)
                for choice in range(len(self.options(place))):
                    if choice == was:
                        continue
                    self.chosen[place] = choice
                    progress, failed = self._tried(attempt, code)
                    tries += 1
                    if failed is None or progress > best:
                        best, error, found = progress, failed, True
                        break
                if found:
                    break
                self.chosen[place] = was
            else:
                self._tried(attempt, code)
                break
        return error

    def _tried(self, attempt: Callable[[Inventor], None], code: Path) -> tuple[Progress, BaseException | None]:
        try:
            attempt(self)
        except (Exception, SystemExit) as error:
            return _how_far(error, code), error
        return (10**9,), None

    def _learn_from(self, error: BaseException, place: str) -> None:
        """Keys of the tables that the failing line may have looked a text up in."""
        last: TracebackType | None = error.__traceback__
        while last and last.tb_next:
            last = last.tb_next
        if not isinstance(error, KeyError) or last is None:
            return
        frame = last.tb_frame
        names = [*frame.f_locals.values(), *(frame.f_globals.get(name) for name in frame.f_code.co_names)]
        for table in names:
            if isinstance(table, dict) and not isinstance(table, Document):
                keys = [key for key in list(table)[:3] if isinstance(key, str) and len(key) < 60]
                self.compared.setdefault(place, set()).update(keys)


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
    """The stage that was reached, and the lines of the task's code that the error went through."""
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if str(code) in frame.filename]
    return (getattr(error, "stage", 0), *lines)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, str) else value


def picture() -> Image.Image:
    return Image.new("RGB", (64, 48), "teal")


def _guess(name: str, media: Path) -> Any:
    """What a field of that name usually holds."""
    low = name.lower()
    for pattern, value in _USUAL:
        if re.search(pattern, low):
            return value() if callable(value) and value is not Document else value
    return "text"


_USUAL: list[tuple[str, Any]] = [
    (r"(num|count|len|size|width|height)", 1),
    (r"^(images|image_list|imgs)$", lambda: [picture()]),
    (r"(path|file|dir|url)", "media.jpg"),
    (r"(video|clip)", "media.mp4"),
    (r"(audio|speech|wav)", lambda: {"array": [0.0] * 160, "sampling_rate": 16000, "path": "media.wav"}),
    (r"(image|img|picture|photo|visual)", picture),
    (r"(option|choice|candidate)s?$", ["cat", "dog", "bird", "fish"]),
    (r"(option|choice)_?[a-z0-9]$", "cat"),
    (r"^[a-h]$", "cat"),
    (r"(answers|references|captions|labels)$", ["A", "cat"]),
    (r"(answer|label|target|solution|gt|correct|ground)", "A"),
    (r"(^|_)(id|idx|index|key|name)$", "id"),
    (r"(question|prompt|query|text|instruction|problem|caption)", "Which of them is it in <image 1>? A. cat\nB. dog"),
    (r"(conversation|messages)", [Document]),
]


def _kinds(media: Path) -> Iterator[Any]:
    """Values of every kind that data sets hold, the likely ones first."""
    yield from ("A", 0, 1, 0.5, True, "yes", "1", "0.5", "cat")
    yield from (["cat", "dog", "bird", "fish"], '["cat", "dog", "bird", "fish"]', "['A', 'B']", ["A"])
    yield Document
    yield [Document]
    yield from ('{"A": "cat", "B": "dog"}', "[0, 0, 1, 1]", [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], [[0, 0, 1, 1]])
    yield from (None, "", [], "media.mp4", "media.jpg", ["media.jpg"], ["media.mp4"], "00:00:01", "A. cat\nB. dog")
    yield picture()
    yield [picture()]
    yield {"array": [0.0] * 160, "sampling_rate": 16000, "path": "media.wav"}
    yield from ("1,2", "1-2", "(A) cat", "a_1_b_2.jpg", "2024-01-01", [[1, 2]], [["A", "B"]])
