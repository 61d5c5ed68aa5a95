"""Scores of existing episodes: exactly the missing ones are made, and the others are kept."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Sample
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.errors import BadInput, UnknownName
from sketchmark.folder import RunFolder
from sketchmark.results.rescore import fill_scores, rescore
from sketchmark.tasks import Task
from tests.runs.making import (
    SCORERS,
    Speaker,
    colour,
    lines_in,
    make_cell,
    make_sample,
    make_samples,
    make_task,
    run,
    write_lines,
)
from tests.tabled import tabled

CELL = "shades.direct"


class Counting:
    """A scorer that records the samples it scored."""

    def __init__(self) -> None:
        self.scored: list[str] = []
        self.worth = 1.0

    async def __call__(self, sample: Sample, episode: Episode, grading: Grading) -> Scores:
        self.scored.append(sample.id)
        return Scores({"right": self.worth, grading.scoring: 1.0}, {"answer": episode.answer})


async def _played(path: Path, count: int = 4, **more: Any) -> tuple[RunFolder, dict[str, Task], Counting]:
    """A finished run, and a scorer that has forgotten that it scored it."""
    scorer = Counting()
    task = make_task(make_samples(count), scorer=scorer, **more)
    folder = await run(path, [make_cell(task)], Speaker(lambda id: f"answer of {id}"))
    scorer.scored.clear()
    return folder, {CELL: task}, scorer


def _change(folder: RunFolder, sample: str, **change: Any) -> None:
    """Rewrite this sample's line of scores."""
    path = folder.scores_file(CELL)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.unlink()
    write_lines(path, [{**row, **change} if row["sample"] == sample else row for row in rows])


async def test_exactly_the_missing_scores_are_filled_in(tmp_path: Path) -> None:
    folder, tasks, scorer = await _played(tmp_path)
    whole, path = list(folder.scores(CELL)), folder.scores_file(CELL)
    before = path.stat().st_ino
    await fill_scores(folder, tasks, Grading())
    assert scorer.scored == [] and path.stat().st_ino == before, "nor written again"
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines() if '"s1"' not in line))
    await fill_scores(folder, tasks, Grading())
    assert scorer.scored == ["s1"] and list(folder.scores(CELL)) == whole


async def test_every_cell_is_filled(tmp_path: Path) -> None:
    scorer = Counting()
    task = make_task(make_samples(2), scorer=scorer)
    cells = [make_cell(task), make_cell(task, "visual_cot"), make_cell(task, "text_cot")]
    folder = await run(tmp_path, cells, Speaker())
    scorer.scored.clear()
    folder.scores_file("shades.visual_cot").unlink()
    folder.scores_file("shades.text_cot").unlink()
    await fill_scores(folder, {cell.name: cell.task for cell in cells}, Grading())
    assert scorer.scored == ["s0", "s1", "s0", "s1"]
    assert len(list(folder.scores("shades.text_cot"))) == 2


async def test_an_episode_that_was_run_again_is_scored_again(tmp_path: Path) -> None:
    """Its old score belongs to another attempt."""
    folder, tasks, scorer = await _played(tmp_path)
    again = {record.sample.id: record for record in folder.episodes(CELL)}["s2"]
    again.started += 1000
    reply = again.turns[-1].reply
    assert reply is not None
    reply.text = "a better answer"
    write_lines(folder.episodes_file(CELL), [again])
    await fill_scores(folder, tasks, Grading())
    assert scorer.scored == ["s2"]
    rows = list(folder.scores(CELL))
    assert [row.notes["answer"] for row in rows][2] == "a better answer"
    assert rows[2].started == again.started and [row.index for row in rows] == [0, 1, 2, 3]


@tabled
async def test_a_score_by_another_scoring_or_with_a_failed_scorer_is_made_again(
    tmp_path: Path, change: dict[str, Any], valid: bool
) -> None:
    folder, tasks, scorer = await _played(tmp_path)
    _change(folder, "s3", **change)
    await fill_scores(folder, tasks, Grading())
    assert scorer.scored == ([] if valid else ["s3"])
    assert valid or [(row.scoring, row.flags) for row in folder.scores(CELL)] == [("strict", [])] * 4


async def test_a_judge_given_later_scores_what_it_has_not_scored(tmp_path: Path) -> None:
    folder, tasks, scorer = await _played(tmp_path, 3)
    _change(folder, "s0", judge="judge/one")
    _change(folder, "s1", judge="judge/two")
    one = Grading("strict", Speaker(name="judge/one"))
    await fill_scores(folder, tasks, one)
    assert sorted(scorer.scored) == ["s1", "s2"]
    assert {row.judge for row in folder.scores(CELL)} == {"judge/one"}
    scorer.scored.clear()
    await fill_scores(folder, tasks, one)
    assert scorer.scored == [], "its scores are kept"
    await fill_scores(folder, tasks, Grading())
    assert scorer.scored == [], "and are kept without it, too"


async def test_at_most_sixteen_verdicts_are_requested_at_once(tmp_path: Path) -> None:
    folder, tasks, _ = await _played(tmp_path, 20)
    inside, most = 0, 0
    full = asyncio.Event()

    async def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        if inside == 16:
            full.set()
        await asyncio.wait_for(full.wait(), 30)
        inside -= 1
        return Scores({"right": 1.0})

    SCORERS["shades"] = scorer
    await rescore(folder, tasks, ["strict"], Grading())
    assert most == 16
    assert [row.index for row in folder.scores(CELL)] == list(range(20)), "the order is that of the samples"


async def test_scores_are_on_disk_when_scoring_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, tasks, _ = await _played(tmp_path, 3)
    synced: dict[int, int] = {}
    fsync = os.fsync

    def watched(file: int) -> None:
        fsync(file)
        synced[os.fstat(file).st_ino] = os.fstat(file).st_size

    monkeypatch.setattr(os, "fsync", watched)
    await rescore(folder, tasks, ["strict", "lenient"], Grading())
    for suffix in ("", "lenient"):
        about = folder.scores_file(CELL, suffix).stat()
        assert synced[about.st_ino] == about.st_size > 0


async def test_the_first_scoring_is_the_runs_own_and_replaces_every_score(tmp_path: Path) -> None:
    folder, tasks, scorer = await _played(tmp_path, 2)
    folder.scores_file(CELL).unlink()
    scorer.worth = 0.25
    for _ in range(2):
        await rescore(folder, tasks, ["lenient", "strict", "loose"], Grading())
        for suffix, scoring in (("", "lenient"), ("strict", "strict"), ("loose", "loose")):
            rows = [(row.scoring, row.values["right"]) for row in folder.scores(CELL, suffix)]
            assert rows == [(scoring, 0.25)] * 2 and lines_in(folder.scores_file(CELL, suffix)) == 2
    assert not folder.scores_file(CELL, "lenient").exists()


async def test_further_scorings_do_not_touch_the_runs_own_and_are_made_once(tmp_path: Path) -> None:
    folder, tasks, scorer = await _played(tmp_path, 2)
    before = folder.scores_file(CELL).read_bytes()
    for scored in (["s0", "s1"], []):
        await fill_scores(folder, tasks, Grading(), ["lenient"])
        assert scorer.scored == scored
        scorer.scored.clear()
    assert folder.scores_file(CELL).read_bytes() == before
    assert [row.scoring for row in folder.scores(CELL, "lenient")] == ["lenient"] * 2
    await fill_scores(folder, tasks, Grading("strict", Speaker(name="judge/one")), ["lenient"])
    assert [(row.scoring, row.judge) for row in folder.scores(CELL, "lenient")] == [("lenient", "judge/one")] * 2


class Killed(BaseException):
    """Simulates the death of the process."""


@pytest.mark.parametrize("scorings", [["strict"], ["strict", "lenient"], ["lenient", "strict"]])
async def test_a_scoring_that_is_killed_leaves_all_old_scores_and_its_leftovers_are_cleared(
    tmp_path: Path, scorings: list[str]
) -> None:
    folder, tasks, scorer = await _played(tmp_path, 3)
    await fill_scores(folder, tasks, Grading(), ["lenient"])
    old = {path.name: path.read_bytes() for path in (tmp_path / "scores").iterdir()}
    count = 0

    async def dies(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        nonlocal count
        count += 1
        if count == 3 * len(scorings):
            raise Killed
        return Scores({"right": 0.5})

    SCORERS["shades"] = dies
    with pytest.raises(Killed):
        await rescore(folder, tasks, scorings, Grading())
    now = {path.name: path.read_bytes() for path in (tmp_path / "scores").iterdir()}
    assert {name: now[name] for name in old} == old and set(now) > set(old)
    SCORERS["shades"] = scorer
    await fill_scores(folder, tasks, Grading())
    assert {path.name: path.read_bytes() for path in (tmp_path / "scores").iterdir()} == old


async def test_a_fill_that_is_killed_leaves_the_old_scores(tmp_path: Path) -> None:
    """No file is ever half of one scoring and half of another."""
    folder, tasks, _ = await _played(tmp_path, 3)
    old = folder.scores_file(CELL).read_bytes()

    async def dies(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        if sample.id == "s2":
            raise Killed
        return Scores({"right": 0.5})

    SCORERS["shades"] = dies
    with pytest.raises(Killed):
        await fill_scores(folder, tasks, Grading("lenient"))
    assert folder.scores_file(CELL).read_bytes() == old


@pytest.mark.parametrize("broken", [b"", b"no picture", None])
async def test_an_unreadable_image_costs_only_its_row(tmp_path: Path, broken: bytes | None) -> None:
    samples = [make_sample("s0", "red"), make_sample("s1", "green"), make_sample("s2", "navy")]
    task = make_task(samples)
    folder = await run(tmp_path, [make_cell(task)], Speaker())
    path = folder.pictures.path(f"{colour('green').digest}.png")
    whole = path.read_bytes()
    path.write_bytes(broken) if broken is not None else path.unlink()
    await rescore(folder, {CELL: task}, ["strict"], Grading())
    rows = list(folder.scores(CELL))
    assert [(row.sample, row.scored, row.flags) for row in rows] == [
        ("s0", True, []),
        ("s1", False, ["unreadable"]),
        ("s2", True, []),
    ]
    assert path.name in rows[1].notes["unreadable"]
    path.write_bytes(whole)
    await fill_scores(folder, {CELL: task}, Grading())
    assert [row.scored for row in folder.scores(CELL)] == [True, True, True]


async def test_an_unknown_scoring_is_refused_before_a_score_is_lost(tmp_path: Path) -> None:
    folder, tasks, _ = await _played(
        tmp_path, 2, scorings={"strict": None, "judged": None}, judged_scorings=["judged"]
    )
    before = folder.scores_file(CELL).read_bytes()
    with pytest.raises(UnknownName, match="no scoring 'other'"):
        await rescore(folder, tasks, ["strict", "other"], Grading())
    with pytest.raises(BadInput, match="give --judge"):
        await rescore(folder, tasks, ["judged"], Grading())
    assert folder.scores_file(CELL).read_bytes() == before
    await rescore(folder, tasks, ["judged"], Grading("strict", Speaker()))


async def test_scorers_see_the_drawings_when_scoring_again(tmp_path: Path) -> None:
    task = make_task(make_samples(1))
    folder = await run(tmp_path, [make_cell(task, "visual_cot")], Speaker())
    seen: list[Any] = []

    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        seen.extend([sample.pictures["picture"], *episode.drawings])
        return Scores({})

    SCORERS["shades"] = scorer
    await rescore(folder, {"shades.visual_cot": task}, ["strict"], Grading())
    assert seen == [colour("red"), colour("blue")]


def as_the_last(rows: Sequence[Mapping[str, Any]], scoring: str) -> dict[str, dict[str, float]]:
    """Give every sample the score of the last one."""
    worth = float(rows[-1]["notes"]["said"] == "yes")
    return {row["sample"]: {"right": worth} for row in rows}


def broken(rows: Sequence[Mapping[str, Any]], scoring: str) -> dict[str, dict[str, float]]:
    raise KeyError("key")


async def _settled(path: Path, settle: str, limit: int | None = None) -> RunFolder:
    task = make_task(make_samples(3), settle=f"tests.results.test_rescoring:{settle}")
    said = {"s0": "yes", "s1": "yes", "s2": "no"}
    return await run(path, [make_cell(task, limit=limit)], Speaker(lambda name: said[name]))


async def test_rows_are_settled_on_disk_again_whenever_the_run_grows_and_keep_their_notes(tmp_path: Path) -> None:
    folder = await _settled(tmp_path, "as_the_last", limit=2)
    assert folder.results().tasks[CELL].metrics["right"].mean == 1.0
    await _settled(tmp_path, "as_the_last")
    rows = list(folder.scores(CELL))
    assert [(row.values["right"], row.notes["said"]) for row in rows] == [(0.0, "yes"), (0.0, "yes"), (0.0, "no")]
    assert folder.results().tasks[CELL].metrics["right"].mean == 0.0
    await _settled(tmp_path, "as_the_last", limit=2)
    assert [row.values["right"] for row in folder.scores(CELL)] == [1.0, 1.0]


async def test_a_task_that_cannot_settle_its_rows_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the rows of task 'shades' could not be settled: KeyError: 'key'"):
        await _settled(tmp_path, "broken")
    assert len(list(RunFolder(tmp_path).scores(CELL))) == 3
