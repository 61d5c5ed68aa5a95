"""A scorer that does not end on one reply is stopped and named; the run, and its other replies, are not lost."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sketchmark import Sample, engines
from sketchmark.episode import Episode, Grading, Scores
from tests.runs.making import Speaker, make_cell, make_samples, make_task, right, run

CELL = "shades.direct"


async def _forever() -> Scores:
    await asyncio.sleep(3600)
    return Scores({})


SLOW: dict[str, Callable[[], object]] = {
    "spins": lambda: [None for _ in iter(int, 1)],
    "searches": lambda: re.match(r"(a+)+$", "a" * 60 + "b"),
    "sleeps": lambda: time.sleep(3600),
    "waits": _forever,
}


@pytest.mark.parametrize("kind", SLOW)
async def test_a_slow_scorer_costs_only_the_score_of_that_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    slow = True

    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores | Awaitable[Scores]:
        found = SLOW[kind]() if slow and sample.id == "s1" else None
        return found if isinstance(found, Awaitable) else right(sample, episode, grading)

    monkeypatch.setattr(engines, "SECONDS", 0.5)
    cells, model = [make_cell(make_task(make_samples(3), scorer=scorer))], Speaker()
    folder = await run(tmp_path, cells, model)
    cell = folder.results().tasks[CELL]
    assert cell.failures == {"scorer_failed": 1} and not cell.metrics
    assert cell.reasons["scorer_failed"].startswith("s1: making.registered took longer than ")
    assert [row.values for row in folder.scores(CELL)] == [{"right": 1.0}, {}, {"right": 1.0}]
    slow = False
    await run(tmp_path, cells, model)
    assert folder.results().tasks[CELL].n == 3 and len(model.calls) == 3, "scored again without the model"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "processes"])
def test_the_command_names_the_scorer_that_it_stopped(tmp_path: Path, engine: str) -> None:
    (tmp_path / "one.yaml").write_text(
        'source: {use: "one:samples"}\nmodes: {direct: {prompts: {inputs: [hello]}}}\nscorers: ["one:score"]\n'
        "headline: right\n"
    )
    (tmp_path / "one.py").write_text(
        "import re\nfrom sketchmark import Sample, Scores\n\n"
        "def samples(*, seed, data):\n    yield from (Sample(name) for name in 'ab')\n\n"
        "def score(sample, episode, grading):\n"
        "    if sample.id == 'a':\n        re.match('(a+)+$', 'a' * 60 + 'b')\n"
        "    return Scores({'right': 1.0})\n\nscore.seconds = 0.5\n"
    )
    words = f"run --include . --trust-code --tasks one --model player/random --engine {engine} -o run"
    command = [sys.executable, "-m", "sketchmark", *words.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    assert "scorer_failed 1, the first: a: one.score took longer than 0.5 s and was stopped" in done.stderr
    assert json.loads((tmp_path / "run/results.json").read_bytes())["tasks"]["one.direct"]["episodes"] == 2
