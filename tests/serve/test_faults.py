from __future__ import annotations

import asyncio
import time
from collections import Counter

import httpx
import openai
import pytest

from sketchmark.errors import BadInput
from sketchmark.serve import serving
from sketchmark.serve.faults import Dice, Faults
from tests.serve.models import Mirror, Speaker


def body(words: str) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": words}]}


def test_the_command_lines_words_are_understood() -> None:
    faults = Faults.parse("429:0.1, 500:.05,reset:0.02", "50ms", 7)
    assert faults.chances == (("429", 0.1), ("500", 0.05), ("reset", 0.02))
    assert (faults.latency, faults.seed) == (0.05, 7)
    assert Faults.parse("", "1.5s").latency == 1.5


@pytest.mark.parametrize("fail", ["429", "200:0.1", "429:2", "429:0.6,500:0.6", "reset:x", "429=0.1"])
def test_a_wrong_fault_is_refused(fail: str) -> None:
    with pytest.raises(BadInput, match="--fail"):
        Faults.parse(fail)


@pytest.mark.parametrize("latency", ["50", "fast", "-1s", "1h"])
def test_a_wrong_latency_is_refused(latency: str) -> None:
    with pytest.raises(BadInput, match="--latency"):
        Faults.parse("", latency)


def test_faults_come_as_often_as_asked() -> None:
    dice = Dice(Faults.parse("429:0.1,500:0.05,reset:0.02", seed=1))
    fates = Counter(dice.fate("POST", "/v1/x", "", b"%d" % i) for i in range(20_000))
    assert 1850 < fates["429"] < 2150
    assert 900 < fates["500"] < 1100
    assert 330 < fates["reset"] < 470


def test_the_same_requests_in_another_order_meet_the_same_faults() -> None:
    def fates(order: list[bytes]) -> dict[tuple[bytes, int], str | None]:
        dice, attempts = Dice(Faults.parse("500:0.5", seed=3)), Counter[bytes]()
        found = {}
        for request in order:
            found[request, attempts[request]] = dice.fate("POST", "/", "", request)
            attempts[request] += 1
        return found

    order = [b"%d" % (i % 50) for i in range(150)]
    assert fates(order) == fates(order[::-1])
    assert fates(order) != dict.fromkeys(fates(order))


def test_a_new_multipart_boundary_does_not_change_the_fate() -> None:
    faults = Faults.parse("500:0.5", seed=5)

    def fate(boundary: str, words: str) -> str | None:
        return Dice(faults).fate(
            "POST", "/", f"multipart/form-data; boundary={boundary}", (boundary + words).encode()
        )

    assert all(fate("aaa", f"w{i}") == fate("bbb", f"w{i}") for i in range(50))
    assert {fate("aaa", f"w{i}") for i in range(50)} == {"500", None}


def test_a_429_asks_to_be_retried_soon() -> None:
    with serving(Speaker(), faults=Faults((("429", 1.0),))) as url:
        answer = httpx.post(f"{url}/chat/completions", json=body("x"))
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "0.05"
    assert answer.json()["error"]["type"] == "rate_limit_error"


def test_a_reset_breaks_the_connection_without_a_reply() -> None:
    with serving(Speaker(), faults=Faults((("reset", 1.0),))) as url, pytest.raises(httpx.ReadError) as raised:
        httpx.post(f"{url}/chat/completions", json=body("x"))
    assert "reset" in str(raised.value).lower()


def test_the_server_goes_on_after_resets() -> None:
    with serving(Speaker(), faults=Faults((("reset", 0.5),))) as url, httpx.Client() as http:
        outcomes = Counter[str]()
        for i in range(40):
            try:
                outcomes[str(http.post(f"{url}/chat/completions", json=body(str(i))).status_code)] += 1
            except httpx.HTTPError:
                outcomes["broken"] += 1
    assert outcomes["200"] > 5
    assert outcomes["broken"] > 5
    assert sum(outcomes.values()) == outcomes["200"] + outcomes["broken"]


async def test_latency_is_waited_by_all_requests_at_once() -> None:
    with serving(Speaker(), faults=Faults(latency=0.3)) as url:
        async with httpx.AsyncClient() as http:
            started = time.monotonic()
            await asyncio.gather(*(http.post(f"{url}/chat/completions", json=body(str(i))) for i in range(20)))
            took = time.monotonic() - started
    assert 0.3 <= took < 3


async def test_a_client_that_retries_gets_every_answer_through_the_faults() -> None:
    faults = Faults.parse("429:0.1,500:0.05,reset:0.02", "5ms", seed=1)
    with serving(Mirror(), faults=faults) as url:
        client = openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=8)

        async def ask(i: int) -> str:
            answer = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"q{i}"}])
            return answer.choices[0].message.content or ""

        said = await asyncio.gather(*(ask(i) for i in range(60)))
    assert all(f'"q{i}"' in words for i, words in enumerate(said))
