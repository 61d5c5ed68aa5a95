"""The numbers that report and viewer make of a run are those of results.json."""

from __future__ import annotations

from pathlib import Path

from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.results import live as summary
from sketchmark.results.summary import summarise
from sketchmark.stats.intervals import interval
from tests.runs.making import make_folder, make_row, make_task


def _folder(path: Path) -> RunFolder:
    """Four questions about each of six pictures, answered alike; a wrong drawing for every other picture."""
    rows = [
        make_row(
            f"s{n}",
            float(n // 4 % 3 == 0),
            n,
            groups={"kind": "ab"[n // 4 % 2], "cluster": f"picture {n // 4}"},
            notes={"frames_right": [n // 4 % 2 == 0]},
        )
        for n in range(24)
    ]
    return make_folder(path, {"quiz.visual_cot": rows}, quiz_visual_cot={"breakdown": ["kind"]})


def test_groups_have_the_same_interval_in_results_and_report(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    found = summarise(folder.scored("quiz.visual_cot").values(), make_task([], breakdown=["kind"])).by["kind"]
    (curve,) = summary.curves(RunView.whole(folder))
    (line,) = curve.lines
    assert {point.value: (point.mean, point.ci95, point.n) for point in line.points} == {
        name: (group.metrics["right"].mean, group.metrics["right"].ci95, group.metrics["right"].n)
        for name, group in found.items()
    }
    assert {group.metrics["right"].method for group in found.values()} == {"wilson-clustered"}


def test_answers_by_their_drawings_heed_what_belongs_together(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    table = summary.drawing_and_answer(RunView.whole(folder).cells["quiz.visual_cot"])
    assert table is not None
    rows = [row for row in folder.scored("quiz.visual_cot").values() if row.drawing_right]
    found = interval([row.values["right"] or 0 for row in rows], [row.cluster for row in rows])
    assert (table.right.mean, table.right.ci95, table.right.n) == (found.mean, (found.low, found.high), 12)
    assert found.method == "wilson-clustered" and table.right.right == 4
