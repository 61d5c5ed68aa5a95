from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx
import openai
import pytest

from sketchmark.episode.model import Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.serve import MAX_BODY, serving
from tests.serve.models import Speaker


def test_without_the_key_nothing_is_answered() -> None:
    with serving(Speaker(), key="sesame") as url:
        assert openai.OpenAI(base_url=url, api_key="sesame").models.list().data
        for given in ("wrong", "sesam", "sesame2", "ключ".encode().decode("latin-1")):
            answer = httpx.get(f"{url}/models", headers={b"Authorization": f"Bearer {given}".encode("latin-1")})
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
        assert httpx.get(f"{url}/models").status_code == 401


@pytest.mark.parametrize(
    ("given", "status"),
    [("bearer sesame", 200), ("BEARER  sesame", 200), ("sesame", 401), ("Basic sesame", 401), ("Bearer", 401)],
)
def test_the_key_comes_as_a_bearer_token_however_that_is_spelled(given: str, status: int) -> None:
    with serving(Speaker(), key="sesame") as url:
        assert httpx.get(f"{url}/models", headers={"Authorization": given}).status_code == status


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
        for name in ("evil.example", "127.0.0.1.evil.example", ""):
            answer = httpx.get(f"{url}/models", headers={"Host": name})
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "foreign_host")
        for name in ("localhost", "LocalHost:80", "127.0.0.1:1"):
            assert httpx.get(f"{url}/models", headers={"Host": name}).status_code == 200


class Counting(Speaker):
    asked = 0

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked += 1
        return await super().say(context, options)


QUESTION = b'{"model": "m", "messages": [{"role": "user", "content": "Hm?"}]}'


def _ask(url: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/chat/completions", content=QUESTION, headers=headers)


@pytest.mark.parametrize("kind", ["text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded",
                                  "multipart/form-data; boundary=x", "application/jsonp", ""])  # fmt: skip
def test_a_body_that_a_web_page_may_send_unasked_is_refused(kind: str) -> None:
    model = Counting()
    with serving(model) as url:
        answer = _ask(url, **{"Content-Type": kind})
        assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")
        assert model.asked == 0
        assert _ask(url, **{"Content-Type": "Application/JSON; charset=utf-8"}).status_code == 200


def test_an_upload_must_be_a_form() -> None:
    with serving(Speaker()) as url:
        assert httpx.post(f"{url}/files", json={"purpose": "batch"}).status_code == 415
        assert httpx.post(f"{url}/images/edits", content=b"x").status_code == 415


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:3000", "", "file://"]
)
def test_a_request_from_a_web_page_elsewhere_is_refused(origin: str) -> None:
    model = Counting()
    with serving(model) as url:
        upload = {"file": ("a.jsonl", b"{}")}
        answers = [
            _ask(url, **{"Content-Type": "application/json", "Origin": origin}),
            httpx.post(f"{url}/files", data={"purpose": "batch"}, files=upload, headers={"Origin": origin}),
            httpx.get(f"{url}/models", headers={"Origin": origin}),
            httpx.options(f"{url}/chat/completions", headers={"Origin": origin}),
        ]
        assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {
            (403, "foreign_origin")
        }
        assert not any("access-control-allow-origin" in answer.headers for answer in answers)
        assert model.asked == 0
        assert httpx.get(f"{url}/files").json()["data"] == []


def test_a_name_that_points_at_this_machine_is_no_way_round_it() -> None:
    with serving(Speaker()) as url:
        headers = {"Host": "evil.example", "Origin": "http://evil.example", "Content-Type": "application/json"}
        assert _ask(url, **headers).status_code == 400


def test_programs_and_the_servers_own_address_are_let_in() -> None:
    with serving(Speaker()) as url:
        own = url.removesuffix("/v1")
        assert _ask(url, **{"Content-Type": "application/json"}).status_code == 200
        assert _ask(url, **{"Content-Type": "application/json", "Origin": own}).status_code == 200
        assert openai.OpenAI(base_url=url, api_key="any").chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hm?"}]
        )


def test_the_server_is_gone_after_the_block() -> None:
    with serving(Speaker()) as url:
        assert httpx.get(f"{url}/models").status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/models")
