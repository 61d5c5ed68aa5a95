"""Retries, waiting and giving up, over real HTTP with the real SDK."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models import call as calling
from sketchmark.models import failures
from sketchmark.models.call import Call, Pace
from sketchmark.models.providers.openai import OpenAI
from tests.models.fake_server import FarEnd, Fault, resetting_proxy


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.01)


def model(far: FarEnd, **args: Any) -> OpenAI:
    return OpenAI("m", **{"base_url": f"{far.url}/v1", **args})


async def failure(asked: OpenAI) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await asked.say(of("Hm?"), Options())
    return caught.value


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_passing_fault_is_tried_again(far: FarEnd, status: int) -> None:
    far.faults = [Fault(status), Fault(status)]
    assert (await model(far).say(of("Hm?"), Options())).text == "left"
    assert len(far.seen) == 3


@pytest.mark.parametrize(("status", "kind"), [(400, "bad_request"), (401, "auth"), (403, "auth"), (404, "not_found")])
async def test_a_fault_that_would_come_again_is_not_tried_again(far: FarEnd, status: int, kind: str) -> None:
    far.faults = [Fault(status)]
    assert (await failure(model(far))).kind == kind
    assert len(far.seen) == 1


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limited"), (500, "server_error"), (408, "timeout")])
async def test_retries_are_bounded_and_counted_in_the_error(far: FarEnd, status: int, kind: str) -> None:
    far.faults = [Fault(status)] * 9
    error = await failure(model(far, max_retries=2))
    assert (error.kind, error.blames_model, len(far.seen)) == (kind, False, 3)
    assert "tried 3 times" in str(error)


async def test_an_exhausted_quota_is_not_tried_again(far: FarEnd) -> None:
    far.faults = [Fault(429, body={"error": {"message": "no money", "code": "insufficient_quota"}})]
    assert (await failure(model(far))).kind == "quota"
    assert len(far.seen) == 1


@pytest.mark.parametrize("headers", [{"Retry-After": "0.4"}, {"retry-after-ms": "400"}])
async def test_a_retry_waits_at_least_as_long_as_the_server_asks(far: FarEnd, headers: dict[str, str]) -> None:
    far.faults = [Fault(429, headers)]
    await model(far).say(of("Hm?"), Options())
    assert 0.4 <= far.seen[1].at - far.seen[0].at < 2


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < (failures.retry_after({"retry-after": later}) or 0) <= 60
    assert failures.retry_after({"retry-after": "7"}) == 7
    assert failures.retry_after({"retry-after": "soon"}) is None
    assert failures.retry_after({}) is None


async def test_nobody_signed_in_to_azure_stops_the_run_and_says_how_to_sign_in() -> None:
    from azure.core.exceptions import ClientAuthenticationError

    async def attempt(_: Call) -> None:
        raise ClientAuthenticationError("DefaultAzureCredential failed")

    with pytest.raises(CallFailed, match=r"set AZURE_OPENAI_API_KEY, or sign in with `az login`") as caught:
        await calling.Caller("azure/m", Pace(), timeout=1, max_retries=5, keys=("AZURE_OPENAI_API_KEY",))(attempt)
    assert (caught.value.kind, caught.value.stops_run) == ("auth", True)


async def test_a_wait_of_an_hour_is_refused_and_the_user_told(far: FarEnd) -> None:
    far.faults = [Fault(429, {"Retry-After": "3600"})]
    assert "asks to wait 3600 s" in str(await failure(model(far)))


async def test_a_reset_connection_is_tried_again(far: FarEnd) -> None:
    async with resetting_proxy(far, resets=2) as url:
        asked = model(far, base_url=f"{url}/v1")
        assert (await asked.say(of("Hm?"), Options())).text == "left"
        await asked.close()
    assert len(far.seen) == 1


async def test_a_server_that_is_not_there_is_a_connection_failure(far: FarEnd) -> None:
    assert (await failure(model(far, base_url="http://127.0.0.1:9/v1", max_retries=1))).kind == "connection"


async def test_a_slow_reply_times_out_and_is_tried_again(far: FarEnd) -> None:
    far.faults = [Fault(delay=3)]
    started = time.monotonic()
    assert (await model(far, timeout=0.5).say(of("Hm?"), Options())).text == "left"
    assert time.monotonic() - started < 2


async def test_the_time_limit_holds_for_a_server_that_never_answers_in_time(far: FarEnd) -> None:
    far.faults = [Fault(delay=1), Fault(delay=1)]
    error = await failure(model(far, timeout=0.3, max_retries=1))
    assert error.kind == "timeout"
    assert f"no answer from {far.url}/v1/chat/completions within 0.3 s, tried 2 times" in str(error)


async def test_an_outer_time_limit_cancels_the_call_and_frees_its_place(far: FarEnd) -> None:
    far.faults = [Fault(delay=1)]
    asked = model(far, max_concurrent=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await asked.say(of("Hm?"), Options())
    assert (await asked.say(of("Hm?"), Options())).text == "left"


async def test_a_bug_of_ours_is_not_taken_for_a_failed_call() -> None:
    async def attempt(_: Call) -> None:
        raise KeyError("bug")

    asked = calling.Caller("m", Pace(), timeout=1, max_retries=5)
    with pytest.raises(KeyError):
        await asked(attempt)


async def test_many_calls_through_a_faulty_server_all_come_through(far: FarEnd) -> None:
    far.faults = [Fault(429 if i % 3 else 500) for i in range(12)]
    asked = model(far)
    replies = await asyncio.gather(*(asked.say(of(f"{i}?"), Options()) for i in range(40)))
    assert [reply.text for reply in replies] == ["left"] * 40
    assert len(far.seen) == 52
