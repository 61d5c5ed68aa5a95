"""Rows whose score the other rows decide too: replaced on disk once all are there, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from tests.runs.making import Speaker, make_cell, make_samples, make_task, run

CELL = "shades.direct"


def as_the_last(rows: Sequence[Mapping[str, Any]], scoring: str) -> dict[str, dict[str, float]]:
    """Every sample is worth what the last one is by itself."""
    worth = float(rows[-1]["notes"]["said"] == "yes")
    return {row["sample"]: {"right": worth} for row in rows}


def broken(rows: Sequence[Mapping[str, Any]], scoring: str) -> dict[str, dict[str, float]]:
    raise KeyError("key")


async def _played(path: Path, settle: str, limit: int | None = None) -> RunFolder:
    task = make_task(make_samples(3), settle=f"tests.runs.test_settling:{settle}")
    said = {"s0": "yes", "s1": "yes", "s2": "no"}
    return await run(path, [make_cell(task, limit=limit)], Speaker(lambda name: said[name]))


async def test_rows_are_settled_where_everybody_reads_them_and_keep_their_notes(tmp_path: Path) -> None:
    folder = await _played(tmp_path, "as_the_last")
    rows = list(folder.scores(CELL))
    assert [row.values["right"] for row in rows] == [0.0, 0.0, 0.0]
    assert [row.notes["said"] for row in rows] == ["yes", "yes", "no"]
    assert folder.results().tasks[CELL].metrics["right"].mean == 0.0


async def test_a_run_that_goes_on_is_settled_anew(tmp_path: Path) -> None:
    first = await _played(tmp_path, "as_the_last", limit=2)
    assert first.results().tasks[CELL].metrics["right"].mean == 1.0
    assert (await _played(tmp_path, "as_the_last")).results().tasks[CELL].metrics["right"].mean == 0.0
    back = await _played(tmp_path, "as_the_last", limit=2)
    assert [row.values["right"] for row in back.scores(CELL)] == [1.0, 1.0]


async def test_a_task_that_cannot_settle_its_rows_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the rows of task 'shades' could not be settled: KeyError: 'key'"):
        await _played(tmp_path, "broken")
    assert len(list(RunFolder(tmp_path).scores(CELL))) == 3
