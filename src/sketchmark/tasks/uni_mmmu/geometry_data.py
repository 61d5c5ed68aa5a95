"""Geometry problems: rows of the hub's data set, or `math_data/filtered.json` of the extracted folder
(docs/benchmarks/uni-mmmu.md, "Geometry")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.tables import as_picture, rows
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.tasks.uni_mmmu import folder
from sketchmark.tasks.uni_mmmu.data import column, named
from sketchmark.tasks.uni_mmmu.quantities import quantity

CALCULATION, PROVING = "CALCULATION", "PROVING"

_FILE = "filtered.json"
_LONGEST_ID = 120


def problems(
    *,
    seed: int,
    data: Path | None,
    origin: Mapping[str, str],
    limit: int | None = None,
) -> Iterator[Sample]:
    """`lines` are the auxiliary lines in words; the true overlay, where there is one, is the only frame."""
    found = _filtered(data)
    if found is not None:
        yield from found
        return
    for where, name, row in named(rows(data, **origin, limit=limit)):
        drawn = row.get("auxiliary_image")
        column(row, "answer", where, "solution_en")
        yield _problem(
            name,
            row,
            as_picture(column(row, "image", where), where),
            str(column(row, "question", where, "problem")),
            as_picture(drawn, f"{where}, auxiliary_image") if drawn else None,
        )


def _filtered(data: Path | None) -> Iterator[Sample] | None:
    """The items of filtered.json, which is an object of objects; None if `data` is neither that nor its folder."""
    if data is not None and data.is_file() and data.suffix == ".json":
        body = folder.read_json(data)
        return _items(data, body) if isinstance(body, dict) else None
    place = folder.find(data, "math_data", lambda place: (place / _FILE).is_file())
    return _items(place / _FILE, folder.read_json(place / _FILE)) if place else None


def _items(file: Path, body: Any) -> Iterator[Sample]:
    if not isinstance(body, dict) or not all(isinstance(group, dict) for group in body.values()):
        raise BadInput(f"{file} is not an object of objects, as math_data/{_FILE} is")
    for big, group in body.items():
        for small, item in group.items():
            where = f"{file}, item {big}/{small}"
            if not isinstance(item, dict):
                raise BadInput(f"{where} is not an object")
            if not item.get("original_image"):
                raise BadInput(f"{where} has no original_image", f"it has: {', '.join(item)}")
            drawn = item.get("auxiliary_image")
            yield _problem(
                f"{_safe(big)}__{_safe(small)}",
                item,
                Picture.from_file(folder.path_in(file.parent, item["original_image"], where)),
                str(item.get("problem_text_en") or item.get("problem_text") or "(no problem text)"),
                Picture.from_file(folder.path_in(file.parent, drawn, where)) if drawn else None,
            )


def _problem(name: str, row: Mapping[str, Any], diagram: Picture, question: str, overlay: Picture | None) -> Sample:
    answer = _text(row.get("answer"))
    return Sample(
        id=name,
        pictures={"image": diagram},
        fields={
            "question": question,
            "choices": _choices(row.get("choices_en")),
            "lines": _text(row.get("auxiliary_text_en")),
        },
        target={
            "kind": _kind(_text(row.get("type")), answer),
            "solution": _text(row.get("solution_en")) or _text(row.get("solution")) or answer,
            "answer": answer,
        },
        groups={"type": str(row["type"])} if row.get("type") else {},
        frames=partial(list[Picture], [overlay]) if overlay else None,
    )


def _kind(said: str, answer: str) -> str:
    """As the published sampler tells them apart; a row that does not say is a calculation if it has a number."""
    if said:
        return CALCULATION if said.lower().startswith("calc") else PROVING
    return CALCULATION if quantity(answer) is not None else PROVING


def _choices(value: Any) -> str:
    """One on a line; JSON rows have a list, parquet may have an array."""
    listed = [] if value is None or isinstance(value, str) else list(value)
    return "\n".join(map(str, listed)) or "(no choices)"


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _safe(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_\-.]+", "_", key.strip())[:_LONGEST_ID] or "item"
