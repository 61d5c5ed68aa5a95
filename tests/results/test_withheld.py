"""After an error in a scorer no number of that cell is shown anywhere until the scorer is fixed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sketchmark import Sample
from sketchmark.comparison import compare
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.errors import BadInput
from sketchmark.export import export
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.report import write_report
from sketchmark.results import summary
from sketchmark.results.gains import live_gains, paired
from sketchmark.results.summary import withheld
from tests.runs.making import Speaker, make_cell, make_row, make_sample, make_task, right, run

DRAWN = "shades.visual_cot"
WORDS = "no score is shown: 2 scorer failures"


class Scorer:
    """Fails on two of the drawn samples until it is fixed; every drawing of the others is right."""

    broken = True

    def __call__(self, sample: Sample, episode: Episode, grading: Grading) -> Scores:
        drew = bool(episode.draw_attempts)
        if self.broken and drew and sample.id in ("s1", "s2"):
            raise RecursionError("too deep\nto read")
        found = right(sample, episode, grading)
        return Scores(found.values, {"frames_right": [True]} if drew else {})


async def _played(path: Path) -> tuple[RunFolder, Callable[[], Awaitable[None]]]:
    """The run, and a function that fixes its scorer and resumes it."""
    scorer, model = Scorer(), Speaker()
    samples = [make_sample(f"s{place}", groups={"kind": "ab"[place % 2]}) for place in range(4)]
    task = make_task(samples, scorer=scorer, breakdown=["kind"])
    blank = replace(make_cell(task, "visual_cot", "blank"), name=f"{DRAWN}.blank")
    cells = [make_cell(task), make_cell(task, "visual_cot"), blank]
    folder = await run(path, cells, model)

    async def fixed() -> None:
        scorer.broken = False
        await run(path, cells, model)

    return folder, fixed


def _index(folder: RunFolder) -> RunView:
    index = RunView(folder, "run")
    index.refresh()
    return index


async def test_results_json_says_why_there_is_no_score_and_no_gain(tmp_path: Path) -> None:
    folder, fix = await _played(tmp_path / "run")
    results = folder.results()
    cell = results.tasks[DRAWN]
    assert (cell.n, cell.episodes, cell.metrics, cell.by["kind"]) == (2, 4, {}, {})
    assert cell.problem == WORDS and cell.reasons.keys() == {"scorer_failed"}
    assert cell.reasons["scorer_failed"].endswith(": RecursionError: too deep to read")
    assert results.tasks["shades.direct"].metrics["right"].n == 4, "the other cell is as it was"
    assert results.gains == []
    await fix()
    results = folder.results()
    assert results.tasks[DRAWN].metrics["right"].n == 4 and not results.tasks[DRAWN].problem
    assert [(gain.canvas, gain.n) for gain in results.gains] == [("own", 4), ("blank", 4)]


async def test_the_numbers_of_a_running_run_follow(tmp_path: Path) -> None:
    index = _index((await _played(tmp_path / "run"))[0])
    drawn = index.cells[DRAWN]
    assert summary.live_result(drawn).problem == WORDS and not summary.live_result(drawn).metrics
    assert live_gains(index) == [] and summary.drawing_and_answer(drawn) is None
    difference = paired(index.cells["shades.direct"], drawn, [])
    assert (difference.gain, difference.n) == (None, 0)
    (curve,) = summary.curves(index)
    assert {line.mode: len(line.points) for line in curve.lines} == {"direct": 2, "visual_cot": 0}


async def test_a_comparison_is_refused_and_the_report_has_the_reason_in_place_of_the_number(tmp_path: Path) -> None:
    folder, _ = await _played(tmp_path / "run")
    with pytest.raises(BadInput) as refused:
        compare([folder.path])
    for cell in (DRAWN, f"{DRAWN}.blank"):
        assert f"{cell} of run: {WORDS}; `sketchmark score {folder.path}` tries again" in str(refused.value)
    page = write_report(folder).read_text("utf-8")
    assert page.count(f"–, {WORDS}; sketchmark score RUN") == 2
    assert page.count('class="score"') == 1, "only of direct"
    assert "Right drawing, right answer?" not in page


async def test_exports_have_the_reason_and_no_mean(tmp_path: Path) -> None:
    folder, _ = await _played(tmp_path / "run")
    first, *_ = export(folder, "lmms-eval", tmp_path / "lmms-eval")
    found = json.loads(first.read_text("utf-8"))["results"]
    about = {"alias", "sketchmark_problem", "sketchmark_scoring", "sketchmark_cut", "sketchmark_unparsed"}
    assert found["shades_visual_cot"].keys() == about and found["shades_visual_cot"]["sketchmark_problem"] == WORDS
    assert "right,none" in found["shades"]
    logs = [json.loads(path.read_text("utf-8")) for path in export(folder, "inspect", tmp_path / "inspect")]
    assert [len(log["results"]["scores"]) for log in logs] == [1, 0, 0]
    assert [log["eval"]["metadata"].get("sketchmark_problem") for log in logs] == [None, WORDS, WORDS]


def test_a_failed_judge_or_connection_withholds_nothing() -> None:
    rows = [make_row("s0"), make_row("s1", scored=False, flags=["judge_failed"]), make_row("s2", flags=["timeout"])]
    assert withheld(rows) == ""
    assert withheld([*rows, make_row("s3", flags=["scorer_failed"])]) == "no score is shown: 1 scorer failure"
