"""Reward functions in the signatures of trainers: TRL, verl and verl-omni. None of these packages is imported.

Each row of a dataset names its sample by `world`, `seed` and `level`. The functions make the sample again, so rows
are small and hold no solution.

TRL:       GRPOTrainer(reward_funcs=[answer_reward, form_reward], train_dataset=Dataset.from_list(rows("gears", 100)))
verl:      reward.custom_reward_function.path=…/training/functions.py, name=compute_score
verl-omni: name=compute_frames; the drawing is a uint8 tensor (C, H, W), or (T, C, H, W) for several frames
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.episode.sample import Part, Sample
from sketchmark.media import Picture
from sketchmark.training import Content, Course, Game, Marks, named
from sketchmark.worlds import LEVELS


def _of(row: Mapping[str, Any]) -> tuple[Course, Sample]:
    return named(str(row["world"]), int(row["seed"]), int(row.get("level", 1)), str(row.get("look", "")))


def rows(
    world: str, count: int, *, mode: str = "direct", first: int = 0, levels: Sequence[int] = LEVELS
) -> list[dict[str, Any]]:
    """Return rows for TRL's trainers: a prompt as a chat message, its images, and the sample's name. The prompt is
    that of `sketchmark run` in this mode, `direct` or `text_input`."""
    course = Course(world, mode, tuple(levels))
    made = []
    for seed in range(first, first + count):
        game = Game(course, seed)
        context = game.begin().context
        content = [_chat(part) for part in context]
        level = course.level_of(seed)
        message = {"role": "user", "content": content}
        images = [picture.image() for picture in context.pictures]
        made.append({"prompt": [message], "images": images, "world": world, "seed": seed, "level": level})
    return made


def _chat(part: Part) -> dict[str, str]:
    return {"type": "image"} if part.picture else {"type": "text", "text": part.text or ""}


def _said(completion: Any) -> str:
    """Return the text of a completion, which is a text or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    contents = [message.get("content") for message in completion if message.get("role") == "assistant"]
    texts = [one if isinstance(one, str) else _said_parts(one or ()) for one in contents]
    return texts[-1] if texts else ""


def _said_parts(parts: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def _marks(completions: Sequence[Any], columns: Mapping[str, Sequence[Any]]) -> list[Marks]:
    named = [{name: columns[name][at] for name in columns} for at in range(len(completions))]
    found = []
    for completion, row in zip(completions, named, strict=True):
        course, sample = _of(row)
        found.append(course.judge(sample, map(_content, row.get("drawn") or ()), _said(completion)))
    return found


def _content(drawn: Any) -> Content:
    """Return a drawing as a game takes it. Trainers have Pillow's images."""
    return drawn if isinstance(drawn, str | bytes | Picture) else Picture.from_image(drawn)


_NAMES = ("world", "seed", "level", "look", "drawn")


def answer_reward(completions: Sequence[Any], **columns: Any) -> list[float]:
    """TRL: 1 for a right answer."""
    return [marks.answer for marks in _marks(completions, _kept(columns))]


def form_reward(completions: Sequence[Any], **columns: Any) -> list[float]:
    """TRL: 1 for an answer that can be parsed, right or wrong."""
    return [marks.form for marks in _marks(completions, _kept(columns))]


def frame_reward(completions: Sequence[Any], **columns: Any) -> list[float]:
    """TRL: how far the drawings of a rollout, in its column `drawn`, are right from the first one on."""
    return [marks.progress for marks in _marks(completions, _kept(columns))]


def _kept(columns: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    return {name: columns[name] for name in _NAMES if name in columns}


def compute_score(
    data_source: str, solution_str: str, ground_truth: Any, extra_info: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, float]:
    """verl: the score of an answer. `extra_info` names the sample; `data_source` is the world if it does not."""
    course, sample = _of({"world": data_source, **(extra_info or {})})
    marks = course.judge(sample, (), solution_str)
    return {"score": marks.answer, "answer": marks.answer, "form": marks.form}


def compute_frames(
    data_source: str, solution_image: Any, ground_truth: Any, extra_info: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, float]:
    """verl-omni: the score of one drawing (`extra_info["index"]` is its frame) or of all drawings of a sample."""
    about = {"world": data_source, **(extra_info or {})}
    course, sample = _of(about)
    if solution_image.ndim == 3:
        marks = course.judge_frame(sample, int(about.get("index", 0)), _picture(solution_image))
        return {"score": marks.right, "right": marks.right, "readable": marks.readable}
    marks = course.judge(sample, map(_picture, solution_image))
    names = ("right", "legal", "readable", "progress")
    return {"score": marks.progress, **{name: getattr(marks, name) for name in names}}


def _picture(frame: Any) -> Picture:
    """Return an image from a tensor or array (channels, height, width) of bytes."""
    import numpy as np
    from PIL import Image

    values = np.asarray(frame.cpu() if hasattr(frame, "cpu") else frame)
    return Picture.from_image(Image.fromarray(np.ascontiguousarray(values.transpose(1, 2, 0)).astype(np.uint8)))
