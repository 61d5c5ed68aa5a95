"""A proxy before a server, which keeps the bodies of the requests as they were on the wire."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Tap(ThreadingHTTPServer):
    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.bodies: list[dict[str, Any]] = []

    def settings(self) -> list[dict[str, Any]]:
        """Return the bodies without what was said and shown."""
        return [{name: value for name, value in body.items() if name != "messages"} for body in self.bodies]


class _Handler(BaseHTTPRequestHandler):
    server: Tap

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._forward(None)

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        self.server.bodies.append(json.loads(data))
        self._forward(data)

    def _forward(self, data: bytes | None) -> None:
        address = self.server.target + self.path.removeprefix("/v1")
        request = urllib.request.Request(address, data, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=600) as reply:
                status, body = reply.status, reply.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def tapped(target: str) -> Iterator[Tap]:
    """Run the proxy for the server at `target` (`http://HOST:PORT/v1`)."""
    tap = Tap(target)
    threading.Thread(target=tap.serve_forever, daemon=True).start()
    try:
        yield tap
    finally:
        tap.shutdown()
        tap.server_close()
