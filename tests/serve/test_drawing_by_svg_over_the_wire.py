"""Drawing by code through HTTP: a server that only says, faults on the wire, and the scores of a perfect player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.folder import RunFolder
from sketchmark.models import load_model
from sketchmark.serve import serving
from sketchmark.serve.faults import Faults
from tests.media.players import Careless

SAMPLES = 2


def play(url: str, folder: Path, args: str = "") -> RunFolder:
    return sketchmark.run(
        "openai/solver",
        "maze,sliding",
        mode="visual_cot",
        canvas="own,source",
        draw="svg",
        limit=SAMPLES,
        model_args=f"base_url={url}{args}",
        output_path=folder,
        no_cache=True,
    ).folder


def scores(folder: RunFolder) -> dict[str, Any]:
    return {
        name: sorted((row.sample, tuple(row.values.items()), str(row.notes)) for row in folder.scores(name))
        for name in folder.cells
    }


def test_the_solver_draws_perfectly_by_svg_through_a_bad_wire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    faults = Faults.parse("429:0.1,500:0.05,reset:0.03", "5ms", seed=1)
    with serving(load_model("player/solver")) as url:
        good = play(url, tmp_path / "good")
    with serving(load_model("player/solver"), faults=faults) as url:
        bad = play(url, tmp_path / "bad")
    assert scores(bad) == scores(good)
    assert len(good.cells) == 4
    for cell in good.results().tasks.values():
        assert cell.n == SAMPLES and cell.draw_with == "svg"
        assert {metric: found.mean for metric, found in cell.metrics.items()} == dict.fromkeys(cell.metrics, 1.0)
        assert any("img" in metric for metric in cell.metrics)


def test_what_cannot_be_rendered_is_asked_again_over_the_wire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(Careless(), faults=Faults.parse("500:0.1,reset:0.03", seed=2)) as url:
        failing, mended = play(url, tmp_path / "0"), play(url, tmp_path / "1", ",svg_retries=1")
    for name in failing.cells:
        failures = [line.failure for line in failing.episodes(name)]
        assert all(found and found.kind == "no_picture" and "not well-formed" in found.message for found in failures)
        assert all(row.scored and not any(row.values.values()) for row in failing.scores(name))
        for row in mended.scores(name):
            assert all(value == 1.0 for value in row.values.values()), row
        for line in mended.episodes(name):
            draws = [turn.reply for turn in line.turns if turn.act == "draw" and turn.reply]
            assert {reply.usage["calls"] for reply in draws} == {2}
