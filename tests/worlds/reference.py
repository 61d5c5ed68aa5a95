"""The evaluator's rules (docs/benchmarks/uni-mmmu.md, "Finding the board") written down slowly, pixel by pixel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
COLOURS = {
    "floor": (0xF4, 0xEF, 0xE6), "wall": (0x1F, 0x29, 0x37), "start": (0x25, 0x63, 0xEB),
    "goal": (0x22, 0xC5, 0x5E), "path": (0xEF, 0x44, 0x44), "white": (0xFF, 0xFF, 0xFF),
}  # fmt: skip


def _distance(pixel: NDArray[np.uint8], name: str) -> np.float32:
    ours = pixel.astype(np.float32) / np.float32(255)
    theirs = np.array(COLOURS[name], np.float32) / np.float32(255)
    return np.float32(np.linalg.norm(ours - theirs))


def _nearest(pixel: NDArray[np.uint8]) -> str:
    return min(("floor", "wall", "start", "goal"), key=lambda name: _distance(pixel, name))


def board(image: Image) -> tuple[int, int, int]:
    """Top, left and side of the board of a square picture."""
    length = len(image)
    content = [
        [
            min(_distance(pixel, name) for name in ("wall", "start", "goal", "path")) + np.float32(0.01)
            < min(_distance(pixel, name) for name in ("white", "floor"))
            for pixel in row
        ]
        for row in image
    ]
    rows = [i for i, row in enumerate(content) if sum(row) / length > 0.003] or [0, length - 1]
    cols = [j for j, col in enumerate(zip(*content, strict=True)) if sum(col) / length > 0.003] or [0, length - 1]
    if not any(map(any, content)):
        rows = cols = [0, length - 1]
    first_row, last_row = max(0, rows[0] - 2), min(length - 1, rows[-1] + 2)
    first_col, last_col = max(0, cols[0] - 2), min(length - 1, cols[-1] + 2)
    side = max(last_row - first_row, last_col - first_col) + 1
    corner = []
    for first, last in ((first_row, last_row), (first_col, last_col)):
        begin = max(0, (first + last) // 2 - side // 2)
        corner.append(min(length, begin + side) - side)
    return corner[0], corner[1], side


def read_maze(image: Image, n: int) -> tuple[list[list[str]], tuple[int, int] | None, tuple[int, int] | None]:
    top, left, side = board(image)
    edges = [round(i * side / n) for i in range(n + 1)]
    grid: list[list[str]] = []
    starts: dict[tuple[int, int], float] = {}
    goals: dict[tuple[int, int], float] = {}
    start = goal = None
    for r, (y0, y1) in enumerate(pairwise(edges)):
        grid.append([])
        for c, (x0, x1) in enumerate(pairwise(edges)):
            labels = [_nearest(image[top + y, left + x]) for y in range(y0, y1) for x in range(x0, x1)]
            share = {name: np.float32(labels.count(name) / len(labels)) if labels else 0.0 for name in COLOURS}
            starts[r, c], goals[r, c] = float(share["start"]), float(share["goal"])
            is_start, is_goal = share["start"] >= np.float32(0.1875), share["goal"] >= np.float32(0.5625)
            start, goal = (r, c) if is_start else start, (r, c) if is_goal else goal
            if is_start or is_goal:
                grid[r].append("S" * bool(is_start) + "G" * bool(is_goal))
            elif share["wall"] >= 0.75:
                grid[r].append("#")
            else:
                grid[r].append(" " if share["floor"] >= 0.75 else "?")
    if start is None and max(starts.values()) >= np.float32(0.08):
        start = max(starts, key=lambda at: starts[at])
        grid[start[0]][start[1]] = "S"
    if goal is None and max(goals.values()) >= 0.25:
        goal = max(goals, key=lambda at: goals[at])
        grid[goal[0]][goal[1]] = "SG" if grid[goal[0]][goal[1]] == "S" else "G"
    if start is not None and start == goal:
        grid[start[0]][start[1]] = "SG"
    return grid, start, goal
