"""Many jobs at once: never more than asked for, none left running behind a failure, the longest first."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator

import pytest

from sketchmark import engines
from sketchmark.engines import longest_first, play_all


class Jobs:
    """An endless or counted supply that writes down when, and in which thread, each job was drawn."""

    def __init__(self, count: int, fails_at: int | None = None) -> None:
        self.count, self.fails_at = count, fails_at
        self.drawn: list[int] = []
        self.threads: list[int] = []

    def __iter__(self) -> Iterator[int]:
        for number in range(self.count):
            if number == self.fails_at:
                raise LookupError("no more of these")
            self.threads.append(threading.get_ident())
            self.drawn.append(number)
            yield number


class Hall:
    """The place where jobs run: it counts them, and keeps them until the doors open."""

    def __init__(self, expected: int) -> None:
        self.inside, self.most = 0, 0
        self.full, self.doors = asyncio.Event(), asyncio.Event()
        self.expected = expected
        self.left: list[int] = []
        self.cancelled: list[int] = []

    async def play(self, job: int) -> int:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == self.expected:
            self.full.set()
        try:
            await self.doors.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # tidying up takes its turns, too
            await asyncio.sleep(0)
            self.cancelled.append(job)
            raise
        finally:
            self.inside -= 1
        self.left.append(job)
        return job * 10


@pytest.fixture
def open_hall() -> Hall:
    hall = Hall(1)
    hall.doors.set()
    return hall


async def _all(jobs: Iterable[int | None], play: Callable[[int], Awaitable[int]], concurrency: int) -> list[int]:
    """An engine that hangs is red, not a test that never ends."""
    async with asyncio.timeout(10):
        return [outcome async for outcome in play_all(iter(jobs), play, concurrency)]


async def _time_to_draw() -> None:
    """So many turns of the worker threads that an engine that wanted another job would have drawn it."""
    for _ in range(30):
        await asyncio.to_thread(lambda: None)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_all_places_are_used_and_the_next_job_is_drawn_only_when_one_is_free(concurrency: int) -> None:
    jobs, hall = Jobs(8), Hall(concurrency)
    playing = asyncio.create_task(_all(jobs, hall.play, concurrency))
    await asyncio.wait_for(hall.full.wait(), 10)
    await _time_to_draw()
    assert jobs.drawn == list(range(concurrency))
    hall.doors.set()
    assert sorted(await playing) == [0, 10, 20, 30, 40, 50, 60, 70]
    assert hall.most == concurrency


async def test_a_place_that_becomes_free_is_taken_while_the_others_go_on() -> None:
    started: list[int] = []
    slow = asyncio.Event()

    async def play(job: int) -> int:
        started.append(job)
        if job == 0:
            await slow.wait()
        if job == 5:
            slow.set()
        return job

    outcomes = await _all(range(6), play, 2)
    assert started == [0, 1, 2, 3, 4, 5]
    assert outcomes[:4] == [1, 2, 3, 4] and set(outcomes[4:]) == {0, 5}, "the job that ends first comes first"


async def test_one_at_a_time_keeps_the_order_and_passes_over_what_is_finished(open_hall: Hall) -> None:
    assert await _all([None, 0, 1, None, None, 2, 3, None], open_hall.play, 1) == [0, 10, 20, 30]
    assert open_hall.left == [0, 1, 2, 3]
    assert await _all(Jobs(0), open_hall.play, 4) == []


async def test_slow_jobs_are_made_off_the_event_loop(open_hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_QUICK", -1.0)
    jobs = Jobs(60)
    await _all(jobs, open_hall.play, 2)
    assert len(jobs.threads) == 60 and jobs.threads.count(threading.get_ident()) <= 2, "they show that it is slow"


async def test_quick_jobs_are_made_by_the_event_loop(open_hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_QUICK", 60.0)
    jobs = Jobs(60)
    await _all(jobs, open_hall.play, 2)
    own = jobs.threads.count(threading.get_ident())
    assert jobs.threads[0] != threading.get_ident() and own >= 58, "the first one opens the data"


async def test_a_job_that_is_made_by_the_event_loop_may_use_a_loop(
    open_hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_QUICK", 60.0)

    async def fetched(number: int) -> int:
        await asyncio.sleep(0)
        return number

    outcomes = await _all((asyncio.run(fetched(number)) for number in range(5)), open_hall.play, 1)
    assert outcomes == [0, 10, 20, 30, 40]


async def test_an_error_in_one_job_ends_the_others_before_it_is_raised() -> None:
    hall = Hall(3)

    async def play(job: int) -> int:
        if job == 3:
            raise ZeroDivisionError("a bug")
        return await hall.play(job)

    with pytest.raises(ZeroDivisionError):
        await _all(range(9), play, 4)
    assert sorted(hall.cancelled) == [0, 1, 2] and hall.inside == 0


async def test_an_error_while_drawing_ends_the_jobs_that_are_under_way() -> None:
    hall = Hall(2)
    with pytest.raises(LookupError):
        await _all(Jobs(9, fails_at=2), hall.play, 4)
    assert hall.inside == 0 and hall.left == []


async def test_a_closed_iterator_ends_the_jobs() -> None:
    hall = Hall(2)

    async def play(job: int) -> int:
        return job if job == 0 else await hall.play(job)

    outcomes = play_all(iter(range(9)), play, 3)
    async with asyncio.timeout(10):
        assert await anext(outcomes) == 0
        await outcomes.aclose()
    assert sorted(hall.cancelled) == [1, 2] and hall.inside == 0


async def test_a_run_that_is_cancelled_ends_its_jobs() -> None:
    hall = Hall(2)
    playing = asyncio.create_task(_all(Jobs(9), hall.play, 2))
    await asyncio.wait_for(hall.full.wait(), 10)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert sorted(hall.cancelled) == [0, 1] and hall.left == []


async def test_several_failures_at_once_raise_one_error_and_leave_none_over() -> None:
    """asyncio prints the traceback of a failed task whose result was not read."""
    left_over: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: left_over.append(context))
    together = asyncio.Barrier(3)

    async def play(job: int) -> int:
        await together.wait()
        raise OSError(f"the disk is full, says {job}")

    with pytest.raises(OSError, match="full"):
        await _all(range(3), play, 3)
    gc.collect()
    assert left_over == []


async def test_a_cancelled_run_does_not_look_through_all_finished_jobs() -> None:
    many, looked_at, looked = 2_000_000, 0, threading.Event()

    def supply() -> Iterator[int | None]:
        nonlocal looked_at
        for _ in range(many):
            looked_at += 1
            looked.set()
            yield None

    async def play(job: int) -> int:
        raise AssertionError("every job is finished")

    playing = asyncio.create_task(_all(supply(), play, 2))
    await asyncio.to_thread(looked.wait, 10)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    await asyncio.get_running_loop().shutdown_default_executor()
    assert 0 < looked_at < many


# The order of jobs


@pytest.mark.parametrize(
    ("lengths", "ahead", "order"),
    [
        ([1, 2, 3, 4, 5, 6, 1, 1], 3, [1, 3, 5, 6, 4, 2, 1, 1]),
        ([1, 3, 2, 5], 0, [1, 3, 2, 5]),
        ([3, 1, None, 0, 2, None, 4], 2, [3, None, 0, 2, None, 4, 1]),  # 0: a job of unknown length
    ],
)
def test_the_longest_job_in_sight_comes_first(lengths: list[int | None], ahead: int, order: list[int | None]) -> None:
    assert list(longest_first(iter(lengths), lambda job: job or None, ahead)) == order


def test_the_last_jobs_are_the_shortest_and_equal_lengths_keep_their_order() -> None:
    lengths = [5, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9]
    ordered = [length or 0 for length in longest_first(iter(lengths), lambda job: job, 6)]
    assert sorted(ordered) == sorted(lengths) and ordered[-7:] == sorted(ordered[-7:], reverse=True)
    assert "".join(job or "" for job in longest_first(iter("abcd"), lambda job: 2, 3)) == "abcd"


def test_the_first_job_does_not_wait_until_all_are_made_and_few_are_held() -> None:
    drawn: list[int] = []

    def supply() -> Iterator[int]:
        for number in range(1000):
            drawn.append(number)
            yield number + 1

    jobs = longest_first(supply(), lambda job: job, 8)
    ahead = []
    for given in range(1, 40):
        next(jobs)
        ahead.append(len(drawn) - given)
    assert ahead[0] <= 1 and max(ahead) == 8
