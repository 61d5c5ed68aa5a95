"""Reward functions in verl's own loader and reward manager, and the reward server behind UniRL's own client."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sketchmark.training import Course, Game
from sketchmark.training.server import rewarding
from tests.local.tiny import _tokenizer

pytestmark = pytest.mark.trainers

COURSE = Course("gears")
SAMPLE = COURSE.sample(7, 3)
FRAMES = SAMPLE.frames() if SAMPLE.frames else []
ABOUT = {"seed": 7, "level": 3}
RIGHT = f'<ANSWER_JSON>["{SAMPLE.target["answer"][0]}"]</ANSWER_JSON>'


@pytest.fixture
def loaded() -> Any:
    """verl's loader, with the package as the path of its setting `reward.custom_reward_function`."""
    reward = pytest.importorskip("verl.trainer.ppo.reward", reason="another trainer's environment")
    from omegaconf import OmegaConf

    def load(name: str) -> Any:
        chosen = {"path": "pkg://sketchmark.training.functions", "name": name}
        return reward.get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": chosen}}))

    return load


@pytest.mark.parametrize("said", [RIGHT, '<ANSWER_JSON>["red clockwise"]</ANSWER_JSON>', "pardon?"])
def test_verls_reward_manager_gives_a_reply_the_marks_of_a_game(loaded: Any, said: str) -> None:
    import numpy as np
    import torch
    from verl import DataProto
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

    tokenizer = _tokenizer()
    ids = torch.tensor([tokenizer(said)["input_ids"]])
    columns = {"data_source": "gears", "reward_model": {"ground_truth": ""}, "extra_info": dict(ABOUT)}
    data = DataProto.from_dict(
        tensors={"prompts": ids[:, :1], "responses": ids, "attention_mask": torch.ones(1, 1 + ids.shape[1]).long()},
        non_tensors={name: np.array([one], dtype=object) for name, one in columns.items()},
    )

    async def scored() -> Any:
        return await NaiveRewardManager(None, tokenizer, loaded("compute_score")).run_single(data)

    found, marks = (
        asyncio.run(scored()),
        Game(Course("gears", "direct"), ABOUT["seed"], ABOUT["level"]).step(said).info,
    )
    assert found["reward_score"] == marks["answer"] == float(said == RIGHT)
    assert found["reward_extra_info"]["form"] == marks["form"]


def test_verl_omnis_tensors_of_one_and_of_all_frames_are_scored(loaded: Any) -> None:
    import torch

    compute = loaded("compute_frames")
    stack = torch.stack([torch.from_numpy(frame.values.copy()).permute(2, 0, 1) for frame in FRAMES])
    given: dict[str, Any] = {"data_source": "gears", "ground_truth": ""}
    assert compute(solution_image=stack, extra_info=ABOUT, **given)["score"] == 1.0
    assert compute(solution_image=stack[1], extra_info={**ABOUT, "index": 1}, **given)["score"] == 1.0
    assert compute(solution_image=stack[1], extra_info={**ABOUT, "index": 0}, **given)["score"] == 0.0
    late = compute(solution_image=stack.flip(0), extra_info=ABOUT, **given)
    assert late["score"] == COURSE.judge(SAMPLE, FRAMES[::-1]).progress < 1.0


@pytest.mark.parametrize("image_format", ["JPEG", "PNG"])
def test_unirls_client_gets_the_marks_of_each_frame(image_format: str) -> None:
    remote = pytest.importorskip("unirl.reward.remote", reason="another trainer's environment")
    import torch
    from unirl.types.primitives import Images
    from unirl.types.reward import RewardRequest

    pixels = [torch.from_numpy(frame.values.copy()).permute(2, 0, 1).float() / 255 for frame in FRAMES]
    about = [{**ABOUT, "index": index} for index in (0, 1, 0)]
    request = RewardRequest(
        generated={"image": Images.from_dense(torch.stack(pixels))},
        metadata=about,
        sample_ids=["a", "b", "c"],
    )
    with rewarding(key="s3cret") as url:
        spec = remote.RemoteRewardSpec(
            base_url=f"{url}/s3cret",
            required_rewards=("gears_last",),
            image_format=image_format,
            require_identity_echo=True,
        )
        client = remote.RemoteRewardBackend(config=spec, base_device="cpu")
        assert client.is_available()
        found = client.compute_rewards(request)
        client.dispose()
    assert list(found.rewards) == [1.0, 1.0, 0.0] and all(found.successes)
