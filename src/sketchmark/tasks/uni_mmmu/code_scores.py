"""Uni-MMMU code: SVG rendered in the head, told in words and drawn (docs/benchmarks/uni-mmmu.md, "Code").

The published scores are a judge's, who sees the true rendering. Beside them stand ours, by pixels and without a judge
(`code_pixels`).
"""

from __future__ import annotations

import re
from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import JudgeFailed
from sketchmark.parts import Content, Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.judging import first_json_object
from sketchmark.scoring.thinking import without_thinking
from sketchmark.tasks.uni_mmmu import code_pixels
from sketchmark.tasks.uni_mmmu.verdicts import (
    OFFICIAL,
    asked,
    labels,
    no_truth,
    object_from_the_first_brace,
    published,
    unscored,
)

_TEXT = "code_text_acc"
_JUDGED = ("code_img_shape_color", "code_img_position", "code_img_match")
_TOKENS = 512
_MOST_POINTS = 5
_OPENING = re.compile(r"<RENDER_SUMMARY>", re.IGNORECASE)
_CLOSING = re.compile(r"</RENDER_SUMMARY>", re.IGNORECASE)

Marks = tuple[float, float, bool]
"""Shape and colour, position (0 to 1: points of five), and whether it is a match."""


async def text(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`code_text_acc`: the summary tells what the true rendering shows. Without its tags there is none."""
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
    judged = await labels(grading, parts, _TOKENS, ["text_semantic_match"], bool)
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
    judged = await asked(grading, parts, _TOKENS, _strict_marks, _official_marks)
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
    found = code_pixels.compare(reference, episode.drawings[0])
    if found is None:
        return no_truth("colour of the palette in its true rendering", *names)
    values: dict[str, float | None] = dict(zip(names, (found.iou, found.shape, found.colour), strict=True))
    return Scores(values, {"colours": found.by_colour, "frames_right": [found.iou >= code_pixels.RIGHT]})


def _summary(said: str) -> str:
    """What stands between the first opening tag and the first closing one behind it."""
    opening = _OPENING.search(said)
    closing = _CLOSING.search(said, opening.end()) if opening else None
    return said[opening.end() : closing.start()].strip() if opening and closing else ""


def _strict_marks(reply: str) -> Marks | None:
    """Whole numbers from 0 to 5, also as texts; anything else is no verdict."""
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
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JudgeFailed(f"{name} is {value!r}: the published program ends at a score that is not a number")
    return value / _MOST_POINTS


def _reference(sample: Sample) -> Picture | None:
    found = sample.pictures.get("reference")
    return found if isinstance(found, Picture) else None
