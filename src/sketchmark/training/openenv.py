"""OpenEnv: the worlds as a server of environments, and its client. Actions and observations are texts and images.

    python hubs/openenv/server/app.py --port 8433

    with WorldEnv(base_url="http://127.0.0.1:8433").sync() as env:
        result = env.reset(seed=7, world="gears", level=2)
        result = env.step(reply_of("a plan"))

A session is a WebSocket with one game at a time. `observation.parts` is what the task has added since the last turn,
`observation.wanted` whether a text or a drawing is due. Images are data URLs, and nothing is fetched. The server
takes no key, so it serves loopback unless you ask for another address, as in a container. It refuses web pages, other
host names, and messages of more than 24 MB.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import SystemRandom
from typing import Annotated, Any, Literal

from sketchmark.episode.sample import Part
from sketchmark.errors import BadInput, MissingExtra
from sketchmark.media import Picture
from sketchmark.serve import LOOPBACK, NO_FAULTS, Gate
from sketchmark.training import Course, Game, Outcome, Wanted, bytes_in, worlds

try:
    import uvicorn
    from openenv.core import EnvClient
    from openenv.core.client_types import StepResult
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
    from pydantic import BaseModel, ConfigDict, Field
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send
except ModuleNotFoundError as error:
    raise MissingExtra("environments of OpenEnv", "openenv") from error

_MOST_PARTS, _MOST_CHARACTERS, _MOST_MESSAGE = 8, 22_000_000, 24_000_000
_SESSIONS = 64


class WirePart(BaseModel):
    """A text, or an image as a data URL."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["text", "image_url"]
    text: Annotated[str, Field(max_length=_MOST_CHARACTERS)] = ""
    image_url: Annotated[str, Field(max_length=_MOST_CHARACTERS)] = ""


class WorldAction(Action):  # type: ignore[misc]
    """A model's reply."""

    parts: Annotated[list[WirePart], Field(max_length=_MOST_PARTS)]


class WorldObservation(Observation):  # type: ignore[misc]
    """What the task shows next. `metadata` has the marks so far, and never the solution."""

    parts: Annotated[list[WirePart], Field(default_factory=list)]
    wanted: Wanted = ""


class WorldState(State):  # type: ignore[misc]
    """Name of the sample."""

    world: str = ""
    mode: str = ""
    seed: int = 0


def reply_of(*contents: str | Picture) -> WorldAction:
    """Return a reply of texts and images as an action."""
    return WorldAction(parts=_wired(map(Part, contents)))


def _wired(parts: Iterable[Part]) -> list[WirePart]:
    return [
        WirePart(type="image_url", image_url=part.picture.data_url)
        if part.picture
        else WirePart(type="text", text=part.text or "")
        for part in parts
    ]


class WorldEnvironment(Environment[WorldAction, WorldObservation, WorldState]):  # type: ignore[misc]
    """One session: games of any world, one after the other."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._game: Game | None = None
        self._state = WorldState()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        world: str = "",
        mode: str = "visual_cot",
        level: int | None = None,
        look: str = "",
        **unknown: Any,
    ) -> WorldObservation:
        if unknown:
            raise BadInput(f"reset takes no {', '.join(unknown)}"[:200], "seed, world, mode, level, look")
        world = world or worlds()[0]
        seed = SystemRandom().randrange(2**31) if seed is None else seed
        self._game = Game(Course(world, mode), seed, level, look)
        self._state = WorldState(episode_id=episode_id, world=world, mode=mode, seed=seed)
        return _observed(self._game.begin())

    def step(self, action: WorldAction, timeout_s: float | None = None, **more: Any) -> WorldObservation:
        if self._game is None:
            raise BadInput("no game has begun", "call reset first, on the same WebSocket")
        turn = self._game.step(*(one.text if one.type == "text" else bytes_in(one.image_url) for one in action.parts))
        self._state.step_count += 1
        return _observed(turn)

    @property
    def state(self) -> WorldState:
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        about = "Generated visual puzzles with a reward for every drawn frame."
        return EnvironmentMetadata(name="sketchmark", description=about, version="0.1.0")


def _observed(turn: Outcome) -> WorldObservation:
    return WorldObservation(
        parts=_wired(turn.parts), wanted=turn.wanted, done=turn.done, reward=turn.reward, metadata=dict(turn.info)
    )


class _Gate(Gate):
    """The checks of our servers, for WebSockets too: a web page may open one to loopback."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            name = headers.get("host", "").partition(":")[0].lower()
            if "origin" in headers or ("*" not in self.hosts and name not in self.hosts):
                await receive()
                await send({"type": "websocket.close", "code": 1008})
                return
        await super().__call__(scope, receive, send)


def make_app(*, hosts: Iterable[str] = LOOPBACK) -> ASGIApp:
    """Make the application. `hosts`: the accepted host names; `*` is any."""
    app = create_fastapi_app(
        WorldEnvironment, WorldAction, WorldObservation, max_concurrent_envs=_SESSIONS, state_cls=WorldState
    )
    return _Gate(app, NO_FAULTS, None, tuple(hosts))


def serve(*, host: str = "127.0.0.1", port: int = 8433) -> None:
    """Serve until SIGINT or SIGTERM."""
    app = make_app(hosts=LOOPBACK if host in LOOPBACK else ("*",))
    uvicorn.run(app, host=host, port=port, ws_max_size=_MOST_MESSAGE, access_log=False)


class WorldEnv(EnvClient[WorldAction, WorldObservation, WorldState]):  # type: ignore[misc]
    """The client of the server: a session of its own."""

    def _step_payload(self, action: WorldAction) -> dict[str, Any]:
        payload: dict[str, Any] = action.model_dump()
        return payload

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[WorldObservation]:
        done, reward = bool(payload.get("done")), payload.get("reward")
        seen = WorldObservation(**{**payload["observation"], "done": done, "reward": reward})
        return StepResult(observation=seen, reward=reward, done=done, metadata=payload.get("metadata"))

    def _parse_state(self, payload: dict[str, Any]) -> WorldState:
        return WorldState(**payload)
