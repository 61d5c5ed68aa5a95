"""Progress displays: they show calls and episodes, fit 80 columns, and cost nothing without a display."""

from __future__ import annotations

import asyncio
import io
import time
from collections import Counter
from pathlib import Path

import pytest

import sketchmark
from sketchmark import Context, Options, Reply, Usage, progress
from sketchmark import runs as prepare
from sketchmark.models.wrappers import CallCount
from sketchmark.progress import Brief, Calls, Live, Plain, told_of_calls
from sketchmark.terminal.console import Bars, bars, written_to
from tests.runs.making import Looker, Speaker, make_cell, make_samples, make_task, run

REFUSED = "connection: no connection to http://127.0.0.1:9100: nothing listens there"


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LOOKS", 0.01)


class Clock:
    """Replaces time.monotonic."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("sketchmark.progress.time.monotonic", found)
    return found


class Onlooker(Looker):
    looks_on = True

    def __init__(self) -> None:
        super().__init__()
        self.seen = asyncio.Event()
        self.waits_for = ""

    def calls(self, so_far: Calls) -> None:
        super().calls(so_far)
        if self.waits_for and self.waits_for in so_far.told():
            self.seen.set()


async def test_calls_are_seen_before_the_first_episode_ends(tmp_path: Path) -> None:
    """The last call of the only episode waits until the first one was seen."""
    looking = Onlooker()
    looking.waits_for = "1 call, 1 under way, 7 tokens"

    class Waits(Speaker):
        async def say(self, context: Context, options: Options) -> Reply:
            await asyncio.wait_for(looking.seen.wait(), 20)
            return Reply("yes", usage=Usage(tokens_in=1, tokens_out=1))

    model = Waits(drawing=lambda id: Reply(picture=make_samples(1)[0].pictures["picture"], usage=Usage(5, 2)))  # type: ignore[arg-type]
    await run(tmp_path, [make_cell(make_task(make_samples(1)), "visual_cot")], model, looking)
    told = [what[1] for what in looking.told if what[0] == "calls"]
    assert told[-1] == "2 calls, 0 under way, 9 tokens"
    assert not any(what[0] == "played" for what in looking.told[: looking.told.index(("calls", told[0], ""))])


async def test_model_failures_are_counted_separately(tmp_path: Path) -> None:
    looking = Onlooker()
    model = Speaker(drawing=lambda id: Reply("no"))
    await run(tmp_path, [make_cell(make_task(make_samples(2)), "visual_cot")], model, looking)
    assert [what for what in looking.told if what[0] == "played"] == [("played", "shades.visual_cot", False)] * 2
    assert looking.told[-1][1].endswith("2 no_picture") or looking.told[-2][1].endswith("2 no_picture")


async def test_calls_are_not_counted_without_a_display() -> None:
    async def never() -> CallCount:
        raise AssertionError

    async with told_of_calls(Looker(), Calls(), never):
        await asyncio.sleep(0.05)


@pytest.mark.slow
def test_calls_of_worker_processes_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looking = Onlooker()
    monkeypatch.setattr(prepare, "watcher", lambda quiet: _entered(looking))
    asked = {"mode": "direct,visual_cot", "limit": 6, "no_cache": True, "engine": "processes", "replicas": 2}
    folder = sketchmark.run("player/sketcher", "maze", output_path=tmp_path, **asked)  # type: ignore[arg-type]
    usage = [cell.usage for cell in folder.results.tasks.values()]
    calls = sum(one["calls"] for one in usage)
    tokens = sum(one["tokens_in"] + one["tokens_out"] for one in usage)
    told = [what[1] for what in looking.told if what[0] == "calls"][-1]
    assert told == f"{calls} calls, 0 under way, {tokens:,} tokens" and calls > 40


class _entered:
    def __init__(self, looking: Onlooker) -> None:
        self.looking = looking

    def __enter__(self) -> Onlooker:
        return self.looking

    def __exit__(self, *how: object) -> None: ...


def test_calls_are_summarised_in_one_line_without_zero_counts() -> None:
    assert Calls(awaited=True).told() == "no call yet: samples are being read or made" and Calls().told() == ""
    model = CallCount(under_way=88, answered=1412, from_cache=3, tokens_in=1_000_000, tokens_out=234_567, retries=1)
    judge = CallCount(under_way=2, answered=9, tokens_in=10, tokens_out=1)
    calls = Calls(model, judge, lambda usage: usage["tokens_in"] / 1e6, None, Counter(no_picture=4))
    assert calls.told() == (
        "1,412 calls, 3 from the cache, 9 of the judge, 90 under way, 1 retry, 1.2M tokens, cost 1.0000, 4 no_picture"
    )
    assert Calls(judge=judge).told() == "9 of the judge, 2 under way, 11 tokens"


def test_the_error_is_current_until_a_reply_and_remembered_after() -> None:
    calls = Calls(CallCount(error="dead", silent=1))
    assert calls.error == calls.last_error == "no reply yet: dead"
    calls.model.answered, calls.model.silent = 5, 7
    assert calls.error == "no reply to the last 7 attempts: dead"
    calls.model.silent = 0
    assert (calls.error, calls.last_error) == ("", "last error: dead")
    assert Calls(judge=CallCount(error="dead", silent=1)).error == "the judge: no reply yet: dead"


def test_a_log_reports_at_once_that_the_server_does_not_reply_and_then_now_and_then(
    capsys: pytest.CaptureFixture[str], clock: Clock
) -> None:
    looking, calls = Plain(), Calls(CallCount(under_way=4))

    def said(*after: float) -> str:
        for seconds in after:
            clock.now += seconds
            looking.calls(calls)
        return capsys.readouterr().err

    assert said(0) == ""
    calls.model.error, calls.model.silent = REFUSED, 1
    assert said(0.5, 0.5, 0.5) == f"calls: no reply yet: {REFUSED}\n", "once"
    assert said(5) == f"calls: 0 calls, 4 under way; no reply yet: {REFUSED}\n"
    assert said(5) == "", "nothing has changed"
    assert said(60).startswith("calls: 0 calls")


def test_hanging_calls_are_reported_before_their_timeout(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    looking, calls = Plain(), Calls(CallCount(under_way=4, answered=7))
    for _ in range(60):
        calls.look(clock.now)
        looking.calls(calls)
        clock.now += 0.5
    told = [line.removeprefix("calls: 7 calls, 4 under way") for line in capsys.readouterr().err.splitlines()]
    assert told == ["", ", no reply for 10 s", ", no reply for 20 s"]
    calls.model.answered = 8
    calls.look(clock.now)
    assert calls.told() == "8 calls, 4 under way"
    calls.model.under_way = 0
    calls.look(clock.now + 99)
    assert calls.told() == "8 calls, 0 under way", "no reply is awaited"


async def test_silence_is_measured_with_the_calls() -> None:
    looking, hanging = Onlooker(), CallCount(under_way=1)
    looking.waits_for = "1 under way, no reply for"

    async def players() -> CallCount:
        return hanging

    async with asyncio.timeout(20), told_of_calls(looking, Calls(_since=time.monotonic() - 25), players):
        await looking.seen.wait()


def test_the_remaining_time_is_not_estimated_while_all_episodes_fail(
    capsys: pytest.CaptureFixture[str], clock: Clock
) -> None:
    looking, screen = Plain(), Live()
    with screen:
        for each in (looking, screen):
            each.begin("maze", 100, 0)
        for failed, words in ((True, "1 failed, 0.2/s"), (False, "1 failed, 0.2/s, 8 min left")):
            clock.now += 5
            for each in (looking, screen):
                each.played("maze", failed)
            assert capsys.readouterr().err.splitlines()[-1].endswith(words)
            assert screen._progress.tasks[0].fields["works"] is not failed
    display = bars()
    for works in (True, False):
        task = display.add_task("maze", total=9, failed="", rate="", works=works)
        assert ("-:--:--" in _rendered(display, 80)[0]) == works
        display.remove_task(task)


def test_a_log_does_not_report_short_work(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    for seconds, said in ((1, ""), (6, "one strict: 1 episodes, 0 failed, 6.0 s\n")):
        looking = Brief()
        looking.begin("one strict", 9, 0)
        clock.now += seconds
        looking._cells["one strict"].add(False)
        looking.end("one strict")
        assert capsys.readouterr().err == said


def _rendered(display: Bars, width: int) -> list[str]:
    out = io.StringIO()
    console = written_to(out, width)
    with pytest.MonkeyPatch.context() as swapped:
        swapped.setattr(display.live, "console", console)
        console.print(display.get_renderable())
    return out.getvalue().splitlines()


def test_bars_and_lines_fit_80_columns_and_names_are_shortened() -> None:
    display = bars()
    display.add_task("unig2u_visual_puzzles_of_a_long_name.visual_cot.oracle", total=20_000, completed=12_345,
                     failed="1234 failed", rate="123.4/s")  # fmt: skip
    display.say(Calls(CallCount(1000, 123_456, 1000, 10**9, 10**9, 0, 1234)).told(), f"no answer yet: {'dead ' * 99}")
    lines = _rendered(display, 80)
    assert len(lines) == 4 and max(map(len, lines)) <= 80
    assert lines[0].startswith("123,456 calls, 1,000 from the cache, 1,000 under way, 1,234 retries")
    assert lines[1].startswith("no answer yet: dead") and lines[2].rstrip().endswith("…")
    assert "…" in lines[3] and "12345/20000" in lines[3] and "1234 failed" in lines[3] and "123.4/s" in lines[3]


def test_a_terminal_shows_calls_above_the_bars() -> None:
    looking = Live()
    with looking:
        looking.begin("maze.direct", 3, 0)
        looking.calls(Calls(CallCount(answered=2, error="slow")))
        lines = _rendered(looking._progress, 100)
    assert lines[0].startswith("2 calls, 0 under way") and lines[1].startswith("last error: slow")
    assert lines[2].startswith("maze.direct")


def test_after_a_finished_episode_the_log_never_says_that_there_is_no_call_yet() -> None:
    waiting = Calls(awaited=True)
    assert waiting.told() == "no call yet: samples are being read or made"
    assert waiting.told(played=5) == "", "their calls are counted half a second later"
