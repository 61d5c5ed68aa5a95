"""`official` agrees with an independent copy of UniG2U's rules on every reply of `bench/unig2u_agreement.py`."""

from __future__ import annotations

import pytest
from bench.unig2u_agreement import compared, family

from tests.benchmarks.unig2u import published


@pytest.mark.parametrize("task", {family(task).rule: task for task in published.TASKS}.values())
def test_every_reply_gets_the_published_score(task: str) -> None:
    rows = list(compared(task))
    assert [row for row in rows if row[1] != row[2]] == []
    assert len(rows) >= 90 and len({ours for _, ours, _ in rows}) > 1


def test_all_thirty_subtasks_are_compared() -> None:
    assert len(published.TASKS) == 31, "visual_shortest_path is two files"
    assert all(family(task) for task in published.TASKS)
