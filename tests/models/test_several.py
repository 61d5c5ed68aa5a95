"""Several servers as one model: balanced, and as good as the best of them. All servers here are real."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Part, Reply
from sketchmark.errors import CallFailed
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder
from sketchmark.models import load_model
from sketchmark.models.cache import call_key
from sketchmark.models.replicas import Server, Servers, Several
from sketchmark.runs.engine import key_variables
from sketchmark.serve import Faults, serving
from tests.serve.models import Served, started

GONE = "http://127.0.0.1:9/v1"
"""No server listens on the discard port."""


class Parrot(Model):
    """Repeats the last text, and counts."""

    def __init__(self) -> None:
        super().__init__("parrot")
        self.calls = 0

    async def say(self, context: Context, options: Options) -> Reply:
        self.calls += 1
        return Reply(context.texts[-1])


@contextmanager
def parrots(count: int, *faults: Faults, key: str | None = None) -> Iterator[tuple[list[str], list[Parrot]]]:
    """The addresses of so many servers, each with a parrot behind it. The last one asks for the key."""
    models = [Parrot() for _ in range(count)]
    with ExitStack() as running:
        urls = []
        for number, model in enumerate(models):
            fault = faults[number] if number < len(faults) else Faults()
            asks = key if number == count - 1 else None
            urls.append(running.enter_context(serving(model, faults=fault, key=asks)))
        yield urls, models


def words(text: str) -> Context:
    return Context((Part(text, "task"),))


async def ask(model: Model, count: int, at_once: int = 4) -> list[str]:
    free = asyncio.Semaphore(at_once)

    async def one(number: int) -> str:
        async with free:
            return (await model.say(words(f"question {number}"), Options())).text

    try:
        return await asyncio.gather(*(one(number) for number in range(count)))
    finally:
        await model.close()


def behind(urls: list[str], **more: Any) -> Model:
    return load_model("openai/parrot", {"base_url": "|".join(urls), **more})


KEY = "right-key-0123456789"


@pytest.mark.parametrize(("slow", "quick", "least"), [(0.02, 0.02, 10), (0.1, 0.005, 1)])
async def test_calls_are_spread_over_free_servers_and_a_slower_one_gets_fewer(
    slow: float, quick: float, least: int
) -> None:
    with parrots(2, Faults(latency=slow), Faults(latency=quick)) as (urls, models):
        assert await ask(behind(urls), 40) == [f"question {number}" for number in range(40)]
    counts = [model.calls for model in models]
    assert sum(counts) == 40 and min(counts) >= least and (slow == quick or counts[0] < counts[1])


async def test_a_dead_server_costs_no_call_and_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    with parrots(1) as (urls, models):
        model = behind([GONE, *urls])
        assert len(await ask(model, 20)) == 20 and models[0].calls == 20
        assert isinstance(model, Several)
        dead, alive = model.told()
    assert re.match(rf"{GONE} answered 0 calls, set aside once, last: .*connection", dead)
    assert alive == f"{urls[0]} answered 20 calls"
    told = [record.message for record in caplog.records if "set aside" in record.message]
    assert [message.partition(" is ")[0] for message in told] == [GONE]


async def test_faults_on_one_server_are_answered_by_another() -> None:
    with parrots(2, Faults((("500", 0.5), ("reset", 0.3)), seed=3)) as (urls, _):
        model = behind(urls, max_retries=0)  # no second round: another server is asked in the first
        assert await ask(model, 60) == [f"question {number}" for number in range(60)]


async def test_a_busy_server_is_left_alone_for_as_long_as_it_asks_and_is_not_set_aside() -> None:
    """The first server asks every client to come back in 200 seconds. The second answers all of them meanwhile."""
    with parrots(2, Faults((("429", 1.0),), retry_after=200.0)) as (urls, models):
        model = behind(urls)
        assert len(await ask(model, 60, at_once=16)) == 60 and isinstance(model, Several)
        assert models[0].calls == 0
        assert model.told() == [f"{urls[0]} answered 0 calls", f"{urls[1]} answered 60 calls"]


async def test_a_server_that_refuses_the_key_is_named_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    with parrots(2, key=KEY) as (urls, models):
        assert len(await ask(behind(urls), 20)) == 20
        assert (models[0].calls, models[1].calls) == (20, 0)
    messages = [record.message for record in caplog.records]
    assert any(message.startswith(f"{urls[1]} is set aside") and "auth" in message for message in messages)


async def test_a_run_stops_at_once_where_every_server_refuses_and_names_them() -> None:
    with parrots(1, key=KEY) as (urls, _), parrots(1, key=KEY) as (more, _):
        with pytest.raises(CallFailed) as found:
            await ask(behind([*urls, *more]), 1)
        assert found.value.stops_run and found.value.kind == "auth"
        assert urls[0] in str(found.value) and more[0] in str(found.value)


async def test_a_call_fails_after_max_retries_where_all_servers_are_down() -> None:
    with pytest.raises(CallFailed) as found:
        await ask(behind([GONE, "http://127.0.0.1:1/v1"], max_retries=2), 1)
    assert found.value.kind == "connection" and found.value.stops_run, "none of them was ever there"
    assert str(found.value).startswith(f"no server answers: {GONE}: ")


async def test_a_request_that_is_wrong_in_itself_is_not_sent_to_every_server() -> None:
    with parrots(2) as (urls, models), pytest.raises(CallFailed) as found:
        await behind(urls).say(words("x"), Options(max_new_tokens=-5))
    assert found.value.kind == "bad_request" and sum(one.calls for one in models) == 0


async def test_a_server_that_comes_back_is_used_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with started(tmp_path) as (first, url), parrots(1) as (urls, parrot):
        inner = [load_model("openai/parrot", {"base_url": one, "max_retries": 0}) for one in (url, urls[0])]
        servers = [Server(one, model) for one, model in zip((url, urls[0]), inner, strict=True)]
        model = Several(servers, first_rest=0.05)

        async def until(reached: Any) -> None:
            async with asyncio.timeout(60):
                while not reached():
                    await model.say(words("again"), Options())

        await until(lambda: servers[0].answered)
        calls = parrot[0].calls
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        await until(lambda: servers[0].why)
        assert parrot[0].calls > calls, "the other one was asked meanwhile"
        before = servers[0].answered
        with started(tmp_path, "--port", url.split(":")[2].split("/")[0]):
            await until(lambda: servers[0].answered > before)
        assert any(record.message == f"{url} answers again and is used again" for record in caplog.records)
        await model.close()


def test_an_answer_from_before_a_server_was_set_aside_does_not_bring_it_back() -> None:
    server = Server(GONE, Parrot())
    servers = Servers([server])
    before = servers.begin(server)
    for _ in range(3):
        servers.failed(server, CallFailed("connection", "it is gone"))
    servers.answered(server, before)
    assert server.why is not None and server.answered == 1
    servers.answered(server, servers.begin(server))
    assert server.why is None and server.times_aside == 1


async def test_the_rate_limit_holds_for_all_servers_together() -> None:
    with parrots(2) as (urls, _):
        began = time.monotonic()
        await ask(behind(urls, max_requests_per_minute=600), 6, at_once=6)
        assert time.monotonic() - began >= 0.5, "six starts, a tenth of a second apart"


def test_the_list_may_change_behind_its_first_server() -> None:
    a, b, c = (f"http://127.0.0.1:{port}/v1" for port in (1001, 1002, 1003))
    alone, two, three = (behind(urls) for urls in ([a], [a, b], [a, c, b]))
    assert alone.identity() == two.identity() == three.identity()
    asked = (words("x"), Options())
    assert call_key(alone, "say", *asked) == call_key(three, "say", *asked) != call_key(behind([b, a]), "say", *asked)
    assert two.abilities == alone.abilities and two.name == alone.name
    assert two.arguments["base_url"] == f"{a}|{b}"


def test_no_password_in_an_address_is_written_down() -> None:
    model = behind(["http://me:first-word-1234@127.0.0.1:1/v1", "http://me:other-word-5678@127.0.0.1:2/v1?token=abc"])
    assert isinstance(model, Several)
    assert model.arguments["base_url"] == "http://127.0.0.1:1/v1|http://127.0.0.1:2/v1"
    written = json.dumps([model.identity(), model.told()])
    assert "word" not in written and "abc" not in written


def test_azure_and_bagel_take_several_servers_and_keys_go_with_their_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_A", "first-key-0123456789")
    monkeypatch.setenv("KEY_B", "second-key-0123456789")
    azure = load_model("azure/x", {"azure_endpoint": "https://a.test|https://b.test", "api_key_env": "KEY_A|KEY_B"})
    assert key_variables(azure) == ("KEY_A", "KEY_B"), "workers on a cluster need both"
    bagel = load_model("bagel", {"base_url": "http://a/v1|http://b/v1"})
    assert isinstance(azure, Several) and isinstance(bagel, Several)
    assert bagel.abilities.draw and azure.identity()["base_url"] == "https://a.test"
    assert [server.model.keys for server in azure._servers.all] == [("KEY_A",), ("KEY_B",)]


def play(folder: Path, urls: list[str], *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sketchmark", "run", "--model", "openai/solver", "--tasks", "maze,sliding"]
    command += ["--mode", "direct,visual_cot", "--limit", "12", "--concurrency", "16", "--no-cache"]
    command += ["--output-path", str(folder), "--model-args", ",".join([f"base_url={'|'.join(urls)}", *more])]
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Served]]:
    slow = {"model": "player/solver"}
    with started(tmp_path, "--latency", "20ms", **slow) as one, started(tmp_path, "--latency", "20ms", **slow) as two:
        yield [one, two]


@pytest.mark.slow
def test_a_run_with_two_servers_loses_nothing_when_one_is_killed_in_the_middle(
    servers: list[Served], tmp_path: Path
) -> None:
    (first, a), (_, b) = servers
    running = play(tmp_path / "killed", [a, b])
    path = tmp_path / "killed/episodes/maze.visual_cot.jsonl"
    deadline = time.monotonic() + 120
    while not (path.exists() and path.stat().st_size) and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert running.poll() is None, "the run ended before the server was killed"
    os.kill(first.pid, signal.SIGKILL)
    out, err = running.communicate(timeout=240)
    assert running.returncode == 0, err
    told = re.findall(r"server: +(\S+) answered (\d+) calls(.*)", out)
    assert [address for address, _, _ in told] == [a, b] and all(int(count) > 0 for _, count, _ in told)
    assert "set aside once" in told[0][2] and f"{a} is set aside" in err and not told[1][2]
    whole = sketchmark.run(
        "player/solver", "maze,sliding", mode="direct,visual_cot", limit=12, output_path=tmp_path / "whole"
    ).folder
    killed = RunFolder(tmp_path / "killed")
    for cell in whole.cells:
        assert {row.sample: row.values for row in killed.scores(cell)} == {
            row.sample: row.values for row in whole.scores(cell)
        }
        summary = killed.results().tasks[cell]
        assert (summary.n, summary.failures) == (12, {})
        assert plain(summary.metrics) == plain(whole.results().tasks[cell].metrics)
