from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Done, sketchmark

PRICES = "player/solver: {picture: 1.0}\n"


def _run(folder: Path, *more: str) -> Done:
    arguments = "run --model player/solver --tasks jigsaw --mode visual_cot --limit 6 -o out --no-cache -c 1"
    return sketchmark(*arguments.split(), *more, cwd=folder)


@pytest.mark.slow
def test_a_run_stops_cleanly_at_its_cost_limit_and_goes_on_when_told(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES)
    stopped = _run(tmp_path, "--prices", "prices.yaml", "--max-cost", "4")
    assert stopped.returncode == 3 and "cost limit" in stopped.stderr and "4.0" in stopped.stdout
    done = json.loads((tmp_path / "out/results.json").read_text())["tasks"]["jigsaw.visual_cot"]["episodes"]
    assert 2 <= done < 6
    resumed = _run(tmp_path, "--prices", "prices.yaml", "--max-cost", "100")
    assert resumed.returncode == 0 and "12.0000 for the whole run" in resumed.stdout
    assert json.loads((tmp_path / "out/results.json").read_text())["tasks"]["jigsaw.visual_cot"]["episodes"] == 6


def test_a_run_that_reaches_the_limit_with_its_last_episode_is_done(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES)
    done = _run(tmp_path, "--prices", "prices.yaml", "--max-cost", "12")
    assert (done.returncode, "cost limit" in done.stderr) == (0, False) and "12.0000 now" in done.stdout


def test_a_cost_limit_without_prices_is_refused(tmp_path: Path) -> None:
    refused = _run(tmp_path, "--max-cost", "4")
    assert refused.returncode == 2 and "--prices" in refused.stderr


@pytest.mark.parametrize(
    "limit", ["--max-cost=-1", "--time-limit=0", "--max-requests-per-minute=0", "--limit=0", "--concurrency=0"]
)
def test_a_limit_that_allows_nothing_is_refused(tmp_path: Path, limit: str) -> None:
    refused = _run(tmp_path, limit)
    assert refused.returncode == 2 and limit.partition("=")[0] in refused.stderr


def test_a_dry_run_with_prices_says_what_it_would_cost(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES)
    dry = _run(tmp_path, "--prices", "prices.yaml", "--dry-run")
    assert "12.00" in dry.stdout
