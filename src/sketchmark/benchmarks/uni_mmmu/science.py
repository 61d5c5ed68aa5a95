"""Uni-MMMU science: the outcome of a scene as text and as an image, by the published judge's questions.

The scenes are `science/dim_all.json` of the extracted data.tar (docs/benchmarks/uni-mmmu.md, "Science"). Only the
form is scored by rule: one block of at most 120 words. The protocol, an answer and then its drawing, also serves
code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sketchmark.answers import without_thinking
from sketchmark.benchmarks import uni_mmmu
from sketchmark.benchmarks.uni_mmmu import OFFICIAL, labels, no_truth, published, unscored
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.desk import Desk
from sketchmark.episode.protocol import FilledPrompts, Protocol
from sketchmark.episode.sample import Content, Pictures, Sample
from sketchmark.errors import BadInput
from sketchmark.media import Picture

_REASONING, _RESULT, _IMAGE = "science_text_reasoning_acc", "science_text_result_acc", "science_img_acc"
_TEXT_TOKENS, _IMAGE_TOKENS = 1024, 512
_MOST_WORDS = 120
_OPENED = re.compile(r"<OUTPUT_PROMPT>", re.IGNORECASE)
_BLOCK = re.compile(r"<OUTPUT_PROMPT>((?:(?!</?OUTPUT_PROMPT>).)*)</OUTPUT_PROMPT>", re.IGNORECASE | re.DOTALL)


async def text(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`science_text_reasoning_acc` and `science_text_result_acc`. The judge is given no picture, as published."""
    said, (condition, truth, _) = _said(episode, grading), _compared(sample, grading, "(none)")
    if not truth and grading.scoring != OFFICIAL:
        return no_truth("final state in words", _REASONING, _RESULT)
    if not said.strip() or not truth:
        return Scores({_REASONING: 0.0, _RESULT: 0.0}, {"answer": said}, unparsed=not said.strip())
    if grading.judge is None:
        return unscored(_REASONING, _RESULT)
    question = published("science_text_user").format(
        scene="(none)", condition=condition, gt_text=truth, pred_text=said
    )
    system, fields = published("science_text_system"), ["reasoning_correct", "result_correct"]
    found = await labels(grading, system, [question], _TEXT_TOKENS, fields)
    notes = {"answer": said, "expected": truth, "science_text_judge": found.reply}
    reasoning, result = found.verdict
    return Scores({_REASONING: float(reasoning), _RESULT: float(result)}, notes)


async def image(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`science_img_acc`: the right final state, and the rest of the scene kept. Missing is wrong."""
    if not episode.draw_attempts:
        return Scores({})
    condition, truth, initial = _compared(sample, grading, "None")
    if not truth and grading.scoring != OFFICIAL:
        return no_truth("final state in words", _IMAGE)
    if not episode.drawings or initial is None:
        return Scores({_IMAGE: 0.0}, {"frames_right": [False]})
    if grading.judge is None:
        return unscored(_IMAGE)
    question = published("science_image_user").format(condition=condition, gt_text=truth)
    parts: list[Content] = [question, initial, episode.drawings[0]]
    found = await labels(grading, published("science_image_system"), parts, _IMAGE_TOKENS, ["image_correct"])
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
    """Score the text. It precedes the drawing, so it counts even if the drawing failed."""
    return episode.says[0] if episode.says else ""


def _compared(sample: Sample, grading: Grading, missing: str) -> tuple[str, str, Picture | None]:
    """Return condition, ground-truth final state and initial image of this sample; for `official` as they are in the
    file, and of the sample that the published scorer takes for it (accident 4). `missing` is its word for none."""
    own: Mapping[str, Any] = {"condition": sample.fields["condition"], "final_state": sample.target["final_state"]}
    official = grading.scoring == OFFICIAL
    shifted = sample.target.get("compared") if official else None
    of = shifted or (sample.target.get("as_filed", own) if official else own)
    picture = sample.pictures.get("compared" if shifted else "image")
    condition = str(of["condition"]) or (missing if official else "")
    return condition, str(of["final_state"]), picture if isinstance(picture, Picture) else None


_FILE = "dim_all.json"


@dataclass(frozen=True)
class _Scene:
    """One sample of the file, whether it is whole or not, with its texts as they are filed."""

    where: str
    picture: object
    condition: str
    truth: str
    groups: Mapping[str, str]

    @property
    def whole(self) -> bool:
        return bool(self.picture and self.condition.strip())

    @property
    def texts(self) -> dict[str, str]:
        return {"condition": self.condition, "final_state": self.truth}


def scenes(*, seed: int, data: Path | None, origin: Mapping[str, str]) -> Iterator[Sample]:
    """Yield samples. Those without an image or a condition are left out and not numbered.

    The published scorer numbers all of them, so that behind a gap each drawing is judged against the truth of another
    sample (accident 4). `official` does the same: what it compares with is in the target where it differs.
    """
    place = uni_mmmu.find(data, "science", lambda place: (place / _FILE).is_file())
    if place is None:
        raise uni_mmmu.missing(data, origin["hub"], f"science/{_FILE}")
    found = list(_read(place / _FILE))
    for number, scene in enumerate(scene for scene in found if scene.whole):
        compared = found[number]
        pictures: dict[str, Pictures] = {"image": _picture(place, scene)}
        target: dict[str, Any] = {"final_state": scene.truth.strip()}
        if (scene.condition, scene.truth) != (scene.condition.strip(), scene.truth.strip()):
            target["as_filed"] = scene.texts
        if compared is not scene:
            target["compared"] = compared.texts
            if compared.picture:
                pictures["compared"] = _picture(place, compared)
        yield Sample(
            id=f"case_{number + 1:02d}",
            pictures=pictures,
            fields={"condition": scene.condition.strip()},
            target=target,
            groups=scene.groups,
        )


def _picture(place: Path, scene: _Scene) -> Picture:
    return Picture.from_file(uni_mmmu.path_in(place, scene.picture, scene.where))


def _read(file: Path) -> Iterator[_Scene]:
    blocks = uni_mmmu.read_json(file)
    if not isinstance(blocks, list):
        raise BadInput(f"{file} is not a list of blocks, each with its samples")
    for number, block in enumerate(blocks):
        where = f"{file}, block {number}"
        samples = block.get("samples") if isinstance(block, dict) else None
        if not isinstance(samples, list):
            raise BadInput(f"{where} has no list of samples")
        groups = {
            name: str(block[key])
            for name, key in (("discipline", "level_1_category"), ("part", "level_2_category"))
            if block.get(key)
        }
        for at, sample in enumerate(samples):
            if not isinstance(sample, dict):
                raise BadInput(f"{where}, sample {at} is not an object")
            shown = sample.get("input_image_file_path_list")
            yield _Scene(
                f"{where}, sample {at}",
                next(iter(shown), None) if isinstance(shown, list) else shown,
                str(sample.get("input_prompt") or ""),
                str(sample.get("output_prompt") or ""),
                groups,
            )


async def _say_then_draw(desk: Desk, prompts: FilledPrompts) -> None:
    """Uni-MMMU's science and code: say what there will be to see, then draw it."""
    desk.show(*prompts.parts())
    await desk.say(prompts.text("ask"))
    if desk.can_draw:
        await desk.draw(prompts.text("generation_prompt"))
    else:
        desk.skip("the drawing: the model does not draw")


say_then_draw = Protocol(_say_then_draw, draws=lambda prompts: 1, skips_drawing=True)
