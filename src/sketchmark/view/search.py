"""Text search in transcripts, without an index: a cell's lines are looked through as bytes, and only the few that
may match are parsed. A second page of the same search costs nothing."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from sketchmark.view.index import CellIndex

_KEPT = 32


class Search:
    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, str, int, str], frozenset[str]] = OrderedDict()

    def samples(self, cell: CellIndex, text: str) -> frozenset[str]:
        """The samples whose id, fields, prompts, replies or failure contain the text, upper and lower case alike."""
        key = (str(cell.folder.path), cell.name, cell.version, text)
        if key not in self._found:
            self._found[key] = frozenset(_matches(cell, text))
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        self._found.move_to_end(key)
        return self._found[key]


def _matches(cell: CellIndex, text: str) -> Iterator[str]:
    wanted = text.casefold()
    # Only ASCII letters change case here: a needle with others is looked for in the parsed line alone.
    needle = json.dumps(text, ensure_ascii=False)[1:-1].lower().encode() if text.isascii() else b""
    for sample, line in cell.raw_lines():
        if needle in line.lower() and any(wanted in words.casefold() for words in _words(json.loads(line))):
            yield sample


def _words(record: Mapping[str, Any]) -> Iterator[str]:
    sample = record["sample"]
    yield str(sample["id"])
    yield from map(str, sample["fields"].values())
    yield from map(str, sample["filed"].values())
    for turn in record["turns"]:
        yield turn.get("suffix", "")
        yield from (part["text"] for part in turn["added"] if "text" in part)
        yield (turn.get("reply") or {}).get("text", "")
        yield turn.get("note", "")
    if record["failure"]:
        yield record["failure"]["message"]
