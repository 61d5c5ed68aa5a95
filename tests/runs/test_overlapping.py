"""The cells of a run are one queue of jobs: no cell waits for the slowest episode of another."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from sketchmark import Context, Options, Reply
from sketchmark.errors import CallFailed, RunStopped
from sketchmark.folder import RunFolder
from sketchmark.progress import Plain
from sketchmark.runs.plan import Cell
from tests.runs.making import (
    Looker,
    Speaker,
    lines_in,
    make_cell,
    make_config,
    make_sample,
    make_samples,
    make_task,
    planned,
    run,
)


def _two(count: int, *, limit: int | None = None, weights: tuple[float, float] = (0, 0)) -> list[Cell]:
    tasks = [make_task(make_samples(count), name) for name in ("one", "two")]
    return [replace(make_cell(task, limit=limit), weight=weight) for task, weight in zip(tasks, weights, strict=True)]


async def test_the_next_cell_begins_during_the_last_episode_of_the_one_before(tmp_path: Path) -> None:
    """The last sample of the first cell ends only when all of the second has been asked."""
    rest = asyncio.Event()

    class Waits(Speaker):
        async def say(self, context: Context, options: Options) -> Reply:
            self._note("say", context, options)
            if len(self.calls) == 3:  # the third of the first cell
                await asyncio.wait_for(rest.wait(), 20)
            if len(self.calls) == 6:
                rest.set()
            return Reply("yes")

    looker = Looker()
    folder = await run(tmp_path, _two(3), Waits(), looker, concurrency=2)
    assert [cell.n for cell in folder.results().tasks.values()] == [3, 3]
    told = [(what[0], what[1]) for what in looker.told if what[0] != "played"]
    assert told.index(("begin", "two.direct")) < told.index(("end", "one.direct"))
    assert [what for what, _ in told].count("end") == 2


async def test_heavier_cells_come_first_and_equal_ones_in_the_requested_order(tmp_path: Path) -> None:
    order: list[str] = []

    class Noting(Looker):
        def begin(self, cell: str, total: int | None, done: int) -> None:
            order.append(cell)

    await run(tmp_path / "a", _two(2, weights=(1, 4)), Speaker(), Noting())
    await run(tmp_path / "b", _two(2, weights=(4, 4)), Speaker(), Noting())
    assert order == ["two.direct", "one.direct", "one.direct", "two.direct"]
    assert RunFolder(tmp_path / "a").cells == ["one.direct", "two.direct"], "tables have the requested order"


async def test_the_weight_of_a_cell_is_that_of_its_first_sample(tmp_path: Path) -> None:
    config = make_config([make_sample("s0", steps=3)])
    cells = planned(tmp_path, config, Speaker(), mode=("direct", "text_cot", "visual_cot", "steps"))
    assert [cell.weight for cell in cells] == [1, 2, 4, 10]
    assert not any(cell.generated for cell in cells)


async def test_the_longest_of_the_next_episodes_begin_first(tmp_path: Path) -> None:
    samples = [make_sample(f"s{number}", steps=steps) for number, steps in enumerate((1, 1, 5, 1, 3))]
    cell = replace(make_cell(make_task(samples), "steps"), weight=4)
    model = Speaker()
    await run(tmp_path, [cell], model, concurrency=4)
    begun = list(dict.fromkeys(model.asked))
    assert begun == ["s0", "s2", "s4", "s1", "s3"]
    model = Speaker()
    await run(tmp_path / "one by one", [cell], model)
    assert list(dict.fromkeys(model.asked)) == ["s0", "s1", "s2", "s3", "s4"], "one at a time there is no last place"


async def test_waiting_episodes_do_not_begin_once_the_run_stops(tmp_path: Path) -> None:
    class Refused(Speaker):
        async def say(self, context: Context, options: Options) -> Reply:
            self._note("say", context, options)
            raise CallFailed("auth", "the key was refused", stops_run=True)

    samples = [make_sample(f"s{number}", steps=1 + number % 5) for number in range(40)]
    cell, model = replace(make_cell(make_task(samples), "steps"), weight=4), Refused()
    with pytest.raises(RunStopped):
        await run(tmp_path, [cell], model, concurrency=8)
    assert len(model.calls) <= 8


def _fails_once(id: str) -> str:
    if id == "s1":
        raise CallFailed("connection", "dead")
    return "yes"


async def test_earlier_failures_come_after_new_samples_of_all_cells(tmp_path: Path) -> None:
    await run(tmp_path, _two(4, limit=2), Speaker(_fails_once))
    model = Speaker()
    folder = await run(tmp_path, _two(4, limit=4), model)
    assert model.asked == ["s2", "s3", "s2", "s3", "s1", "s1"]
    assert [cell.n for cell in folder.results().tasks.values()] == [4, 4]
    assert lines_in(folder.episodes_file("one.direct")) == 5


def test_printed_lines_count_each_cell_separately(capsys: pytest.CaptureFixture[str]) -> None:
    looking = Plain()
    looking.begin("one", 3, 1)
    looking.begin("two", 5, 0)
    looking.played("one", False)
    looking.played("two", True)
    looking.end("two")
    looking.end("one")
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "one: 1 already done"
    assert said[1].startswith("two: 1 episodes, 1 failed, ") and said[2].startswith("one: 2 episodes, 0 failed, ")
