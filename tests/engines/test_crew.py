"""A crew of worker processes: jobs go where there is room, and a worker that dies costs nothing but time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sketchmark.engines.crew import TRIES, Crew, JobLost
from sketchmark.engines.processes import _START, OPENING, ProcessWorker, receive, send
from sketchmark.errors import SketchmarkError

ENTRY = "tests.engines.far:open_doer"


@asynccontextmanager
async def crew_of(size: int, places: int, recipe: str = "") -> AsyncIterator[Crew]:
    """One that hangs is red, not a test that never ends."""
    async with asyncio.timeout(60), Crew(lambda: ProcessWorker.start(ENTRY, recipe.encode()), size, places) as crew:
        yield crew


async def _all(crew: Crew, jobs: Sequence[str]) -> list[str]:
    return [outcome.decode() for outcome in await asyncio.gather(*(crew.play(job.encode()) for job in jobs))]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_each_outcome_belongs_to_its_job_however_large_it_is() -> None:
    jobs = [f"echo {number} {'x' * (200_000 * (number % 3))}" for number in range(12)]
    async with crew_of(2, 3) as crew:
        assert await _all(crew, jobs) == [job.removeprefix("echo ") for job in jobs]
        assert (crew.lost, crew.again) == (0, 0)


async def test_all_places_of_all_workers_are_used_at_once(tmp_path: Path) -> None:
    async with crew_of(2, 3) as crew:
        pids = await _all(crew, [f"meet {tmp_path} 6"] * 6)
    assert sorted(pids.count(pid) for pid in set(pids)) == [3, 3]


async def test_a_place_is_not_given_twice(tmp_path: Path) -> None:
    async with crew_of(1, 2) as crew:
        playing = [asyncio.create_task(crew.play(f"meet {tmp_path} 3".encode())) for _ in range(3)]
        while len(list(tmp_path.iterdir())) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert len(list(tmp_path.iterdir())) == 2, "the third one waits for a place"
        (tmp_path / "third").touch()
        await asyncio.gather(*playing)


async def test_the_jobs_of_a_dead_worker_are_run_by_another(tmp_path: Path) -> None:
    async with crew_of(2, 4) as crew:
        (before,) = await _all(crew, ["pid"])
        pids = await _all(crew, [f"die once {tmp_path / 'died'}", *["pid"] * 7])
        assert len(pids) == 8 and len(set(pids)) <= 3 and before
        assert crew.lost == 1 and 1 <= crew.again <= 8


async def test_a_job_that_kills_every_worker_is_given_up_and_its_neighbours_are_not_blamed(tmp_path: Path) -> None:
    """All share one worker, so the first deaths take all of them down."""
    async with crew_of(1, 8) as crew:
        jobs = [crew.play(job) for job in (b"die", *[b"pid 0.4"] * 7)]
        lost, *others = await asyncio.gather(*jobs, return_exceptions=True)
        assert isinstance(lost, JobLost) and f"died {TRIES} times" in str(lost) and "signal 9" in str(lost)
        assert all(isinstance(pid, bytes) for pid in others)
        assert crew.lost == TRIES
        assert await _all(crew, ["echo on"]) == ["on"], "the crew is as good as before"


async def test_a_worker_that_dies_with_nothing_to_do_is_replaced() -> None:
    async with crew_of(1, 1) as crew:
        (pid,) = await _all(crew, ["pid"])
        os.kill(int(pid), 9)
        assert await _all(crew, ["echo on"]) == ["on"]
        assert crew.lost == 1


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("refuse", r"^it will not \(ask another\)$"),
        ("break", "^a worker could not start: ZeroDivisionError: a bug$"),
        ("die", "^workers die while they start: a worker process ended with exit code 7$"),
    ],
)
async def test_workers_that_cannot_start_end_the_run_in_one_line(recipe: str, said: str) -> None:
    async with crew_of(2, 1, recipe) as crew:
        with pytest.raises(SketchmarkError, match=said):
            await crew.play(b"pid")


async def test_output_of_a_worker_is_no_outcome(capfd: pytest.CaptureFixture[str]) -> None:
    async with crew_of(1, 1) as crew:
        assert (await _all(crew, ["print"]))[0].isdigit()
        assert await _all(crew, ["echo on"]) == ["on"]
    said = capfd.readouterr()
    assert said.out == "" and "a plug-in that prints" in said.err and "a library that writes" in said.err


async def test_no_worker_is_started_without_a_job_and_none_is_left_behind(tmp_path: Path) -> None:
    async with crew_of(2, 1, "die"):
        pass
    async with crew_of(1, 1) as crew:
        (pid,) = await _all(crew, ["pid"])
    assert not _is_alive(int(pid))


async def test_a_crew_that_is_cancelled_leaves_no_worker(tmp_path: Path) -> None:
    pid = 0

    async def work() -> None:
        nonlocal pid
        async with crew_of(1, 2) as crew:
            pid = int((await _all(crew, ["pid"]))[0])
            await _all(crew, [f"meet {tmp_path} 99"])

    working = asyncio.create_task(work())
    async with asyncio.timeout(60):
        while not list(tmp_path.iterdir()):
            await asyncio.sleep(0.01)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert pid and not _is_alive(pid)


async def test_workers_report_their_state_and_reports_of_dead_ones_are_kept(tmp_path: Path) -> None:
    async with crew_of(1, 2) as crew:
        assert await crew.news() == ([], [])
        await _all(crew, ["echo a", "echo b"])
        ((said,), left) = await crew.news()
        assert said.endswith(b" 2") and left == []
        await _all(crew, [f"die once {tmp_path / 'died'}"])
        ((again,), left) = await crew.news()
        assert left == [said] and again.endswith(b" 1"), "the next worker starts again"


@pytest.mark.parametrize("job", [b"", b"echo"])
def test_a_worker_whose_reader_is_gone_ends_without_a_traceback(job: bytes) -> None:
    """Its input is still open: a run that was killed may have left it to another process."""
    code = f"{_START}; worker.main(sys.argv[2])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(sys.path), ENTRY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout and process.stderr
    send(process.stdin.fileno(), OPENING, b"")
    assert receive(process.stdout.fileno()) == (OPENING, b"")
    process.stdout.close()
    send(process.stdin.fileno(), 1, job)
    assert (process.wait(30), process.stderr.read()) == (0, b"")
    process.stdin.close()
    process.stderr.close()
