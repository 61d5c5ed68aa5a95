"""Every adapter through every fault, over real sockets: each ends in one line of a known kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models import call as calling
from sketchmark.models import load_model
from sketchmark.models.call import Call, Pace
from sketchmark.models.diagnosis import told, words_in
from sketchmark.models.failures import NoConnection, PageInstead
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.openai import OpenAI
from sketchmark.models.wrappers import CallCount, CountedModel
from sketchmark.serve import serving
from tests.models import asking
from tests.models.broken_server import ADAPTERS, TRIES, Broken, BrokenServer, answer, broken, failure, free_port
from tests.models.fake_server import DRAWN, KEY, FarEnd, anthropic_answer, chat_answer, in_base64, running
from tests.tabled import tabled

PAGE = b"<html><body>\n<h1>Bad gateway</h1>\n" + KEY.encode() + b"</body></html>"
ODD = {"choices": "no", "content": [7], "candidates": "no", "data": "no", "id": 7, "status": [], "usage": "no"}
SHIFTED = {
    "choices": [{"message": 7}],
    "content": "no",
    "candidates": [7],
    "data": [7],
    "usage": {"prompt_tokens": []},
}
HIDDEN = "sk-somebodyelses-1234567890abcdef"


@dataclass(frozen=True)
class Case:
    """A fault and how a call that meets it ends."""

    kind: str
    fault: Broken
    again: bool = False
    stops: bool = False


def _status(status: int, kind: str, *, again: bool = False, stops: bool = False, **headers: str) -> Case:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Case(kind, Broken(answer(status, headers=named)), again, stops)


def _reply(body: Any) -> Case:
    return Case("bad_reply", Broken(answer(200, body)), again=True)


CASES = {
    "reset": Case("connection", Broken(then="reset"), again=True),
    "closed": Case("connection", Broken(), again=True),
    "reset-mid-body": Case("connection", Broken(answer(200, b"{", missing=99), "reset"), again=True),
    "cut": Case("connection", Broken(answer(200, b'{"id": 1', missing=99)), again=True),
    "no-http": Case("connection", Broken(b"SSH-2.0-OpenSSH_9.6\r\n"), again=True),
    "trickle": Case("timeout", Broken(answer(200, b" ", missing=10**6), "trickle"), again=True),
    "redirects": Case("connection", Broken(then="redirect"), again=True),
    "page": Case("bad_reply", Broken(answer(200, PAGE)), stops=True),
    "half": _reply(b'{"id": "c", "choi'),
    "empty": _reply(b""),
    "null": _reply(b"null"),
    "list": _reply([]),
    "number": _reply(7),
    "other-schema": _reply({"hello": "world"}),
    "odd-types": _reply(ODD),
    "odd-types-below": _reply(SHIFTED),
    "401": _status(401, "auth", stops=True),
    "402": _status(402, "quota", stops=True),
    "403": _status(403, "auth", stops=True),
    "403-page": Case("auth", Broken(answer(403, PAGE))),
    "404": _status(404, "not_found", stops=True),
    "404-page": Case("not_found", Broken(answer(404, PAGE)), stops=True),
    "408": _status(408, "timeout", again=True),
    "409": _status(409, "conflict", again=True),
    "413": _status(413, "bad_request"),
    "422": _status(422, "bad_request"),
    "429": _status(429, "rate_limited", again=True),
    "429-soon": _status(429, "rate_limited", again=True, Retry_After="0.01"),
    "429-tomorrow": _status(429, "quota", stops=True, Retry_After="40000"),
    "500": _status(500, "server_error", again=True),
    "502-page": Case("server_error", Broken(answer(502, PAGE)), again=True),
    "503": _status(503, "server_error", again=True),
    "503-tomorrow": _status(503, "server_error", stops=True, Retry_After="40000"),
    "529": _status(529, "server_error", again=True),
}


@pytest.fixture(scope="module")
def server() -> Iterator[BrokenServer]:
    with broken({name: case.fault for name, case in CASES.items()}) as server:
        yield server


@contextmanager
def replying(status: int, body: Any = None, **more: Any) -> Iterator[tuple[BrokenServer, str]]:
    """A server that replies this to everything, and its address."""
    with broken({"said": Broken(answer(status, body, **more))}) as far:
        yield far, f"http://127.0.0.1:{far.port}/said"


@pytest.mark.parametrize("fault", CASES)
@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_every_adapter_ends_every_fault_in_one_known_way(
    authorities: None, server: BrokenServer, tmp_path: Path, adapter: str, fault: str
) -> None:
    case = CASES[fault]
    server.seen.clear()
    url = f"http://127.0.0.1:{server.port}/{fault}"
    error = await failure(adapter, url, tmp_path, again=case.again, stops=case.stops)
    assert error.kind == case.kind
    where = f"http://127.0.0.1:{server.port}"
    assert (where if case.kind == "connection" else f"{url}/") in str(error), "the error names the server"
    if fault == "trickle":
        assert f"timeout: no answer from {url}/" in str(error) and "within 0.1 s" in str(error)
    if adapter == "batch-under-way" and fault in ("reset", "closed"):
        assert server.seen == {fault: 2 * TRIES}  # RFC 9112 lets a client ask again for what changes nothing
    elif fault != "redirects":
        assert server.seen == {fault: TRIES if case.again else 1}


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_server_that_was_never_there_stops_the_run_once_it_was_waited_for(
    authorities: None, tmp_path: Path, adapter: str
) -> None:
    port = free_port()
    for url, said in (
        ("http://nowhere.invalid", "no connection to http://nowhere.invalid"),
        (f"http://127.0.0.1:{port}", f"no connection to http://127.0.0.1:{port}"),
    ):
        error = await failure(adapter, url, tmp_path, again=True, stops=True)
        assert error.kind == "connection" and said in str(error), url
    assert "nothing listens there" in str(error) and "start the server, or check host and port" in str(error)


# Certificates


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_https_to_a_server_without_tls_stops_the_run_at_once(
    authorities: None, server: BrokenServer, tmp_path: Path, adapter: str
) -> None:
    url = f"https://127.0.0.1:{server.port}/page"
    error = await failure(adapter, url, tmp_path, again=False, stops=True)
    assert error.kind == "connection" and "write http:// in its address" in str(error)


@pytest.mark.parametrize("certificate", ["unknown", "expired"])
@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_certificate_that_is_not_trusted_stops_the_run_and_names_the_setting(
    authorities: None, certificates: dict[str, Path], tmp_path: Path, adapter: str, certificate: str
) -> None:
    with broken({"page": CASES["page"].fault}, certificates[certificate]) as tls:
        url = f"https://127.0.0.1:{tls.port}/page"
        error = await failure(adapter, url, tmp_path, again=False, stops=True)
    assert error.kind == "connection" and not tls.seen
    assert "certificate" in str(error).lower() and "SSL_CERT_FILE" in str(error)


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_certificate_is_trusted_where_the_setting_names_it(
    authorities: None, certificates: dict[str, Path], tmp_path: Path, adapter: str
) -> None:
    with broken({"422": CASES["422"].fault}, certificates["trusted"]) as tls:
        error = await failure(adapter, f"https://127.0.0.1:{tls.port}/422", tmp_path, again=False, stops=False)
    assert error.kind == "bad_request" and tls.seen == {"422": 1}


# Each provider's words


def _google(status: str, **detail: Any) -> dict[str, Any]:
    return {"error": {"code": 429, "message": "quota", "status": status, "details": [detail]}}


def _anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _openai(code: str, message: str = "no") -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}], "retryDelay": "0.01s"}
PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}], "retryDelay": "0.01s"}

SAID: list[tuple[str, str, int, dict[str, Any]]] = [
    ("openai", "quota", 429, _openai("insufficient_quota")),
    ("openai-images", "quota", 400, _openai("billing_hard_limit_reached")),
    ("openai", "not_found", 403, _openai("model_not_found", "the project has no access to it")),
    ("openai", "auth", 401, _openai("invalid_api_key")),
    ("azure", "not_found", 404, _openai("DeploymentNotFound")),
    ("azure", "quota", 403, _openai("403", "Out of call volume quota.")),
    ("azure", "auth", 401, _openai("401", "invalid subscription key")),
    ("gemini", "quota", 429, _google("RESOURCE_EXHAUSTED", **PER_DAY)),
    ("gemini", "quota", 400, _google("FAILED_PRECONDITION")),
    ("gemini", "auth", 400, _google("INVALID_ARGUMENT", reason="API_KEY_INVALID")),
    ("gemini", "not_found", 404, _google("NOT_FOUND")),
    ("anthropic", "quota", 400, _anthropic("invalid_request_error", "Your credit balance is too low.")),
    ("anthropic", "auth", 403, _anthropic("permission_error", "no")),
    ("anthropic", "not_found", 404, _anthropic("not_found_error", "model: m")),
    ("batch", "quota", 429, _openai("insufficient_quota")),
]
VARIABLES = {"openai": "OPENAI_API_KEY", "azure": "AZURE_OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
             "gemini": "GEMINI_API_KEY or GOOGLE_API_KEY"}  # fmt: skip


@pytest.mark.parametrize(("adapter", "kind", "status", "body"), SAID)
async def test_an_error_that_no_other_call_would_escape_stops_the_run_with_a_remedy(
    authorities: None, tmp_path: Path, adapter: str, kind: str, status: int, body: Any
) -> None:
    with replying(status, body) as (far, url):
        error = await failure(adapter, url, tmp_path, again=False, stops=True)
    assert error.kind == kind and far.seen == {"said": 1}
    assert {"auth": VARIABLES.get(adapter, ""), "quota": "add credit", "not_found": "the name"}[kind] in error.hint
    assert status != 404 or f" at {url}/" in str(error)


@pytest.mark.parametrize(
    ("adapter", "status", "body", "again", "kind"),
    [
        ("gemini", 429, _google("RESOURCE_EXHAUSTED", **PER_MINUTE), True, "rate_limited"),
        ("batch-under-way", 200, {"id": "batch-1", "object": "batch"}, True, "bad_reply"),
        *((adapter, 422, {"detail": "the picture\nis too large"}, False, "bad_request") for adapter in ADAPTERS),
    ],
)
async def test_an_error_of_one_call_does_not_stop_the_run(
    authorities: None, tmp_path: Path, adapter: str, status: int, body: Any, again: bool, kind: str
) -> None:
    with replying(status, body) as (_, url):
        error = await failure(adapter, url, tmp_path, again=again, stops=False)
    assert error.kind == kind
    assert status != 422 or ("the picture" in str(error) and "is too large" in str(error))


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 403, "message": "Your input was flagged", "metadata": {"flagged_input": "…"}}},
        {"code": "The caller does not have permission", "error": "Content violates usage guidelines."},
    ],
)
@pytest.mark.parametrize("adapter", ["openai", "openai-images", "vllm-drawing", "azure"])
async def test_a_prompt_that_is_refused_with_403_is_a_refusal_and_not_the_end_of_a_run(
    authorities: None, tmp_path: Path, adapter: str, body: Any
) -> None:
    with replying(403, body) as (_, url):
        reply = await ADAPTERS[adapter](url, tmp_path)
    assert reply.finish == "refused" and ("flagged" in reply.text or "violates" in reply.text)


@pytest.mark.parametrize(
    "usage", ["no", 7, ["x"], {"prompt_tokens": [], "input_tokens": {}, "promptTokenCount": None}]
)
@pytest.mark.parametrize(
    ("adapter", "body"),
    [
        ("openai", chat_answer({"role": "assistant", "content": "left"})),
        ("openai-images", {"created": 1, "data": [{"b64_json": in_base64(DRAWN)}]}),
        ("anthropic", anthropic_answer("left")),
    ],
)
async def test_a_reply_with_a_usage_that_cannot_be_read_is_kept(
    authorities: None, tmp_path: Path, adapter: str, body: dict[str, Any], usage: Any
) -> None:
    with replying(200, {**body, "usage": usage}) as (_, url):
        reply = await ADAPTERS[adapter](url, tmp_path)
    assert (reply.text == "left" or reply.picture == DRAWN) and reply.usage.tokens_in == 0


# Wrong addresses


@pytest.mark.parametrize(
    ("status", "body", "said", "hint"),
    [
        (404, {"detail": "Not Found"}, "not_found: HTTP 404: Not Found at ", ""),
        (404, {"message": "no route"}, "not_found: HTTP 404: no route at ", ""),
        (404, {"error": "just a text"}, "not_found: HTTP 404: just a text at ", ""),
        (404, {"error": {"message": "gone", "code": "gone_away"}}, "not_found: HTTP 404: gone (gone_away) at ", ""),
        (404, b"plain words", "not_found: HTTP 404: plain words at ", ""),
        (
            404,
            b"<html><head><title>404 &amp; more</title></head>no</html>",
            "not_found: HTTP 404: 404 & more at ",
            "",
        ),
        (404, b"", "not_found: HTTP 404: Not Found at ", ""),
        (404, {"detail": f"the key {HIDDEN} is unknown"}, "not_found: HTTP 404: the key [key] is unknown at ", ""),
        (404, {"message": "The model `m` does not exist."}, "The model `m` does not exist.", "the name of the model"),
        (
            400,
            b"<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>",
            "HTTPS port",
            "write https:// in its address",
        ),
    ],
)
async def test_an_error_of_the_address_is_printed_in_the_servers_words_with_a_remedy(
    authorities: None, tmp_path: Path, status: int, body: Any, said: str, hint: str
) -> None:
    with replying(status, body) as (_, url):
        error = await failure("openai", url, tmp_path, again=False, stops=True)
    assert (said if hint else f"{said}{url}/chat/completions") in str(error)
    assert hint in error.hint if hint else error.hint == f"was `/v1` left out? try base_url={url}/v1"


async def test_the_same_address_with_the_rest_of_the_path_answers(far: FarEnd) -> None:
    with serving(load_model("player/random")) as url:
        error = await asking.failure(OpenAI("player/random", base_url=url.removesuffix("/v1")))
        assert (error.kind, error.stops_run) == ("not_found", True) and f"try base_url={url}" in error.hint
        there = OpenAI("player/random", base_url=url)
        assert (await there.say(of("Hm?"), Options())).text
        await there.close()


@pytest.mark.parametrize("status", [404, 405])
async def test_an_address_that_ends_too_late_is_shortened(authorities: None, tmp_path: Path, status: int) -> None:
    with broken({"v1": Broken(answer(status, {"detail": "no"}))}) as far:
        url = f"http://127.0.0.1:{far.port}/v1"
        error = await failure("openai", f"{url}/chat/completions", tmp_path, again=False, stops=True)
        assert error.hint == f"the address ends too late: try base_url={url}"
        twice = await asking.failure(Anthropic("m", base_url=url))
        assert twice.hint == f"`/v1` is there twice: try base_url={url.removesuffix('/v1')}"


@pytest.mark.parametrize("status", [400, 401, 402, 403, 410, 422, 429, 500, 503, None])
async def test_every_failure_names_the_server_without_the_secrets_in_its_address(
    authorities: None, status: int | None
) -> None:
    body = {"detail": [{"loc": ["body", "temperature"], "msg": "no", "type": "value_error"}]}
    fault = Broken(answer(status, body)) if status else Broken(answer(200, b" ", missing=99), "trickle")
    with broken({"said": fault}) as far:
        url = f"http://ada:{HIDDEN}@127.0.0.1:{far.port}/said?ticket={HIDDEN}"
        tally = CallCount()
        error = await asking.failure(
            CountedModel(OpenAI("m", base_url=url, max_retries=0, timeout=0.2 if not status else 20), tally)
        )
    where = f"http://127.0.0.1:{far.port}/said/chat/completions"
    assert (f": HTTP {status}: body.temperature: no at {where}" if status else "timeout") in str(error)
    assert status or str(error) == f"openai/m: timeout: no answer from {where} within 0.2 s"
    assert tally.error == str(error) or status
    assert not any(secret in str(error) for secret in (HIDDEN, "ada", "ticket"))


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("", "was `/v1` left out? try base_url={url}/v1"),
        ("/v1", "a website is there, and no model's API: check host"),
    ],
)
@pytest.mark.parametrize("retries", [0, 6])
async def test_a_website_at_the_address_is_asked_once_and_named(
    authorities: None, path: str, hint: str, retries: int
) -> None:
    page = f"\n<!doctype html><title>Welcome &amp; {HIDDEN}</title><p>hello".encode()
    with broken({"site": Broken(answer(200, page))}) as far:
        url = f"http://127.0.0.1:{far.port}/site"
        error = await asking.failure(OpenAI("m", base_url=url + path, max_retries=retries))
    assert error.stops_run and far.seen == {"site": 1}
    assert f"a web page came instead of an answer ('Welcome & [key]') at {url}{path}/chat/completions" in str(error)
    assert error.hint.startswith(hint.format(url=url))


async def test_json_that_is_called_a_page_is_an_answer(authorities: None, tmp_path: Path) -> None:
    body = chat_answer({"role": "assistant", "content": "left"})
    with broken({"said": Broken(answer(200, body, {"Content-Type": "text/html"}))}) as far:
        model = OpenAI("m", base_url=f"http://127.0.0.1:{far.port}/said")
        assert (await model.say(of("Hm?"), Options())).text == "left"
        await model.close()


async def test_a_page_where_answers_came_from_passes_and_does_not_stop_the_run() -> None:
    page = PageInstead(b"<p>Back soon</p>")
    comes: Iterator[Exception | str] = iter(["left", page, page, "right", page, page, page])

    async def attempt(_: Call) -> str:
        came = next(comes)
        if isinstance(came, str):
            return came
        raise came

    caller = calling.Caller("openai/m", Pace(), timeout=5, max_retries=2)
    assert [await caller(attempt), await caller(attempt)] == ["left", "right"]
    with pytest.raises(CallFailed, match=r"\('Back soon'\), tried 3 times") as caught:
        await caller(attempt)
    assert not caught.value.stops_run


def test_words_are_found_in_nested_and_unknown_bodies() -> None:
    deep: Any = "the words"
    for _ in range(50):
        deep = {"error": [deep]}
    assert words_in(deep)
    assert words_in({"unknown": {"place": 1}}) == "{'unknown': {'place': 1}}" and words_in({}) == ""


@tabled
def test_a_page_is_quoted_by_its_title_or_its_visible_text(page: str, words: str) -> None:
    assert words_in(page) == words


@pytest.mark.parametrize("body", ["<html><title>503</title></html>", "<h1>503</h1>", "503", ""])
def test_a_number_only_is_replaced_by_its_meaning(body: str) -> None:
    assert told(503, body) == "HTTP 503: Service Unavailable"


# Servers that are not there, yet or any more


async def test_a_server_that_starts_late_is_waited_for(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is started once a try has failed: none of them stops the run, and every call is answered."""
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.2)
    port, tally = free_port(), CallCount()
    model = OpenAI("player/random", base_url=f"http://127.0.0.1:{port}/v1")
    asked = [asyncio.ensure_future(CountedModel(model, tally).say(of("Hm?"), Options())) for _ in range(4)]
    while not tally.silent:
        await asyncio.sleep(0.01)
    assert tally.error == f"connection: no connection to http://127.0.0.1:{port}: nothing listens there"
    with running(port):
        assert all(reply.text for reply in await asyncio.gather(*asked))
    await model.close()
    assert (tally.answered, tally.under_way, tally.silent) == (4, 0, 0) and tally.retries >= 4


async def test_a_server_that_was_there_may_come_back_and_does_not_stop_the_run(far: FarEnd) -> None:
    port = free_port()
    model = OpenAI("player/random", base_url=f"http://127.0.0.1:{port}/v1", max_retries=1)
    with running(port):
        await model.say(of("Hm?"), Options())
    error = await asking.failure(model)
    assert (error.kind, error.stops_run, error.hint) == ("connection", False, "")


async def test_one_call_that_gives_up_on_a_server_does_so_for_all() -> None:
    """The second would wait for minutes."""

    async def attempt(_: Call) -> None:
        raise NoConnection("Connection error.", f"http://u:{KEY}@here:1/v1") from ConnectionRefusedError()

    caller = calling.Caller("openai/m", Pace(), timeout=5, max_retries=1)
    caller._jitter = iter([0.0, 10_000.0, 0.0]).__next__
    async with asyncio.timeout(20):
        ends = await asyncio.gather(caller(attempt), caller(attempt), return_exceptions=True)
    assert all(isinstance(end, CallFailed) and end.stops_run for end in ends)
    assert "no connection to http://here:1: nothing listens there" in str(ends[0]) and KEY not in str(ends[0])
    with pytest.raises(CallFailed, match="tried 2 times"):  # another run waits again
        await caller(attempt)


async def test_a_missing_server_does_not_stop_the_run_without_retries(far: FarEnd) -> None:
    error = await asking.failure(OpenAI("m", base_url=f"http://127.0.0.1:{free_port()}/v1", max_retries=0))
    assert (error.kind, error.stops_run) == ("connection", False)
