"""Uni-MMMU science: what becomes of a scene, in words and in a picture, by the published judge's questions
(docs/benchmarks/uni-mmmu.md, "Science"). By rule there is only the form: one block of at most 120 words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Content, Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.thinking import without_thinking
from sketchmark.tasks.uni_mmmu.verdicts import OFFICIAL, labels, no_truth, published, unscored

_REASONING, _RESULT, _IMAGE = "science_text_reasoning_acc", "science_text_result_acc", "science_img_acc"
_TEXT_TOKENS, _IMAGE_TOKENS = 1024, 512
_MOST_WORDS = 120
_OPENED = re.compile(r"<OUTPUT_PROMPT>", re.IGNORECASE)
_BLOCK = re.compile(r"<OUTPUT_PROMPT>((?:(?!</?OUTPUT_PROMPT>).)*)</OUTPUT_PROMPT>", re.IGNORECASE | re.DOTALL)


async def text(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`science_text_reasoning_acc` and `science_text_result_acc`. The judge is given no picture, as published."""
    said, (condition, truth, _) = _said(episode, grading), _compared(sample, grading)
    if not truth and grading.scoring != OFFICIAL:
        return no_truth("final state in words", _REASONING, _RESULT)
    if not said.strip() or not truth:
        return Scores({_REASONING: 0.0, _RESULT: 0.0}, {"answer": said}, unparsed=not said.strip())
    if grading.judge is None:
        return unscored(_REASONING, _RESULT)
    question = published("science_text_user").format(
        scene="(none)", condition=condition, gt_text=truth, pred_text=said
    )
    parts = [published("science_text_system"), question]
    found = await labels(grading, parts, _TEXT_TOKENS, ["reasoning_correct", "result_correct"], bool)
    notes = {"answer": said, "expected": truth, "science_text_judge": found.reply}
    reasoning, result = found.verdict
    return Scores({_REASONING: float(reasoning), _RESULT: float(result)}, notes)


async def image(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`science_img_acc`: the right final state, and the rest of the scene kept. Missing is wrong."""
    if not episode.draw_attempts:
        return Scores({})
    condition, truth, initial = _compared(sample, grading)
    if not truth and grading.scoring != OFFICIAL:
        return no_truth("final state in words", _IMAGE)
    if not episode.drawings or initial is None:
        return Scores({_IMAGE: 0.0}, {"frames_right": [False]})
    if grading.judge is None:
        return unscored(_IMAGE)
    question = published("science_image_user").format(condition=condition, gt_text=truth)
    parts: list[Content] = [published("science_image_system"), question, initial, episode.drawings[0]]
    found = await labels(grading, parts, _IMAGE_TOKENS, ["image_correct"], bool)
    notes = {"science_img_judge": found.reply, "frames_right": list(found.verdict)}
    return Scores({_IMAGE: float(found.verdict[0])}, notes)


def form(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`science_form`, by rule and ours: exactly one block, neither empty nor longer than was asked for."""
    said = without_thinking(_first(episode))
    blocks = [block.split() for block in _BLOCK.findall(said)]
    fits = len(blocks) == 1 == len(_OPENED.findall(said)) and 0 < len(blocks[0]) <= _MOST_WORDS
    return Scores({"science_form": float(fits)}, {"words": [len(block) for block in blocks]})


def _said(episode: Episode, grading: Grading) -> str:
    """The whole reply, tags included; for `strict` without what was thought aloud."""
    return _first(episode) if grading.scoring == OFFICIAL else without_thinking(_first(episode)).strip()


def _first(episode: Episode) -> str:
    """The text comes before the drawing, so that it stands even where the drawing failed."""
    return episode.says[0] if episode.says else ""


def _compared(sample: Sample, grading: Grading) -> tuple[str, str, Picture | None]:
    """Condition, true final state and initial picture: of this sample, and for `official` of the one that the
    published scorer takes for it (accident 4)."""
    own: Mapping[str, Any] = {"condition": sample.fields["condition"], "final_state": sample.target["final_state"]}
    shifted = sample.target.get("compared") if grading.scoring == OFFICIAL else None
    of = shifted or own
    picture = sample.pictures.get("compared" if shifted else "image")
    return str(of["condition"]), str(of["final_state"]), picture if isinstance(picture, Picture) else None
