"""Uni-MMMU geometry: solutions and auxiliary lines by the published judges' questions, calculated numbers by rule.

The original asks Qwen3-32B about the text and Qwen2.5-VL-72B about the overlay; here the judge is any model. `strict`
scores what was not delivered as wrong; `official` leaves out, as the published program does, items that were not
produced (docs/benchmarks/uni-mmmu.md, "Geometry").
"""

from __future__ import annotations

import re
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Content, Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.numbers import read_number
from sketchmark.scoring.thinking import without_thinking
from sketchmark.tasks.uni_mmmu.geometry_data import CALCULATION
from sketchmark.tasks.uni_mmmu.quantities import quantity, same
from sketchmark.tasks.uni_mmmu.verdicts import OFFICIAL, labels, no_truth, published, unscored, whole_number_one

_TEXT, _OVERLAY, _NUMBER = "geometry_text_acc", "geometry_overlay_acc", "geometry_number_acc"
_TEXT_TOKENS, _OVERLAY_TOKENS = 16384, 512
"""The text judge thinks aloud. Published are 32,767 tokens, which some providers refuse as too many."""

_FINAL = re.compile(r"Final answer\s*[:：]\s*([^\n]{1,200})", re.IGNORECASE)


async def solution(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`geometry_text_acc`: rigorous and right, says the judge."""
    official = grading.scoring == OFFICIAL
    said = episode.answer if official else without_thinking(episode.answer).strip()
    if official and episode.failure:
        return _not_produced(_TEXT)
    if not said.strip() and not official:
        return Scores({_TEXT: 0.0}, {"answer": ""}, unparsed=True)
    if not sample.target["solution"] and not official:
        return no_truth("reference solution", _TEXT)
    if grading.judge is None:
        return unscored(_TEXT)
    question = published("geometry_text_user").format(
        task_type=sample.target["kind"],
        problem=sample.fields["question"],
        gt_text=sample.target["solution"],
        cand_text=said,
    )
    parts = [published("geometry_text_system"), question]
    found = await labels(grading, parts, _TEXT_TOKENS, ["text_ok"], whole_number_one)
    notes = {"answer": said, "expected": sample.target["solution"], f"{_TEXT}_judge": found.reply}
    return Scores({_TEXT: float(found.verdict[0])}, notes)


async def overlay(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`geometry_overlay_acc`: all required lines are drawn, says the judge, who sees diagram, truth and drawing."""
    if not episode.draw_attempts:
        return Scores({})
    truth = sample.frames() if sample.frames else []
    if grading.scoring == OFFICIAL and episode.failure:
        return _not_produced(_OVERLAY)
    if not truth:
        return no_truth("picture of the required lines", _OVERLAY)
    if not episode.drawings:
        return Scores({_OVERLAY: 0.0}, {"frames_right": [False]})
    if grading.judge is None:
        return unscored(_OVERLAY)
    diagram = sample.pictures["image"]
    assert isinstance(diagram, Picture)
    question = published("geometry_overlay_user").format(aux_en=sample.fields["lines"] or "(none)")
    parts: list[Content] = [published("geometry_overlay_system"), question, diagram, truth[0], episode.drawings[0]]
    found = await labels(grading, parts, _OVERLAY_TOKENS, ["overlay_ok"], whole_number_one)
    notes = {f"{_OVERLAY}_judge": found.reply, "frames_right": list(found.verdict)}
    return Scores({_OVERLAY: float(found.verdict[0])}, notes)


def number(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`geometry_number_acc`, by rule, where a calculation's answer is a bare number. It asks for no rigour, so it is
    never `geometry_text_acc`."""
    truth = quantity(sample.target["answer"]) if sample.target["kind"] == CALCULATION else None
    if truth is None:
        return Scores({_NUMBER: None})
    found = _final(without_thinking(episode.answer))
    notes: dict[str, Any] = {"number": found, "expected_number": truth}
    return Scores({_NUMBER: float(found is not None and same(found, truth))}, notes, unparsed=found is None)


def _final(said: str) -> float | None:
    """The last `Final answer: …`; without one, the number that the reply gives as its answer."""
    marked = _FINAL.findall(said)
    return quantity(marked[-1].strip(" *_")) if marked else read_number(said).value


def _not_produced(name: str) -> Scores:
    return Scores({name: None}, {"skipped": "the published evaluator leaves out items that were not produced"})
