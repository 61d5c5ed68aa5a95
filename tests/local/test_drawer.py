"""The example that trains a drawer: a very short training, and its weights in `sketchmark run`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sketchmark.folder import RunFolder
from sketchmark.training import Course

pytestmark = pytest.mark.local

EXAMPLE = Path(__file__).parents[2] / "examples/drawer"


@pytest.fixture(scope="module")
def example() -> Any:
    sys.path.insert(0, str(EXAMPLE))
    import train

    return train


@pytest.mark.parametrize("look", ["plain", "sand"])
def test_the_painter_draws_what_the_world_reads_and_the_answer_follows_the_dot(example: Any, look: str) -> None:
    course = Course("maze", looks=(look,))
    for seed in range(15):
        sample = course.sample(seed)
        frames = [
            example.paint(example.stamps_in(frame), look) for frame in (sample.frames() if sample.frames else ())
        ]
        assert course.judge(sample, frames).progress == 1.0
        moves = sys.modules["drawer"].moves_of([sample.pictures["initial"], *frames])
        assert moves == sample.target["moves"]


def test_the_returns_of_a_group_count_right_frames_and_nothing_after_a_wrong_one(example: Any) -> None:
    course = Course("maze", looks=("plain",))
    sample = course.sample(3, 3)
    first, second, third = list(sample.frames() if sample.frames else [])
    drawn = [[first, second, third], [first, first, third], [third, second, third], [first, second, second]]
    by_frame = [[frames[at] for frames in drawn] for at in range(3)]
    assert example.drawn_right(course, [sample] * 4, by_frame) == [3, 1, 0, 2]


def test_a_short_training_teaches_to_draw_readable_mazes_and_a_run_measures_it(example: Any, tmp_path: Path) -> None:
    curve = example.train(tmp_path, samples=60, epochs=12, updates=2, group=3, checked=6)
    assert [point.phase for point in curve][:1] == ["untrained"] and curve[-1].phase == "reward"
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")
    readable = {}
    for name in ("untrained", "supervised", "reward"):
        folder = tmp_path / name
        command = ["run", "--include", str(EXAMPLE / "drawer.py"), "--model", f"drawer/{name}", "--tasks", "maze"]
        command += [
            "--model-args",
            f"weights={tmp_path / name}.pt",
            "--task-args",
            "level=1,look=plain",
            "--mode",
            "visual_cot",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "sketchmark", *command, "--limit", "12", "--no-cache", "-o", str(folder)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        run = RunFolder(folder)
        rows = list(run.scores(run.cells[0]))
        assert len(rows) == 12
        readable[name] = sum(row.values["maze_parse_frame_success"] or 0.0 for row in rows)
    assert readable["untrained"] == 0.0 < min(readable["supervised"], readable["reward"])
    weights = [(tmp_path / f"{name}.pt").read_bytes() for name in readable]
    assert len(set(weights)) == 3
