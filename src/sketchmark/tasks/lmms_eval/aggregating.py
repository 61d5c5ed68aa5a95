"""Scores that only the file's own aggregation makes: their number, and how much of it each sample makes.

An aggregation is any function of all results, so its number has no spread of its own, and whoever compares two runs
later has the scores, not the code. So the code is asked here how the number changes without each sample in turn: the
number plus what the sample adds to it is that sample's value. Their mean is the number itself, and the spread of
their mean is the jackknife's (Efron and Stein 1981, https://doi.org/10.1214/aos/1176345462). For a plain mean they
are the scores themselves. Intervals, comparisons, reports and exports then treat them as any other score.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from math import isfinite
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import SketchmarkError, TotalsFailed
from sketchmark.scores import Grading
from sketchmark.task_files.functions import blamed
from sketchmark.tasks.lmms_eval.config import Config, pipelines, reduced_by_function
from sketchmark.tasks.lmms_eval.opened import AdoptedFile, Opened
from sketchmark.tasks.lmms_eval.playing import score

LONGEST = 60.0
"""Seconds for all scores of a cell together."""

SLOW = 0.1
"""Seconds a result. An aggregation that takes longer, or so long that twenty calls would not fit, may ask a judge
that costs money, and is asked once."""

_BLOCKS = (200, 20)

Rows = Sequence[Mapping[str, Any]]


def totals(file: AdoptedFile, rows: Rows, scoring: str, *, task_file: str) -> dict[str, Any]:
    """Metrics with an aggregation of their own, over all rows that have a result; a metric may be of some documents
    only, and stays out where none of them was played. One that fails costs its own number."""
    task = file.opened(task_file)
    found: dict[str, Any] = {}
    failed = []
    for name, metric in _reduced(task):
        if results := list(_results(rows, name).values()):
            try:
                with blamed(f"the aggregation of {name} in {task_file}"):
                    found[name] = _told(task.total(metric, results))
            except SketchmarkError as error:
                failed.append(str(error))
    if failed:
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise TotalsFailed(f"{failed[0]}{more}", found)
    return found


def influences(file: AdoptedFile, rows: Rows, scoring: str, *, task_file: str) -> dict[str, dict[str, float | None]]:
    """sample -> its values, with those of the file's own aggregations filled in. Where an aggregation works on all
    results only, or takes too long, samples have no value: the number stands without an interval. Nor have they where
    it gives no number or fails: a mean of what it was given is not what it says."""
    values = {str(row["sample"]): dict(row["values"]) for row in rows}
    try:
        task = file.opened(task_file)
    except SketchmarkError:  # its code cannot be run: the rows say so themselves
        return values
    reduced = _reduced(task)
    for name, metric in reduced:
        results = _results(rows, name)
        shares = _shares(task, metric, list(results.values()), LONGEST / len(reduced)) if results else []
        for number, sample in enumerate(results):
            values[sample][name] = shares[number] if shares else None
    return values


def submission(file: AdoptedFile, episodes: Iterable[Episode], folder: Path, *, task_file: str) -> list[Path]:
    """The files that the aggregations write for a benchmark's server."""
    task = file.opened(task_file)
    writers = [(name, metric) for name, metric in _reduced(task) if task.writes_files(metric)]
    if not writers:
        return []
    notes = [
        score(file, episode.sample, episode, Grading(), task_file=task_file).notes["results"]
        for episode in episodes
        if episode.failure is None or episode.failure.blames_model
    ]
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for name, metric in writers:
        if results := [note[name] for note in notes if name in note]:
            with blamed(f"the aggregation of {name} in {task_file}"):
                task.total(metric, results)
            files += [Path(shutil.copy(one, folder / one.name)) for one in task.written(metric, results)]
    return files


def _reduced(task: Opened) -> list[tuple[str, Config]]:
    """By name, each pipeline of filters with its own."""
    names = [
        (f"{one['metric']}{suffix}", one)
        for suffix in pipelines(task.config)
        for one in reduced_by_function(task.config)
    ]
    return [(name, {**metric, "metric": name}) for name, metric in names]


def _results(rows: Rows, name: str) -> dict[str, Any]:
    """By sample, of those that were scored, as they are kept. None is a result like any other."""
    found = {str(row["sample"]): row["notes"].get("results", {}) for row in rows if row["scored"]}
    return {sample: results[name] for sample, results in found.items() if name in results}


def _shares(task: Opened, metric: Config, results: list[Any], longest: float) -> list[float]:
    """Each result's value; none at all where they cannot be had, or there is no number to share.

    Where there is no time for each, blocks of results are left out at once, and the distance of their values from the
    number is stretched by as much as the mean of a block is steadier than one result.
    """
    began = time.perf_counter()
    try:
        whole = _as_number(task.total(metric, results))
    except (Exception, SystemExit):  # the user's code: anything may come, and `totals` tells it
        return []
    seconds = max(time.perf_counter() - began, 1e-6)
    sizes = [len(results), *(size for size in _BLOCKS if size < len(results))]
    blocks = next((size for size in sizes if size * seconds <= longest), 0)
    if blocks < 2 or seconds > SLOW * len(results):
        return []
    with TemporaryDirectory() as folder, _quiet():

        def without_block(block: int) -> float:
            kept = [result for number, result in enumerate(results) if number % blocks != block]
            return _as_number(task.reduce(metric, kept, Path(folder)))

        try:
            without = [without_block(block) for block in range(blocks)]
        except (Exception, SystemExit):  # it may not work on fewer results
            return []
    left = [without[number % blocks] for number in range(len(results))]
    middle, stretch = fmean(left), (blocks - 1) * (len(results) / blocks) ** 0.5
    return [round(whole + stretch * (middle - one), 9) for one in left]


def _told(value: Any) -> Any:
    """As it can be written down. What is no number (a category of which nothing was played) is told as a word."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        return {str(key): _told(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_told(one) for one in value]
    plain = value is None or isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value))
    return value if plain else str(value)


def _as_number(value: Any) -> float:
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, (bool, int, float)) or not isfinite(value):
        raise TypeError(f"an aggregation gives {value!r}")
    return float(value)


@contextmanager
def _quiet() -> Iterator[None]:
    """Aggregations print tables and warn; once is enough."""
    loguru = sys.modules.get("loguru")
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    if loguru:
        loguru.logger.disable("")
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        logging.disable(before)
        if loguru:
            loguru.logger.enable("")
