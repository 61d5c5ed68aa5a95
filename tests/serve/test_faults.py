"""Faults that the server injects, and batches with their fates."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import openai
import pytest

from sketchmark import Model
from sketchmark.errors import BadInput
from sketchmark.serve import Faults, serving
from sketchmark.serve.batches import Fate, parse_fates
from sketchmark.serve.faults import Dice
from tests.serve.models import Mirror, Moody, Speaker


def body(words: str) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": words}]}


def test_the_command_lines_words_are_understood() -> None:
    faults = Faults.parse("429:0.1, 500:.05,reset:0.02", "50ms", 7)
    assert faults.chances == (("429", 0.1), ("500", 0.05), ("reset", 0.02))
    assert (faults.latency, faults.seed) == (0.05, 7)
    assert Faults.parse("", "1.5s").latency == 1.5


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--fail", ["429", "200:0.1", "429:2", "429:0.6,500:0.6", "reset:x", "429=0.1"]),
        ("--latency", ["50", "fast", "-1s", "1h"]),
        ("--batch", ["explode"]),
    ],
)
def test_a_wrong_fault_latency_or_fate_is_refused(option: str, values: list[str]) -> None:
    for value in values:
        with pytest.raises(BadInput, match=option):
            if option == "--batch":
                parse_fates(value)
            Faults.parse(*((value,) if option == "--fail" else ("", value)))


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
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "0.05")
    assert answer.json()["error"]["type"] == "rate_limit_error"


def test_a_reset_breaks_the_connection_without_a_reply_and_the_server_goes_on() -> None:
    outcomes = Counter[str]()
    with serving(Speaker(), faults=Faults((("reset", 0.5),))) as url, httpx.Client() as http:
        for i in range(40):
            try:
                outcomes[str(http.post(f"{url}/chat/completions", json=body(str(i))).status_code)] += 1
            except httpx.ReadError as error:
                outcomes["reset" if "reset" in str(error).lower() else str(error)] += 1
    assert outcomes["200"] > 5 and outcomes["reset"] > 5 and set(outcomes) == {"200", "reset"}


async def test_latency_is_waited_by_all_requests_at_once() -> None:
    with serving(Speaker(), faults=Faults(latency=0.5)) as url:
        async with httpx.AsyncClient(timeout=60) as http:
            started = time.monotonic()
            await asyncio.gather(*(http.post(f"{url}/chat/completions", json=body(str(i))) for i in range(60)))
            took = time.monotonic() - started
    assert 0.5 <= took < 15, "one after the other takes half a minute"


# Batches


CHAT: Any = "/v1/chat/completions"


def line(i: int, words: str, **change: Any) -> dict[str, Any]:
    return {"custom_id": f"q{i}", "method": "POST", "url": CHAT, "body": body(words), **change}


@contextmanager
def connected(model: Model, fates: Sequence[Fate] = ("complete",)) -> Iterator[openai.OpenAI]:
    with serving(model, fates=fates) as url:
        yield openai.OpenAI(base_url=url, api_key="any", max_retries=0)


def start(client: openai.OpenAI, lines: Sequence[Any], endpoint: Any = CHAT) -> Any:
    data = "".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in lines).encode()
    file = client.files.create(file=("batch.jsonl", data), purpose="batch")
    return client.batches.create(input_file_id=file.id, endpoint=endpoint, completion_window="24h")


def finish(client: openai.OpenAI, job: Any) -> tuple[Any, list[str]]:
    """The job when it has ended, and the states it was seen in."""
    states = [job.status]
    deadline = time.monotonic() + 20
    while job.status not in ("completed", "failed", "expired", "cancelled"):
        assert time.monotonic() < deadline, f"stuck: {states}"
        time.sleep(0.01)
        job = client.batches.retrieve(job.id)
        if job.status != states[-1]:
            states.append(job.status)
    return job, states


def rows(client: openai.OpenAI, id: str | None) -> list[Any]:
    return [json.loads(row) for row in client.files.content(id).text.splitlines()] if id else []


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("no json", "invalid_json"),
        (line(0, "x"), "duplicate_custom_id"),
        (line(5, "x", custom_id=None), "missing_required_parameter"),
        (line(5, "x", method="GET"), "invalid_method"),
        (line(5, "x", url="/v1/embeddings"), "mismatched_endpoint"),
        (line(5, "x", body="text"), "missing_required_parameter"),
    ],
)
def test_a_bad_line_fails_the_whole_job_and_is_named(wrong: Any, code: str) -> None:
    with connected(Moody()) as client:
        job, states = finish(client, start(client, [line(0, "x"), wrong]))
    assert states == ["validating", "failed"]
    assert [(error.code, error.line) for error in job.errors.data] == [(code, 2)]
    assert job.output_file_id is None


def test_a_job_goes_through_its_states_and_answers_every_line_out_of_order() -> None:
    with connected(Moody()) as client:
        job, states = finish(client, start(client, [line(i, f"words {i}") for i in range(20)]))
        # A busy machine may poll past a state; the job's own stamps cannot miss one.
        assert (states[0], states[-1]) == ("validating", "completed")
        assert job.created_at <= job.in_progress_at <= job.finalizing_at <= job.completed_at
        assert (job.request_counts.total, job.request_counts.completed, job.request_counts.failed) == (20, 20, 0)
        found = rows(client, job.output_file_id)
    ids = [row["custom_id"] for row in found]
    assert job.error_file_id is None and sorted(ids) != ids and set(ids) == {f"q{i}" for i in range(20)}
    for row in found:
        assert row["response"]["status_code"] == 200
        said = row["response"]["body"]["choices"][0]["message"]["content"]
        assert said == row["custom_id"].replace("q", "words ")


def test_an_expired_job_keeps_what_it_has_and_names_the_rest() -> None:
    with connected(Moody(), ("expire",)) as client:
        job, _ = finish(client, start(client, [line(i, "x") for i in range(5)]))
        done = {row["custom_id"] for row in rows(client, job.output_file_id)}
        late = {row["custom_id"]: row["error"]["code"] for row in rows(client, job.error_file_id)}
    assert job.status == "expired"
    assert len(done) == 3
    assert set(late.values()) == {"batch_expired"}
    assert done | set(late) == {f"q{i}" for i in range(5)}
    assert (job.request_counts.completed, job.request_counts.failed) == (3, 2)


def test_a_slow_job_can_be_cancelled_and_does_not_hold_up_the_end_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sketchmark.serve.batches._SLOW_PACE", 60.0)  # far longer than this test, on any machine
    with connected(Moody(), ("slow",)) as client:
        start(client, [line(0, "x")])
        job = start(client, [line(i, "x") for i in range(3)])
        time.sleep(0.3)
        assert client.batches.retrieve(job.id).status == "validating"
        assert client.batches.cancel(job.id).status == "cancelling"
        job, _ = finish(client, client.batches.retrieve(job.id))
        assert job.status == "cancelled"
        assert {row["error"]["code"] for row in rows(client, job.error_file_id)} == {"batch_cancelled"}
        with pytest.raises(openai.ConflictError):
            client.batches.cancel(job.id)
        started = time.monotonic()
    assert time.monotonic() - started < 20


def test_pictures_can_be_generated_in_a_batch() -> None:
    asked = line(0, "", url="/v1/images/generations", body={"model": "m", "prompt": "a square"})
    with connected(Mirror()) as client:
        job, _ = finish(client, start(client, [asked], "/v1/images/generations"))
        assert rows(client, job.output_file_id)[0]["response"]["body"]["data"][0]["b64_json"]


def test_files_and_jobs_are_listed_newest_first_and_read() -> None:
    with connected(Moody()) as client:
        first = client.files.create(file=("../../a.jsonl", b"one"), purpose="batch")
        client.files.create(file=("b.jsonl", b"two!"), purpose="batch")
        assert (first.filename, first.bytes) == ("a.jsonl", 3)
        assert [file.filename for file in client.files.list()] == ["b.jsonl", "a.jsonl"]
        assert client.files.content(first.id).read() == b"one"
        assert client.files.delete(first.id).deleted
        with pytest.raises(openai.NotFoundError):
            client.files.retrieve(first.id)
        made = [start(client, [line(i, "x")]).id for i in range(5)]
        assert [job.id for job in client.batches.list(limit=2)] == made[::-1]
        assert [job.id for job in client.batches.list(limit=2).data] == made[:2:-1]


def test_the_files_of_the_same_job_have_the_same_ids_on_every_server() -> None:
    """Which requests meet an injected fault follows from their addresses: a random id would make it a lottery."""

    def ids(words: str) -> tuple[str, str, str]:
        with connected(Moody()) as client:
            job, _ = finish(client, start(client, [line(0, words), line(1, "crash")]))
            return job.input_file_id, job.output_file_id, job.error_file_id

    assert ids("fine") == ids("fine")
    assert not set(ids("fine")) & set(ids("other words"))
    assert len(set(ids("fine"))) == 3


def test_a_job_or_file_that_cannot_be_used_is_an_error_at_once() -> None:
    with connected(Moody()) as client:
        file = client.files.create(file=("b.jsonl", b"{}"), purpose="batch")
        with pytest.raises(openai.NotFoundError):
            client.batches.create(input_file_id="file-none", endpoint=CHAT, completion_window="24h")
        with pytest.raises(openai.BadRequestError):
            client.batches.create(input_file_id=file.id, endpoint="/v1/embeddings", completion_window="24h")
        with pytest.raises(openai.NotFoundError):
            client.batches.retrieve("batch_none")
        with pytest.raises(openai.BadRequestError, match="purpose"):
            client.files.create(file=("a.jsonl", b"x"), purpose="fine-tune")
        with pytest.raises(openai.BadRequestError, match="empty"):
            client.files.create(file=("a.jsonl", b""), purpose="batch")
