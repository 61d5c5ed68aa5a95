"""The worlds in the packages of trainers: Gymnasium's own checker, its vectors, and reasoning-gym's datasets."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest

from sketchmark.errors import BadInput
from sketchmark.training import worlds

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def gymnasium() -> Any:
    import gymnasium

    import sketchmark.training.gym  # noqa: F401 registers the worlds

    return gymnasium


@pytest.mark.parametrize("world", worlds())
def test_gymnasiums_checker_finds_nothing(gymnasium: Any, world: str) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        check_env(gymnasium.make(f"sketchmark/{world}-v0", render_mode="rgb_array").unwrapped)
    assert not [str(one.message) for one in seen if "observation space" not in str(one.message)]


def test_true_frames_and_the_answer_earn_all_of_the_reward(gymnasium: Any) -> None:
    env = gymnasium.make("sketchmark/gears-v0", levels=(3,))
    parts, info = env.reset(seed=1, options={"sample_seed": 7})
    sample = env.unwrapped.course.sample(7, 3)
    frames = [frame.values for frame in sample.frames() or ()]
    assert (parts[-2] == sample.pictures["initial"].values).all()
    total, done = 0.0, False
    while not done:
        drawn = info["wanted"] == "draw"
        reply = frames.pop(0) if drawn else f'<ANSWER_JSON>["{sample.target["answer"][0]}"]</ANSWER_JSON>'
        _, reward, done, cut, info = env.step((reply,))
        total += reward
    assert total == pytest.approx(1.0)
    assert (cut, info["right"], info["answer"]) == (False, 1.0, 1.0)


def test_the_same_sample_seed_gives_a_group_one_sample_and_the_environment_pickles(gymnasium: Any) -> None:
    envs = [gymnasium.make("sketchmark/gears-v0").unwrapped for _ in range(2)]
    seen = [env.reset(seed=at, options={"sample_seed": 5, "level": 2})[1] for at, env in enumerate(envs)]
    assert seen[0]["context"].key() == seen[1]["context"].key()
    copy = pickle.loads(pickle.dumps(envs[0]))  # noqa: S301 made above
    assert copy.step(("a plan",))[4]["wanted"] == envs[0].step(("a plan",))[4]["wanted"] == "draw"


def test_levels_and_looks_are_held_out_and_an_unknown_option_is_refused(gymnasium: Any) -> None:
    env = gymnasium.make("sketchmark/gears-v0", levels=(1, 2), looks=("plain",))
    assert env.reset(options={"sample_seed": 7, "level": 2, "look": "plain"})[1]["sample_seed"] == 7
    for option, reason in (({"level": 3}, "held out"), ({"look": "night"}, "held out"), ({"levle": 2}, "levle")):
        with pytest.raises(BadInput, match=reason):
            env.reset(options=option)


def test_vectors_of_environments_play(gymnasium: Any) -> None:
    both = gymnasium.make_vec("sketchmark/gears-v0", num_envs=2, vectorization_mode="sync")
    both.reset(seed=1)
    _, rewards, *_ = both.step((("a plan",), ("another",)))
    assert list(rewards) == [0.0, 0.0]


def test_reasoning_gym_makes_scores_and_mixes_the_worlds() -> None:
    import reasoning_gym
    from reasoning_gym.composite import DatasetSpec

    import sketchmark.training.text_gym as ours

    for world in worlds():
        data = reasoning_gym.create_dataset(f"sketchmark_{world}", seed=3, size=5)
        assert [data.score_answer(one["answer"], one) for one in data] == [1.0] * 5, world
    data = reasoning_gym.create_dataset("sketchmark_reach", seed=3, size=10, level=2)
    assert data.score_answer(None, data[0]) == data.score_answer(data[1]["answer"] + "x", data[0]) == 0.0
    assert data[4] == reasoning_gym.create_dataset("sketchmark_reach", seed=3, size=10, level=2)[4]
    curriculum = ours.Curriculum()
    curriculum.increment_attr_level("level")
    assert curriculum.generate_configuration({"seed": 3, "size": 2}).level == 2
    specs = [DatasetSpec(name=name, weight=1, config={}) for name in ("sketchmark_reach", "sketchmark_gears")]
    mixed = reasoning_gym.create_dataset("composite", seed=1, size=12, datasets=specs)
    assert {one["metadata"]["source_dataset"] for one in mixed} == {"sketchmark_reach", "sketchmark_gears"}
