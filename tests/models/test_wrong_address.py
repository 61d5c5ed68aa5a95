"""A wrong address is told with what is likely wrong about it, in the server's own words; a server that is only late
is waited for. All servers are real."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models import call as calling
from sketchmark.models import load_model
from sketchmark.models.call import Call, Pace
from sketchmark.models.diagnosis import words_in
from sketchmark.models.failures import NoConnection, PageInstead
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.openai import OpenAI
from sketchmark.models.wrappers import CallCount, CountedModel
from sketchmark.serve import serving
from tests.models.adapters import failure
from tests.models.broken_server import Broken, answer, broken, free_port
from tests.models.fake_server import KEY, FarEnd, chat_answer


@contextmanager
def _listening(port: int) -> Iterator[None]:
    """A server that answers, at this very port."""
    server = uvicorn.Server(uvicorn.Config(FarEnd().app, host="127.0.0.1", port=port, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield
    server.should_exit = True
    thread.join()


HIDDEN = "sk-somebodyelses-1234567890abcdef"


async def _failure(model: Model) -> CallFailed:
    try:
        with pytest.raises(CallFailed) as caught:
            await model.say(of("Hm?"), Options())
    finally:
        await model.close()
    return caught.value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "Not Found"}, "HTTP 404: Not Found at "),
        ({"message": "no route"}, "HTTP 404: no route at "),
        ({"error": "just a text"}, "HTTP 404: just a text at "),
        ({"error": {"message": "gone", "code": "gone_away"}}, "HTTP 404: gone (gone_away) at "),
        (b"plain words", "HTTP 404: plain words at "),
        (b"<html><head><title>404 &amp; more</title></head><body>no</body></html>", "HTTP 404: 404 & more at "),
        (b"", "HTTP 404: Not Found at "),
        ({"detail": f"the key {HIDDEN} is unknown"}, "HTTP 404: the key [key] is unknown at "),
    ],
)
async def test_a_path_that_is_not_there_is_told_in_the_servers_words_with_what_to_try(
    authorities: None, tmp_path: Path, body: Any, said: str
) -> None:
    with broken({"said": Broken(answer(404, body))}) as far:
        url = f"http://127.0.0.1:{far.port}/said"
        error = await failure("openai", url, tmp_path, again=False, stops=True)
    assert f"not_found: {said}{url}/chat/completions" in str(error)
    assert error.hint == f"was `/v1` left out? try base_url={url}/v1"


async def test_the_same_address_with_the_rest_of_the_path_answers(far: FarEnd) -> None:
    with serving(load_model("player/random")) as url:
        error = await _failure(OpenAI("player/random", base_url=url.removesuffix("/v1")))
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
        twice = await _failure(Anthropic("m", base_url=url))
        assert twice.hint == f"`/v1` is there twice: try base_url={url.removesuffix('/v1')}"


async def test_a_model_that_is_not_there_is_no_wrong_path(authorities: None, tmp_path: Path) -> None:
    with broken({"said": Broken(answer(404, {"message": "The model `m` does not exist."}))}) as far:
        error = await failure("openai", f"http://127.0.0.1:{far.port}/said", tmp_path, again=False, stops=True)
    assert "The model `m` does not exist." in str(error) and "check the name of the model" in error.hint


async def test_a_server_that_wants_https_says_so(authorities: None, tmp_path: Path) -> None:
    page = b"<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>"
    with broken({"said": Broken(answer(400, page))}) as far:
        error = await failure("openai", f"http://127.0.0.1:{far.port}/said", tmp_path, again=False, stops=True)
    assert "write https:// in its address" in error.hint


async def test_what_a_framework_says_of_a_field_names_the_field(authorities: None, tmp_path: Path) -> None:
    body = {"detail": [{"loc": ["body", "temperature"], "msg": "must be above 0", "type": "value_error"}]}
    with broken({"said": Broken(answer(422, body))}) as far:
        error = await failure("openai", f"http://127.0.0.1:{far.port}/said", tmp_path, again=False, stops=False)
    assert "bad_request: HTTP 422: body.temperature: must be above 0" in str(error)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 410, 422, 429, 500, 503])
async def test_every_refusal_names_who_was_asked_without_what_is_secret_in_the_address(
    authorities: None, status: int
) -> None:
    with broken({"said": Broken(answer(status, {"error": {"message": "no"}}))}) as far:
        url = f"http://ada:{HIDDEN}@127.0.0.1:{far.port}/said?ticket={HIDDEN}"
        error = await _failure(OpenAI("m", base_url=url, max_retries=0))
    assert f": HTTP {status}: no at http://127.0.0.1:{far.port}/said/chat/completions" in str(error)
    assert not any(secret in str(error) for secret in (HIDDEN, "ada", "ticket"))


async def test_a_time_out_too(authorities: None) -> None:
    with broken({"said": Broken(answer(200, b" ", missing=99), "trickle")}) as far:
        tally = CallCount()
        url = f"http://ada:{HIDDEN}@127.0.0.1:{far.port}/said?ticket={HIDDEN}"
        error = await _failure(CountedModel(OpenAI("m", base_url=url, max_retries=0, timeout=0.2), tally))
    words = f"timeout: no answer from http://127.0.0.1:{far.port}/said/chat/completions within 0.2 s"
    assert str(error) == f"openai/m: {words}" and tally.error == str(error)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("", "was `/v1` left out? try base_url={url}/v1"),
        ("/v1", "a website is there, and no model's API: check host"),
    ],
)
@pytest.mark.parametrize("retries", [0, 6])
async def test_a_website_at_the_address_is_asked_once_and_told(
    authorities: None, path: str, hint: str, retries: int
) -> None:
    page = f"\n<!doctype html><title>Welcome &amp; {HIDDEN}</title><p>hello".encode()
    with broken({"site": Broken(answer(200, page))}) as far:
        url = f"http://127.0.0.1:{far.port}/site"
        error = await _failure(OpenAI("m", base_url=url + path, max_retries=retries))
    assert error.stops_run and far.seen == {"site": 1}
    assert f"a web page came instead of an answer ('Welcome & [key]') at {url}{path}/chat/completions" in str(error)
    assert error.hint.startswith(hint.format(url=url))


async def test_json_that_is_called_a_page_is_an_answer(authorities: None, tmp_path: Path) -> None:
    body = chat_answer({"role": "assistant", "content": "left"})
    with broken({"said": Broken(answer(200, body, {"Content-Type": "text/html"}))}) as far:
        model = OpenAI("m", base_url=f"http://127.0.0.1:{far.port}/said")
        assert (await model.say(of("Hm?"), Options())).text == "left"
        await model.close()


async def test_a_page_where_answers_came_from_passes_and_does_not_stop_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.001)
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


def test_words_are_found_in_what_has_no_end_too() -> None:
    deep: Any = "the words"
    for _ in range(50):
        deep = {"error": [deep]}
    assert words_in(deep)
    assert words_in({"unknown": {"place": 1}}) == "{'unknown': {'place': 1}}" and words_in({}) == ""


async def test_a_server_that_starts_late_is_waited_for(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is started once a try has failed: none of them stops the run, and every call is answered."""
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.2)
    port, tally = free_port(), CallCount()
    model = OpenAI("player/random", base_url=f"http://127.0.0.1:{port}/v1")
    asked = [asyncio.ensure_future(CountedModel(model, tally).say(of("Hm?"), Options())) for _ in range(4)]
    while not tally.silent:
        await asyncio.sleep(0.01)
    assert tally.error == f"connection: no connection to http://127.0.0.1:{port}: nothing listens there"
    with _listening(port):
        assert all(reply.text for reply in await asyncio.gather(*asked))
    await model.close()
    assert (tally.answered, tally.under_way, tally.silent) == (4, 0, 0) and tally.retries >= 4


async def test_a_server_that_was_there_may_come_back_and_does_not_stop_the_run(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.001)
    port = free_port()
    model = OpenAI("player/random", base_url=f"http://127.0.0.1:{port}/v1", max_retries=1)
    with _listening(port):
        await model.say(of("Hm?"), Options())
    error = await _failure(model)
    assert (error.kind, error.stops_run, error.hint) == ("connection", False, "")


async def test_one_call_that_gives_up_on_a_server_does_so_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_without_retries_nobody_was_waited_for_and_the_run_goes_on(far: FarEnd) -> None:
    error = await _failure(OpenAI("m", base_url=f"http://127.0.0.1:{free_port()}/v1", max_retries=0))
    assert (error.kind, error.stops_run) == ("connection", False)
