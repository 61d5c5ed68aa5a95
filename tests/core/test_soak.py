"""The soak of `bench/soak.py` in its short form: everything happens to a run, and nothing comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.soak import TROUBLES, soak


@pytest.mark.slow
def test_a_run_to_which_everything_happens_ends_as_one_to_which_nothing_does(tmp_path: Path) -> None:
    outcome = soak(200, tmp_path, between=0.3)
    assert outcome.sound, outcome
    assert outcome.episodes == 200
    assert set(outcome.troubles) == set(TROUBLES), "each kind of trouble came at least once"
