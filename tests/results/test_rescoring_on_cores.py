"""Rescoring on all cores: the same bytes as by one process, and nothing is lost if a process dies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sketchmark.folder import RunFolder

TASK = """
about: Is the number even?
source: {use: "evens:samples"}
default_limit: 150
generation: {max_new_tokens: 9, temperature: 0}
modes:
  direct: {protocol: direct, prompts: {inputs: [<picture>, "Even?\\nA. yes\\nB. no"]}}
  visual_cot: {protocol: draw_then_answer,
    prompts: {inputs: [<picture>], generation_prompt: Draw it., ask: "Even?\\nA. yes\\nB. no"}}
scorers: ["evens:even"]
headline: right
"""
CODE = """
import os, signal
from PIL import Image
from sketchmark import Picture, Sample, Scores

def samples(*, seed, data):
    for number in range(150):
        page = Image.new("L", (8, 8), number)
        yield Sample(f"n-{number}", {"picture": Picture.from_image(page)}, target={"even": number % 2 == 0})

def even(sample, episode, grading):
    if sample.id == "n-100" and os.environ.get("KILL") == "parent":
        os.kill(os.getppid(), signal.SIGKILL)
    if sample.id == "n-100" and os.environ.get("KILL") == "self":
        os._exit(3)
    right = (episode.answer.strip()[:1] == "A") == sample.target["even"]
    return Scores({"right": float(right)}, {"answer": episode.answer, "third": number(sample) / 3})

def number(sample):
    return int(sample.id[2:])
"""


def _do(folder: Path, words: str, cores: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    mine = sorted(os.sched_getaffinity(0))
    return subprocess.run(
        [sys.executable, "-m", "sketchmark", *words.split()],
        preexec_fn=lambda: os.sched_setaffinity(0, mine[: cores or len(mine)]),
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "evens.yaml").write_text(TASK)
    (tmp_path / "own" / "evens.py").write_text(CODE)
    made = _do(
        tmp_path,
        "run --include own --trust-code --tasks evens --model player/random --mode direct,visual_cot -o run --quiet",
    )
    assert made.returncode == 0, made.stderr
    return tmp_path


def _scores(work: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (work / "run" / "scores").iterdir()}


SCORE = "score run --include own --trust-code"


@pytest.mark.slow
def test_all_cores_write_the_bytes_that_one_process_writes(work: Path) -> None:
    image = next(iter(RunFolder(work / "run").episodes("evens.visual_cot"))).sample.pictures["picture"]
    assert isinstance(image, str)
    (work / "run" / "pictures" / image[:2] / image).unlink()  # costs only its rows
    found = []
    for cores in (1, 2):
        said = _do(work, SCORE, cores)
        assert said.returncode == 1 and "unreadable" in said.stdout + said.stderr, said.stderr
        found.append(_scores(work))
    assert found[0] == found[1] and found[0]["evens.direct.jsonl"].count(b"\n") == 150


@pytest.mark.slow
def test_a_killed_command_leaves_the_old_scores_and_can_be_repeated(work: Path) -> None:
    before = _scores(work)
    (work / "own" / "evens.py").write_text(CODE.replace("/ 3", "/ 7"))
    killed = _do(work, SCORE, KILL="parent")
    assert killed.returncode == -9
    unfinished = _scores(work).keys() - before.keys()
    assert unfinished and {name: data for name, data in _scores(work).items() if name in before} == before
    again = _do(work, SCORE)
    assert again.returncode == 0, again.stderr
    after = _scores(work)
    assert after.keys() == before.keys() and all(after[name] != before[name] for name in before)


@pytest.mark.slow
def test_a_scorer_that_ends_its_process_is_reported_and_the_old_scores_stay(work: Path) -> None:
    before = _scores(work)
    said = _do(work, SCORE, KILL="self")
    assert said.returncode == 2 and "Traceback" not in said.stderr
    assert re.search(
        r"evens.direct could not be scored: .* exit code 3 \(the old scores are unchanged\)", said.stderr
    )
    assert {name: data for name, data in _scores(work).items() if name in before} == before
