"""The Batch API, from requests to results, against `sketchmark serve`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import openai
import pytest

from sketchmark import Context, Model, Options, Reply
from sketchmark.errors import BadInput, CallFailed, RunConflict
from sketchmark.models.providers.batch import connect, run_job
from sketchmark.models.providers.batch_files import BatchRequest, JobFiles, Result, State, digest
from sketchmark.serve import Faults, serving
from sketchmark.serve.batches import Fate
from sketchmark.serve.bodies import WireError


class Moody(Model):
    """Repeats the last text, but misbehaves in the way that the text asks for."""

    poor = True

    async def say(self, context: Context, options: Options) -> Reply:
        text = context.texts[-1]
        if text == "crash":
            raise RuntimeError("out of order")
        if text == "poor" and self.poor:
            raise WireError("no credit left", status=429, code="insufficient_quota")
        return {
            "refuse": Reply("no", finish="refused"),
            "cut": Reply("half", finish="length"),
            "empty": Reply(""),
        }.get(text, Reply(f"said {text}"))


@dataclass
class Far:
    """A far end, and the files of the job on this side."""

    url: str
    files: JobFiles
    told: list[str] = field(default_factory=list)

    async def run(self, *texts: str) -> dict[str, Result]:
        connection = connect("openai/m", {"base_url": self.url})
        try:
            return await run_job(connection, requests(*texts), self.files, self.told.append)
        finally:
            await connection.close()

    @property
    def sdk(self) -> openai.OpenAI:
        return openai.OpenAI(base_url=self.url, api_key="any", max_retries=20)

    def uploads(self) -> int:
        return len(list(self.sdk.files.list(purpose="batch")))

    def jobs(self) -> int:
        return len(list(self.sdk.batches.list()))


def requests(*texts: str) -> list[BatchRequest]:
    return [
        BatchRequest(f"q{i}", {"model": "m", "messages": [{"role": "user", "content": text}]})
        for i, text in enumerate(texts)
    ]


@contextmanager
def far(folder: Path, fates: Sequence[Fate] = ("complete",), faults: Faults | None = None) -> Iterator[Far]:
    with serving(Moody("m"), fates=fates, faults=faults or Faults()) as url:
        yield Far(url, JobFiles.named(folder / "batch_step1", folder / "results_step1"))


async def test_results_are_joined_by_custom_id_though_they_come_out_of_order(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        results = await end.run(*(f"text {i}" for i in range(30)))
    assert results == {f"q{i}": Result(f"said text {i}") for i in range(30)}
    came = [json.loads(line)["custom_id"] for line in end.files.output.read_text().splitlines()]
    assert came != sorted(came, key=lambda name: int(name[1:])), "the server shuffles"


@pytest.mark.slow
async def test_the_states_are_told_as_they_change(tmp_path: Path) -> None:
    with far(tmp_path, ("slow",)) as end:
        await end.run("a")
    assert end.told[0] == "batch_step1.jsonl: uploaded 1 requests"
    assert [line.split(":")[1].split(",")[0].strip() for line in end.told[1:]] == [
        "validating",
        "in_progress",
        "finalizing",
        "completed",
    ]


async def test_a_line_that_failed_has_its_problem_and_the_others_their_answers(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        results = await end.run("fine", "crash", "refuse", "cut", "empty", "fine too")
    problems = {name: result.problem.split(":")[0] for name, result in results.items()}
    assert problems == {"q0": "", "q1": "500", "q2": "refused", "q3": "truncated", "q4": "empty", "q5": ""}
    assert results["q5"].text == "said fine too"


async def test_requests_that_failed_for_want_of_credit_are_sent_again_when_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with far(tmp_path) as end:
        with pytest.raises(CallFailed, match=r"no credit left.*add credit") as caught:
            await end.run("fine", "poor")
        assert (caught.value.kind, caught.value.stops_run) == ("quota", True)
        monkeypatch.setattr(Moody, "poor", False)
        assert await end.run("fine", "poor") == {"q0": Result("said fine"), "q1": Result("said poor")}
        assert [told for told in end.told if "uploaded" in told][-1].endswith("uploaded 1 requests")


async def test_a_finished_job_is_only_read_when_asked_for_again(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        first = await end.run("a", "b")
        assert await end.run("a", "b") == first
        assert (end.uploads(), end.jobs()) == (1, 1)


async def test_what_came_back_without_an_answer_is_asked_for_again_and_nothing_else(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        first = await end.run("a", "crash", "b", "refuse")
        assert await end.run("a", "crash", "b", "refuse") == first
        assert sorted(job.request_counts.total for job in end.sdk.batches.list() if job.request_counts) == [2, 4]


async def test_of_two_answers_to_one_request_neither_counts_and_it_is_asked_for_again(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        await end.run("a", "b")
        lines = end.files.output.read_text().splitlines()
        twice = next(line for line in lines if '"q1"' in line)
        stranger = twice.replace('"q1"', '"q77"')
        end.files.output.write_text("\n".join([*lines, twice.replace("said b", "said c"), stranger]) + "\n")
        assert end.files.results(["q0", "q1"]) == {"q0": Result("said a"), "q1": Result(problem="answered twice")}
        assert await end.run("a", "b") == {"q0": Result("said a"), "q1": Result("said b")}
        assert end.jobs() == 2


async def test_a_failed_job_is_an_error_with_the_servers_words_and_the_next_try_sends_again(tmp_path: Path) -> None:
    with far(tmp_path, ("fail", "complete")) as end:
        with pytest.raises(CallFailed, match=r"failed: token_limit_exceeded.*same command") as raised:
            await end.run("a", "b")
        assert raised.value.kind == "batch_failed"
        assert (await end.run("a", "b"))["q1"] == Result("said b")
        assert end.jobs() == 2


async def test_an_expired_job_keeps_what_it_answered_and_the_next_try_sends_only_the_rest(tmp_path: Path) -> None:
    texts = [f"t{i}" for i in range(10)]
    with far(tmp_path, ("expire", "complete")) as end:
        with pytest.raises(CallFailed, match="expired; 5 of 10 answers are kept") as raised:
            await end.run(*texts)
        assert raised.value.kind == "batch_expired"
        assert len(end.files.answered()) == 5
        results = await end.run(*texts)
        assert results == {f"q{i}": Result(f"said t{i}") for i in range(10)}
        assert sorted(job.request_counts.total for job in end.sdk.batches.list() if job.request_counts) == [5, 10]


async def test_a_cancelled_job_is_an_error(tmp_path: Path) -> None:
    with far(tmp_path, ("slow",)) as end:
        waiting = asyncio.create_task(end.run("a"))
        while not any("validating" in line for line in end.told):
            await asyncio.sleep(0.02)
        await asyncio.to_thread(lambda: [end.sdk.batches.cancel(job.id) for job in end.sdk.batches.list()])
        with pytest.raises(CallFailed, match="was cancelled"):
            await waiting


@pytest.mark.slow
async def test_a_wait_that_was_cut_off_goes_on_with_the_same_job(tmp_path: Path) -> None:
    with far(tmp_path, ("slow",)) as end:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(end.run("a"), 1)
        assert (await end.run("a")) == {"q0": Result("said a")}
        assert (end.uploads(), end.jobs()) == (1, 1)


async def test_a_job_created_just_before_a_kill_is_found_by_its_file(tmp_path: Path) -> None:
    """Killed after the server made the job and before its id was written down."""
    with far(tmp_path) as end:
        await end.run("a")
        state = json.loads(end.files.state.read_text())
        upload = next(iter(end.sdk.files.list(purpose="batch")))
        end.files.state.write_text(json.dumps({**state, "file_id": upload.id, "completed": False}))
        end.files.output.unlink()
        assert await end.run("a") == {"q0": Result("said a")}
        assert (end.uploads(), end.jobs()) == (1, 1)


@pytest.mark.slow
async def test_an_unreliable_line_brings_the_same_results_and_one_job(tmp_path: Path) -> None:
    faults = Faults.parse("500:0.3,429:0.2,reset:0.1", seed=5)
    with far(tmp_path, faults=faults) as end:
        assert await end.run("a", "b") == {"q0": Result("said a"), "q1": Result("said b")}
        assert (end.uploads(), end.jobs()) == (1, 1)


async def test_files_of_other_requests_are_never_written_over(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        await end.run("a")
        before = end.files.output.read_bytes()
        with pytest.raises(RunConflict, match="other requests"):
            await end.run("b")
        end.files.state.unlink()
        with pytest.raises(RunConflict, match="is there already"):
            await end.run("a")
    assert end.files.output.read_bytes() == before


async def test_a_job_the_server_no_longer_knows_is_said_in_one_line(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        end.files.save_state(State(digest(requests("a")), end.url, "file-gone", "batch_gone"))
        with pytest.raises(CallFailed, match=r"batch_gone.*delete .*state.json") as raised:
            await end.run("a")
    assert raised.value.kind == "not_found"


async def test_nothing_to_ask_is_no_job(tmp_path: Path) -> None:
    with far(tmp_path) as end:
        assert await end.run() == {}
        assert (end.uploads(), end.jobs()) == (0, 0)


def test_only_a_model_behind_the_api_can_be_asked_in_batches() -> None:
    with pytest.raises(BadInput, match="--batch needs a judge behind OpenAI's Batch API"):
        connect("player/solver", {})
