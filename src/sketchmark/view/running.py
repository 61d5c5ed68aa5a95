"""Running the viewer: until it is interrupted (the command), or for the length of a `with` block (tests)."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from sketchmark.errors import BadInput
from sketchmark.view.app import make_app

HOST = "127.0.0.1"


def serve(root: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve the runs below `root` on loopback until Ctrl-C; `ready` gets the address with its token."""
    server, listening, address = _prepare(root, port)
    with listening:
        ready(address)
        try:
            asyncio.run(server.serve(sockets=[listening]))
        except KeyboardInterrupt:
            return


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """A viewer on a free port in a thread of its own; gives its address."""
    server, listening, address = _prepare(root, 0)
    with listening:
        # Signals belong to the main thread: uvicorn leaves them alone when it runs in another.
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(10)


def _prepare(root: Path, port: int) -> tuple[uvicorn.Server, socket.socket, str]:
    token = secrets.token_urlsafe(24)
    config = uvicorn.Config(
        make_app(root, token),
        ws="none",
        loop="asyncio",
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
    )
    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        raise BadInput(f"cannot listen on {HOST}:{port}: {error}", "--port 0 takes any free port") from error
    return uvicorn.Server(config), listening, f"http://{HOST}:{listening.getsockname()[1]}/?token={token}"
