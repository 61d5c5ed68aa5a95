"""SkyRL-Gym: every world as `sketchmark_NAME`, in the modes without drawings: its models send text.

    import skyrl_gym, sketchmark.training.skyrl
    env = skyrl_gym.make("sketchmark_gears", extras={"seed": 7, "level": 2})
    messages, _ = env.init([])
    env.step(reply)

Observations are chat messages with the images of the task as data URLs, for SkyRL's generator of vision-language
models. The mode `text_input` has no images. A row of the trainer's dataset names its sample by `seed` and, if you
want, `level`, `look` and `mode` (by default `direct`). Importing this module registers the worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.training import Course, Game, Outcome, chat_parts, worlds

try:
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
    from skyrl_gym.envs.registration import registry
except ModuleNotFoundError as error:
    raise MissingExtra("environments of SkyRL-Gym", "skyrl") from error

Messages = list[dict[str, Any]]


class WorldTextEnv(BaseTextEnv):  # type: ignore[misc]
    """One episode of a world."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None, *, world: str) -> None:
        super().__init__()
        given = extras or {}
        mode = str(given.get("mode", "direct"))
        course = Course(world, mode)
        opened = course.opened_mode
        if (opened.protocol.must_draw or opened.protocol.skips_drawing) and not opened.in_words:
            raise BadInput(f"SkyRL-Gym's models send no drawings, and {mode} needs them", "use direct or text_input")
        level = given.get("level")
        seed, look = int(given.get("seed", 0)), str(given.get("look", ""))
        self._game = Game(course, seed, None if level is None else int(level), look)
        self._turn = self._game.begin()
        self.max_turns = int(given.get("max_turns", 64))

    def init(self, prompt: Messages) -> tuple[Messages, dict[str, Any]]:
        return [*prompt, *_asked(self._turn)], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        self.turns += 1
        self._turn = turn = self._game.step(action)
        done = turn.done or self.turns >= self.max_turns
        return BaseTextEnvStepOutput(
            observations=[] if done else _asked(turn), reward=turn.reward, done=done, metadata=dict(turn.info)
        )

    def get_metrics(self) -> dict[str, Any]:
        return dict(self._turn.info)


def _asked(turn: Outcome) -> Messages:
    return [{"role": "user", "content": chat_parts(turn.parts)}]


def register(names: Iterable[str] = ()) -> None:
    """Register worlds; without names, all with levels."""
    for name in names or worlds():
        if f"sketchmark_{name}" not in registry:
            entry = f"{__name__}:{WorldTextEnv.__name__}"
            skyrl_gym.register(id=f"sketchmark_{name}", entry_point=entry, kwargs={"world": name})


register()
