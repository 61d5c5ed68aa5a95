"""Every script in examples/ runs as it lies there, from an empty folder, and prints what its page promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

EXAMPLES = Path(__file__).parents[2] / "examples"


def _run(script: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{script}.py")], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("running ") for line in done.stderr.splitlines()), "what --trust-code runs is told"
    return done.stdout


SAID = {
    "own_model": ["jigsaw.direct: 3 samples, could not be read: 3", "jigsaw.visual_cot: 3 samples"],
    "own_task": ["right: 68% [52%, 80%] of 40", "4 dots: 100% of 8", "5 dots: 0% of 8"],
    "own_protocol": [
        "direct: right 0%",
        "visual_cot: right 100%",
        "asked 'You said 2. Count again, on your drawing.",
    ],
    "compare_two_runs": ["sketcher − random, direct: +", "visual_cot − direct (sketcher): +", "hurt 0"],
    "read_a_run": ["maze-0-000000: 9 drawings, answer '<ANSWER_JSON>", "wrote film_strip.png"],
}


@pytest.mark.slow
@pytest.mark.parametrize("script", SAID)
def test_an_example_runs_as_it_is_printed(tmp_path: Path, script: str) -> None:
    printed = _run(script, tmp_path)
    for words in SAID[script]:
        assert words in printed


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)


def test_the_film_strip_shows_the_input_and_every_drawing(tmp_path: Path) -> None:
    _run("read_a_run", tmp_path)
    with Image.open(tmp_path / "film_strip.png") as strip:
        assert strip.size == (160 * 10, 160)
        frames = {strip.crop((160 * i, 0, 160 * i + 160, 160)).tobytes() for i in range(10)}
    assert len(frames) == 10, "each step changed the picture"
