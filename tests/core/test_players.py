"""The players calibrate the harness: chance, perfection, and a gain that the canvas controls take away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.models.players import make
from sketchmark.runs.checks import plan
from sketchmark.runs.episodes import play
from sketchmark.settings import Settings


@pytest.mark.slow
def test_the_solver_scores_one_on_every_metric_of_every_generated_world(tmp_path: Path) -> None:
    folder = sketchmark.run(
        "player/solver", "maze,sliding,jigsaw", mode="direct,visual_cot", limit=25, output_path=tmp_path,
        engine="local",
    ).folder  # fmt: skip
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
        "player/solver", "maze", mode="visual_cot", limit=6, output_path=tmp_path, task_args=arguments, engine="local"
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
        limit=24,
        output_path=tmp_path,
        engine="local",
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
    folder = sketchmark.run("player/random", "jigsaw", limit=40, output_path=tmp_path).folder
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


# `player/flawed` has the faults that it is given, and no others; and what follows a corrupt drawing is scored.


WORLDS = {"maze": "maze_text_exact", "sliding": "sliding_text_exact", "jigsaw": "jigsaw_text_acc"}
SMALL = {"maze": "rows=4,cols=4,max_steps=5", "sliding": "min_depth=3,max_depth=5", "jigsaw": "difficulty=easy"}


def means(tmp_path: Path, world: str, player: str = "player/flawed", **faults: float) -> dict[str, dict[str, float]]:
    """Metric → cell → mean."""
    folder = sketchmark.run(
        player,
        world,
        mode="direct,text_cot,visual_cot",
        canvas="own,blank,other,oracle,corrupt,caption",
        limit=6,
        task_args=SMALL[world],
        model_args=faults,
        output_path=tmp_path / world,
        no_cache=True,
        engine="local",
    )
    found: dict[str, dict[str, float]] = {}
    for name, cell in folder.results.tasks.items():
        for metric, values in cell.metrics.items():
            cells = found.setdefault(metric, {})
            cells[name.removeprefix(f"{world}.").removeprefix("visual_cot.")] = values.mean
    return found


@pytest.mark.parametrize("world", WORLDS)
def test_without_faults_it_knows_what_it_has_drawn_and_nothing_else(tmp_path: Path, world: str) -> None:
    found = means(tmp_path, world, knows=0)
    blind = dict.fromkeys(("direct", "text_cot", "blank", "other", "caption", "corrupt"), 0.0)
    assert found[WORLDS[world]] == {**blind, "visual_cot": 1.0, "oracle": 1.0}
    assert found["follows_corrupt"] == {"corrupt": 1.0}


@pytest.mark.parametrize("world", WORLDS)
def test_one_that_draws_wrongly_is_right_with_the_true_pictures_alone(tmp_path: Path, world: str) -> None:
    found = means(tmp_path, world, knows=0, draw_error=1)
    assert (found[WORLDS[world]]["visual_cot"], found[WORLDS[world]]["oracle"]) == (0.0, 1.0)
    if world == "maze":  # a wrong drawing is wrong in its last frame alone
        assert found["maze_img_exact"]["visual_cot"] == 0
        assert 0.5 < found["maze_img_frame_acc"]["visual_cot"] < 1


@pytest.mark.parametrize("world", WORLDS)
def test_one_that_reads_wrongly_is_wrong_with_any_picture_and_follows_none(tmp_path: Path, world: str) -> None:
    found = means(tmp_path, world, knows=0, read_error=1)
    assert (found[WORLDS[world]]["visual_cot"], found[WORLDS[world]]["oracle"]) == (0.0, 0.0)
    assert found["follows_corrupt"] == {"corrupt": 0.0}


@pytest.mark.parametrize("world", WORLDS)
def test_one_that_ignores_its_drawings_is_the_same_on_every_canvas(tmp_path: Path, world: str) -> None:
    found = means(tmp_path, world, knows=1, ignores=1, draw_error=1)
    assert set(found[WORLDS[world]].values()) == {1.0} and found["follows_corrupt"] == {"corrupt": 0.0}


def test_one_who_looks_whether_a_drawing_fits_is_not_led_astray(tmp_path: Path) -> None:
    assert means(tmp_path, "maze", "player/sketcher", hand_error=0)["follows_corrupt"] == {"corrupt": 0.0}


@pytest.mark.parametrize("fault", ["draw_error", "read_error", "ignores", "knows"])
@pytest.mark.parametrize("value", [-0.1, 1.5, "often"])
def test_a_fault_that_is_no_chance_is_refused(fault: str, value: float | str) -> None:
    with pytest.raises(BadInput, match=f"player/flawed: {fault}={value} is not a"):
        make("flawed", **{fault: value})
