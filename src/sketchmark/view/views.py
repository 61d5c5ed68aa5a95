"""Pages of the viewer as plain data."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sketchmark.comparison.leaderboard import standings
from sketchmark.comparison.pairs import (
    across_canvases,
    across_modes,
    across_runs,
    why_no_gain,
)
from sketchmark.errors import BadInput
from sketchmark.files.jsonl import plain
from sketchmark.folder import differences
from sketchmark.folder.index import CellView, RunView, change, outcome
from sketchmark.folder.records import drawn_names, input_names, said, sound_names
from sketchmark.media import Picture
from sketchmark.results import scorings, summary
from sketchmark.view import media
from sketchmark.view.media import Thumbnails
from sketchmark.view.query import PAGE, Hit, Query, Readings, facets, readings_of
from sketchmark.view.runs import Recent, RunList

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
        return {"version": [[run.key, run.version, run.state(time.time())] for run in runs]}

    def runs(self, asked: Parameters) -> dict[str, Any]:
        with self._lock:
            return {"runs": self._shelf.rows(_standing), "troubles": self._shelf.troubles}

    def run(self, asked: Parameters) -> dict[str, Any]:
        run = self._run(asked)
        with self._lock:
            charts = self._recent.get(run, "charts", lambda: _charts(run))
            return {
                **_run_row(run),
                **charts,
                "gains": plain(summary.live_gains(run)),
                "about": plain(run.about),
                "has_report": _report_of(run) is not None,
            }

    def _hits(self, run: RunView, asked: Parameters) -> list[Hit]:
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
            "items": [_card(hit) for hit in shown],
        }

    def episode(self, asked: Parameters) -> dict[str, Any]:
        """Return a transcript, its scores, the sample in other cells, and its neighbours in the filtered list."""
        run, sample = self._run(asked), asked.get("sample", "")
        cell = run.cell(asked.get("cell", ""))
        with self._lock:
            hits = [(hit.cell.name, hit.sample) for hit in self._hits(run, asked)]
            read = self._readings(run).get(cell.name, {})
        here = (cell.name, sample)
        at = hits.index(here) if here in hits else -1
        base, record = run.baseline(cell), cell.episode(sample)
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
            "record": plain(record),
            "sounds": media.in_words(cell.folder, record),
            "score": plain(cell.score(sample)),
            "readings": [plain(found[sample]) for found in read.values() if sample in found],
            "outcome": outcome(cell.rows.get(sample), cell.value(sample)),
            "change": change(base.value(sample), cell.value(sample)) if base else None,
            "siblings": [
                {"cell": other.name, "outcome": outcome(other.rows.get(sample), other.value(sample))}
                for other in run.cells.values()
                if other.task == cell.task and sample in other.episodes
            ],
            "position": at + 1,
            "total": len(hits),
            "before": hits[at - 1] if at > 0 else None,
            "after": hits[at + 1] if 0 <= at < len(hits) - 1 else None,
        }

    def compare(self, asked: Parameters) -> dict[str, Any]:
        """Compare two cells of one or two runs, on the samples that both have."""
        left, right = self._run(asked, "a"), self._run(asked, "b")
        if not left.cells or not right.cells:
            raise BadInput("these runs have played nothing yet")
        shared = [name for name in left.cells if name in right.cells]
        before = left.cell(asked.get("cell_a") or [*shared, *left.cells][0])
        fitting = before.name if before.name in shared else next(iter(right.cells))
        after = right.cell(asked.get("cell_b") or fitting)
        wanted = asked.get("change", "")
        with self._lock:
            difference = self._recent.get(
                left,
                ("compare", before.name, right.key, right.version, after.name),
                lambda: summary.paired(before, after, family_of(left, right, before, after)),
            )
            pairs = []
            for sample in before.episodes:
                if sample in after.episodes:
                    values = before.value(sample), after.value(sample)
                    became = change(*values)
                    if not wanted or became == wanted:
                        pairs.append({"sample": sample, "a": values[0], "b": values[1], "change": became})
        page = max(1, _number(asked, "page", 1))
        size = PAGE * 4
        return {
            "a": {"run": left.key, "model": left.model, "cells": list(left.cells), "cell": before.name},
            "b": {"run": right.key, "model": right.model, "cells": list(right.cells), "cell": after.name},
            "summary": [_cell_row(before), _cell_row(after)],
            "difference": plain(difference),
            "differs": _settings_that_differ(before, after),
            "total": len(pairs),
            "page": page,
            "pages": max(1, -(-len(pairs) // size)),
            "pairs": pairs[(page - 1) * size : page * size],
        }

    def difference(self, asked: Parameters) -> dict[str, Any]:
        target, drawn, true = self._two_pictures(asked)
        found = media.difference(target, drawn, true)
        return {**asdict(found), "words": found.in_words()}

    def overlay(self, asked: Parameters) -> tuple[bytes, str]:
        return media.overlay(*self._two_pictures(asked)), "image/png"

    def _two_pictures(self, asked: Parameters) -> tuple[dict[str, Any], Picture, Picture]:
        cell = self._cell(asked)
        target = cell.episode(asked.get("sample", "")).sample.target
        load = cell.folder.pictures.load
        return target, load(asked.get("drawn", "")), load(asked.get("true", ""))

    def picture(self, asked: Parameters) -> tuple[bytes, str]:
        return media.original(self._run(asked).folder, asked.get("name", ""))

    def sound(self, asked: Parameters) -> tuple[Path, str]:
        return media.recording(self._run(asked).folder, asked.get("name", ""))

    def thumbnail(self, asked: Parameters) -> tuple[bytes, str]:
        side = _number(asked, "side", 320)
        return self._thumbnails.get(self._run(asked).folder, asked.get("name", ""), side), "image/webp"

    def report(self, asked: Parameters) -> Path:
        path = _report_of(self._run(asked))
        if path is None:
            raise BadInput("this run has no report yet", "sketchmark report RUN makes it")
        return path


def _charts(run: RunView) -> dict[str, Any]:
    drawn = [found for cell in run.cells.values() if (found := summary.drawing_and_answer(cell))]
    return {
        "curves": plain(summary.curves(run)),
        "drawing_and_answer": plain(drawn),
        "readings": scorings.told(run.folder),
    }


def _run_row(run: RunView) -> dict[str, Any]:
    """Make a row of the list of runs."""
    return {
        "run": run.key,
        "model": run.model,
        "started": run.about.started,
        "state": run.state(time.time()),
        "why": run.about.ended.why if run.about.ended else "",
        "version": run.version,
        "episodes": sum(len(cell.episodes) for cell in run.cells.values()),
        "cells": [_cell_row(cell) for cell in run.cells.values()],
    }


def _standing(run: RunView) -> dict[str, Any]:
    """Make a row of the list of runs with its standings and published scores, for the leaderboard."""
    figures = [
        {**plain(figure), "task": run.cells[name].task, "mode": run.cells[name].mode}
        for name, cell in summary.live_results(run).items()
        for figure in cell.published
        if figure.score == run.cells[name].headline
    ]
    return {**_run_row(run), "standings": plain(standings(run)), "published": figures}


def _cell_row(cell: CellView) -> dict[str, Any]:
    rows = cell.rows.values()
    return {
        **plain(summary.live_result(cell)),
        "cell": cell.name,
        "headline": cell.headline,
        "played": len(cell.episodes),
        "seconds": sum(row.seconds for row in rows) / max(1, len(rows)),
    }


def _report_of(run: RunView) -> Path | None:
    try:
        path = run.folder.report_file
    except BadInput:
        return None
    return path if path.exists() else None


def _card(hit: Hit) -> dict[str, Any]:
    record = hit.cell.episode(hit.sample)
    drawn, answers = drawn_names(record), said(record)
    return {
        "cell": hit.cell.name,
        "task": hit.cell.task,
        "mode": hit.cell.mode,
        "canvas": hit.cell.canvas,
        "draw_with": hit.cell.about.draw_with,
        "sample": hit.sample,
        "outcome": outcome(hit.row, hit.value),
        "value": hit.value,
        "change": hit.change,
        "flags": hit.row.flags if hit.row else [],
        "groups": hit.row.groups if hit.row else {},
        "input": next(input_names(record.sample), None),
        "sounds": len(list(sound_names(record.sample))),
        "drawn": drawn[-1] if drawn else None,
        "drawings": len(drawn),
        "answer": answers[-1][-240:] if answers else "",
        "seconds": record.seconds,
    }


def _settings_that_differ(before: CellView, after: CellView) -> list[str]:
    """List settings that differ between two cells, as a caution next to the numbers."""
    keys = ("task", "draw_with", "steps", "source", "on_draw_failure")
    one, other = ({key: getattr(cell.about, key) for key in keys} for cell in (before, after))
    return differences(one, other)


def _number(asked: Parameters, name: str, default: int) -> int:
    text = asked.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else default
