"""The published files of Uni-MMMU in small, made from the worlds' generators: parquet and data.tar layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from sketchmark.media import Picture
from sketchmark.worlds.jigsaw import panels as jigsaw
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.sliding import board as sliding

MAZES = [maze.generate(seed, 6, 6, 3 + seed, 3 + seed) for seed in range(3)]
SLIDES = [sliding.generate(seed, depth) for seed, depth in enumerate((2, 3, 4))]
JIGSAWS = [jigsaw.generate(seed, size=64) for seed in range(4)]


def image(picture: Picture) -> dict[str, Any]:
    return {"bytes": picture.data, "path": None}


def maze_rows() -> list[dict[str, Any]]:
    return [{"initial_image": image(maze.render(m)), "steps": json.dumps(maze.solve(m))} for m in MAZES]


def sliding_rows() -> list[dict[str, Any]]:
    return [{"initial_image": image(sliding.render(s)), "steps_words": json.dumps(sliding.solve(s))} for s in SLIDES]


def jigsaw_rows() -> list[dict[str, Any]]:
    return [
        {
            "id": f"j{number}",
            "ref_image": image(puzzle.ref),
            "cand0_image": image(puzzle.candidates[0]),
            "cand1_image": image(puzzle.candidates[1]),
            "label": puzzle.label,
        }
        for number, puzzle in enumerate(JIGSAWS)
    ]


def geometry_rows() -> list[dict[str, Any]]:
    """The first row names its texts as the hub does, the second as the original benchmark does."""
    figure = image(maze.render(MAZES[0]))
    columns = ("id", "question", "answer", "problem", "solution_en", "auxiliary_text_en")
    first = ("g1", "In triangle ABC, D is the midpoint of BC. Find AD.", "12", None, None, "Connect A and D.")
    second = ("g2", None, None, "Prove that AB = AC.", "Two equal angles.", None)
    return [{**dict(zip(columns, row, strict=True)), "image": figure} for row in (first, second)]


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def parquet_folder(root: Path) -> Path:
    """What a user has who downloaded the three subsets."""
    write_parquet(root / "uni_mmmu" / "uni_mmmu_maze100.parquet", maze_rows())
    write_parquet(root / "uni_mmmu" / "uni_mmmu_sliding54.parquet", sliding_rows())
    write_parquet(root / "uni_mmmu" / "uni_mmmu_jigsaw100.parquet", jigsaw_rows())
    return root


def extracted_folder(
    root: Path, maze_ids: tuple[int, ...] = (14, 15, 16), slide_ids: tuple[int, ...] = (1, 2, 3)
) -> Path:
    """What a user has who extracted data.tar. The demonstrated items (maze 15, sliding 1) are among them."""
    for number, puzzle in zip(maze_ids, MAZES, strict=True):
        moves = maze.solve(puzzle) or []
        frames = [maze.render(puzzle), *maze.frames(puzzle, moves)]
        _frames(root / "maze" / f"maze_6x6_{number:05d}_steps", "maze", frames)
        _write_json(root / "maze" / f"maze_6x6_steps_{number:05d}.json", {"steps_long": moves})
    for number, state in zip(slide_ids, SLIDES, strict=True):
        moves = sliding.solve(state)
        frames = [sliding.render(state), *sliding.frames(state, moves)]
        _frames(root / "sliding" / f"demo_3x3_{number:05d}_steps", "demo", frames)
        _write_json(root / "sliding" / f"demo_3x3_steps_words_{number:05d}.json", {"steps_words": moves})
    _jigsaw_folder(root / "jigsaw_dataset_2x2ref")
    return root


def _frames(folder: Path, kind: str, frames: list[Picture]) -> None:
    folder.mkdir(parents=True)
    for number, frame in enumerate(frames):
        (folder / f"{kind}_step_{number:04d}.png").write_bytes(frame.data)


def _jigsaw_folder(folder: Path) -> None:
    items = []
    (folder / "images").mkdir(parents=True)
    for number, puzzle in enumerate(JIGSAWS):
        completed = jigsaw.frames(puzzle)
        pictures = {
            "ref": puzzle.ref,
            "cand0": puzzle.candidates[0],
            "cand1": puzzle.candidates[1],
            "right": completed[puzzle.label],
            "wrong": completed[1 - puzzle.label],
        }
        for name, picture in pictures.items():
            (folder / "images" / f"{number:04d}_{name}.png").write_bytes(picture.data)
        paths = {name: f"data/jigsaw_dataset_2x2ref/images/{number:04d}_{name}.png" for name in pictures}
        items.append(
            {
                "id": f"item_{number:04d}",
                "label": puzzle.label,
                "ref_panel": {"ref_image_path": paths["ref"]},
                "candidate_paths": [paths["cand0"], paths["cand1"]],
                "gt_completed_2x2_path": paths["right"],
                "gt_wrong_2x2_path": paths["wrong"],
            }
        )
    _write_json(folder / "metadata.json", {"items": items})


def _write_json(path: Path, body: object) -> None:
    path.write_text(json.dumps(body), "utf-8")
