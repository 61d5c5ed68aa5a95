"""A server for everything that can go wrong below HTTP: it answers with bytes, not with responses.

The first part of a request's path names the fault that befalls it, so that one server serves every adapter and test.
"""

from __future__ import annotations

import json
import socket
import socketserver
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from random import SystemRandom
from typing import Any, Literal

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sketchmark import Model, Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.providers import bagel
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.batch import connect, run_job
from sketchmark.models.providers.batch_files import BatchRequest, JobFiles, State, digest
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.openai import OpenAI
from tests.models.fake_server import KEY

TLS_HELLO = b"\x16"
"""The first byte of a client that wants TLS."""


@dataclass(frozen=True)
class Broken:
    """The bytes that are sent, and the end of the connection after them."""

    sent: bytes = b""
    then: Literal["close", "reset", "trickle", "redirect"] = "close"


def answer(status: int, body: Any = None, headers: Mapping[str, str] | None = None, *, missing: int = 0) -> bytes:
    """A whole HTTP answer; `missing` bytes are announced and never come. An error's words echo the key."""
    if body is None:
        body = {"error": {"message": f"planned {status}\nfor {KEY}", "code": str(status)}}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "text/html" if data.startswith(b"<") else "application/json"
    phrase = HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else "Status"
    fields = {"Content-Type": kind, "Content-Length": len(data) + missing, "Connection": "close", **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {phrase}\r\n{head}\r\n".encode() + data


@dataclass
class BrokenServer:
    """`url` is its address, over TLS where it was started with a certificate."""

    faults: Mapping[str, Broken]
    port: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    """Requests by fault."""

    ended: threading.Event = field(default_factory=threading.Event)

    def serve(self, connection: socket.socket) -> None:
        head, _, body = _read_head(connection).partition(b"\r\n\r\n")
        if head.startswith(TLS_HELLO):
            connection.sendall(answer(400))
            return
        path = head.split(b" ")[1].decode()
        length = next((int(v) for k, _, v in _fields(head) if k == b"content-length"), 0)
        while len(body) < length and (more := connection.recv(65536)):
            body += more
        name = path.split("/")[1]
        fault = self.faults[name]
        self.seen[name] += 1
        connection.sendall(answer(307, {}, {"Location": path}) if fault.then == "redirect" else fault.sent)
        while fault.then == "trickle" and not self.ended.wait(0.02):
            connection.sendall(b" ")
        if fault.then == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _read_head(connection: socket.socket) -> bytes:
    got = b""
    while b"\r\n\r\n" not in got and not got.startswith(TLS_HELLO) and (more := connection.recv(65536)):
        got += more
    return got


def _fields(head: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    return (line.lower().partition(b":") for line in head.split(b"\r\n")[1:])


class _Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle trusts no such certificate, or has waited enough: as it should be."""


@contextmanager
def broken(faults: Mapping[str, Broken], certificate: Path | None = None) -> Iterator[BrokenServer]:
    far = BrokenServer(faults)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            connection = self.request
            if certificate:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate)
                connection = context.wrap_socket(connection, server_side=True)
            far.serve(connection)
            if certificate:
                connection.close()

    with _Threads(("127.0.0.1", 0), Handler) as server:
        far.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield far
        finally:
            far.ended.set()
            server.shutdown()


def free_port() -> int:
    """Return a port without a server, outside of the range from which the system gives others theirs."""
    while True:
        port = 20_000 + SystemRandom().randrange(12_000)
        with socket.socket() as held, suppress(OSError):
            held.bind(("127.0.0.1", port))
            return port


def make_certificate(path: Path, *, expired: bool = False) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"test {path.stem}")])
    start = datetime.now(UTC) - timedelta(days=9)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=3 if expired else 99))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    held = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + held)
    return path


# Every adapter, ready to ask such a server one question


TRIES = 2

Ask = Callable[[str, Path], Awaitable[Any]]


def _model(make: Callable[[str, dict[str, Any]], Model], act: str = "say") -> Ask:
    async def ask(url: str, folder: Path) -> Any:
        model = make(url, {"max_retries": TRIES - 1, "timeout": 0.1 if "trickle" in url else 20})
        try:
            return await (model.draw if act == "draw" else model.say)(of("Hm?"), Options())
        finally:
            await model.close()

    return ask


def _batch(*, sent: bool) -> Ask:
    """A job that is to be uploaded, or one that is under way and asked about."""

    async def ask(url: str, folder: Path) -> Any:
        timeout = 0.1 if "trickle" in url else 20
        connection = connect("openai/m", {"base_url": url, "max_retries": TRIES - 1, "timeout": timeout})
        files = JobFiles.named(folder / "asked", folder / "answers")
        requests = [BatchRequest("one", {"model": "m", "messages": []})]
        if sent:
            files.save_state(State(digest(requests), connection.server, "file-1", "batch-1"))
        try:
            return await run_job(connection, requests, files, lambda words: None)
        finally:
            await connection.close()

    return ask


ADAPTERS: dict[str, Ask] = {
    "openai": _model(lambda url, args: OpenAI("m", base_url=url, **args)),
    "openai-images": _model(lambda url, args: OpenAI("gpt-image-2", base_url=url, **args), "draw"),
    "vllm-drawing": _model(lambda url, args: OpenAI("m", base_url=url, **args), "draw"),
    "azure": _model(lambda url, args: Azure("m", azure_endpoint=url, **args)),
    "bagel": _model(lambda url, args: bagel.make("", base_url=url, **args)),
    "gemini": _model(lambda url, args: Gemini("m", base_url=url, **args)),
    "anthropic": _model(lambda url, args: Anthropic("m", base_url=url, **args)),
    "batch": _batch(sent=False),
    "batch-under-way": _batch(sent=True),
}


async def failure(adapter: str, url: str, folder: Path, *, again: bool, stops: bool) -> CallFailed:
    """Return the failure of a call, after checking what every failure has in common."""
    with pytest.raises(CallFailed) as caught:
        await ADAPTERS[adapter](url, folder)
    error = caught.value
    told = str(error)
    assert "\n" not in told and len(told) < 1200
    assert KEY not in told and KEY not in repr(error.__context__) and KEY not in repr(error.__cause__)
    assert (f"tried {TRIES} times" in told) == again
    assert (error.stops_run, error.blames_model) == (stops, False)
    assert error.hint or not stops
    return error
