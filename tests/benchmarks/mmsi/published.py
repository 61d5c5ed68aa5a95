"""Small copies of MMSI-Bench's published files, with drawn scenes for photographs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from PIL import Image, ImageDraw

from sketchmark.media import Picture

OPTIONS = "Options: A: Left, while moving backward, B: Forward to the left, C: To the right, D: Straight on"


def scene(number: int) -> Picture:
    image = Image.new("RGB", (48, 32), (200, 220, 240))
    ImageDraw.Draw(image).rectangle((4 * number, 8, 4 * number + 10, 20), fill=(40 * number % 256, 90, 60))
    return Picture.from_image(image)


def row(number: int, category: str, images: int = 2, answer: str = "B", raw: bool = False) -> dict[str, Any]:
    pictures = [scene(place) for place in range(images)]
    return {
        "id": number,
        "images": [p.data if raw else {"bytes": p.data, "path": None} for p in pictures],
        "question_type": category,
        "question": f"In which direction are you moving (question {number})?\n{OPTIONS}",
        "answer": answer,
        "thought": "SECRET: the annotator's reasoning",
    }


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def five_files(root: Path) -> Path:
    """Write one parquet file per category, as in the common subset."""
    names = {
        "attribute_appr": "Attribute (Appr.)",
        "attribute_meas": "Attribute (Meas.)",
        "motion_obj": "Motion (Obj.)",
        "motion_cam": "Motion (Cam.)",
        "msr": "MSR",
    }
    for place, (name, category) in enumerate(names.items()):
        rows = [row(100 * place + i, category, answer="ABCD"[i % 4]) for i in range(4)]
        write(root / "mmsi_bench" / f"{name}.parquet", rows)
    return root
