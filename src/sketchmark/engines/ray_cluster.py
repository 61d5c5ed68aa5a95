"""Workers on a Ray cluster: asynchronous actors, each with several jobs at once.

An actor gets its recipe and the keys by calls that go directly to its process. The cluster keeps an actor's
constructor arguments for the whole job, so keys must not be among them. Ray's restarts are off for that reason, and
because Ray would retry a job that kills its worker without end. The crew starts another actor instead.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from sketchmark.engines._process import Player, open_player
from sketchmark.engines.crew import WorkerLost
from sketchmark.errors import BadInput, MissingExtra, SketchmarkError, install_command

_PATIENCE = 30.0
"""Seconds without a place before a warning, and for a worker to close a model."""


@dataclass(frozen=True)
class Needs:
    """Resources of one worker."""

    gpus: float = 0
    places: int = 1

    def fit_into(self, resources: Mapping[str, float]) -> int:
        """Return how many such workers fit."""
        if self.gpus:
            return int(resources.get("GPU", 0) / self.gpus)
        return int(resources.get("CPU", 0))


class Cluster:
    """Connection to a cluster for a run. An existing connection is kept as it is."""

    def __init__(self, address: str | None) -> None:
        ray = _ray()
        self._ours = not ray.is_initialized()
        if not self._ours:
            return
        try:
            _knock(address or os.environ.get("RAY_ADDRESS", ""))
            with _signals_as_they_are():
                ray.init(address=address or None, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError, OverflowError) as error:
            where = address or os.environ.get("RAY_ADDRESS") or "the usual place"
            raise BadInput(
                f"cannot reach a Ray cluster at {where}: {' '.join(str(error).split())[:200]}",
                "see `ray status`; --ray-address names another",
            ) from error

    def room_for(self, needs: Needs) -> int:
        return needs.fit_into(_ray().cluster_resources())

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._ours:
            _ray().shutdown()


class Actor:
    """The worker's side, in a process of the cluster."""

    def __init__(self) -> None:
        self._player: Player | None = None

    async def open(self, entry: str, recipe: bytes, variables: dict[str, str]) -> str:
        """Open the code that runs jobs. Returns the reason for a failure, or an empty text."""
        os.environ.update(variables)
        found = await open_player(entry, recipe)
        if isinstance(found, str):
            return found
        self._player = found
        return ""

    async def play(self, job: bytes) -> bytes:
        assert self._player is not None
        return await self._player.play(job)

    async def news(self) -> bytes:
        return self._player.news() if self._player is not None else b""

    async def close(self) -> None:
        if self._player is not None:
            await self._player.close()


class RayWorker:
    """This side of one actor."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    @classmethod
    async def start(cls, entry: str, recipe: bytes, variables: Mapping[str, str], needs: Needs) -> RayWorker:
        ray = _ray()
        make = ray.remote(Actor).options(
            num_cpus=1,
            num_gpus=needs.gpus,
            max_concurrency=needs.places + 1,  # `close` and `news` do not wait behind a job
            max_restarts=0,
            max_task_retries=0,
        )
        worker = cls(make.remote())
        warn = logging.getLogger("sketchmark").warning
        warning = asyncio.get_running_loop().call_later(_PATIENCE, warn, _waiting(needs))
        try:
            problem = await worker._ask("open", entry, recipe, dict(variables))
            if problem:
                raise SketchmarkError(problem)
        except BaseException:
            await worker.close(at_once=True)
            raise
        finally:
            warning.cancel()
        return worker

    async def play(self, job: bytes) -> bytes:
        outcome: bytes = await self._ask("play", job)
        return outcome

    async def news(self) -> bytes:
        said: bytes = await self._ask("news")
        return said

    async def close(self, *, at_once: bool) -> None:
        ray = _ray()
        if not at_once:
            with suppress(TimeoutError, WorkerLost, SketchmarkError):
                async with asyncio.timeout(_PATIENCE):
                    await self._ask("close")
        with suppress(ray.exceptions.RayError):
            ray.kill(self._actor)

    async def _ask(self, method: str, *arguments: Any) -> Any:
        from ray.exceptions import RayError, RayTaskError, RuntimeEnvSetupError

        try:
            return await getattr(self._actor, method).remote(*arguments)
        except (RayTaskError, RuntimeEnvSetupError) as error:
            raise SketchmarkError(f"a worker broke: {_last_line(error)}") from error
        except RayError as error:  # the actor, its process, its node, or its result is gone
            if "No module named 'sketchmark'" in str(error):
                raise BadInput(
                    "Sketchmark is not installed on the cluster's workers",
                    f"{install_command('ray')} there, in the same version",
                ) from error
            raise WorkerLost(_told(error)) from error


def _knock(address: str) -> None:
    """Test the address first: Ray tries for half a minute to reach a missing server."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE / 3).close()


@contextmanager
def _signals_as_they_are() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces: a run ends in order by itself."""
    here = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if here else None
    yield
    if here and before is not None:
        signal.signal(signal.SIGTERM, before)


def _ray() -> Any:
    try:
        import ray.exceptions
    except ImportError as error:
        raise MissingExtra("--engine ray", "ray") from error
    return ray


def _waiting(needs: Needs) -> str:
    asked = "1 CPU" + (f" and {needs.gpus:g} GPU" if needs.gpus else "")
    return f"waiting for a place on the Ray cluster ({asked} for each replica); `ray status` shows what is free"


def _told(error: Exception) -> str:
    """Shorten Ray's page about a dead worker to its main sentence."""
    text = " ".join(str(error).split())
    for mark in ("Worker exit detail: ", "The actor is dead because "):
        _, found, after = text.partition(mark)
        if found:
            return f"{type(error).__name__}: {after.partition('. ')[0]}"[:300]
    return f"{type(error).__name__}: {text}"[:300]


def _last_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[-1] if lines else type(error).__name__)[:300]
