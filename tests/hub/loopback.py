"""A dataset hub on loopback: as much of the Hugging Face hub's HTTP interface as the real clients ask for.

Its repositories are written by the tests, file by file. What the clients asked and how many bytes they were given is
counted; a fault can be planted for the next requests that match it.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

REVISION = "0" * 39 + "1"
_API = re.compile(r"/api/datasets/([^/]+/[^/]+?)(?:/(revision|tree|paths-info)/([^/]+)(?:/(.*))?)?")
_FILE = re.compile(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")


@dataclass
class Asked:
    """One request and how it was answered; `given` counts the bytes of the body."""

    method: str
    path: str
    range: str = ""
    token: str = ""
    status: int = 0
    given: int = 0


@dataclass
class Fault:
    """For the next `times` requests whose path ends in `path`: a status, or an end of the connection after
    `cut_after` bytes of the body."""

    path: str
    status: int = 0
    cut_after: int = -1
    times: int = 1
    method: str = "GET"


@dataclass
class Hub:
    """Repositories by id: each the files by path. A gated one is only for tokens that were let in."""

    url: str = ""
    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    gated: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def publish(self, repo: str, folder: Path, card: dict[str, Any] | None = None) -> None:
        """A folder as a repository; `card` is what the head of its README says of configurations and splits."""
        found = [path for path in folder.rglob("*") if path.is_file()]
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
        if card is not None:
            files["README.md"] = f"---\n{yaml.safe_dump(card)}---\n# A dataset\n".encode()
        self.repositories[repo] = {".gitattributes": b"*.parquet filter=lfs\n", **files}

    def forget(self) -> None:
        """A clean slate for the next test: repositories stay."""
        self.faults.clear()
        self.asked.clear()
        self.gated.clear()

    def given(self) -> dict[tuple[str, str], int]:
        """Bytes that left the house, by repository and file."""
        found: dict[tuple[str, str], int] = {}
        for one in self.asked:
            if one.status in (200, 206) and one.given and (match := _FILE.fullmatch(one.path)):
                found[match[1], match[3]] = found.get((match[1], match[3]), 0) + one.given
        return found


def etag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the test reads `asked`."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionResetError, BrokenPipeError):  # a client that has read enough
            self.close_connection = True

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_POST = do_GET

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(self.path).path)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        self.asked = Asked(self.command, path, self.headers.get("Range") or "", token)
        self.hub.asked.append(self.asked)
        fault = next((one for one in self.hub.faults if self._meets(one, path)), None)
        if fault:
            fault.times -= 1
            if fault.status:
                return self._json({"error": "planted"}, fault.status)
        if match := _API.fullmatch(path):
            return self._api(match[1], match[2] or "", match[4] or "", body)
        if match := _FILE.fullmatch(path):
            return self._file(match[1], match[3], fault.cut_after if fault else -1)
        return self._json({"error": "Not Found"}, 404)

    def _meets(self, fault: Fault, path: str) -> bool:
        return fault.times > 0 and fault.method == self.command and path.endswith(fault.path)

    def _api(self, repo: str, kind: str, rest: str, body: bytes) -> None:
        files = self.hub.repositories.get(repo)
        if files is None:
            return self._missing("Repo")
        if kind == "tree":
            return self._json(_tree(files, rest))
        if kind == "paths-info":
            asked = json.loads(body)["paths"]
            return self._json([_entry(name, files[name]) for name in asked if name in files])
        head = files.get("README.md", b"").decode().split("---\n")
        about: dict[str, Any] = {"_id": "1", "id": repo, "sha": REVISION, "private": False, "disabled": False}
        about |= {"gated": "manual" if repo in self.hub.gated else False, "downloads": 0, "likes": 0, "tags": []}
        about |= dict.fromkeys(("lastModified", "createdAt"), "2026-01-01T00:00:00.000Z")
        about["cardData"] = yaml.safe_load(head[1]) if len(head) > 1 else {}
        about["siblings"] = [{"rfilename": name, "size": len(files[name])} for name in sorted(files)]
        return self._json(about)

    def _file(self, repo: str, name: str, cut_after: int) -> None:
        files = self.hub.repositories.get(repo)
        if files is None:
            return self._missing("Repo")
        if repo in self.hub.gated and self.asked.token != self.hub.gated[repo]:
            status = 403 if self.asked.token else 401
            return self._json({"error": f"Access to {repo} is restricted"}, status, {"X-Error-Code": "GatedRepo"})
        if name not in files:
            return self._missing("Entry")
        data = files[name]
        start, end = 0, len(data)
        tag = f'"{etag(data)}"'
        headers = {"ETag": tag, "X-Linked-Etag": tag, "X-Repo-Commit": REVISION}
        headers |= {"X-Linked-Size": str(len(data)), "Accept-Ranges": "bytes"}
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.asked.range)
        if span:
            start, end = int(span[1]), min(len(data), int(span[2]) + 1 if span[2] else len(data))
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        return self._answer(206 if span else 200, data[start:end], headers, cut_after)

    def _missing(self, kind: str) -> None:
        self._json({"error": f"{kind} not found"}, 404, {"X-Error-Code": f"{kind}NotFound"})

    def _json(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        kind = {"Content-Type": "application/json"}
        self._answer(status, json.dumps(value).encode(), {**kind, "X-Repo-Commit": REVISION, **(headers or {})})

    def _answer(self, status: int, body: bytes, headers: dict[str, str], cut_after: int = -1) -> None:
        self.asked.status = status
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = body if cut_after < 0 else body[:cut_after]
        self.asked.given = len(sent)
        self.wfile.write(sent)
        if cut_after >= 0:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True


def _entry(name: str, data: bytes) -> dict[str, Any]:
    oid, size = etag(data), len(data)
    large = {"oid": oid, "size": size, "pointerSize": 130}
    return {"type": "file", "path": name, "size": size, "oid": oid[:40], "lfs": large}


def _tree(files: dict[str, bytes], folder: str) -> list[dict[str, Any]]:
    """Everything below a folder: the clients ask for the tree with `recursive`, or take what they need of it."""
    below = f"{folder.rstrip('/')}/" if folder else ""
    names = [name for name in sorted(files) if name.startswith(below)]
    folders = {str(parent) for name in names for parent in Path(name).parents if str(parent) not in (".", folder)}
    return [{"type": "directory", "path": one, "size": 0, "oid": "0" * 40} for one in sorted(folders)] + [
        _entry(name, files[name]) for name in names
    ]


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub that answers on a free port of loopback until the block ends."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
