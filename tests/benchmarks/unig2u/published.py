"""UniG2U's published files in small: every file, with the columns that the published programs read."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sketchmark.benchmarks.unig2u import total
from sketchmark.episode import Share
from tests.benchmarks.medical.fixtures import cell, png, write_parquet
from tests.benchmarks.mmsi import published as mmsi
from tests.benchmarks.uni_mmmu import published as uni_mmmu

Rows = list[dict[str, Any]]

TASKS = [share.task for share in total().shares]
OWN = [name for name in TASKS if not name.startswith(("unig2u_mmsi", "unig2u_uni_mmmu"))]
"""Those whose data and scorers are UniG2U's own here."""

JUDGED = ["unig2u_geometry3k", "unig2u_auxsolidmath_easy", "unig2u_babyvision_visual_tracking"]
JUDGED += ["unig2u_babyvision_fine_grained"]

FIXED: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""The columns that are the same in all rows of a file."""

RIGHT: dict[str, str] = FIXED["right"]
"""What is right for every row that is written here."""


def picture(number: int) -> dict[str, Any]:
    return cell(png(20 + 3 * number))


def visual_puzzle(number: int) -> dict[str, Any]:
    options = None if number % 2 else ["seven", "eight", "nine", "ten"]
    return {"id": f"p{number}", "image": picture(number), "options": options, **FIXED["visual_puzzle"]}


def illusion(number: int, shape: str) -> dict[str, Any]:
    level = ("Easy", "medium", "Hard")[number % 3]
    return {"image_name": f"{shape}-{number}-Medieval_Village-{level}-1.5-90.png", "image": picture(number)}


def realunify(number: int, kind: str) -> dict[str, Any]:
    return {"image": picture(number), "task_type": kind, **FIXED["realunify"]}


def chart(number: int) -> dict[str, Any]:
    return {"image": picture(number), "type": "human_test" if number % 2 else "augmented_test", **FIXED["chart"]}


def street_map(number: int) -> dict[str, Any]:
    return {"example_image": png(250), "test_image": png(number), "test_id": f"m{number}", **FIXED["street_map"]}


def collision(number: int, car: float = 3.0, person: float = 6.0) -> dict[str, Any]:
    shown = {"icon_image": png(251), "example_image": png(250), "test_image": png(number)}
    return {**shown, **FIXED["collision"], "gt_car": car, "gt_person": person, "test_id": number}


def physics(number: int, category: str) -> dict[str, Any]:
    image = base64.b64encode(png(number)).decode()
    return {"image": image, "index": number, "category": category, **FIXED["physics"]}


def babyvision(number: int, kind: str, *, choice: bool) -> dict[str, Any]:
    asked = {"subtype": "Find the different", "question": "Where is the odd one?", "image": picture(number)}
    return {"taskId": f"{kind}-{number}", "type": kind, **asked, **FIXED["choice" if choice else "blank"]}


def geometry(number: int) -> dict[str, Any]:
    images = [picture(number), picture(number + 1)]
    return {"images": images, "problem": "<image>Find AD.", "answer": "12"}


def solid(number: int) -> dict[str, Any]:
    images = {"original_image": picture(number), "auxiliary_line_image": picture(number + 1)}
    return {"id": number, **images, **FIXED["solid"]}


def counted(share: Share, rows: int | None) -> int:
    return share.items if rows is None else rows


def everything(root: Path, rows: int | None = 2) -> Path:
    """All files; `rows` of each, or as many as are published."""
    for share in total().shares:
        if share.task in OWN:
            path, found = file_of(share.task, counted(share, rows))
            write_parquet(root / path, found)
    both = [*file_of(JUDGED[3], rows or 163)[1], *file_of(JUDGED[2], rows or 83)[1]]
    write_parquet(root / file_of(JUDGED[3], 0)[0], both)
    if rows is None:
        _whole_of_others(root)
    else:
        mmsi.five_files(root)
        uni_mmmu.parquet_folder(root)
    return root


def file_of(task: str, count: int) -> tuple[str, Rows]:
    """(its path, its rows)"""
    name = task.removeprefix("unig2u_")
    numbers = range(count)
    if name.startswith("VisualPuzzles"):
        return f"visualpuzzles/{name.rpartition('_')[2]}.parquet", [visual_puzzle(n) for n in numbers]
    if name.startswith("illusionbench"):
        kind = name.split("_")[2]
        shape = {"icon": "animal", "logo": "adidas", "in": "paper_clip"}[kind]
        return f"illusionbench/illusion_{kind}_test100.parquet", [illusion(n, shape) for n in numbers]
    if name.startswith("realunify"):
        return f"realunify/{name}.parquet", [realunify(n, name.removeprefix("realunify_")) for n in numbers]
    if name.startswith("phyx"):
        return f"phyx/{name}.parquet", [physics(n, name) for n in numbers]
    if name.startswith("babyvision"):
        path = "babyvision/babyvision_first2types_all.parquet"
        fine = name.endswith("fine_grained")
        kind = "Fine-grained Discrimination" if fine else "Visual Tracking"
        return path, [babyvision(n, kind, choice=fine) for n in numbers]
    others: dict[str, tuple[str, Any]] = {
        "chartqa100": ("chartqa100/chartqa100", chart),
        "vsp_google_map": ("vsp/vsp_google_map_50", street_map),
        "vsp_collision": ("vsp/vsp_collision_50", collision),
        "geometry3k": ("geometry3k/geometry3k_train_first100", geometry),
        "auxsolidmath_easy": ("auxsolidmath/auxsolidmath_test_easy_first100", solid),
    }
    path, row = others[name]
    return f"{path}.parquet", [row(n) for n in numbers]


def _whole_of_others(root: Path) -> None:
    """MMSI and Uni-MMMU with as many rows as UniG2U has; some of MMSI's questions stand there twice."""
    for name, category in FIXED["mmsi"].items():
        mmsi.write(root / "mmsi_bench" / f"{name}.parquet", [mmsi.row(n % 70, category) for n in range(100)])
    for name, made, count in (
        ("jigsaw100", uni_mmmu.jigsaw_rows(), 100),
        ("maze100", uni_mmmu.maze_rows(), 100),
        ("sliding54", uni_mmmu.sliding_rows(), 54),
    ):
        rows = [{**row, "id": f"{name}-{n}"} for n, row in enumerate(_repeated(made, count))]
        uni_mmmu.write_parquet(root / "uni_mmmu" / f"uni_mmmu_{name}.parquet", rows)


def _repeated(rows: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    return [rows[n % len(rows)] for n in range(count)]
