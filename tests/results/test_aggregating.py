"""results.json from scores on the disk: every scoring, every cell, and what was said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Sample
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder
from sketchmark.results.aggregate import aggregate
from sketchmark.results.rescore import fill_scores
from sketchmark.tasks import Task
from tests.runs.making import Speaker, make_cell, make_samples, make_task, run

CELL = "shades.direct"


async def _played(path: Path, count: int, **more: Any) -> tuple[RunFolder, dict[str, Task]]:
    task = make_task(make_samples(count), **more)
    return await run(path, [make_cell(task)], Speaker()), {CELL: task}


def counted(rows: Sequence[Mapping[str, Any]], scoring: str) -> Mapping[str, Any]:
    """A data set's own summary."""
    return {"rows": len(rows), "scoring": scoring}


def _strictly(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    return Scores({"right": float(grading.scoring == "strict")})


async def test_results_hold_every_scoring_and_the_tasks_own_summary(tmp_path: Path) -> None:
    folder, tasks = await _played(tmp_path, 2, scorer=_strictly, aggregate="tests.results.test_aggregating:counted")
    await fill_scores(folder, tasks, Grading(), ["loose"])
    aggregate(folder, tasks, 0, ["lenient", "loose"])
    results = folder.results()
    cell = results.tasks[CELL]
    assert (cell.scoring, cell.aggregate) == ("lenient", {"rows": 2, "scoring": "lenient"})
    assert cell.metrics["right"].mean == 1.0
    assert list(cell.scorings) == ["loose"]
    beside = cell.scorings["loose"]
    assert (beside.scoring, beside.aggregate) == ("loose", {"rows": 2, "scoring": "loose"})
    assert beside.metrics["right"].mean == 0.0
    assert {key: getattr(cell, key) for key in ("task", "mode", "canvas", "steps", "headline")} == {
        "task": "shades",
        "mode": "direct",
        "canvas": "own",
        "steps": "truth",
        "headline": "right",
    }
    assert results.model == "speaker" and results.gains == []


async def test_results_without_a_word_on_scorings_are_strict_and_alone(tmp_path: Path) -> None:
    folder, tasks = await _played(tmp_path, 2)
    aggregate(folder, tasks, 0)
    cell = folder.results().tasks[CELL]
    assert cell.scoring == "strict" and not {"scorings", "aggregate"} & plain(cell).keys()


async def test_cells_that_this_command_did_not_play_keep_their_results(tmp_path: Path) -> None:
    task = make_task(make_samples(2))
    direct, drawn = make_cell(task), make_cell(task, "visual_cot")
    folder = await run(tmp_path, [direct, drawn], Speaker())
    before = folder.results()
    folder.scores_file("shades.direct").unlink()
    aggregate(folder, {drawn.name: task}, 0)
    after = folder.results()
    assert after.tasks == before.tasks and list(after.tasks) == ["shades.direct", "shades.visual_cot"]
    assert [gain.mode for gain in before.gains] == ["visual_cot"]


async def test_a_cell_without_results_is_left_out_of_them(tmp_path: Path) -> None:
    task = make_task(make_samples(2))
    folder = await run(tmp_path, [make_cell(task), make_cell(task, "visual_cot")], Speaker())
    (tmp_path / "results.json").unlink()
    aggregate(folder, {"shades.visual_cot": task}, 0)
    assert list(folder.results().tasks) == ["shades.visual_cot"]
    assert folder.results().gains == [], "direct has no results to compare with"


async def test_warnings_stay_until_a_run_finds_others(tmp_path: Path) -> None:
    folder, tasks = await _played(tmp_path, 1)
    assert "warnings" not in plain(folder.results())
    aggregate(folder, tasks, 0, warnings=("look out",))
    assert folder.results().warnings == ["look out"]
    aggregate(folder, tasks, 0)
    assert folder.results().warnings == ["look out"]
    aggregate(folder, tasks, 0, warnings=())
    assert "warnings" not in plain(folder.results())


async def test_the_seed_reaches_the_intervals(tmp_path: Path) -> None:
    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        return Scores({"right": float(int(sample.id[1:]) ** 2 % 17)})

    task = make_task(make_samples(40), scorer=scorer)
    folder = await run(tmp_path, [make_cell(task)], Speaker())
    intervals = []
    for seed in (0, 7):
        aggregate(folder, {CELL: task}, seed)
        intervals.append(folder.results().tasks[CELL].metrics["right"].ci95)
    assert intervals[0] != intervals[1]
