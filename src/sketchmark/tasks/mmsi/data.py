"""Questions of MMSI-Bench: every picture of a row is an input, in order; the annotator's `thought` is never read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.files.tables import Row, as_picture, rows
from sketchmark.parts import Sample
from sketchmark.picture import Picture

_DASH = re.compile(r"[-\u2010-\u2015\u2212]")


def questions(
    *,
    seed: int,
    data: Path | None,
    origin: Mapping[str, str],
    category: str = "",
    limit: int | None = None,
) -> Iterator[Sample]:
    """The questions of one category, or of all. A file with all categories serves a task of one. A question that a
    file holds twice is played twice, as published; its second sample says that it is not independent of the first."""
    seen: set[str] = set()
    times: Counter[str] = Counter()
    for number, row in enumerate(rows(data, **origin, limit=limit)):
        name = str(row["id"]) if row.get("id") is not None else f"{number:05d}"
        where = f"row {number} (id {name})"
        kind = category_of(_text(row, "question_type", where))
        seen.add(kind)
        if category and kind != category_of(category):
            continue
        times[name] += 1
        again = times[name] > 1
        pictures = _pictures(row.get("images"), where)
        yield Sample(
            id=f"{name}#{times[name]}" if again else name,
            pictures={"images": pictures},
            fields={"question": _text(row, "question", where)},
            target={"answer": _letter(row.get("answer"), where)},
            groups={"category": kind, "images": len(pictures), **({"cluster": name} if again else {})},
        )
    if not times:
        raise BadInput(f"the data has no question of category {category!r}", f"it has: {', '.join(sorted(seen))}")


def category_of(name: str) -> str:
    """`Positional Relationship (Cam.-Obj.)` is written with a hyphen or with a dash, and is one category."""
    return "–".join(piece.strip() for piece in _DASH.split(name))


def _text(row: Row, name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where} has no {name}", f"it has: {', '.join(row)}")
    return value


def _letter(value: object, where: str) -> str:
    found = str(value).strip(" `().").upper()
    if not re.fullmatch(r"[A-F]", found):
        raise BadInput(f"{where}: the answer is {value!r}", "a letter from A to F")
    return found


def _pictures(value: object, where: str) -> list[Picture]:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
        raise BadInput(f"{where} has no list of images")
    return [as_picture(one, f"{where}, image {number}") for number, one in enumerate(value, start=1)]
