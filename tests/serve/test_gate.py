"""The server's gate, and `sketchmark serve`: keys, hosts, origins and bodies that are let in, signals and options."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import openai
import pytest

from sketchmark import Context, Options, Reply
from sketchmark.serve import MAX_BODY, Faults, serving
from tests.serve.models import Speaker, command, started


class Counting(Speaker):
    asked = 0

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked += 1
        return await super().say(context, options)


@pytest.fixture(scope="module")
def model() -> Counting:
    return Counting()


@pytest.fixture(scope="module")
def url(model: Counting) -> Iterator[str]:
    with serving(model) as found:
        yield found


JSON = {"Content-Type": "application/json"}
QUESTION = b'{"model": "m", "messages": [{"role": "user", "content": "Hm?"}]}'


def ask(url: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/chat/completions", content=QUESTION, headers=headers)


def ends(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_key_is_asked_for_as_a_bearer_token_however_that_is_spelt() -> None:
    refused = ("Bearer wrong", "Bearer sesam", "Bearer sesame2", "Bearer " + "ключ".encode().decode("latin-1"))
    with serving(Speaker(), key="sesame") as url:
        assert openai.OpenAI(base_url=url, api_key="sesame").models.list().data
        for given in ("bearer sesame", "BEARER  sesame"):
            assert httpx.get(f"{url}/models", headers={"Authorization": given}).status_code == 200
        for given in (*refused, "sesame", "Basic sesame", "Bearer"):
            answer = httpx.get(f"{url}/models", headers={b"Authorization": given.encode("latin-1")})
            assert ends(answer) == (401, "invalid_api_key")
        assert httpx.get(f"{url}/models").status_code == 401


def test_a_body_over_the_limit_is_refused_before_it_is_read(url: str) -> None:
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port)) as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MAX_BODY + 1}\r\n\r\n"
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 413") and b"body_too_large" in answer


def test_a_body_that_hides_its_length_is_cut_at_the_limit(url: str) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield bytes(2**20)

    try:
        answer = httpx.post(f"{url}/chat/completions", content=endless())
    except httpx.HTTPError:
        return  # the server hung up while the client was still sending
    assert answer.status_code == 413


def test_a_foreign_host_name_is_refused(url: str) -> None:
    for name in ("evil.example", "127.0.0.1.evil.example", ""):
        assert ends(httpx.get(f"{url}/models", headers={"Host": name})) == (400, "foreign_host")
    for name in ("localhost", "LocalHost:80", "127.0.0.1:1"):
        assert httpx.get(f"{url}/models", headers={"Host": name}).status_code == 200
    rebound = {"Host": "evil.example", "Origin": "http://evil.example", **JSON}
    assert ask(url, **rebound).status_code == 400, "a name that points at this machine does not help"


@pytest.mark.parametrize("kind", ["text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded",
                                  "multipart/form-data; boundary=x", "application/jsonp", ""])  # fmt: skip
def test_a_body_that_a_web_page_may_send_unasked_is_refused(model: Counting, url: str, kind: str) -> None:
    before = model.asked
    assert ends(ask(url, **{"Content-Type": kind})) == (415, "unsupported_media_type")
    assert model.asked == before
    assert ask(url, **{"Content-Type": "Application/JSON; charset=utf-8"}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:3000", "", "file://"]
)
def test_a_request_from_a_web_page_elsewhere_is_refused(model: Counting, url: str, origin: str) -> None:
    before, upload = model.asked, {"file": ("a.jsonl", b"{}")}
    answers = [
        ask(url, **JSON, Origin=origin),
        httpx.post(f"{url}/files", data={"purpose": "batch"}, files=upload, headers={"Origin": origin}),
        httpx.get(f"{url}/models", headers={"Origin": origin}),
        httpx.options(f"{url}/chat/completions", headers={"Origin": origin}),
    ]
    assert {ends(answer) for answer in answers} == {(403, "foreign_origin")}
    assert not any("access-control-allow-origin" in answer.headers for answer in answers)
    assert model.asked == before and httpx.get(f"{url}/files").json()["data"] == []


def test_programs_and_the_servers_own_address_are_let_in(url: str) -> None:
    assert ask(url, **JSON).status_code == 200
    assert ask(url, **JSON, Origin=url.removesuffix("/v1")).status_code == 200


def test_the_server_is_gone_after_the_block() -> None:
    with serving(Speaker()) as url:
        assert httpx.get(f"{url}/models").status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/models")


# The command


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_answers_and_stops_on_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path) as (process, url):
        client = openai.OpenAI(base_url=url, api_key="any")
        answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
        assert answer.choices[0].message.content == "hello"
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "closed\n", "")


def test_the_command_serves_other_addresses_with_a_key_from_the_environment(tmp_path: Path) -> None:
    """127.0.0.2 stands for another address of this machine, which no name of loopback covers."""
    with started(tmp_path, "--host", "127.0.0.2", "--key-env", "SESAME", SESAME="s3") as (_, url):
        assert url.startswith("http://127.0.0.2:") and httpx.get(f"{url}/models").status_code == 401
        named = {"Authorization": "Bearer s3", "Host": "a-name-of-mine"}
        assert httpx.get(f"{url}/models", headers=named).status_code == 200


def test_faults_and_latency_come_from_the_command_line(tmp_path: Path) -> None:
    with started(tmp_path, "--fail", "503:1", "--latency", "100ms") as (_, url):
        answer = httpx.get(f"{url}/models")
    assert answer.status_code == 503 and answer.elapsed.total_seconds() >= 0.1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("--fail x", ""), ("--latency x", ""), ("--batch x", ""), ("--key-env NOT_THERE", ""), ("--port 70000", ""),
     ("--port TAKEN", "127.0.0.1:TAKEN"), ("--port 0 --host 0.0.0.0", "--host 0.0.0.0 would serve anyone who can")],
)  # fmt: skip
def test_a_wrong_option_is_one_clear_line(tmp_path: Path, wrong: str, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        options = command(tmp_path, *wrong.replace("TAKEN", port).split())
        done = subprocess.run(options, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("sketchmark: ") and said.replace("TAKEN", port) in done.stderr
    assert "0.0.0.0" not in wrong or "--key-env" in done.stderr


# Clients that hold on to what they got


class Line:
    """A connection that sends what it is given and no more."""

    def __init__(self, url: str, data: bytes = b"") -> None:
        where = urlsplit(url)
        self.socket = socket.create_connection((where.hostname, where.port), timeout=60)
        with suppress(ConnectionError):  # the server may refuse it while it is being sent
            self.socket.sendall(data)

    def said(self) -> bytes:
        """All that came until the server closed the connection."""
        with suppress(ConnectionResetError):
            return b"".join(iter(lambda: self.socket.recv(65536), b""))
        return b"reset"

    def close(self) -> None:
        self.socket.close()


def half(size: int, sent: int) -> bytes:
    """The head of a request with a body of `size` bytes, and the first of them."""
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n{KIND}\r\n"
    return head.encode() + bytes(sent)


KIND = "Content-Type: application/json\r\n"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEAD_SECONDS", "BODY_PAUSE"):
        monkeypatch.setattr(f"sketchmark.serve.{name}", 0.3)


@pytest.mark.parametrize("begun", [b"", b"G", b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_a_head_that_does_not_come_closes_the_connection(hurried: None, begun: bytes) -> None:
    with serving(Speaker()) as url:
        began = time.monotonic()
        assert Line(url, begun).said() == b"" and 0.2 < time.monotonic() - began < 30
        kept = Line(url, b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.5)
        assert kept.socket.recv(65536).startswith(b"HTTP/1.1 200"), "an answered one is kept for the next request"
        kept.socket.sendall(b"GET /v1/mod")
        assert b"HTTP" not in kept.said(), "and closed if the head of that one does not come"
        assert httpx.get(f"{url}/models").status_code == 200


def test_a_trickled_head_has_no_more_time_than_a_silent_one(hurried: None) -> None:
    with serving(Speaker()) as url:
        line, began = Line(url), time.monotonic()
        with suppress(OSError):
            for _ in range(400):
                line.socket.sendall(b"a")
                time.sleep(0.05)
        assert time.monotonic() - began < 15


def test_a_request_that_is_answered_slowly_is_not_cut_off(hurried: None) -> None:
    with serving(Speaker(), faults=Faults(latency=1.0)) as url:
        assert ask(url, **JSON).status_code == 200


def test_a_body_that_stops_is_a_408_and_frees_its_room(hurried: None) -> None:
    with serving(Speaker()) as url:
        said = Line(url, half(5_000_000, 1_000_000)).said()
        assert said.startswith(b"HTTP/1.1 408") and b"body_too_slow" in said and b"connection: close" in said.lower()
        assert ask(url, **JSON).status_code == 200


def test_half_open_bodies_hold_only_so_many_bytes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sketchmark.serve.MOST_IN_FLIGHT", 10_000_000)
    with serving(Speaker()) as url:
        held = [Line(url, half(5_000_000, 4_000_000)) for _ in range(2)]
        time.sleep(1.5)
        refused = Line(url, half(5_000_000, 4_000_000)).said()
        assert refused == b"reset" or (refused.startswith(b"HTTP/1.1 503") and b"retry-after: 1" in refused.lower())
        assert ask(url, **JSON).status_code == 200, "a small one has room"
        for line in held:
            line.close()
        time.sleep(1)
        again = Line(url, half(5_000_000, 5_000_000))
        assert again.socket.recv(65536).startswith(b"HTTP/1.1 400"), "there is room again"


def test_more_connections_than_the_limit_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sketchmark.serve.ResettableProtocol.most", 5)
    with serving(Speaker()) as url:
        held = [Line(url) for _ in range(5)]
        time.sleep(1)
        assert Line(url).said().startswith(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n")
        for line in held:
            line.close()
        time.sleep(1)
        assert httpx.get(f"{url}/models").status_code == 200
