"""One rule for what is clear, the corrected test: headline, sentences, tables, JSON and viewer agree."""

from __future__ import annotations

import csv
import html
import io
import json
from pathlib import Path

import pytest

import sketchmark
from sketchmark.comparison import Comparison, compare
from sketchmark.comparison.formats import to_csv, to_json, to_markdown
from sketchmark.comparison.tables import to_terminal
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.report.story import story_of
from sketchmark.results.gains import live_gains
from sketchmark.stats.differences import paired_difference, verdict
from tests.comparison.folders import rows, write_run
from tests.tabled import tabled

_SAID = {"better": "drawing helped on", "worse": "drawing hurt on", "unclear": "no clear difference on"}


@tabled
def test_the_corrected_p_decides(mean: float | None, p: float | None, expected: str) -> None:
    assert verdict(mean, p) == expected


def test_five_helped_of_eight_is_unclear_although_the_interval_excludes_zero(tmp_path: Path) -> None:
    """The reported case: the headline said `helped` where the sentence said `not settled`."""
    drawn, plain = [1] * 8, [0] * 5 + [1] * 3
    found = paired_difference(plain, drawn)
    assert found.low is not None and found.low > 0 and found.p == pytest.approx(0.0625)
    cells = {"maze.direct": rows(plain), "maze.visual_cot": rows(drawn), "maze.visual_cot.blank": rows(plain)}
    path = write_run(tmp_path / "run", cells)
    run, story = compare([path]), story_of(RunView.whole(RunFolder.open(path)))
    assert story.headline == "No clear difference on maze."
    assert story.lede == "Gain by drawing: maze +62.5 points [9.8, 86.3]."
    assert run.canvases[0].sentence.startswith("Whether the model uses its drawing is unclear")


@pytest.mark.parametrize(
    ("helped", "hurt", "others", "expected"),
    [
        (5, 0, 0, "unclear"),
        (6, 0, 0, "better"),
        (6, 0, 1, "unclear"),  # p 0.031, and 0.063 where two are compared
        (7, 0, 1, "better"),
        (0, 6, 0, "worse"),
        (0, 6, 3, "unclear"),
        (9, 2, 0, "unclear"),
        (10, 1, 0, "better"),
    ],
)
def test_all_outputs_give_the_same_verdict_near_the_border(
    tmp_path: Path, helped: int, hurt: int, others: int, expected: str
) -> None:
    plain = [0] * helped + [1] * hurt + [0, 1]
    drawn = [1] * helped + [0] * hurt + [0, 1]
    cells = {"maze.direct": rows(plain), "maze.visual_cot": rows(drawn), "maze.visual_cot.blank": rows(plain)}
    for number in range(others):
        cells |= {f"w{number}.direct": rows([0, 1, 0, 1]), f"w{number}.visual_cot": rows([1, 0, 0, 1])}
    run = write_run(tmp_path / "run", cells)
    found = compare([run])
    assert found.rows[0].verdict == expected
    _all_agree(found, run)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [8, 11])
def test_folder_report_and_viewer_give_the_same_verdict_on_a_real_run(tmp_path: Path, limit: int) -> None:
    sketchmark.run(
        "player/sketcher",
        "maze,sliding",
        mode="direct,text_cot,visual_cot",
        canvas="own,blank",
        limit=limit,
        output_path=tmp_path / "run",
        quiet=True,
        engine="local",
    )
    folder = RunFolder.open(tmp_path / "run")
    found = compare([folder.path])
    _all_agree(found, folder.path)
    stored = {(gain.task, gain.mode): gain for gain in folder.results().gains if gain.canvas == "own"}
    rows = [row for row in found.rows if row.before.mode == "direct"]
    assert len(rows) == len(stored) == 4
    assert [(row.p_holm, row.verdict) for row in rows] == [
        (stored[row.task, row.after.mode].p_holm, stored[row.task, row.after.mode].verdict) for row in rows
    ]
    index = RunView(folder, "run")
    index.refresh()
    assert live_gains(index) == folder.results().gains
    page = html.unescape((folder.path / "report.html").read_text("utf-8"))
    assert story_of(index).headline in page
    assert all(f'class="gain {row.verdict}"' in page for row in rows)


def _all_agree(found: Comparison, path: Path) -> None:
    row = found.rows[0]
    assert row.p_holm is not None and (row.verdict == "unclear") == (row.p_holm >= 0.05)
    story = story_of(RunView.whole(RunFolder.open(path)))
    (own,) = [gain for gain in story.gains if gain.task == row.task]
    assert own.verdict == row.verdict
    others = sum(gain.verdict == row.verdict for gain in story.gains)
    assert _SAID[row.verdict] in story.headline.lower() or others > 1, story.headline
    written = json.loads(to_json(found))
    assert written["rows"][0]["verdict"] == row.verdict
    line = next(csv.DictReader(io.StringIO(to_csv(found))))
    assert (line["task"], line["verdict"]) == (row.task, row.verdict)
    shown = {"better", "worse", "unclear"} & set(to_markdown(found).splitlines()[4].replace("|", " ").split())
    assert shown == {row.verdict}
    assert row.verdict in to_terminal(found)
    for table in found.canvases:
        blank = next(score for score in table.scores if score.canvas == "blank")
        starts = {"better": "The answer depends", "worse": "The drawing does harm"}
        for kind, words in starts.items():
            assert table.sentence.startswith(words) == (blank.verdict == kind)
