"""Text search in transcripts, without an index: a cell's lines are looked through as bytes, and a line is parsed only
where the words could also be part of the format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from sketchmark.episode import Act
from sketchmark.models.base import Finish
from sketchmark.models.reply_record import USAGE
from sketchmark.parts import Author
from sketchmark.runs.format import EpisodeLine
from sketchmark.runs.index import CellIndex
from sketchmark.runs.store import EPISODES
from sketchmark.sounds import FORMATS

_COULD_BE_FORMAT = re.compile(r"[0-9a-f.,:{}\[\]]+")


def matching(cell: CellIndex, text: str) -> frozenset[str]:
    """The samples whose transcript contains the text, upper and lower case alike."""
    wanted = text.casefold()
    # bytes.lower() changes ASCII letters alone: a text with others is looked for in the parsed line.
    needle = json.dumps(text, ensure_ascii=False)[1:-1].lower().encode() if text.isascii() else b""
    sure = bool(needle) and not _could_be_format(wanted)
    return frozenset(
        sample
        for sample, line in cell.raw_lines()
        if needle in line.lower() and (sure or any(wanted in part.casefold() for part in _texts(line, cell.name)))
    )


def _could_be_format(wanted: str) -> bool:
    """Lines are written without spaces between their parts, so words with a space are always someone's text."""
    return " " not in wanted and (wanted in _FORMAT or bool(_COULD_BE_FORMAT.fullmatch(wanted)))


def _words(kind: msgspec.inspect.Type) -> Iterator[str]:
    """Every key that a line of this kind can hold."""
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
    """All that someone wrote, and nothing of the format."""
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
