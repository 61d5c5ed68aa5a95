"""verifiers: the worlds as one taskset, and a harness that keeps what a model draws.

    vf-eval sketchmark-worlds -n 20 -m MODEL --env.taskset.world gears --env.agent.runtime.type subprocess

verifiers finds both by the name of a package, so `sketchmark_worlds` (`hubs/verifiers`) exports them. The harness
runs an episode of `sketchmark run` with the requests of a run, and keeps each reply in `trace.info["replies"]`. The
rewards score these replies as a run does. verifiers' own harnesses drop drawn images, so with them use a mode without
drawings.

`split=train` has training samples, `split=run` those of `sketchmark run` with the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from itertools import count
from typing import Any, Literal

from sketchmark.catalog import Catalog
from sketchmark.episode.model import Model, Options
from sketchmark.errors import CallFailed, MissingExtra
from sketchmark.models.providers.openai import OpenAI
from sketchmark.models.providers.openai_wire import OpenAIWire, to_openai
from sketchmark.training import Content, Course, Game, Marks, Weights, bytes_in, chat_parts, worlds
from sketchmark.worlds import LEVELS

try:
    import verifiers.v1 as vf
except ModuleNotFoundError as error:
    raise MissingExtra("environments of verifiers", "verifiers") from error

Replies = tuple[tuple[str, str], ...]
"""Replies of a model: `text` and the text, or `image` and its data URL."""


class WorldConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The settings of a taskset: `--env.taskset.world gears`."""

    world: str = worlds()[0]
    mode: str = "visual_cot"
    levels: tuple[int, ...] = LEVELS
    looks: tuple[str, ...] = ()
    split: Literal["train", "run"] = "train"
    seed: int = 0
    """First training seed, or the seed of the run."""


class WorldData(vf.TaskData):  # type: ignore[misc]
    """A task: how to make its sample again. It holds no solution."""

    world: str
    mode: str
    levels: tuple[int, ...]
    looks: tuple[str, ...]
    split: Literal["train", "run"]
    seed: int
    number: int

    def game(self) -> Game:
        course = Course(self.world, self.mode, self.levels, self.looks)
        if self.split == "train":
            return Game(course, self.seed + self.number)
        *_, draft = course.task.drafts(seed=self.seed, limit=self.number + 1)
        return Game(course, sample=draft.sample)


@lru_cache(maxsize=16)
def _marks(key: str, replies: Replies) -> Marks:
    """Score replies. The newest marks are kept: every reward of an episode asks for them."""
    game: Game = WorldData.model_validate_json(key).game()
    turn = game.begin()
    for kind, content in replies:
        if turn.done:
            break
        turn = game.step(bytes_in(content) if kind == "image" else content)
    return game.course.marks(game.episode, ended=turn.done)


class WorldTask(vf.Task[WorldData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """An episode, and its marks as rewards. Weights: `--env.taskset.task.rewards.form.weight 0.1`."""

    def marks(self, trace: vf.Trace) -> Marks:
        kept: list[Mapping[str, str]] = trace.info.get("replies") or [{"text": trace.last_reply or ""}]
        replies = tuple((kind, str(content)) for one in kept for kind, content in one.items())
        key = self.data.model_dump_json(include=set(WorldData.model_fields) - set(vf.TaskData.model_fields))
        return _marks(key, replies)

    async def validate(self, runtime: Any) -> bool:
        """Return whether the scripted solver's answer is right."""
        game: Game = self.data.game()
        await _play(game, Catalog().model("player/solver"), [])
        return game.course.marks(game.episode).answer == 1.0


def _reward(mark: str, weight: float) -> Any:
    async def reward(self: WorldTask, trace: vf.Trace) -> float:
        return float(getattr(self.marks(trace), mark))

    reward.__name__ = mark
    return vf.reward(weight=weight)(reward)


for _mark, _weight in asdict(Weights()).items():
    setattr(WorldTask, _mark, _reward(_mark, _weight))


async def _play(game: Game, model: Model, replies: list[dict[str, str]]) -> None:
    """Run a game to its end, and append each reply to `replies`."""
    turn = game.begin()
    while not turn.done:
        draws = turn.wanted == "draw"
        reply = await (model.draw if draws else model.say)(turn.context, Options())
        drawn = reply.picture.data_url if reply.picture else ""
        replies.append({"image": drawn} if draws else {"text": reply.text})
        sent: Content = reply.picture or b"" if draws else reply.text
        turn = game.step(sent)


class WorldTaskset(vf.Taskset[WorldTask, WorldConfig]):  # type: ignore[misc]
    """The samples of one world in one mode, without end."""

    INFINITE = True

    def load(self) -> Iterator[WorldTask]:
        names = set(WorldConfig.model_fields) - set(vf.TasksetConfig.model_fields)
        about = self.config.model_dump(include=names)
        for number in count():
            data = WorldData(number=number, **about)
            game = data.game()
            prompt = [vf.UserMessage(content=chat_parts(game.begin().context))]
            yield WorldTask(data.model_copy(update={"id": game.sample.id, "prompt": prompt}), self.config.task)


class _Intercepted(OpenAI):
    """A model behind the server by which verifiers records a rollout. It has a key for each rollout."""

    def __init__(self, name: str, address: str, secret: str) -> None:
        self._secret = secret
        super().__init__(name, base_url=address, draw_with="chat", modalities="image+text", max_retries="0")

    def _connect(self) -> OpenAIWire:
        return to_openai(self.base_url, self._secret)


class DrawingHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """The protocol of the task's mode, with the requests of `sketchmark run`. It keeps and shows what was drawn."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: WorldData,
    ) -> vf.ProgramResult:
        model = _Intercepted(ctx.model, endpoint, secret)
        try:
            await _play(data.game(), model, trace.info.setdefault("replies", []))
        except CallFailed as error:  # verifiers knows whether it stopped the rollout itself
            return vf.ProgramResult(1, "", str(error))
        finally:
            await model.close()
        return vf.ProgramResult(0, "", "")
