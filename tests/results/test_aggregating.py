"""results.json from scores on disk: every scoring, every cell, and earlier results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sketchmark import Sample
from sketchmark.episode import Episode, Grading, Scores
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
    """The dataset's own summary."""
    return {"rows": len(rows), "scoring": scoring}


def strictly(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    return Scores({"right": float(grading.scoring == "strict")})


async def test_results_hold_every_scoring_and_the_tasks_own_summary(tmp_path: Path) -> None:
    folder, tasks = await _played(tmp_path, 2, scorer=strictly, aggregate="tests.results.test_aggregating:counted")
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
    about = (cell.task, cell.mode, cell.canvas, cell.steps, cell.headline)
    assert about == ("shades", "direct", "own", "truth", "right")
    assert results.model == "speaker" and results.gains == []


async def test_other_cells_keep_their_results_and_cells_without_results_are_left_out(tmp_path: Path) -> None:
    task = make_task(make_samples(2))
    direct, drawn = make_cell(task), make_cell(task, "visual_cot")
    folder = await run(tmp_path, [direct, drawn], Speaker())
    before = folder.results()
    folder.scores_file("shades.direct").rename(tmp_path / "scores/aside")
    aggregate(folder, {drawn.name: task}, 0)
    after = folder.results()
    assert after.tasks == before.tasks and list(after.tasks) == ["shades.direct", "shades.visual_cot"]
    assert [gain.mode for gain in before.gains] == ["visual_cot"]
    (tmp_path / "scores/aside").rename(folder.scores_file("shades.direct"))
    (tmp_path / "results.json").unlink()
    aggregate(folder, {"shades.visual_cot": task}, 0)
    assert list(folder.results().tasks) == ["shades.visual_cot"]
    assert folder.results().gains == [], "direct has no results to compare with"


async def test_results_are_strict_by_default_and_warnings_stay_until_there_are_others(tmp_path: Path) -> None:
    folder, tasks = await _played(tmp_path, 1)
    aggregate(folder, tasks, 0)
    cell = folder.results().tasks[CELL]
    assert cell.scoring == "strict" and not {"scorings", "aggregate"} & plain(cell).keys()
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
