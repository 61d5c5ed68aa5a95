"""An audit of faults of known size: its intervals hold the size that a player was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.making import finding, only_task, played


@pytest.mark.slow
@pytest.mark.parametrize(("draws", "reads", "ignores"), [(0.3, 0.2, 0.0), (0.5, 0.0, 0.0), (0.2, 0.1, 0.5)])
def test_an_audit_finds_faults_in_their_size(tmp_path: Path, draws: float, reads: float, ignores: float) -> None:
    task = only_task(played(tmp_path, 60, draw_error=draws, read_error=reads, ignores=ignores, knows=0))
    looks = 1 - ignores
    truth = {
        "drawn wrongly": draws,
        "lost by drawing": looks * draws * (1 - reads),
        "lost by reading": 1 - looks * (1 - reads),
        "follows corrupt": looks * (1 - reads),
        "content": looks * (1 - draws) * (1 - reads),
    }
    for name, value in truth.items():
        found = finding(task, name)
        assert found.low is not None and found.high is not None
        assert found.low - 1e-9 <= value <= found.high + 1e-9, f"{name} is {value:.2f}, found {found}"


def test_a_player_that_ignores_drawings_gains_nothing_and_follows_none(tmp_path: Path) -> None:
    task = only_task(played(tmp_path, 40, draw_error=0.5, ignores=1, knows=0.5))
    for name in ("gain", "lost by drawing", "content", "picture over words", "led astray"):
        found = finding(task, name)
        assert (found.mean, found.verdict) == (0, "none"), found.sentence
    assert finding(task, "follows corrupt").mean == 0
    assert "adds a negligible amount over a blank canvas" in finding(task, "content").sentence


def test_a_faultless_player_loses_nothing_and_follows_every_drawing(tmp_path: Path) -> None:
    task = only_task(played(tmp_path, 40, knows=0))
    lost = {name: finding(task, name).mean for name in ("lost by drawing", "lost by reading", "drawn wrongly")}
    assert set(lost.values()) == {0}
    assert finding(task, "follows corrupt").mean == 1
    assert finding(task, "gain").verdict == finding(task, "content").verdict == "more"
