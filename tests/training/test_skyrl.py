"""The worlds in SkyRL-Gym: made by its registry, with the contexts and rewards of the game."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode.model import Options
from sketchmark.errors import BadInput
from sketchmark.training import Course, Game, chat_parts, worlds

pytestmark = pytest.mark.trainers


@pytest.fixture(scope="module")
def skyrl_gym() -> Any:
    found = pytest.importorskip("skyrl_gym", reason="another trainer's environment")
    import sketchmark.training.skyrl  # noqa: F401 registers the worlds

    return found


@pytest.mark.parametrize("mode", ["direct", "text_cot", "text_input"])
@pytest.mark.parametrize("world", ["gears", "maze"])
@pytest.mark.parametrize("model", ["player/solver", "player/random"])
def test_an_episode_has_the_messages_and_rewards_of_the_game(
    skyrl_gym: Any, world: str, mode: str, model: str
) -> None:
    player, game = Catalog().model(model), Game(Course(world, mode), 5, 3)
    turn, total = game.begin(), 0.0
    env = skyrl_gym.make(f"sketchmark_{world}", env_config={}, extras={"seed": 5, "level": 3, "mode": mode})
    messages, _ = env.init([{"role": "system", "content": "a prompt"}])
    assert messages[0] == {"role": "system", "content": "a prompt"}
    observed = messages[1:]
    while not turn.done:
        assert observed == [{"role": "user", "content": chat_parts(turn.parts)}]
        said = asyncio.run(player.say(turn.context, Options())).text
        turn, out = game.step(said), env.step(said)
        assert (out["reward"], out["done"], out["metadata"]) == (turn.reward, turn.done, turn.info)
        observed, total = out["observations"], total + out["reward"]
    assert observed == [] and env.get_metrics() == turn.info
    assert (total > 0) == (float(turn.info["answer"]) > 0)
    if (model, mode) == ("player/solver", "direct"):
        assert total == 0.5  # all of it is for the answer


def test_every_world_is_made_and_pickles_and_a_second_registration_changes_nothing(skyrl_gym: Any) -> None:
    from sketchmark.training.skyrl import register

    register()
    for world in worlds():
        env = skyrl_gym.make(f"sketchmark_{world}", extras={"seed": 2})
        copy = pickle.loads(pickle.dumps(env))  # noqa: S301 made above
        assert copy.init([]) == env.init([])


def test_turns_are_limited_and_modes_with_drawings_refused(skyrl_gym: Any) -> None:
    env = skyrl_gym.make("sketchmark_gears", extras={"mode": "text_cot", "max_turns": 1})
    out = env.step("a plan")
    assert out["done"] and out["reward"] == 0 and out["observations"] == []
    with pytest.raises(BadInput, match="no drawings"):
        skyrl_gym.make("sketchmark_gears", extras={"mode": "visual_cot"})
