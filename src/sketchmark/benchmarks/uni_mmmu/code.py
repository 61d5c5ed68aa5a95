"""Uni-MMMU code: SVG sources to render mentally, described in text and drawn (docs/benchmarks/uni-mmmu.md, "Code").

The data is `svg/metadata.json` of the extracted data.tar. The published scores are a judge's, which sees the
ground-truth rendering. We add `code_pixels`, without weights or a judge: each pixel gets the nearest of the eight
colours of the task's drawings, or the ground. The drawing is resized to the reference first. Small shifts and thin
lines, which a person would forgive, cost points here, so these scores do not replace the judge's.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchmark.answers import without_thinking
from sketchmark.answers.judge import first_json_object
from sketchmark.benchmarks import uni_mmmu
from sketchmark.benchmarks.uni_mmmu import (
    OFFICIAL,
    asked,
    labels,
    no_truth,
    object_from_the_first_brace,
    published,
    unscored,
)
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Content, Sample
from sketchmark.errors import BadInput, BadPicture, JudgeFailed
from sketchmark.media import Picture, svg

_FILE = "metadata.json"
_log = logging.getLogger("sketchmark")
_MOST_BYTES = 1_000_000


def sources(*, seed: int, data: Path | None, origin: Mapping[str, str]) -> Iterator[Sample]:
    """The model gets the text of the SVG file. `reference`, which no prompt shows, is the true rendering: the PNG
    next to it if there is one, else our renderer's output."""
    place = uni_mmmu.find(data, "svg", lambda place: (place / _FILE).is_file())
    if place is None:
        raise uni_mmmu.missing(data, origin["hub"], f"svg/{_FILE}")
    body = uni_mmmu.read_json(place / _FILE)
    items = body.get("samples") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise BadInput(f"{place / _FILE} has no list of samples")
    for number, item in enumerate(items, start=1):
        yield _sample(place, number, item)


def _sample(place: Path, number: int, item: Any) -> Sample:
    where = f"{place / _FILE}, sample {number - 1}"
    if not isinstance(item, dict) or not item.get("svg"):
        raise BadInput(f"{where} has no svg", "each sample has id, difficulty, svg and png")
    text = _source(uni_mmmu.path_in(place, item["svg"], where))
    reference = _load_reference(place, item, text, where)
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


def _load_reference(place: Path, item: Any, text: str, where: str) -> Picture | None:
    """Return None if there is neither: the sample is run, and scores that need the ground truth are not given."""
    try:
        if item.get("png") and (png := uni_mmmu.path_in(place, item["png"], where)):
            return Picture.from_file(png)
    except BadInput as error:
        _log.warning("%s: its SVG is rendered instead", error)
    try:
        return svg.render(text)
    except BadPicture as error:
        _log.warning("%s has no true rendering: %s", where, error)
        return None


PALETTE = ("#E74C3C", "#3498DB", "#2ECC71", "#F1C40F", "#9B59B6", "#34495E", "#1ABC9C", "#E67E22")
RIGHT = 0.9
"""Least proportion for a drawing to count as right when the answer is compared with it."""

_GROUND = len(PALETTE)
_MOST_SIDE = 1024
_SURE = 8
"""Distance, per channel, up to which a pixel surely has a colour."""

Labels = NDArray[np.int8]


@dataclass(frozen=True)
class Fit:
    """`iou`: mean over the reference's colours of intersection over union, the ground left out. `shape`: the same of
    everything drawn in any colour. `colour`: the proportion of pixels drawn in both that have the same colour."""

    iou: float
    shape: float
    colour: float
    by_colour: dict[str, float]


def compare(reference: Picture, drawing: Picture) -> Fit | None:
    """None where the reference shows none of the palette's colours."""
    true = _array(reference, None)
    palette = _palette(true)
    wanted = _labels(true, palette)
    shown = [colour for colour in range(_GROUND) if _is_there(colour, wanted, true, palette)]
    if not shown:
        return None
    drawn = _labels(_array(drawing, (true.shape[1], true.shape[0])), palette)
    by_colour = {PALETTE[colour]: _iou(wanted == colour, drawn == colour) for colour in shown}
    both = (wanted != _GROUND) & (drawn != _GROUND)
    return Fit(
        iou=sum(by_colour.values()) / len(by_colour),
        shape=_iou(wanted != _GROUND, drawn != _GROUND),
        colour=float((wanted == drawn)[both].mean()) if both.any() else 0.0,
        by_colour={name: round(value, 4) for name, value in by_colour.items()},
    )


def _array(picture: Picture, size: tuple[int, int] | None) -> NDArray[np.int16]:
    """Brought to a size without mixing colours; a reference larger than need be is made smaller."""
    from PIL.Image import Resampling

    image = picture.image()
    if size is None:
        shrink = min(1.0, _MOST_SIDE / max(image.size))
        size = (max(1, round(image.width * shrink)), max(1, round(image.height * shrink)))
    if image.size != size:
        image = image.resize(size, Resampling.NEAREST)
    return np.asarray(image).astype(np.int16)


def _palette(reference: NDArray[np.int16]) -> NDArray[np.int16]:
    """The eight colours, and the ground's: the most frequent one along the reference's edge."""
    edge = np.concatenate([reference[0], reference[-1], reference[:, 0], reference[:, -1]])
    colours, counts = np.unique(edge, axis=0, return_counts=True)
    known = [[int(code[at : at + 2], 16) for at in (1, 3, 5)] for code in PALETTE]
    return np.array([*known, colours[counts.argmax()]], dtype=np.int16)


def _labels(pixels: NDArray[np.int16], palette: NDArray[np.int16]) -> Labels:
    """The nearest colour of each pixel; a ground in a palette's colour is ground."""
    best = np.full(pixels.shape[:2], np.iinfo(np.int32).max, dtype=np.int32)
    labels = np.full(pixels.shape[:2], _GROUND, dtype=np.int8)
    for number in (_GROUND, *range(_GROUND)):
        distance = ((pixels.astype(np.int32) - palette[number]) ** 2).sum(axis=2)
        nearer = distance < best
        best[nearer], labels[nearer] = distance[nearer], number
    return labels


def _is_there(colour: int, labels: Labels, pixels: NDArray[np.int16], palette: NDArray[np.int16]) -> bool:
    """Return whether the reference was drawn in this colour.

    The blend at the edge of a red shape is nearest to orange: it takes a pixel that surely has the colour, or nine in
    a square that are nearest to it.
    """
    mask: NDArray[Any] = labels == colour
    if not mask.any():
        return False
    if (np.abs(pixels[mask] - palette[colour]).max(axis=1) <= _SURE).any():
        return True
    rows = mask[:-2] & mask[1:-1] & mask[2:]
    return bool((rows[:, :-2] & rows[:, 1:-1] & rows[:, 2:]).any())


def _iou(one: NDArray[Any], other: NDArray[Any]) -> float:
    union = int((one | other).sum())
    return int((one & other).sum()) / union if union else 0.0


_TEXT = "code_text_acc"
_JUDGED = ("code_img_shape_color", "code_img_position", "code_img_match")
_TOKENS = 512
_MOST_POINTS = 5
_LARGEST = 1e9
"""Larger points (`1e999` is infinite in JSON) would drown all other scores."""
_OPENING = re.compile(r"<RENDER_SUMMARY>", re.IGNORECASE)
_CLOSING = re.compile(r"</RENDER_SUMMARY>", re.IGNORECASE)

Marks = tuple[float, float, bool]
"""Shape and colour, position (0 to 1: points of five), and whether it is a match."""


async def text(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score `code_text_acc`: the summary describes the ground-truth rendering. Without its tags there is none."""
    said = episode.says[0] if episode.says else ""
    summary = _summary(said if grading.scoring == OFFICIAL else without_thinking(said))
    reference = _reference(sample)
    if reference is None and grading.scoring != OFFICIAL:
        return no_truth("true rendering", _TEXT)
    if not summary or reference is None:
        return Scores({_TEXT: 0.0}, {"answer": summary}, unparsed=not summary)
    if grading.judge is None:
        return unscored(_TEXT)
    parts: list[Content] = [published("code_text"), reference, f"Candidate description:\n{summary}"]
    judged = await labels(grading, "", parts, _TOKENS, ["text_semantic_match"])
    return Scores({_TEXT: float(judged.verdict[0])}, {"answer": summary, f"{_TEXT}_judge": judged.reply})


async def image(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """The judge's points for the drawing, of five each, as shares. A match is what the rubric calls one (four points
    and more in both) for `strict`, and the judge's own word for it in `official`."""
    if not episode.draw_attempts:
        return Scores({})
    reference = _reference(sample)
    if reference is None and grading.scoring != OFFICIAL:
        return no_truth("true rendering", *_JUDGED)
    if reference is None or not episode.drawings:
        return Scores(dict.fromkeys(_JUDGED, 0.0))
    if grading.judge is None:
        return unscored(*_JUDGED)
    parts: list[Content] = [published("code_image"), reference, episode.drawings[0]]
    judged = await asked(grading, "", parts, _TOKENS, _strict_marks, _official_marks)
    values = dict(zip(_JUDGED, map(float, judged.verdict), strict=True))
    return Scores(values, {"code_img_judge": judged.reply})


def pixels(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`code_img_iou`, `code_img_shape_iou`, `code_img_colour`: ours, the same in every scoring."""
    names = ("code_img_iou", "code_img_shape_iou", "code_img_colour")
    reference = _reference(sample)
    if not episode.draw_attempts or reference is None:
        return Scores(dict.fromkeys(names))
    if not episode.drawings:
        return Scores(dict.fromkeys(names, 0.0), {"frames_right": [False]})
    found = compare(reference, episode.drawings[0])
    if found is None:
        return no_truth("colour of the palette in its true rendering", *names)
    values: dict[str, float | None] = dict(zip(names, (found.iou, found.shape, found.colour), strict=True))
    return Scores(values, {"colours": found.by_colour, "frames_right": [found.iou >= RIGHT]})


def _summary(said: str) -> str:
    """Return the text between the first opening tag and the first closing one after it."""
    opening = _OPENING.search(said)
    closing = _CLOSING.search(said, opening.end()) if opening else None
    return said[opening.end() : closing.start()].strip() if opening and closing else ""


def _strict_marks(reply: str) -> Marks | None:
    """Whole numbers from 0 to 5, also as texts; anything else is not a verdict."""
    found = first_json_object(reply) or {}
    points = [str(found.get(name)).strip() for name in ("shape_color_accuracy", "position_accuracy")]
    if not all(re.fullmatch(r"[0-5](?:\.0)?", one) for one in points):
        return None
    shape, position = (float(one) for one in points)
    return shape / _MOST_POINTS, position / _MOST_POINTS, min(shape, position) >= _MOST_POINTS - 1


def _official_marks(reply: str) -> Marks:
    """As they come, neither clipped nor checked against the verdict; what is missing is 0."""
    found = object_from_the_first_brace(reply)
    return (
        _points(found, "shape_color_accuracy"),
        _points(found, "position_accuracy"),
        found.get("verdict") == "match",
    )


def _points(found: dict[str, Any], name: str) -> float:
    value = found.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        raise JudgeFailed(f"{name} is {value!r}: the published program ends at a score that is not a number")
    return value / _MOST_POINTS


def _reference(sample: Sample) -> Picture | None:
    found = sample.pictures.get("reference")
    return found if isinstance(found, Picture) else None
