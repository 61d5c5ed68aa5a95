"""Issue 4, to be shown 1: faults on the wire change nothing in the results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sketchmark.models import load_model
from sketchmark.serve import serving
from sketchmark.serve.faults import Faults

SAMPLES = 3


def play(url: str, folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Play maze, sliding and jigsaw through the OpenAI adapter; the answers and scores of every sample, by cell."""
    command = [
        sys.executable,
        "-m",
        "sketchmark",
        "run",
        "--model",
        "openai/solver",
        "--tasks",
        "maze,sliding,jigsaw",
    ]
    command += ["--mode", "direct,visual_cot", "--limit", str(SAMPLES), "--no-cache", "--output-path", str(folder)]
    done = subprocess.run(
        [*command, "--model-args", f"base_url={url}"],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OPENAI_API_KEY": "none"},
    )
    assert done.returncode == 0, done.stderr
    return {
        path.stem: sorted(
            (row["sample"], row["values"], row["notes"])
            for row in map(json.loads, path.read_text("utf-8").splitlines())
        )
        for path in sorted((folder / "scores").glob("*.jsonl"))
    }


def test_the_solver_scores_1_through_a_bad_wire_exactly_as_through_a_good_one(tmp_path: Path) -> None:
    faults = Faults.parse("429:0.1,500:0.05,reset:0.02", "50ms", seed=1)
    with serving(load_model("player/solver")) as url:
        good = play(url, tmp_path / "good")
    with serving(load_model("player/solver"), faults=faults) as url:
        bad = play(url, tmp_path / "bad")
    assert bad == good
    assert len(good) == 6
    for rows in good.values():
        assert len(rows) == SAMPLES
        assert all(value == 1.0 for _, values, _ in rows for value in values.values()), rows
