from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx
import openai
import pytest

from sketchmark.serve import serving
from sketchmark.serve.gate import MAX_BODY
from tests.serve.models import Speaker


def test_without_the_key_nothing_is_answered() -> None:
    with serving(Speaker(), key="sesame") as url:
        assert openai.OpenAI(base_url=url, api_key="sesame").models.list().data
        for given in ("wrong", "sesam", "sesame2", "ключ".encode().decode("latin-1")):
            answer = httpx.get(f"{url}/models", headers={b"Authorization": f"Bearer {given}".encode("latin-1")})
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
        assert httpx.get(f"{url}/models").status_code == 401


def test_a_body_over_the_limit_is_refused_before_it_is_read() -> None:
    with serving(Speaker()) as url:
        where = urlsplit(url)
        with socket.create_connection((where.hostname, where.port)) as connection:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MAX_BODY + 1}\r\n\r\n"
            connection.sendall(head.encode())
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"body_too_large" in answer


def test_a_body_that_hides_its_length_is_cut_at_the_limit() -> None:
    def endless() -> object:
        while True:
            yield bytes(2**20)

    with serving(Speaker()) as url:
        try:
            answer = httpx.post(f"{url}/chat/completions", content=endless())  # type: ignore[arg-type]
        except httpx.HTTPError:
            return  # the server hung up while the client was still sending
        assert answer.status_code == 413


def test_a_foreign_host_name_is_refused() -> None:
    with serving(Speaker()) as url:
        assert httpx.get(f"{url}/models", headers={"Host": "evil.example"}).status_code == 400


def test_the_server_is_gone_after_the_block() -> None:
    with serving(Speaker()) as url:
        assert httpx.get(f"{url}/models").status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/models")
