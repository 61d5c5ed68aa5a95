from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import openai
import pytest

from sketchmark.episode.model import Model
from sketchmark.errors import BadInput
from sketchmark.serve import serving
from sketchmark.serve.batches import Fate, parse_fates
from tests.serve.models import Mirror, Moody

CHAT: Any = "/v1/chat/completions"


def line(i: int, words: str, **change: Any) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": words}]}
    return {"custom_id": f"q{i}", "method": "POST", "url": CHAT, "body": body, **change}


@contextmanager
def connected(model: Model, fates: Sequence[Fate] = ("complete",)) -> Iterator[openai.OpenAI]:
    with serving(model, fates=fates) as url:
        yield openai.OpenAI(base_url=url, api_key="any", max_retries=0)


def start(client: openai.OpenAI, lines: Sequence[Any], endpoint: Any = CHAT) -> Any:
    data = "".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in lines).encode()
    file = client.files.create(file=("batch.jsonl", data), purpose="batch")
    return client.batches.create(input_file_id=file.id, endpoint=endpoint, completion_window="24h")


def finish(client: openai.OpenAI, job: Any) -> tuple[Any, list[str]]:
    """The job when it has come to an end, and the states it was seen in."""
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


def test_a_job_goes_through_its_states_and_answers_every_line() -> None:
    with connected(Moody()) as client:
        job, states = finish(client, start(client, [line(i, f"words {i}") for i in range(20)]))
        # A busy machine may poll past a state; the job's own stamps cannot miss one.
        assert (states[0], states[-1]) == ("validating", "completed")
        assert job.created_at <= job.in_progress_at <= job.finalizing_at <= job.completed_at
        assert (job.request_counts.total, job.request_counts.completed, job.request_counts.failed) == (20, 20, 0)
        assert job.error_file_id is None
        answers = {row["custom_id"]: row["response"] for row in rows(client, job.output_file_id)}
        for i in range(20):
            assert answers[f"q{i}"]["status_code"] == 200
            assert answers[f"q{i}"]["body"]["choices"][0]["message"]["content"] == f"words {i}"


def test_results_come_out_of_order() -> None:
    with connected(Moody()) as client:
        job, _ = finish(client, start(client, [line(i, "x") for i in range(20)]))
        ids = [row["custom_id"] for row in rows(client, job.output_file_id)]
    assert sorted(ids) != ids
    assert set(ids) == {f"q{i}" for i in range(20)}


def test_lines_that_fail_go_to_the_error_file() -> None:
    bad = line(2, "x", body={"model": "m", "messages": []})
    with connected(Moody()) as client:
        job, _ = finish(client, start(client, [line(0, "fine"), line(1, "crash"), bad]))
        assert job.status == "completed"
        assert (job.request_counts.completed, job.request_counts.failed) == (1, 2)
        assert [row["custom_id"] for row in rows(client, job.output_file_id)] == ["q0"]
        errors = {row["custom_id"]: row["response"]["status_code"] for row in rows(client, job.error_file_id)}
    assert errors == {"q1": 500, "q2": 400}


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


def test_a_job_can_be_made_to_fail() -> None:
    with connected(Moody(), ("fail",)) as client:
        job, _ = finish(client, start(client, [line(0, "x")]))
    assert job.status == "failed"
    assert job.errors.data[0].code == "token_limit_exceeded"


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


def test_fates_are_dealt_in_turn_and_the_last_one_stays() -> None:
    with connected(Moody(), parse_fates("fail,complete")) as client:
        ends = [finish(client, start(client, [line(i, "x")]))[0].status for i in range(3)]
    assert ends == ["failed", "completed", "completed"]


def test_an_unknown_fate_is_refused() -> None:
    with pytest.raises(BadInput, match="--batch"):
        parse_fates("explode")


def test_a_slow_job_can_be_cancelled() -> None:
    with connected(Moody(), ("slow",)) as client:
        job = start(client, [line(i, "x") for i in range(3)])
        time.sleep(0.3)
        assert client.batches.retrieve(job.id).status == "validating"
        assert client.batches.cancel(job.id).status == "cancelling"
        job, _ = finish(client, client.batches.retrieve(job.id))
        assert job.status == "cancelled"
        assert {row["error"]["code"] for row in rows(client, job.error_file_id)} == {"batch_cancelled"}
        with pytest.raises(openai.ConflictError):
            client.batches.cancel(job.id)


def test_pictures_can_be_generated_in_a_batch() -> None:
    asked = line(0, "", url="/v1/images/generations", body={"model": "m", "prompt": "a square"})
    with connected(Mirror()) as client:
        job, _ = finish(client, start(client, [asked], "/v1/images/generations"))
        assert rows(client, job.output_file_id)[0]["response"]["body"]["data"][0]["b64_json"]


def test_a_job_that_cannot_start_is_an_error_at_once() -> None:
    with connected(Moody()) as client:
        file = client.files.create(file=("b.jsonl", b"{}"), purpose="batch")
        with pytest.raises(openai.NotFoundError):
            client.batches.create(input_file_id="file-none", endpoint=CHAT, completion_window="24h")
        with pytest.raises(openai.BadRequestError):
            client.batches.create(input_file_id=file.id, endpoint="/v1/embeddings", completion_window="24h")
        with pytest.raises(openai.NotFoundError):
            client.batches.retrieve("batch_none")


def test_jobs_are_listed_newest_first_page_by_page() -> None:
    with connected(Moody()) as client:
        made = [start(client, [line(i, "x")]).id for i in range(5)]
        assert [job.id for job in client.batches.list(limit=2)] == made[::-1]
        assert [job.id for job in client.batches.list(limit=2).data] == made[:2:-1]


def test_files_can_be_listed_read_and_deleted() -> None:
    with connected(Moody()) as client:
        first = client.files.create(file=("../../a.jsonl", b"one"), purpose="batch")
        client.files.create(file=("b.jsonl", b"two!"), purpose="batch")
        assert (first.filename, first.bytes) == ("a.jsonl", 3)
        assert [file.filename for file in client.files.list()] == ["b.jsonl", "a.jsonl"]
        assert client.files.content(first.id).read() == b"one"
        assert client.files.delete(first.id).deleted
        with pytest.raises(openai.NotFoundError):
            client.files.retrieve(first.id)


def test_the_files_of_the_same_job_have_the_same_ids_on_every_server() -> None:
    """Which requests meet an injected fault follows from their addresses: a random id would make it a lottery."""

    def ids(words: str) -> tuple[str, str, str]:
        with connected(Moody()) as client:
            job, _ = finish(client, start(client, [line(0, words), line(1, "crash")]))
            return job.input_file_id, job.output_file_id, job.error_file_id

    assert ids("fine") == ids("fine")
    assert not set(ids("fine")) & set(ids("other words"))
    assert len(set(ids("fine"))) == 3


def test_only_batch_files_that_hold_something_are_taken() -> None:
    with connected(Moody()) as client:
        with pytest.raises(openai.BadRequestError, match="purpose"):
            client.files.create(file=("a.jsonl", b"x"), purpose="fine-tune")
        with pytest.raises(openai.BadRequestError, match="empty"):
            client.files.create(file=("a.jsonl", b""), purpose="batch")


def test_the_server_stops_with_a_job_under_way() -> None:
    with connected(Moody(), ("slow",)) as client:
        start(client, [line(0, "x")])
        started = time.monotonic()
    assert time.monotonic() - started < 5
