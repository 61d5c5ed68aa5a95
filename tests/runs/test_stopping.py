"""A run that cannot get further stops, keeps what it has, and plays the rest when it is started again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sketchmark import Context, Options, Reply
from sketchmark.errors import CallFailed, RunStopped
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder
from sketchmark.runs import runner
from sketchmark.runs.runner import ALIKE_IN_A_ROW, REFUSED_FROM_THE_FIRST
from tests.runs.making import Looker, Speaker, make_cells, run

NAME = "shades.direct"


def _until(last: int, error: Callable[[], CallFailed]) -> Speaker:
    """Answers until this sample was asked, and then never again."""

    def answer(id: str) -> str:
        if int(id[1:]) > last:
            raise error()
        return "yes"

    return Speaker(answer)


def _refused() -> CallFailed:
    return CallFailed("auth", "the key was refused", stops_run=True, hint="set A_KEY")


def _dead() -> CallFailed:
    return CallFailed("connection", "nobody answers")


async def test_a_refused_key_stops_the_run_at_once_and_the_line_says_what_to_do(tmp_path: Path) -> None:
    model = _until(2, _refused)
    with pytest.raises(RunStopped) as stopped:
        await run(tmp_path, make_cells(300, limit=300), model)
    assert str(stopped.value) == (
        "shades.direct: stopped after 3 of 300: auth: the key was refused (set A_KEY); "
        "finished episodes are kept; fix this and run the same command to resume"
    )
    assert stopped.value.exit_code == 2 and len(model.calls) == 4
    cell = RunFolder(tmp_path).results().tasks[NAME]
    assert (cell.n, cell.episodes, cell.failures) == (3, 4, {"auth": 1})


async def test_where_the_number_of_samples_is_unknown_it_is_not_made_up(tmp_path: Path) -> None:
    with pytest.raises(RunStopped, match=r"stopped after 1: auth: "):
        await run(tmp_path, make_cells(9), _until(0, _refused))


async def test_the_next_start_plays_the_rest_and_ends_like_an_undisturbed_run(tmp_path: Path) -> None:
    cells = make_cells(6, "direct", "text_cot", limit=6)
    with pytest.raises(RunStopped):
        await run(tmp_path / "a", cells, _until(2, _refused))
    model = Speaker()
    stopped = await run(tmp_path / "a", cells, model)
    assert model.asked[:3] == ["s4", "s5", "s0"] and model.asked[-1] == "s3", "what failed comes after all cells"
    assert model.asked.count("s0") == 2, "nothing but text_cot asks s0"
    whole = await run(tmp_path / "b", cells, Speaker())
    assert plain(stopped.results()) == plain(whole.results())


async def test_what_is_under_way_ends_but_nothing_new_begins(tmp_path: Path) -> None:
    """Four at once: one is refused, three go on and are kept."""
    refused = asyncio.Event()

    class Slow(Speaker):
        async def say(self, context: Context, options: Options) -> Reply:
            if context.texts[0] == "s2":
                refused.set()
                raise _refused()
            await refused.wait()
            for _ in range(30):
                await asyncio.to_thread(lambda: None)
            return await super().say(context, options)

    model = Slow()
    with pytest.raises(RunStopped, match="stopped after 3 of 50"):
        await run(tmp_path, make_cells(50, limit=50), model, concurrency=4)
    assert sorted(model.asked) == ["s0", "s1", "s3"]


async def test_what_does_not_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PATIENCE", 0.01)

    class Hangs(Speaker):
        async def say(self, context: Context, options: Options) -> Reply:
            if context.texts[0] == "s1":
                raise _refused()
            await asyncio.Event().wait()
            return Reply("never")

    looker = Looker()
    with pytest.raises(RunStopped, match="stopped after 0 of 5"):
        async with asyncio.timeout(10):
            await run(tmp_path, make_cells(5, limit=5), Hangs(), looker, concurrency=2)
    assert [line.sample.id for line in RunFolder(tmp_path).episodes(NAME)] == ["s1"]


async def test_the_next_cell_is_not_begun(tmp_path: Path) -> None:
    looker = Looker()
    with pytest.raises(RunStopped):
        await run(tmp_path, make_cells(3, "direct", "text_cot"), _until(0, _refused), looker)
    assert [told[1] for told in looker.told if told[0] == "begin"] == [NAME]


@pytest.mark.parametrize("concurrency", [1, ALIKE_IN_A_ROW + 5])
async def test_many_that_fail_alike_in_a_row_stop_the_run(tmp_path: Path, concurrency: int) -> None:
    model = _until(-1, _dead)
    most = max(ALIKE_IN_A_ROW, concurrency)
    with pytest.raises(RunStopped, match=rf"{most} episodes in a row failed alike, the last: connection: nobody"):
        await run(tmp_path, make_cells(200), model, concurrency=concurrency)
    assert most <= len(model.calls) < most + concurrency


@pytest.mark.parametrize(
    "between",
    [
        lambda: "yes",
        lambda: _raise(CallFailed("timeout", "slow")),
        lambda: _raise(CallFailed("refused", "will not", blames_model=True)),
    ],
)
async def test_failures_that_are_not_alike_or_not_in_a_row_do_not_stop_it(
    tmp_path: Path, between: Callable[[], str]
) -> None:
    def answer(id: str) -> str:
        if int(id[1:]) % ALIKE_IN_A_ROW == ALIKE_IN_A_ROW - 1:
            return between()
        raise _dead()

    folder = await run(tmp_path, make_cells(3 * ALIKE_IN_A_ROW), Speaker(answer))
    assert folder.results().tasks[NAME].failures["connection"] == 3 * (ALIKE_IN_A_ROW - 1)


def _raise(error: CallFailed) -> str:
    raise error


async def test_what_the_model_fails_itself_never_stops_it(tmp_path: Path) -> None:
    model = _until(-1, lambda: CallFailed("refused", "will not", blames_model=True))
    folder = await run(tmp_path, make_cells(2 * ALIKE_IN_A_ROW), model)
    assert folder.results().tasks[NAME].n == 2 * ALIKE_IN_A_ROW


async def test_a_message_of_many_lines_is_told_in_one(tmp_path: Path) -> None:
    with pytest.raises(RunStopped) as stopped:
        await run(
            tmp_path, make_cells(2), _until(-1, lambda: CallFailed("quota", "empty\n  account", stops_run=True))
        )
    assert "stopped after 0: quota: empty account; finished" in str(stopped.value)


def _refuses() -> CallFailed:
    return CallFailed("bad_request", "HTTP 422: temperature: must be above 0")


@pytest.mark.parametrize(("concurrency", "most"), [(1, REFUSED_FROM_THE_FIRST), (7, 7)])
async def test_requests_that_are_all_refused_from_the_first_on_stop_the_run(
    tmp_path: Path, concurrency: int, most: int
) -> None:
    model = _until(-1, _refuses)
    with pytest.raises(RunStopped, match=rf"{most} episodes in a row failed alike, the last: bad_request: HTTP 422"):
        await run(tmp_path, make_cells(200), model, concurrency=concurrency)
    assert most <= len(model.calls) < most + concurrency


async def test_fewer_than_run_at_once_that_are_all_refused_stop_it_too(tmp_path: Path) -> None:
    with pytest.raises(RunStopped, match=r"stopped after 0: all 5 episodes failed alike, the last: bad_request"):
        await run(tmp_path, make_cells(5), _until(-1, _refuses), concurrency=50)
    assert RunFolder(tmp_path).results().tasks[NAME].failures == {"bad_request": 5}


async def test_requests_of_which_one_was_ever_taken_are_no_reason_to_stop(tmp_path: Path) -> None:
    folder = await run(tmp_path, make_cells(9), _until(0, _refuses))
    assert folder.results().tasks[NAME].failures == {"bad_request": 8}
    again = await run(tmp_path, make_cells(9), _until(-1, _refuses))
    assert again.results().tasks[NAME].n == 1, "the answer of an earlier start counts"
    two = await run(tmp_path / "two", make_cells(2), _until(-1, _refuses))
    assert two.results().tasks[NAME].failures == {"bad_request": 2}, "too few to tell"
