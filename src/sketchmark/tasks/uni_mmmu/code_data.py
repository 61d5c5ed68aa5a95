"""SVG sources to be rendered in the head: `svg/metadata.json` of the extracted data.tar
(docs/benchmarks/uni-mmmu.md, "Code")."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sketchmark import svg
from sketchmark.errors import BadInput, BadPicture
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.tasks.uni_mmmu import folder

_FILE = "metadata.json"
_log = logging.getLogger("sketchmark")
_MOST_BYTES = 1_000_000


def sources(*, seed: int, data: Path | None, origin: Mapping[str, str]) -> Iterator[Sample]:
    """The model gets the text of the SVG file. `reference`, which no prompt shows, is the true rendering: the PNG
    beside it where there is one, else what our renderer makes of it."""
    place = folder.find(data, "svg", lambda place: (place / _FILE).is_file())
    if place is None:
        raise folder.missing(data, origin["hub"], f"svg/{_FILE}")
    body = folder.read_json(place / _FILE)
    items = body.get("samples") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise BadInput(f"{place / _FILE} has no list of samples")
    for number, item in enumerate(items, start=1):
        yield _sample(place, number, item)


def _sample(place: Path, number: int, item: Any) -> Sample:
    where = f"{place / _FILE}, sample {number - 1}"
    if not isinstance(item, dict) or not item.get("svg"):
        raise BadInput(f"{where} has no svg", "each sample has id, difficulty, svg and png")
    text = _source(folder.path_in(place, item["svg"], where))
    reference = _reference(place, item, text, where)
    return Sample(
        id=f"case_{number:02d}_{item.get('id', '')}",
        pictures={"reference": reference} if reference else {},
        fields={"svg": text},
        groups={"difficulty": str(item["difficulty"])} if item.get("difficulty") not in (None, "") else {},
        frames=partial(list[Picture], [reference]) if reference else None,
    )


def _source(path: Path) -> str:
    try:
        with path.open("rb") as file:
            found = file.read(_MOST_BYTES + 1)
        if len(found) > _MOST_BYTES:
            raise BadInput(f"{path} has more than {_MOST_BYTES} bytes: no SVG to be read by a model")
        return found.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error


def _reference(place: Path, item: Any, text: str, where: str) -> Picture | None:
    """None where there is neither: the item is played, and what needs the truth is not scored."""
    try:
        if item.get("png") and (png := folder.path_in(place, item["png"], where)):
            return Picture.from_file(png)
    except BadInput as error:
        _log.warning("%s: its SVG is rendered instead", error)
    try:
        return svg.render(text)
    except BadPicture as error:
        _log.warning("%s has no true rendering: %s", where, error)
        return None
