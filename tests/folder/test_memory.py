"""Memory of commands that read a whole run: it grows by far less than a line per episode."""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
import tracemalloc
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode import Grading
from sketchmark.export import export
from sketchmark.files import write_json
from sketchmark.files.jsonl import encode, seal
from sketchmark.folder import RunFolder
from sketchmark.folder.records import Seen
from sketchmark.folder.repair import repair
from sketchmark.results.rescore import fill_scores
from sketchmark.runs.merge import Choice, choose
from sketchmark.testing import played

CELL = "maze.visual_cot"
FEW, MANY = 1000, 3000


def make(path: Path, base: RunFolder, count: int) -> RunFolder:
    """Make a run with this many episodes from the lines of another, under new ids."""
    shutil.copytree(base.path / "pictures", path / "pictures")
    write_json(path / "run.json", msgspec.structs.replace(base.about(), limits={}, totals={}))
    for kind in ("episodes", "scores"):
        lines = [json.loads(line) for line in (base.path / kind / f"{CELL}.jsonl").read_bytes().splitlines()]
        (path / kind).mkdir()
        with (path / kind / f"{CELL}.jsonl").open("wb") as file:
            for number in range(count):
                record = {name: value for name, value in lines[number % len(lines)].items() if name != "crc"}
                sample = record["sample"]
                named = f"maze-{number:06}" if isinstance(sample, str) else {**sample, "id": f"maze-{number:06}"}
                file.write(seal(encode({**record, "index": number, "sample": named, "started": 1000.0 + number})))
    return RunFolder(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    base = played(tmp_path_factory.getbasetemp(), "player/sketcher", "maze", mode="visual_cot", limit=4)
    above = tmp_path_factory.mktemp("runs")
    return [make(above / str(count), RunFolder(base.path), count) for count in (FEW, MANY)]


def _peak(work: Callable[[], object]) -> int:
    gc.collect()
    gc.freeze()  # many objects of other tests would make collections rare, and garbage would count
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.unfreeze()


def _fill(folder: RunFolder) -> None:
    """Score the episode whose row was lost in a kill."""
    path = folder.scores_file(CELL)
    with path.open("rb+") as file:
        for line in file:
            last = len(line)
        file.truncate(path.stat().st_size - last)
    asyncio.run(fill_scores(folder, {CELL: Catalog().task("maze")}, Grading()))


READERS: dict[str, Callable[[RunFolder, Path], object]] = {
    "episodes": lambda folder, out: sum(1 for _ in folder.episodes(CELL)),
    "scores": lambda folder, out: sum(1 for _ in folder.scores(CELL)),
    "repair": lambda folder, out: repair(folder, dry_run=True),
    "missing scores": lambda folder, out: _fill(folder),
    "csv": lambda folder, out: export(folder, "csv", out),
    "lmms-eval": lambda folder, out: export(folder, "lmms-eval", out),
}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_memory_grows_by_a_fraction_of_a_line_per_episode(
    runs: list[RunFolder], reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sketchmark.folder.builders._CHUNK", 250)
    few, many = (
        _peak(lambda run=run: READERS[reader](run, tmp_path / run.path.name))  # type: ignore[misc]
        for run in runs
    )
    line = runs[0].episodes_file(CELL).stat().st_size / FEW
    assert (many - few) / (MANY - FEW) < line / 10, f"{few} and {many} bytes, {line:.0f} per line"


@pytest.mark.slow
def test_a_merge_holds_one_episode_at_a_time(runs: list[RunFolder]) -> None:
    few, many = (_peak(lambda run=run: deque(choose([run], Choice(CELL)), 0)) for run in runs)  # type: ignore[misc]
    assert (many - few) / (MANY - FEW) < 250, f"{few} and {many} bytes"


def test_a_set_of_keys_takes_some_bytes_each_and_mistakes_none() -> None:
    seen = Seen()

    def fill() -> None:
        assert all(seen.add(f"sample-{number}") for number in range(20_000))

    assert _peak(fill) < 60 * 20_000
    assert len(seen) == 20_000 and not seen.add("sample-7") and "sample-20000" not in seen
    assert all(f"sample-{number}" in seen for number in range(20_000))
    numbers = Seen()
    assert all(numbers.add(number) for number in range(300)) and 0 in numbers and 300 not in numbers
