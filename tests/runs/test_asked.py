"""Numbers are of the samples that were asked for last; everything that was played stays on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sketchmark.comparison import compare
from sketchmark.errors import RunConflict
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.report import write_report
from sketchmark.results import summary
from sketchmark.runs.plan import Cell
from tests.runs.making import Looker, Speaker, lines_in, make_cells, run

DIRECT, DRAWN = "shades.direct", "shades.visual_cot"


def _cells(**asked: Any) -> list[Cell]:
    return make_cells(6, "direct", "visual_cot", **asked)


def _speaker() -> Speaker:
    """Right from the fourth sample on."""
    return Speaker(lambda id: "yes" if int(id[1:]) > 2 else "no")


def _counts(folder: RunFolder) -> list[int]:
    return [cell.n for cell in folder.results().tasks.values()]


async def test_a_smaller_limit_sums_up_what_it_asks_for_and_a_later_run_without_one_brings_all_back(
    tmp_path: Path,
) -> None:
    model = _speaker()
    folder = await run(tmp_path, _cells(), model)
    calls = len(model.calls)
    assert _counts(folder) == [6, 6] and folder.results().tasks[DIRECT].metrics["right"].mean == 0.5
    looker = Looker()
    await run(tmp_path, _cells(limit=3), model, looker)
    assert _counts(folder) == [3, 3] and folder.results().tasks[DIRECT].metrics["right"].mean == 0.0
    assert [gain.n for gain in folder.results().gains] == [3]
    assert ("begin", DIRECT, 3, 3) in looker.told
    assert lines_in(folder.episodes_file(DIRECT)) == 6 == lines_in(folder.scores_file(DIRECT))
    await run(tmp_path, _cells(), model)
    assert _counts(folder) == [6, 6] and len(model.calls) == calls, "nothing was played again"


async def test_every_reader_follows(tmp_path: Path) -> None:
    folder = await run(tmp_path, _cells(), _speaker())
    live = RunView(folder, "run")
    live.refresh()
    seen = live.version
    await run(tmp_path, _cells(limit=3), _speaker())
    live.refresh()
    assert live.version > seen, "a browser is told that something changed"
    assert [len(cell.order()) for cell in live.cells.values()] == [3, 3] and live.state(0) == "finished"
    assert [summary.live_result(cell).n for cell in live.cells.values()] == [3, 3]
    assert [row.difference.n for row in compare([tmp_path]).rows] == [3]
    assert [row.sample for row in folder.scores(DIRECT)] == list(folder.scored(DIRECT)) == ["s0", "s1", "s2"]
    assert [number for number, _ in folder.played(DIRECT)] == [0, 1, 2]
    assert "6 episodes" in write_report(folder).read_text(), "three of each mode"


async def test_a_cell_that_this_start_does_not_name_keeps_its_own_limit(tmp_path: Path) -> None:
    direct, drawn = _cells(limit=3)
    folder = await run(tmp_path, [direct, drawn], _speaker())
    await run(tmp_path, _cells()[1:], _speaker())
    assert _counts(folder) == [3, 6] and [gain.n for gain in folder.results().gains] == [3]
    assert folder.about().limits == {DIRECT: 3}


async def test_a_limit_is_no_other_way_of_playing(tmp_path: Path) -> None:
    await run(tmp_path, _cells(limit=3), _speaker())
    await run(tmp_path, _cells(limit=2), _speaker())
    with pytest.raises(RunConflict):
        await run(tmp_path, _cells(limit=2, seed=1), _speaker())
