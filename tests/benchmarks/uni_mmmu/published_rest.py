"""Geometry, science and code of the extracted data.tar in small, in the published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from sketchmark.media import Picture
from tests.episodes import flat, solid

RED, BLUE, GREEN = "#E74C3C", "#3498DB", "#2ECC71"
SVG_NAMES = 'xmlns="http://www.w3.org/2000/svg"'
DIAGRAM, OVERLAY = flat(200, (60, 40)), flat(120, (60, 40))

_FILES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
PROBLEMS: dict[str, Any] = _FILES["problems"]
SCENES: list[dict[str, Any]] = _FILES["scenes"]

ICE, ACID = solid(180, 220, 255), solid(120, 200, 120)
INCOMPLETE = {"input_image_file_path_list": [], "input_prompt": "Nothing to see.", "output_prompt": "Nothing."}


def square_svg(colour: str = RED) -> str:
    return (
        f'<svg {SVG_NAMES} width="100" height="100"><rect width="100" height="100" fill="#ffffff"/>'
        f'<rect x="20" y="30" width="40" height="40" fill="{colour}"/></svg>'
    )


def squares(*boxes: tuple[str, tuple[int, int, int, int]], size: int = 100, ground: str = "#ffffff") -> Picture:
    """Squares (colour; left, top, right, bottom, the last not included) on a page, without blended edges."""
    image = Image.new("RGB", (size, size), ground)
    pen = ImageDraw.Draw(image)
    for colour, (left, top, right, bottom) in boxes:
        pen.rectangle((left, top, right - 1, bottom - 1), fill=colour)
    return Picture.from_image(image)


SQUARE = squares((RED, (20, 30, 60, 70)))
"""What `square_svg` shows."""


def extracted(root: Path) -> Path:
    """The folder that holds `data/`, with all three sets."""
    geometry(root)
    science(root)
    code(root)
    return root


def geometry(root: Path, problems: object = PROBLEMS) -> Path:
    folder = root / "data" / "math_data"
    _pictures(folder / "images", base=DIAGRAM, overlay=OVERLAY)
    _write(folder / "filtered.json", problems)
    return folder


def science(root: Path, blocks: object = SCENES) -> Path:
    folder = root / "data" / "science"
    _pictures(folder / "imgs", ice=ICE, acid=ACID)
    _write(folder / "dim_all.json", blocks)
    return folder


def code(root: Path, metadata: object | None = None) -> Path:
    """The first sample has a PNG, the second is to be rendered."""
    folder = root / "data" / "svg"
    _pictures(folder / "png", one=SQUARE)
    (folder / "src").mkdir()
    (folder / "src" / "one.svg").write_text(square_svg(), "utf-8")
    (folder / "src" / "two.svg").write_text(square_svg(BLUE), "utf-8")
    samples = [
        {"id": "a_001", "difficulty": "A", "svg": "src/one.svg", "png": "png/one.png"},
        {"id": "b_001", "difficulty": "B", "svg": "src/two.svg"},
    ]
    _write(folder / "metadata.json", {"samples": samples} if metadata is None else metadata)
    return folder


def _pictures(folder: Path, **pictures: Picture) -> None:
    folder.mkdir(parents=True)
    for name, picture in pictures.items():
        (folder / f"{name}.png").write_bytes(picture.data)


def _write(path: Path, body: object) -> None:
    path.write_text(json.dumps(body), "utf-8")
