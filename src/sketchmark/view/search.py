"""Text search in transcripts, without an index: a cell's lines are looked through as bytes, and a line is parsed only
where the words could also be part of the format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sketchmark.runs.index import CellIndex

_FORMAT = (
    "index sample id fingerprint fields pictures target groups filed steps frames mode canvas turns act added "
    "by task model text picture suffix note reply finish usage left_out raw seconds failure kind message "
    "blames_model started null true false show say draw describe skip stop length tokens_in tokens_out "
    "pictures_in pictures_out calls png jpeg"
)
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
        if needle in line.lower() and (sure or any(wanted in part.casefold() for part in _words(json.loads(line))))
    )


def _could_be_format(wanted: str) -> bool:
    """Lines are written without spaces between their parts, so words with a space are always someone's text."""
    return " " not in wanted and (wanted in _FORMAT or bool(_COULD_BE_FORMAT.fullmatch(wanted)))


def _words(record: Mapping[str, Any]) -> Iterator[str]:
    sample = record["sample"]
    yield str(sample["id"])
    yield from map(str, sample["fields"].values())
    yield from map(str, sample["groups"].values())
    for turn in record["turns"]:
        yield turn.get("suffix", "")
        yield from (part["text"] for part in turn["added"] if "text" in part)
        yield (turn.get("reply") or {}).get("text", "")
        yield turn.get("note", "")
    if record["failure"]:
        yield record["failure"]["message"]
