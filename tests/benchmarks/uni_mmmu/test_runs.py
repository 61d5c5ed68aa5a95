"""The published tasks, played: the solver is right on every channel, and what is off is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark import Reply, Sample
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.episode import Episode, Grading, Turn
from sketchmark.errors import MissingExtra, UnknownName
from sketchmark.media import Picture
from sketchmark.models.players import make
from sketchmark.worlds import jigsaw as jigsaw_scoring
from sketchmark.worlds.maze import board as maze
from tests.benchmarks.uni_mmmu import published
from tests.golden.recording import Recorder
from tests.tabled import tabled

PUBLISHED_METRICS = {
    "maze": {"text_exact", "text_frame_acc", "img_exact", "img_frame_acc", "parse_frame_success", "parse_all_ok"},
    "sliding": {"text_exact", "text_frame_acc", "img_exact", "img_frame_acc"},
    "jigsaw": {"text_acc", "img_similarity"},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("published")
    return {
        "parquet": published.parquet_folder(root / "parquet"),
        "folder": published.extracted_folder(root / "folder"),
    }


@pytest.mark.parametrize("layout", ["parquet", "folder"])
def test_the_solver_scores_one_on_every_text_and_picture_metric(
    data: dict[str, Path], layout: str, tmp_path: Path
) -> None:
    folder = sketchmark.run(
        "player/solver", "uni_mmmu,uni_mmmu_visual_cot", data=data[layout], output_path=tmp_path / "run"
    ).folder
    cells = folder.results().tasks
    assert len(cells) == 6
    for name, cell in cells.items():
        assert {metric: found.mean for metric, found in cell.metrics.items()} == dict.fromkeys(cell.metrics, 1.0), (
            name
        )
        assert cell.failures == {}
        world = next(world for world in PUBLISHED_METRICS if world in name)
        expected = {f"{world}_{metric}" for metric in PUBLISHED_METRICS[world]}
        if name.endswith("direct"):
            expected = {metric for metric in expected if "_text_" in metric}
        assert expected <= set(cell.metrics)


def test_the_oracle_canvas_has_true_frames_also_for_parquet_rows(data: dict[str, Path], tmp_path: Path) -> None:
    recorder = Recorder(make("random"))
    sketchmark.run(
        recorder, "uni_mmmu_maze100_visual_cot", canvas="oracle", data=data["parquet"], limit=1, output_path=tmp_path
    )
    last = recorder.requests[-1][1]
    truth = maze.frames(published.MAZES[0], maze.solve(published.MAZES[0]) or [])
    assert [part.picture for part in last if part.by == "model" and part.picture] == truth


def test_text_cot_writes_where_visual_cot_draws(data: dict[str, Path], tmp_path: Path) -> None:
    recorder = Recorder(make("solver"))
    folder = sketchmark.run(recorder, "uni_mmmu", mode="text_cot", data=data["parquet"], output_path=tmp_path).folder
    assert {act for act, _, _ in recorder.requests} == {"say"}
    assert all("img" not in metric for cell in folder.results().tasks.values() for metric in cell.metrics)


@pytest.mark.parametrize(("task", "pictures"), [("maze100", 10), ("sliding54", 10), ("jigsaw100", 2)])
def test_drawing_settings_of_bagel_reach_the_draw_calls_and_only_those(
    data: dict[str, Path], tmp_path: Path, task: str, pictures: int
) -> None:
    recorder = Recorder(make("solver"))
    sketchmark.run(recorder, f"uni_mmmu_{task}_visual_cot", data=data["parquet"], limit=1, output_path=tmp_path)
    settings = {"cfg_text_scale": 4.0, "cfg_interval": 0.4, "timestep_shift": 3.0, "num_timesteps": 50}
    settings["num_images"] = pictures
    assert [dict(options.extra) for act, _, options in recorder.requests if act == "draw"]
    for act, _, options in recorder.requests:
        assert dict(options.extra) == (settings if act == "draw" else {})


@pytest.mark.parametrize(("task", "tokens"), [("maze100", 4096), ("sliding54", 4096), ("jigsaw100", 2048)])
def test_generation_settings_are_the_published_ones(task: str, tokens: int) -> None:
    for mode in ("direct", "visual_cot"):
        saying = Catalog().task(f"uni_mmmu_{task}").mode(mode).saying
        assert (saying.max_new_tokens, saying.temperature) == (tokens, 0)


def test_plans_are_short_in_the_unig2u_set_alone(data: dict[str, Path], tmp_path: Path) -> None:
    limits = {}
    for prompts in ("original", "unig2u"):
        recorder = Recorder(make("solver"))
        sketchmark.run(
            recorder,
            "uni_mmmu_maze100_visual_cot",
            data=data["parquet"],
            limit=1,
            prompts=prompts,
            output_path=tmp_path / prompts,
        )
        limits[prompts] = [options.max_new_tokens for act, _, options in recorder.requests if act == "say"]
    assert set(limits["original"]) == {4096}
    assert set(limits["unig2u"][:-1]) == {128}
    assert limits["unig2u"][-1] == 4096


def test_data_is_found_through_the_environment(
    data: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKETCHMARK_DATA", str(data["parquet"]))
    folder = sketchmark.run("player/solver", "uni_mmmu_maze100", output_path=tmp_path / "python").folder
    assert folder.results().tasks["uni_mmmu_maze100.direct"].n == 3
    arguments = ["run", "--model", "player/solver", "--tasks", "uni_mmmu_maze100", "--quiet", "--no-cache"]
    done = CliRunner().invoke(root, [*arguments, "--output_path", str(tmp_path / "cli")], standalone_mode=False)
    assert (done.exception, done.return_value) == (None, 0)


def test_published_tasks_never_fall_back_to_generated_puzzles() -> None:
    for task in ("maze100", "sliding54", "jigsaw100", "maze", "sliding", "jigsaw", "geometry", "science", "code"):
        assert Catalog().task(f"uni_mmmu_{task}").config["source"]["use"].startswith("uni_mmmu.")


def test_the_groups_are_groups_by_name_and_by_suffix() -> None:
    names = ["uni_mmmu_jigsaw100", "uni_mmmu_maze100", "uni_mmmu_sliding54"]
    catalog = Catalog()
    assert [(pick.task, pick.mode) for pick in catalog.pick("uni_mmmu")] == [(name, None) for name in names]
    assert [(pick.task, pick.mode) for pick in catalog.pick("uni_mmmu_visual_cot")] == [
        (name, "visual_cot") for name in names
    ]
    assert [(pick.task, pick.mode) for pick in catalog.pick("uni_mmmu_text_cot")] == [
        (name, "text_cot") for name in names
    ]


def test_the_whole_benchmark_is_six_tasks() -> None:
    names = [f"uni_mmmu_{name}" for name in ("jigsaw", "maze", "sliding", "geometry", "science", "code")]
    catalog = Catalog()
    assert [(pick.task, pick.mode) for pick in catalog.pick("uni_mmmu_all")] == [(name, None) for name in names]
    drawn = [(pick.task, pick.mode) for pick in catalog.pick("uni_mmmu_all_visual_cot")]
    assert drawn == [(name, "visual_cot") for name in names]


def answered(text: str, *drawings: Picture) -> Episode:
    turns = [Turn("draw", reply=Reply(picture=drawing)) for drawing in drawings]
    return Episode(Sample("x"), (*turns, Turn("say", reply=Reply(text=text))))


@tabled
def test_the_three_readings_of_a_choice(
    said: str, strict: int | None, official: int | None, lenient: int | None
) -> None:
    for name, read in {"strict": strict, "official": official, "lenient": lenient}.items():
        scores = jigsaw_scoring.score(Sample("x", target={"label": 1}), answered(said), Grading(name))
        assert (scores.notes["answer"], scores.unparsed) == (read, read is None), name


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("exact", UnknownName, r"no scoring 'exact' \(there are: strict, official, lenient"),
        ("strict+dreamsim", MissingExtra, r"sketchmark\[dreamsim\]"),
    ],
)
def test_a_scoring_that_cannot_be_done_is_refused_before_the_first_call(
    data: dict[str, Path], tmp_path: Path, name: str, error: type[Exception], message: str
) -> None:
    recorder = Recorder(make("solver"))
    with pytest.raises(error, match=message):
        sketchmark.run(
            recorder, "uni_mmmu_jigsaw100", data=data["parquet"], output_path=tmp_path / "run", scoring=name
        )
    assert recorder.requests == []


def test_an_item_without_ground_truth_has_no_text_score(tmp_path: Path) -> None:
    row = {"initial_image": published.image(maze.render(published.MAZES[0])), "steps": ""}
    file = published.write_parquet(tmp_path / "x.parquet", [row])
    cell = sketchmark.run(
        "player/solver", "uni_mmmu_maze100", data=file, output_path=tmp_path / "run"
    ).folder.results()
    assert set(cell.tasks["uni_mmmu_maze100.direct"].metrics) == {"maze_solved"}
