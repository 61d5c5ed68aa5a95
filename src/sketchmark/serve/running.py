"""Running the server: until a signal (the command), or for the length of a `with` block (tests)."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from sketchmark.errors import BadInput
from sketchmark.models.base import Model
from sketchmark.serve.app import LOOPBACK, NO_FAULTS, make_app
from sketchmark.serve.batches import Fate
from sketchmark.serve.faults import Faults
from sketchmark.serve.gate import ResettableProtocol

HOST = "127.0.0.1"


class _Server(uvicorn.Server):
    """uvicorn without its signal handling, which raises the signal again after the shutdown and so ends every
    process that was stopped in order as if it had been killed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(app: Starlette) -> _Server:
    config = uvicorn.Config(
        app,
        http=ResettableProtocol,
        ws="none",
        loop="asyncio",
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
    )
    return _Server(config)


def _listen(port: int, host: str = HOST) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise BadInput(f"cannot listen on {host}:{port}: {error}", "--port 0 takes any free port") from error


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"


async def serve(
    model: Model,
    *,
    port: int,
    ready: Callable[[str], None],
    host: str = HOST,
    faults: Faults = NO_FAULTS,
    key: str | None = None,
    fates: Sequence[Fate] = ("complete",),
) -> None:
    """Serve until SIGINT or SIGTERM, finish what is under way, and close the model. Beyond this machine only with a
    key; then any name may be asked for, since a page in a browser does not have it."""
    if host not in LOOPBACK and not key:
        raise BadInput(f"--host {host} would serve whoever can reach it", "ask for a token with --key-env NAME")
    try:
        with _listen(port, host) as listening:
            names = LOOPBACK if host in LOOPBACK else ("*",)
            server = _server(make_app(model, faults, key=key, fates=fates, hosts=names))
            loop = asyncio.get_running_loop()

            def stop() -> None:
                server.should_exit = True

            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop)
            ready(_url(listening))
            await server.serve(sockets=[listening])
    finally:
        await model.close()


@contextmanager
def serving(
    model: Model,
    *,
    faults: Faults = NO_FAULTS,
    key: str | None = None,
    fates: Sequence[Fate] = ("complete",),
) -> Iterator[str]:
    """A server on a free port in a thread of its own; gives its base URL. The model runs in that thread's loop."""
    with _listen(0) as listening:
        server = _server(make_app(model, faults, key=key, fates=fates))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        try:
            yield _url(listening)
        finally:
            server.should_exit = True
            thread.join(10)
