"""Comparison of two engines' runs: they are the same but for the time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sketchmark.catalog import Catalog
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder
from sketchmark.worlds.disk import picture_of
from tests.core.helpers import episodes

HERE = Path(__file__).parent
PLUG_IN = HERE / "plug_in.py"
ROWS = HERE / "rows.yaml"


def assert_same(one: Path, other: Path) -> None:
    """Episode by episode, score by score, number by number, picture by picture."""
    cells = RunFolder(one).cells
    assert cells == RunFolder(other).cells and cells
    for cell in cells:
        assert plain(episodes(one, cell)) == plain(episodes(other, cell))
        assert _scores(one, cell) == _scores(other, cell)
    results, others = (json.loads((path / "results.json").read_bytes()) for path in (one, other))
    assert results == others
    assert _pictures(one) == _pictures(other)


def _scores(path: Path, cell: str) -> list[Any]:
    rows = [plain(row) for row in RunFolder(path).scores(cell)]
    return sorted(({**row, "started": 0, "seconds": 0} for row in rows), key=lambda row: str(row["sample"]))


def _pictures(path: Path) -> set[str]:
    return {file.name for file in (path / "pictures").rglob("*.*")}


def ids(path: Path, cell: str) -> list[str]:
    """Of every line, in the order in which they were written."""
    return [json.loads(line)["sample"]["id"] for line in RunFolder(path).episodes_file(cell).read_text().splitlines()]


def first_picture(number: int) -> str:
    """The digest of what a player sees first in a puzzle of `maze`."""
    *_, sample = Catalog().task("maze").samples(limit=number + 1)
    return picture_of(sample, "initial").digest
