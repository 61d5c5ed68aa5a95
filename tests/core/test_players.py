"""The players calibrate the harness: chance, perfection, and a gain that the canvas controls take away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.runs.checks import plan
from sketchmark.runs.episodes import play
from sketchmark.settings import Settings


@pytest.mark.slow
def test_the_solver_scores_one_on_every_metric_of_every_generated_world(tmp_path: Path) -> None:
    folder = sketchmark.run(
        "player/solver", "maze,sliding,jigsaw", mode="direct,visual_cot", limit=25, output_path=tmp_path
    ).folder
    for name, cell in folder.results().tasks.items():
        assert cell.failures == {}
        assert {metric: found.mean for metric, found in cell.metrics.items() if found.mean != 1.0} == {}, name


@pytest.mark.parametrize(
    "arguments",
    [
        {"rows": 4, "cols": 7},
        {"rows": 9, "cols": 9, "max_steps": 20},
        {"rows": 16, "cols": 16},
        {"rows": 30, "cols": 22, "max_steps": 6},
    ],
)
def test_the_solver_reads_mazes_of_any_size(tmp_path: Path, arguments: dict[str, int]) -> None:
    folder = sketchmark.run(
        "player/solver", "maze", mode="visual_cot", limit=6, output_path=tmp_path, task_args=arguments
    ).folder
    metrics = folder.results().tasks["maze.visual_cot"].metrics
    assert {found.mean for found in metrics.values()} == {1.0}


@pytest.mark.slow
def test_drawing_helps_the_sketcher_and_a_canvas_that_shows_nothing_of_it_takes_the_help_away(tmp_path: Path) -> None:
    folder = sketchmark.run(
        "player/sketcher",
        "maze,sliding",
        mode="direct,visual_cot",
        canvas="own,blank,other,oracle",
        limit=40,
        output_path=tmp_path,
    ).folder
    gains = {(gain.task, gain.canvas): gain for gain in folder.results().gains}
    for world in ("maze", "sliding"):
        for canvas in ("own", "oracle"):
            low, _ = gains[world, canvas].ci95
            assert low is not None and low > 0
        for canvas in ("blank", "other"):
            assert gains[world, canvas].helped == gains[world, canvas].hurt == 0


@pytest.mark.slow
def test_random_is_within_its_interval_of_chance_on_jigsaw(tmp_path: Path) -> None:
    folder = sketchmark.run("player/random", "jigsaw", limit=100, output_path=tmp_path).folder
    low, high = folder.results().tasks["jigsaw.direct"].metrics["jigsaw_text_acc"].ci95
    assert low is not None and high is not None and low <= 0.5 <= high


@pytest.mark.parametrize("player", ["random", "solver", "sketcher", "flawed"])
async def test_a_player_never_sees_the_target(player: str) -> None:
    """Swap what is true of the sample, and every word and drawing stays the same."""
    catalog = Catalog()
    model = catalog.model(f"player/{player}")
    request = Settings(model=f"player/{player}", tasks="maze,sliding,jigsaw", mode="direct,visual_cot", limit=2)
    for cell in plan(request, catalog, model):
        one, two = list(cell.samples())
        swapped = replace(one, target=two.target, groups=two.groups)
        before, after = [await play(model, cell, sample) for sample in (one, swapped)]
        assert before.says == after.says and before.drawings == after.drawings
