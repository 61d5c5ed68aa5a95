"""Gymnasium: every world as `sketchmark/NAME-v0`, with texts and images as actions and observations.

    import gymnasium, sketchmark.training.gym
    env = gymnasium.make("sketchmark/gears-v0", levels=(1, 2))
    parts, info = env.reset(seed=1)

An observation is what the task has added since the last turn: a tuple of texts and images (uint8, height × width ×
3). An action is the model's reply, such a tuple too. `info["wanted"]` says whether a text or a drawing is due, and
`info["context"]` is everything that a model is shown, with its own turns. `reset(options={"sample_seed": 7})` chooses
the sample, so that a group of episodes has the same one; `level` and `look` are options, too.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput, MissingExtra
from sketchmark.media import Picture
from sketchmark.training import Course, Game, Outcome, Weights, worlds
from sketchmark.worlds import LEVELS

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError as error:
    raise MissingExtra("environments of Gymnasium", "gymnasium") from error

Content = str | NDArray[np.uint8]
_MOST_SENT, _MOST_SHOWN = 8, 256
_SMALL = 32
_OPTIONS = ("sample_seed", "level", "look")


class Parts(spaces.Space[tuple[Content, ...]]):  # type: ignore[misc]
    """Tuples of texts and images of any size."""

    def __init__(self, most: int, seed: int | None = None) -> None:
        super().__init__(None, None, seed)
        self.most = most

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> tuple[Content, ...]:
        return tuple(self._one() for _ in range(int(self.np_random.integers(1, 4))))

    def _one(self) -> Content:
        if self.np_random.random() < 0.5:
            return "".join(self.np_random.choice(list(string.ascii_lowercase + " "), 12))
        noise: NDArray[np.uint8] = self.np_random.integers(0, 256, (_SMALL, _SMALL, 3), dtype=np.uint8)
        return noise

    def contains(self, x: Any) -> bool:
        return isinstance(x, tuple) and len(x) <= self.most and all(map(_is_content, x))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parts) and other.most == self.most

    def __repr__(self) -> str:
        return f"Parts({self.most})"


def _is_content(one: Any) -> bool:
    image = isinstance(one, np.ndarray) and one.dtype == np.uint8 and one.ndim == 3 and one.shape[2] == 3
    return isinstance(one, str) or image


def _shown(parts: Iterable[Part]) -> tuple[Content, ...]:
    """Return parts as an observation. Its arrays are new: users may keep them and write on them."""
    return tuple(part.picture.values.copy() if part.picture else part.text or "" for part in parts)


def _sent(contents: Sequence[Content]) -> list[str | Picture]:
    from PIL import Image

    whole = (one for one in contents if isinstance(one, str) or one.size)
    return [one if isinstance(one, str) else Picture.from_image(Image.fromarray(one)) for one in whole]


class WorldEnv(gymnasium.Env[tuple[Content, ...], tuple[Content, ...]]):  # type: ignore[misc]
    """One world as an environment. Levels and looks that are not named are held out."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 2}

    def __init__(
        self,
        world: str,
        mode: str = "visual_cot",
        levels: Sequence[int] = LEVELS,
        looks: Sequence[str] = (),
        weights: Weights | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.course = Course(world, mode, tuple(levels), tuple(looks), weights or Weights())
        self.action_space, self.observation_space = Parts(_MOST_SENT), Parts(_MOST_SHOWN)
        self.render_mode = render_mode
        self._game: Game | None = None
        self._context = Context()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[Content, ...], dict[str, Any]]:
        super().reset(seed=seed)
        asked = options or {}
        if unknown := asked.keys() - _OPTIONS:
            raise BadInput(f"there is no option {', '.join(sorted(unknown))}", f"options are: {', '.join(_OPTIONS)}")
        own = asked["sample_seed"] if "sample_seed" in asked else int(self.np_random.integers(2**31))
        self._game = Game(self.course, int(own), asked.get("level"), asked.get("look", ""))
        turn = self._game.begin()
        return _shown(turn.parts), {**self._told(turn), "sample_seed": int(own)}

    def step(
        self, action: tuple[Content, ...]
    ) -> tuple[tuple[Content, ...], SupportsFloat, bool, bool, dict[str, Any]]:
        assert self._game is not None, "call reset() first"
        turn = self._game.step(*_sent(action))
        return _shown(turn.parts), turn.reward, turn.done, False, self._told(turn)

    def _told(self, turn: Outcome) -> dict[str, Any]:
        self._context = turn.context
        return {**turn.info, "wanted": turn.wanted, "context": turn.context}

    def render(self) -> NDArray[np.uint8]:
        """Return the newest image that the model has seen or drawn."""
        pictures = self._context.pictures
        return pictures[-1].values.copy() if pictures else np.full((_SMALL, _SMALL, 3), 255, np.uint8)


def register(names: Iterable[str] = ()) -> None:
    """Register worlds as `sketchmark/NAME-v0`; without names, all that have levels."""
    known: Mapping[str, Any] = gymnasium.registry
    for name in names or worlds():
        if (id := f"sketchmark/{name}-v0") not in known:
            gymnasium.register(id, entry_point=f"{__name__}:WorldEnv", kwargs={"world": name})


register()
