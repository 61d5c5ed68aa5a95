"""A run: what is on the disk before what, what it costs, and what is left when it is broken off."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Options, Reply, Sample, Usage
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.errors import BadInput, CannotPlay, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.folder.lock import RunLock
from sketchmark.runs.runner import Resources, run_plan
from tests.runs.making import (
    Looker,
    Speaker,
    colour,
    lines_in,
    make_cell,
    make_cells,
    make_sample,
    make_samples,
    make_task,
    run,
)

NAME = "shades.direct"


async def test_an_episode_is_safe_on_the_disk_before_it_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"episodes/{NAME}.jsonl"
    synced: dict[int, int] = {}
    fsync = os.fsync

    def watched(file: int) -> None:
        size = os.fstat(file).st_size
        fsync(file)
        synced[os.fstat(file).st_ino] = size

    safe: list[bool] = []

    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        on_disk = path.read_bytes()[: synced.get(path.stat().st_ino, 0)]
        safe.append(f'"id":"{sample.id}"'.encode() in on_disk)
        return Scores({"right": 1.0})

    monkeypatch.setattr(os, "fsync", watched)
    await run(tmp_path, [make_cell(make_task(make_samples(5), scorer=scorer))], Speaker(), concurrency=3)
    assert safe == [True] * 5


async def test_each_episode_is_scored_as_it_ends(tmp_path: Path) -> None:
    """A run that is broken off keeps the scores of what it played: a judge is not paid twice."""
    scores = tmp_path / f"scores/{NAME}.jsonl"

    def answer(id: str) -> str:
        if id == "s2":
            assert lines_in(scores) == 2
        return "yes"

    folder = await run(tmp_path, make_cells(3), Speaker(answer))
    assert folder.results().tasks[NAME].failures == {} and lines_in(scores) == 3


class Hangs(Speaker):
    """Waits for ever on every sample but the last, which brings the run down once all the others wait."""

    def __init__(self, last: str, error: BaseException) -> None:
        super().__init__()
        self.last, self.error = last, error
        self.waiting: set[str] = set()
        self.cancelled: set[str] = set()

    async def say(self, context: Context, options: Options) -> Reply:
        id = self._note("say", context, options)
        if id == self.last:
            raise self.error
        self.waiting.add(id)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.add(id)
            raise
        return Reply("never")


class Open:
    """The files that are open below a folder, as the system was asked for them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._opened: dict[int, tuple[str, os.stat_result]] = {}
        self.seen: set[str] = set()
        open_ = os.open

        def opened(path: Any, *more: Any, **others: Any) -> int:
            file = open_(path, *more, **others)
            if str(path).startswith(str(folder)):
                self._opened[file] = (Path(path).name, os.fstat(file))
                self.seen.add(Path(path).name)
            return file

        monkeypatch.setattr(os, "open", opened)

    @property
    def files(self) -> dict[int, str]:
        """Those that are still open: the descriptor still belongs to the same file."""
        found = {}
        for file, (name, about) in self._opened.items():
            with suppress(OSError):
                if os.path.samestat(os.fstat(file), about):
                    found[file] = name
        return found


async def test_an_error_that_ends_the_run_ends_every_call_and_closes_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Open(tmp_path, monkeypatch)
    model, looker = Hangs("s3", CannotPlay("it lost its voice")), Looker()
    with pytest.raises(CannotPlay, match="lost its voice"):
        await run(tmp_path, make_cells(9), model, looker, concurrency=4)
    assert model.cancelled == {"s0", "s1", "s2"}
    assert files.files == {} and {".lock", f"{NAME}.jsonl"} <= files.seen
    assert ("end", NAME) not in looker.told


async def test_a_run_that_ends_well_closes_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Open(tmp_path, monkeypatch)
    await run(tmp_path, make_cells(2, "direct", "visual_cot"), Speaker(), scoring="strict,lenient")
    assert files.files == {}
    assert {".lock", f"{NAME}.jsonl", "shades.visual_cot.jsonl", f".{NAME}~lenient.jsonl.unfinished"} <= files.seen


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_no_more_episodes_are_under_way_than_asked_for(tmp_path: Path, concurrency: int) -> None:
    inside, most, told = 0, 0, []

    class Crowd(Speaker):
        def expect(self, at_once: int) -> None:
            told.append(at_once)

        async def say(self, context: Context, options: Options) -> Reply:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            for _ in range(3):
                await asyncio.to_thread(lambda: None)  # long enough for others to come in
            inside -= 1
            return Reply("yes")

    folder = await run(tmp_path, make_cells(12), Crowd(), concurrency=concurrency)
    assert most <= concurrency and told == [concurrency]
    assert len(list(folder.episodes(NAME))) == 12


async def test_a_hundred_episodes_are_under_way_unless_told_otherwise(tmp_path: Path) -> None:
    inside, most, full = 0, 0, asyncio.Event()

    class Crowd(Speaker):
        async def say(self, context: Context, options: Options) -> Reply:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            if inside == 100:
                full.set()
            await asyncio.wait_for(full.wait(), 10)
            for _ in range(30):
                await asyncio.to_thread(lambda: None)  # long enough for one more to come in
            inside -= 1
            return Reply("yes")

    (cell,) = make_cells(104)
    await run_plan(cell.settings, [cell], Crowd(), tmp_path, Resources(), Looker())
    assert most == 100


async def test_a_run_refuses_a_folder_in_which_another_runs_and_lets_go_of_its_own(tmp_path: Path) -> None:
    lock, model = RunLock(tmp_path), Speaker()
    with pytest.raises(RunConflict, match="another process is running"):
        await run(tmp_path, make_cells(2), model)
    assert model.calls == [] and not (tmp_path / "run.json").exists()
    lock.release()
    refused: list[bool] = []

    def answer(id: str) -> str:
        try:
            RunLock(tmp_path)
        except RunConflict:
            refused.append(True)
        return "yes"

    await run(tmp_path, make_cells(2), Speaker(answer))
    assert refused == [True, True], "the folder is held while the run plays"
    with pytest.raises(CannotPlay):
        await run(tmp_path / "broken", make_cells(1), Hangs("s0", CannotPlay("no")))
    for path in (tmp_path, tmp_path / "broken"):
        RunLock(path).release()


async def test_an_episode_has_the_runs_time_limit(tmp_path: Path) -> None:
    folder = await run(tmp_path, make_cells(2), Hangs("none", CannotPlay("")), time_limit=0.02, concurrency=2)
    assert folder.results().tasks[NAME].failures == {"timeout": 2}


async def test_two_samples_of_one_id_end_the_run(tmp_path: Path) -> None:
    cell = make_cell(make_task([*make_samples(2), make_sample("s1", "green")]))
    with pytest.raises(BadInput, match="two samples with the id 's1'"):
        await run(tmp_path, [cell], Speaker())


async def test_the_run_is_scored_by_its_own_rules_and_by_those_beside_them(tmp_path: Path) -> None:
    how: dict[str, Any] = {"scoring": "lenient,strict,loose", "warnings": ("look out",)}
    how["judge"] = Speaker(name="judge")
    folder = await run(tmp_path, make_cells(2), Speaker(), **how)
    results = folder.results()
    assert results.warnings == ["look out"]
    assert results.tasks[NAME].scoring == "lenient"
    assert list(results.tasks[NAME].scorings) == ["strict", "loose"]
    assert {(row.scoring, row.judge) for row in folder.scores(NAME)} == {("lenient", "judge")}
    assert {row.scoring for row in folder.scores(NAME, "loose")} == {"loose"}


async def test_scores_that_failed_are_tried_again_by_the_next_run(tmp_path: Path) -> None:
    failing = True

    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        if failing:
            raise ZeroDivisionError
        return Scores({"right": 1.0})

    cells, model = [make_cell(make_task(make_samples(2), scorer=scorer))], Speaker()
    folder = await run(tmp_path, cells, model)
    assert folder.results().tasks[NAME].failures == {"scorer_failed": 2}
    failing = False
    await run(tmp_path, cells, model)
    assert folder.results().tasks[NAME].failures == {} and len(model.calls) == 2


async def test_the_seed_of_the_request_is_that_of_the_intervals(tmp_path: Path) -> None:
    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        return Scores({"right": float(int(sample.id[1:]) ** 2 % 17)})

    intervals = []
    for seed in (0, 7):
        cell = make_cell(make_task(make_samples(40), scorer=scorer), seed=seed)
        folder = await run(tmp_path / str(seed), [cell], Speaker())
        intervals.append(folder.results().tasks[NAME].metrics["right"].ci95)
    assert intervals[0] != intervals[1]


def written(episodes: Iterable[Episode], folder: Path) -> list[Path]:
    """A writer of submissions."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "answers.txt").write_text(" ".join(f"{episode.sample.id}={episode.answer}" for episode in episodes))
    return [folder / "answers.txt"]


async def test_a_task_with_a_submission_gets_its_file(tmp_path: Path) -> None:
    task = make_task(make_samples(3), submission="tests.runs.test_running:written")
    folder: RunFolder = await run(tmp_path, [make_cell(task)], Speaker(), concurrency=3)
    assert (folder.path / f"submission/{NAME}/answers.txt").read_text() == "s0=yes s1=yes s2=yes"


@pytest.mark.parametrize("odd", [7, None])
async def test_an_episode_that_could_not_be_read_again_is_not_written(tmp_path: Path, odd: Any) -> None:
    model = Speaker(lambda id: Reply("yes", finish=odd) if id == "s1" else "yes")
    folder = await run(tmp_path, make_cells(3), model)
    assert folder.results().tasks[NAME].failures == {"error": 1} and folder.results().tasks[NAME].n == 2
    failure = [line.failure for line in folder.episodes(NAME)][1]
    assert failure and failure.message.startswith("the episode cannot be written: it could not be read again: not an")
    model.answer = lambda id: "yes"
    assert (await run(tmp_path, make_cells(3), model)).results().tasks[NAME].n == 3


async def test_the_sum_of_usage_stays_within_what_can_be_read_again(tmp_path: Path) -> None:
    """Each count is allowed, their sum is not."""
    usage = Usage(tokens_in=2**53)
    model = Speaker(lambda id: Reply("yes", usage=usage), lambda id: Reply(picture=colour("blue"), usage=usage))
    cells = make_cells(1, "visual_cot")
    folder = await run(tmp_path, cells, model)
    (row,) = folder.scores("shades.visual_cot")
    assert (row.flags, row.usage["tokens_in"], row.values) == ([], 2**53, {"right": 1.0})
    await run(tmp_path, cells, model, scoring="strict,lenient")
    assert folder.results().tasks["shades.visual_cot"].metrics["right"].mean == 1.0


def test_an_episode_leaves_no_circles_of_objects_with_its_images(tmp_path: Path) -> None:
    """They would stay in memory until Python looks for them, which `sketchmark run` lets it do seldom."""
    sketchmark.run(
        "player/solver", "maze", mode="direct,visual_cot", limit=2, output_path=tmp_path / "a", no_cache=True
    )
    gc.collect()
    gc.disable()
    try:
        sketchmark.run("player/solver", "maze", mode="visual_cot", limit=3, output_path=tmp_path / "b", no_cache=True)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = {type(one).__name__ for one in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left & {"Episode", "Sample", "Picture", "Turn", "Reply"}
