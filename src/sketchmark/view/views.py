"""Pages of the viewer as plain data."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from sketchmark.comparison.pairs import (
    across_canvases,
    across_modes,
    across_runs,
    why_no_gain,
)
from sketchmark.errors import BadInput
from sketchmark.files.jsonl import plain, read_regular
from sketchmark.folder import differences
from sketchmark.folder.format import DRAWING_MODE, EpisodeLine, label_of
from sketchmark.folder.index import CellView, RunView, change, outcome
from sketchmark.folder.records import said
from sketchmark.media import Picture
from sketchmark.results.gains import paired
from sketchmark.results.repeats import averaged, sample_codes
from sketchmark.view import media
from sketchmark.view.media import Thumbnails
from sketchmark.view.query import (
    PAGE,
    Hit,
    Hits,
    Query,
    Readings,
    card,
    counterpart,
    direct_answer,
    facets,
    parsed,
    plain_answer,
    readings_of,
)
from sketchmark.view.runs import (
    Recent,
    RunList,
    cell_row,
    gain_forest,
    run_charts,
    run_row,
    standing_row,
    two_strips,
    with_people,
)

Family = list[tuple[CellView, CellView]]


def family_of(left: RunView, right: RunView, before: CellView, after: CellView) -> Family:
    """Return the differences that are corrected together with this one, as `sketchmark compare` does.

    Empty if none of its families has it, for instance for two tasks.
    """
    return next((found for found in _families(left, right) if {before, after} in map(set, found)), [])


def _families(left: RunView, right: RunView) -> Iterator[Family]:
    """Yield the rows of `compare`, other cells against direct (on a run's page), and the canvases of each table."""
    runs = {run.key: run for run in (left, right)}
    cells = [cell for run in runs.values() for cell in run.cells.values()]
    rows: Family = []
    tables: list[Family] = []
    for task in dict.fromkeys(cell.task for cell in cells):
        same = [cell for cell in cells if cell.task == task]
        if why_no_gain(same[0].about, same[0].about.headline):
            continue
        for across in (across_runs, across_modes):
            rows += across(same, list(runs))
        for group in across_canvases(same, list(runs)):
            own = group.pop("own", None)
            tables.append([(other, own) for other in group.values()] if own else [])
    yield rows
    if left is right:
        yield [pair for pair in _against_direct(left) if pair not in rows]
    yield from tables


def _against_direct(run: RunView) -> Iterator[tuple[CellView, CellView]]:
    for cell in run.cells.values():
        base = run.baseline(cell)
        if base and not why_no_gain(cell.about, cell.headline):
            yield base, cell


Parameters = Mapping[str, str]


class Views:
    """One method per page. The index changes only under the lock; media and transcripts are read outside of it."""

    def __init__(self, root: Path) -> None:
        self._shelf = RunList(root)
        self._recent = Recent()
        self._thumbnails = Thumbnails()
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Read the runs while the browser is still opening."""
        with self._lock:
            self._shelf.look()

    def open(self, key: str) -> RunView:
        return self._run({"run": key})

    def _run(self, asked: Parameters, name: str = "run") -> RunView:
        with self._lock:
            return self._shelf.run(asked.get(name, ""))

    def _cell(self, asked: Parameters) -> CellView:
        return self._run(asked).cell(asked.get("cell", ""))

    def version(self, asked: Parameters) -> dict[str, Any]:
        """Return a version that changes when something was added; pages poll it every second."""
        if asked.get("run"):
            run = self._run(asked)
            return {"version": run.version, "state": run.state(time.time())}
        with self._lock:
            runs = self._shelf.look()
        states = [run.state(time.time()) for run in runs]
        return {"version": [[run.key, run.version] for run in runs], "states": states}

    def runs(self, asked: Parameters) -> dict[str, Any]:
        def row(run: RunView) -> dict[str, Any]:
            return {**run_row(run), **self._recent.get(run, "standing", lambda: standing_row(run))}

        with self._lock:
            found = sorted(self._shelf.rows(row), key=lambda one: (one["model"], one["run"]))
            return {"runs": with_people(found), "troubles": self._shelf.troubles}

    def run(self, asked: Parameters) -> dict[str, Any]:
        run = self._run(asked)
        with self._lock:
            made = self._recent.get(run, "charts", lambda: run_charts(run))
            strips = self._recent.get(run, "strips", lambda: two_strips(run))
            return {
                **run_row(run),
                **made,
                "strips": strips,
                "about": plain(run.about),
                "has_report": _report_of(run) is not None,
            }

    def _hits(self, run: RunView, asked: Parameters) -> Hits:
        query = Query.of(asked)
        return self._recent.get(run, query, lambda: query.hits(run, self._readings(run)))

    def _readings(self, run: RunView) -> Readings:
        """Return the disagreements of a run with several scorings, from its score lines."""
        return self._recent.get(run, "readings", lambda: readings_of(run))

    def samples(self, asked: Parameters) -> dict[str, Any]:
        run = self._run(asked)
        with self._lock:
            hits = self._hits(run, asked)
            filters = self._recent.get(run, "facets", lambda: facets(run, self._readings(run)))
            whole = self._hits(run, {**asked, "outcome": "", "change": ""})
            version = run.version
        pages = max(1, -(-len(hits) // PAGE))
        page = min(max(1, _number(asked, "page", 1)), pages)
        shown = hits[(page - 1) * PAGE : page * PAGE]
        return {
            "run": run.key,
            "model": run.model,
            "version": version,
            "total": len(hits),
            "page": page,
            "pages": pages,
            "facets": filters,
            "counts": whole.counts(),
            "all": len(whole),
            "items": [card(run, hit) for hit in shown],
        }

    def episode(self, asked: Parameters) -> dict[str, Any]:
        """Return a transcript, its scores, the sample in other cells, and its neighbours in the filtered list."""
        run, sample = self._run(asked), asked.get("sample", "")
        cell = run.cell(asked.get("cell", ""))
        with self._lock:
            hits = self._hits(run, asked)
            read = self._readings(run).get(cell.name, {})
        at = _position(hits, cell, sample)
        base, record, score = run.baseline(cell), cell.episode(sample), cell.score(sample)
        notes = score.notes if score else {}
        return {
            "run": run.key,
            "model": run.model,
            "cell": cell.name,
            "task": cell.task,
            "mode": cell.mode,
            "canvas": cell.canvas,
            "draw_with": cell.about.draw_with,
            "headline": cell.headline,
            "sample": sample,
            "args": run_row(run)["args"],
            "record": plain(record),
            "frames": media.frames(cell.folder, record, notes),
            "answer": parsed(notes, said(record)),
            "expected": plain_answer(notes.get("expected")),
            "direct": direct_answer(base, record) if base else None,
            "sounds": media.in_words(cell.folder, record),
            "score": plain(score),
            "readings": [plain(found[sample]) for found in read.values() if sample in found],
            "outcome": outcome(cell.value(sample)),
            "change": _change(base, cell, record) if base else None,
            "siblings": [
                {"cell": other.name, "sample": key, "outcome": outcome(other.value(key))}
                for other in run.cells.values()
                if other.task == cell.task and (key := counterpart(other, record))
            ],
            **_repeats(run, cell, record),
            "position": at + 1,
            "total": len(hits),
            "before": _neighbour(hits, at, -1, cell),
            "after": _neighbour(hits, at, 1, cell),
        }

    def compare(self, asked: Parameters) -> dict[str, Any]:
        """Compare two cells on the samples that both have: direct against drawn if none is named."""
        left, right = self._run(asked, "a"), self._run(asked, "b")
        if not left.cells or not right.cells:
            raise BadInput("these runs have no episodes yet", "episodes appear here as they finish")
        before, after = _two_cells(left, right, asked)
        wanted = asked.get("change", "")
        with self._lock:
            difference = self._recent.get(
                left,
                ("compare", before.name, right.key, right.version, after.name),
                lambda: paired(before, after, family_of(left, right, before, after)),
            )
            sides = _by_sample(before), _by_sample(after)
            samples = [sample for sample in sides[0] if sample in sides[1]]
            values = tuple([side[sample] for sample in samples] for side in sides)
            became = [change(*each) for each in zip(*values, strict=True)]
        table = {"helped": 0, "hurt": 0, "right": 0, "wrong": 0}
        for kind, count in Counter(zip(became, ((one or 0) >= 1 for one in values[1]), strict=True)).items():
            if kind[0]:
                table[kind[0] if kind[0] != "same" else "right" if kind[1] else "wrong"] += count
        shown = [
            at
            for at, kind in enumerate(became)
            if not wanted or kind == wanted or (wanted == "changed" and kind in ("helped", "hurt"))
        ]
        shown.sort(key=lambda at: ("hurt", "helped", "same", None).index(cast(Any, became[at])))
        page = max(1, _number(asked, "page", 1))
        size = PAGE * 4
        return {
            "a": {"run": left.key, "model": left.model, "cells": _choices(left), "cell": before.name},
            "b": {"run": right.key, "model": right.model, "cells": _choices(right), "cell": after.name},
            "summary": [cell_row(before), cell_row(after)],
            "difference": plain(difference),
            "family": len(family_of(left, right, before, after)),
            "differs": _settings_that_differ(before, after),
            "counts": table,
            "repeated": before.episodes.repeats or after.episodes.repeats,
            "total": len(shown),
            "page": page,
            "pages": max(1, -(-len(shown) // size)),
            "pairs": [
                {"sample": samples[at], "a": values[0][at], "b": values[1][at], "change": became[at]}
                for at in shown[(page - 1) * size : page * size]
            ],
        }

    def several(self, asked: Parameters) -> dict[str, Any]:
        """Compare three or more runs: every condition of each, the gains, and the samples on which they disagree."""
        keys = [asked[name] for name in (f"r{number}" for number in range(1, MOST_RUNS + 1)) if asked.get(name)]
        runs = [self._run({"run": key}) for key in dict.fromkeys(keys)]
        if not runs:
            raise BadInput("no run was chosen", "choose runs on the first page, then compare them")
        with self._lock:
            rows = [{**run_row(run), **self._recent.get(run, "standing", partial(standing_row, run))} for run in runs]
            wanted = [cell for run in runs for cell in run.cells.values() if cell.canvas == "own"]
            names = list(dict.fromkeys(cell.name for cell in wanted))
            name = asked.get("cell") or next((one for one in names if one.endswith(f".{DRAWING_MODE}")), names[0])
            cells = [run.cells.get(name) for run in runs]
            matrix = _matrix(cells)
        return {"runs": rows, "cells": names, "cell": name, **gain_forest(rows), **matrix}

    def overlay(self, asked: Parameters) -> tuple[bytes, str]:
        return media.overlay(*self._two_pictures(asked)), "image/png"

    def _two_pictures(self, asked: Parameters) -> tuple[dict[str, Any], Picture, Picture]:
        cell = self._cell(asked)
        target = cell.episode(asked.get("sample", "")).sample.target
        load = cell.folder.pictures.load
        return target, load(asked.get("drawn", "")), load(asked.get("true", ""))

    def picture(self, asked: Parameters) -> tuple[bytes, str]:
        return media.original(self._run(asked).folder, asked.get("name", ""))

    def sound(self, asked: Parameters) -> tuple[bytes, str]:
        return media.recording(self._run(asked).folder, asked.get("name", ""))

    def thumbnail(self, asked: Parameters) -> tuple[bytes, str]:
        side = _number(asked, "side", 320)
        return self._thumbnails.get(self._run(asked).folder, asked.get("name", ""), side), "image/webp"

    def report(self, asked: Parameters) -> bytes:
        path = _report_of(self._run(asked))
        if path is None:
            raise BadInput("this run has no report yet", "sketchmark report RUN makes it")
        return read_regular(path)


MOST_REPEATS = 64
"""Repeats and answers of a sample that a page shows."""


def _repeats(run: RunView, cell: CellView, record: EpisodeLine) -> dict[str, Any]:
    """Return all episodes of a sample in this cell, in the order of their repeats and answers; nothing if there is
    only one."""
    codes = sample_codes(cell.episodes)
    places = np.flatnonzero(codes == codes[cell.episodes.place(record.key)])
    keys = [cell.episodes.key(at) for at in places[:MOST_REPEATS].tolist()]
    hits = (Hit(cell, key, cell.rows.get(key), cell.value(key), None) for key in keys)
    arrays = cell.episodes.arrays
    shown = [
        {**card(run, hit), "repeat": int(arrays["repeat"][at]), "branch": int(arrays["branch"][at])}
        for at, hit in zip(places, hits, strict=False)
    ]
    return {"repeats": shown, "repeated": len(places)} if len(places) > 1 else {"repeats": [], "repeated": 0}


def _change(base: CellView, cell: CellView, record: EpisodeLine) -> str | None:
    key = counterpart(base, record)
    return change(base.value(key), cell.value(record.key)) if key else None


def _report_of(run: RunView) -> Path | None:
    try:
        path = run.folder.report_file
    except BadInput:
        return None
    return path if path.exists() else None


def _position(hits: Hits, cell: CellView, sample: str) -> int:
    """Return the place of an episode in the filtered list, or that of the same sample in another condition."""
    same = hits.find(sample)
    return next((at for at in same if hits.key(at)[0] == cell.name), same[0] if same else -1)


def _neighbour(hits: Hits, at: int, by: int, cell: CellView) -> tuple[str, str] | None:
    """Return the next episode of the list, in the condition that is open, even if the list has another."""
    to = at + by
    if at < 0 or not 0 <= to < len(hits):
        return None
    name, sample = hits.key(to)
    stays = name != cell.name and name.partition(".")[0] == cell.name.partition(".")[0] and sample in cell.episodes
    return (cell.name, sample) if stays and hits.key(at)[0] != cell.name else hits.key(to)


MOST_RUNS = 12
_SHOWN = 60


def _two_cells(left: RunView, right: RunView, asked: Parameters) -> tuple[CellView, CellView]:
    """Choose the cells that were not named: direct against drawn of one run, or drawn of two runs."""
    drawn = [name for name, cell in right.cells.items() if cell.mode == DRAWING_MODE and cell.canvas == "own"]
    shared = [name for name in left.cells if name in right.cells]
    if left is right and not asked.get("cell_a"):
        based = [name for name in drawn if right.baseline(right.cells[name])]
        named = asked.get("cell_b") or next(iter(based), "")
        base = right.baseline(right.cell(named)) if named else None
        before = base or right.cell(next(iter(right.cells)))
    else:
        both = [name for name in drawn if name in shared]
        before = left.cell(asked.get("cell_a") or [*both, *shared, *left.cells][0])
    partner = f"{before.task}.{DRAWING_MODE}"
    fitting = [partner] * (left is right and partner in right.cells) + [before.name] * (before.name in shared)
    return before, right.cell(asked.get("cell_b") or [*fitting, *right.cells][0])


def _choices(run: RunView) -> list[dict[str, str]]:
    return [
        {
            "cell": cell.name,
            "task": cell.task,
            "label": label_of(cell.mode, cell.canvas, cell.about.draw_with),
            "short": label_of(cell.mode, cell.canvas, cell.about.draw_with, short=True),
        }
        for cell in run.cells.values()
    ]


def _by_sample(cell: CellView) -> dict[str, float | None]:
    """Return the headline score of each sample in the order of the task: the mean over its repeats."""
    if not cell.episodes.repeats:
        samples = cell.order()
        return dict(zip(samples, cell.values(samples), strict=True))
    at, means = averaged(cell.rows, cell.rows.metric(cell.headline))
    scored = dict(zip(cell.rows.samples.take(at), means.tolist(), strict=True))
    return {sample: scored.get(sample) for sample in dict.fromkeys(cell.episodes.samples)}


def _matrix(cells: Sequence[CellView | None]) -> dict[str, Any]:
    """Return the samples that every run has, those on which the runs disagree first."""
    tables = [_by_sample(cell) if cell else None for cell in cells]
    having = [table for table in tables if table is not None]
    shared = [sample for sample in having[0] if all(sample in table for table in having)] if having else []
    by_cell = [[outcome(table[sample]) if table else "" for sample in shared] for table in tables]
    outcomes = dict(zip(shared, map(list, zip(*by_cell, strict=True)), strict=True)) if shared else {}
    disagreed = [sample for sample in shared if len(set(filter(None, outcomes[sample]))) > 1]
    differing = set(disagreed)
    ordered = [*disagreed, *(sample for sample in shared if sample not in differing)]
    return {
        "shared": len(shared),
        "disagreed": len(disagreed),
        "matrix": [{"sample": sample, "outcomes": outcomes[sample]} for sample in ordered[:_SHOWN]],
    }


def _settings_that_differ(before: CellView, after: CellView) -> list[str]:
    """List settings that differ between two cells, as a caution next to the numbers."""
    keys = ("task", "draw_with", "steps", "source", "on_draw_failure")
    one, other = ({key: getattr(cell.about, key) for key in keys} for cell in (before, after))
    return differences(one, other)


def _number(asked: Parameters, name: str, default: int) -> int:
    text = asked.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else default
