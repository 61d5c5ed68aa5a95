"""Concurrency is the default: the same run over real HTTP with 50 ms latency, one episode at a time and sixteen.

python bench/concurrency.py [SAMPLES]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import sketchmark
from sketchmark.models import load_model
from sketchmark.serve import serving
from sketchmark.serve.faults import Faults


def seconds(url: str, folder: Path, samples: int, concurrency: int) -> float:
    started = time.perf_counter()
    run = sketchmark.run(
        "openai/solver",
        "maze",
        mode="visual_cot",
        limit=samples,
        output_path=folder / str(concurrency),
        model_args={"base_url": url},
        concurrency=concurrency,
    ).folder
    assert run.results().tasks["maze.visual_cot"].metrics["maze_img_exact"].mean == 1.0
    return time.perf_counter() - started


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    os.environ.setdefault("OPENAI_API_KEY", "none")
    slow = Faults.parse("", "50ms", seed=1)
    with serving(load_model("player/solver"), faults=slow) as url, tempfile.TemporaryDirectory() as folder:
        one = seconds(url, Path(folder), samples, 1)
        many = seconds(url, Path(folder), samples, 16)
    print(f"{samples} visual-CoT mazes over HTTP: {one:.1f} s one by one, {many:.1f} s sixteen at once")
    print(f"{one / many:.1f} times as fast")


if __name__ == "__main__":
    main()
