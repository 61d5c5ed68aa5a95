"""TRL's GRPO with our rows and reward functions: a tiny vision-language model takes two real steps on the CPU."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from sketchmark.media import Picture
from sketchmark.testing import BLANK
from sketchmark.training import Course, Game
from sketchmark.training.functions import answer_reward, form_reward, frame_reward, rows
from sketchmark.worlds import FIRST_TRAINING_SEED

pytestmark = [pytest.mark.local, pytest.mark.filterwarnings("ignore::FutureWarning")]  # TRL uses old names

Reward = Callable[..., list[float]]
SEEDS = range(40, 44)
GROUP = 4
"""Rollouts per prompt."""


class Recorder:
    """Reward functions as they are, and all that the trainer gives them and takes from them."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any], list[float]]] = []

    def watched(self, reward: Reward) -> Reward:
        @functools.wraps(reward)
        def called(**given: Any) -> list[float]:
            self.calls.append((reward.__name__, given, reward(**given)))
            return self.calls[-1][2]

        return called


def trainer(
    folder: Path, data: list[dict[str, Any]], rewards: list[Reward], out: Path, words: list[str], **more: Any
) -> Any:
    """Make a trainer whose rollouts are one token each, nearly always one of `words`: random weights would not write
    an answer in a lifetime."""
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    import torch
    from datasets import Dataset  # type: ignore[import-untyped]
    from transformers import AutoProcessor, LlavaForConditionalGeneration
    from trl import GRPOConfig, GRPOTrainer

    processor = AutoProcessor.from_pretrained(folder)
    model = LlavaForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    processor.tokenizer.add_tokens(words)
    model.resize_token_embeddings(len(processor.tokenizer), mean_resizing=False)
    wanted = processor.tokenizer.convert_tokens_to_ids(words)
    arguments = GRPOConfig(
        output_dir=str(out),
        max_steps=2,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        num_generations=GROUP,
        per_device_train_batch_size=2 * GROUP,
        max_completion_length=1,
        generation_kwargs={"sequence_bias": [[[token], 50.0] for token in wanted]},
        learning_rate=1e-2,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        seed=3,
    )
    return GRPOTrainer(
        model=model,
        reward_funcs=rewards,
        args=arguments,
        train_dataset=Dataset.from_list(data),
        processing_class=processor,
        **more,
    )


def test_grpo_trains_two_steps_on_images_by_the_marks_of_games(llava: Path, tmp_path: Path) -> None:
    data = rows("gears", len(SEEDS), first=SEEDS[0], levels=(1, 2))
    assert all(row["images"][0].size == (512, 512) for row in data)
    words = [
        f'<ANSWER_JSON>["{Course("gears").sample(s, s % 2 + 1).target["answer"][0]}"]</ANSWER_JSON>' for s in SEEDS
    ]
    recorder = Recorder()
    rewards = [recorder.watched(one) for one in (answer_reward, form_reward)]
    grpo = trainer(llava, data, rewards, tmp_path, ["pardon", *words])
    before = {name: weight.detach().clone() for name, weight in grpo.model.named_parameters()}

    assert grpo.train().global_step == 2

    moved = {name for name, weight in grpo.model.named_parameters() if not weight.equal(before[name])}
    assert any("vision" in name for name in moved) and any("language" in name for name in moved)
    logged = [one for one in grpo.state.log_history if "reward" in one]
    assert len(logged) == 2 and all(one["grad_norm"] > 0 for one in logged)
    for name, mark in (("answer_reward", "answer"), ("form_reward", "form")):
        calls = [(given, found) for called, given, found in recorder.calls if called == name]
        for step, (given, found) in zip(logged, calls, strict=True):
            assert set(given["seed"]) <= set(SEEDS) and len(found) == 2 * GROUP
            assert found == [played(seed, level, said).get(mark) for seed, level, said in of(given)]
            assert step[f"rewards/{name}/mean"] == pytest.approx(fmean(found))
        assert {0.0, 1.0} == {value for _, found in calls for value in found}, "the rewards are graded"


def test_frames_that_a_rollout_draws_are_rewarded_as_in_a_game(llava: Path, tmp_path: Path) -> None:
    """The model writes one word, how many of the true frames are drawn; the reward function gets the drawings."""
    words = [f"frames:{count}" for count in range(3)]
    dice, sample = Random(1), Course("gears").sample(SEEDS[1], 2)
    frames = [frame.image() for frame in sample.frames()] if sample.frames else []

    def rollout(prompts: list[Any], grpo: Any) -> dict[str, Any]:
        processor = grpo.processing_class
        shown = [processor.apply_chat_template([one], tokenize=True, return_dict=True) for one in prompts]
        counts = [dice.randrange(len(words)) for _ in prompts]
        return {
            "prompt_ids": [list(one["input_ids"][0]) for one in shown],
            "completion_ids": [[processor.tokenizer.convert_tokens_to_ids(words[count])] for count in counts],
            "logprobs": [[-1.0]] * len(prompts),
            "drawn": [[*frames[:count], BLANK.image()][:2] for count in counts],
        }

    data = rows("gears", 1, first=SEEDS[1], levels=(2,)) * 2
    recorder = Recorder()
    grpo = trainer(llava, data, [recorder.watched(frame_reward)], tmp_path, words, rollout_func=rollout)
    assert grpo.train().global_step == 2

    logged = [one for one in grpo.state.log_history if "reward" in one]
    for step, (_, given, found) in zip(logged, recorder.calls, strict=True):
        assert found == [progress(drawn) for drawn in given["drawn"]]
        assert len(set(found)) > 1 and step["rewards/frame_reward/mean"] == pytest.approx(fmean(found))


def of(given: dict[str, Any]) -> list[tuple[int, int, str]]:
    said = [completion[-1]["content"] for completion in given["completions"]]
    return list(zip(given["seed"], given["level"], said, strict=True))


def progress(drawn: list[Any]) -> float:
    """Draw the same images in a game, and return the mark."""
    game = Game(Course("gears"), SEEDS[1], 2)
    turn, images = game.begin(), iter([*drawn, BLANK.image()])
    while not turn.done:
        turn = game.step(Picture.from_image(next(images)) if turn.wanted == "draw" else "a plan")
    return float(turn.info["progress"])


def played(seed: int, level: int, said: str) -> dict[str, Any]:
    """Play the same reply as a game; its sample is one that no run has."""
    game = Game(Course("gears", "direct"), seed, level)
    assert int(game.sample.id.split("-")[1]) >= FIRST_TRAINING_SEED
    return dict(game.step(said).info)
