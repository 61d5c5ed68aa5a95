"""The published files are read in every form they come in, and a row that cannot be used is named."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from PIL import Image

from sketchmark import Sample
from sketchmark.benchmarks.uni_mmmu.puzzles import label_of, moves_of
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.errors import BadInput, DataMissing
from sketchmark.files.tables import as_picture
from sketchmark.media import Picture
from sketchmark.worlds.jigsaw import panels as jigsaw
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding
from tests.benchmarks.uni_mmmu import published
from tests.benchmarks.uni_mmmu.published import MAZES, SLIDES


def samples(task: str, data: Path | None, **arguments: Any) -> list[Sample]:
    return list(Catalog().task(task, arguments=arguments).samples(data=data))


def moves(found: list[Sample]) -> list[Any]:
    return [sample.target["moves"] for sample in found]


SOLUTIONS = [maze.solve(m) for m in MAZES]


def test_a_parquet_file_and_a_folder_that_holds_it_give_the_same_samples(tmp_path: Path) -> None:
    file = published.write_parquet(tmp_path / "deep" / "uni_mmmu_maze100.parquet", published.maze_rows())
    alone, found = samples("uni_mmmu_maze100", file), samples("uni_mmmu_maze100", tmp_path)
    assert moves(alone) == SOLUTIONS
    assert [s.fingerprint() for s in alone] == [s.fingerprint() for s in found]


def test_what_sketchmark_makes_is_read_like_what_is_published(tmp_path: Path) -> None:
    for world in ("maze", "sliding", "jigsaw"):
        made = ["make", world, "--count", "2", "--format", "parquet", "--out", str(tmp_path)]
        assert CliRunner().invoke(root, made, standalone_mode=False).exception is None
    for task in ("uni_mmmu_maze100", "uni_mmmu_sliding54", "uni_mmmu_jigsaw100"):
        assert len(samples(task, tmp_path)) == 2, "each task takes its own file of the three"


def test_raw_bytes_are_as_good_as_image_dicts(tmp_path: Path) -> None:
    rows = [{**row, "initial_image": row["initial_image"]["bytes"]} for row in published.maze_rows()]
    file = published.write_parquet(tmp_path / "raw.parquet", rows)
    assert samples("uni_mmmu_maze100", file)[0].pictures["initial"] == maze.render(MAZES[0])


def test_a_pil_image_is_a_picture_too() -> None:
    image = Image.open(io.BytesIO(maze.render(MAZES[0]).data))
    assert as_picture(image, "row 0").image().tobytes() == image.convert("RGB").tobytes()


@pytest.mark.parametrize("layout", ["clone", "saved", "owner"])
def test_a_local_copy_of_the_hub_serves_its_configurations(tmp_path: Path, layout: str) -> None:
    rows = published.maze_rows()
    if layout == "saved":
        import datasets  # type: ignore[import-untyped]

        features = datasets.Features({"initial_image": datasets.Image(), "steps": datasets.Value("string")})
        table = datasets.Dataset.from_list(rows, features=features)
        datasets.DatasetDict({"test": table}).save_to_disk(str(tmp_path / "maze"))
    else:
        root = tmp_path / "lmms-lab-eval" / "UniMMMU" if layout == "owner" else tmp_path
        published.write_parquet(root / "maze" / "test-00000-of-00001.parquet", rows)
    found = samples("uni_mmmu_maze", tmp_path)
    assert moves(found) == SOLUTIONS
    assert found[0].pictures["initial"] == maze.render(MAZES[0]), "the original bytes, not an encoding of them"


def test_the_extracted_folder_brings_its_own_step_frames(tmp_path: Path) -> None:
    root = published.extracted_folder(tmp_path)
    marked = Picture.from_image(Image.new("RGB", (8, 8), "red"))
    (root / "maze" / "maze_6x6_00014_steps" / "maze_step_0001.png").write_bytes(marked.data)
    first = samples("uni_mmmu_maze100", root)[0]
    assert (first.id, first.steps) == ("00014", len(SOLUTIONS[0] or []))
    assert first.frames is not None
    assert first.frames()[0] == marked, "the frame on disk is the true one"


def test_the_summary_says_which_of_the_sliding_puzzles_are_asked(tmp_path: Path) -> None:
    folder = published.extracted_folder(tmp_path)
    items = [{"steps_dir": f"data/sliding/demo_3x3_{number:05d}_steps"} for number in (2, 3)]
    (folder / "sliding" / "summary_steps_le_8.json").write_text(json.dumps({"items": items}))
    for demonstration in (False, True):
        found = samples("uni_mmmu_sliding", folder, demonstration=demonstration)
        assert [sample.id for sample in found] == ["00002", "00003"]
    (folder / "sliding" / "summary_steps_le_8.json").write_text("[]")
    with pytest.raises(BadInput, match="has no list of items"):
        samples("uni_mmmu_sliding", folder)


def test_jigsaw_completions_follow_the_candidates_and_not_right_and_wrong(tmp_path: Path) -> None:
    for sample, puzzle in zip(
        samples("uni_mmmu_jigsaw", published.extracted_folder(tmp_path)), published.JIGSAWS, strict=True
    ):
        assert sample.frames is not None
        assert sample.target["label"] == puzzle.label
        assert sample.frames() == jigsaw.frames(puzzle)


@pytest.mark.parametrize("path", ["../../secret.png", "/etc/hostname", "images/../../secret.png"])
def test_metadata_cannot_lead_out_of_its_folder(tmp_path: Path, path: str) -> None:
    folder = published.extracted_folder(tmp_path) / "jigsaw_dataset_2x2ref"
    (tmp_path / "secret.png").write_bytes(maze.render(MAZES[0]).data)
    metadata = json.loads((folder / "metadata.json").read_text("utf-8"))
    metadata["items"][0]["candidate_paths"][0] = path
    (folder / "metadata.json").write_text(json.dumps(metadata), "utf-8")
    with pytest.raises(BadInput, match="item 0"):
        samples("uni_mmmu_jigsaw", tmp_path)


def test_a_link_cannot_lead_out_of_the_folder_either(tmp_path: Path) -> None:
    folder = published.extracted_folder(tmp_path / "data") / "jigsaw_dataset_2x2ref"
    (tmp_path / "secret.png").write_bytes(maze.render(MAZES[0]).data)
    (folder / "images" / "0000_cand0.png").unlink()
    (folder / "images" / "0000_cand0.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(BadInput, match="leads out of"):
        samples("uni_mmmu_jigsaw", tmp_path / "data")


@pytest.mark.parametrize("value", [1, "1", "[1]", [1], ["1"], '"1"', 1.0])
def test_labels_in_every_form(value: object) -> None:
    assert label_of(value, "row 0") == 1


@pytest.mark.parametrize("value", [2, "yes", None, [0, 1], True, {}, "[]"])
def test_any_other_label_is_an_error_that_names_the_row(value: object) -> None:
    with pytest.raises(BadInput, match="row 7"):
        label_of(value, "row 7")


@pytest.mark.parametrize(
    "value", [["up", "Left "], '["up", "left"]', '"[\\"up\\", \\"left\\"]"', "up, left", "up left"]
)
def test_moves_in_every_form(value: object) -> None:
    assert moves_of(value, "row 0") == ["up", "left"]


@pytest.mark.parametrize("value", [["north"], [1, 2], {"up": 1}, 3, '{"a": 1}', "jump"])
def test_any_other_moves_are_an_error_that_names_the_row(value: object) -> None:
    with pytest.raises(BadInput, match="row 7"):
        moves_of(value, "row 7")


def test_a_bad_row_is_named_with_its_id(tmp_path: Path) -> None:
    rows = [{**row, "id": f"m{number}"} for number, row in enumerate(published.maze_rows())]
    rows[1]["initial_image"] = {"bytes": b"not a picture", "path": None}
    file = published.write_parquet(tmp_path / "x.parquet", rows)
    with pytest.raises(BadInput, match=r"row 1 \(id m1\), initial_image: not a picture"):
        samples("uni_mmmu_maze100", file)


def test_the_file_of_another_task_is_refused_by_its_columns(tmp_path: Path) -> None:
    file = published.write_parquet(tmp_path / "x.parquet", published.maze_rows())
    with pytest.raises(BadInput, match=r"row 0 has no label .*initial_image, steps"):
        samples("uni_mmmu_jigsaw100", file)


@pytest.mark.parametrize(
    "task", ["uni_mmmu_maze100", "uni_mmmu_sliding54", "uni_mmmu_jigsaw100", "uni_mmmu_geometry"]
)
def test_without_data_one_line_says_the_three_ways(task: str, tmp_path: Path) -> None:
    with pytest.raises(DataMissing) as error:
        samples(task, tmp_path)
    line = str(error.value)
    assert "\n" not in line
    assert all(way in line for way in ("--data PATH", "SKETCHMARK_DATA", "the hub's"))


def test_without_ground_truth_num_images_counts_the_steps(tmp_path: Path) -> None:
    row = {"initial_image": published.image(maze.render(MAZES[0])), "steps": ""}
    task = Catalog().task("uni_mmmu_maze100")
    sample = next(task.samples(data=published.write_parquet(tmp_path / "x.parquet", [row])))
    assert sample.steps is None
    assert task.mode("visual_cot").fill(sample, "truth").true_steps == 10


def test_sliding_data_named_by_the_blank_is_noticed_and_can_be_read(tmp_path: Path) -> None:
    opposite = {"up": "down", "down": "up", "left": "right", "right": "left"}
    rows = [
        {**row, "steps_words": json.dumps([opposite[m] for m in json.loads(row["steps_words"])])}
        for row in published.sliding_rows()
    ]
    file = published.write_parquet(tmp_path / "x.parquet", rows)
    with pytest.raises(BadInput, match=r"named by the blank.*moves_named_by=blank"):
        samples("uni_mmmu_sliding54", file)
    assert moves(samples("uni_mmmu_sliding54", file, moves_named_by="blank")) == [sliding.solve(s) for s in SLIDES]


def test_a_single_sliding_puzzle_that_does_not_fit_is_reported_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = published.sliding_rows()
    rows[2]["steps_words"] = json.dumps(json.loads(rows[2]["steps_words"])[:-1])
    file = published.write_parquet(tmp_path / "x.parquet", rows)
    assert len(samples("uni_mmmu_sliding54", file)) == 3
    assert "sliding puzzle 00002 ends in another state" in caplog.text


def test_the_goal_is_shown_only_when_asked(tmp_path: Path) -> None:
    file = published.write_parquet(tmp_path / "x.parquet", published.sliding_rows())
    assert "goal" not in samples("uni_mmmu_sliding54", file)[0].pictures
    shown = samples("uni_mmmu_sliding54", file, show_goal=True)[0].pictures["goal"]
    assert shown == sliding.render(sliding.goal_state())


def test_the_demonstrated_puzzle_is_not_asked(tmp_path: Path) -> None:
    root = published.extracted_folder(tmp_path)
    assert [s.id for s in samples("uni_mmmu_maze", root, demonstration=True)] == ["00014", "00016"]
    assert [s.id for s in samples("uni_mmmu_sliding", root, demonstration=True)] == ["00002", "00003"]


def test_a_demonstration_needs_the_step_frames(tmp_path: Path) -> None:
    file = published.write_parquet(tmp_path / "x.parquet", published.maze_rows())
    with pytest.raises(BadInput, match=r"puzzle 00015 with its step frames.*data\.tar"):
        samples("uni_mmmu_maze100", file, demonstration=True)
