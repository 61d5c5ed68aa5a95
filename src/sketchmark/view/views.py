"""What each page of the viewer is made of, as plain data."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.plain import plain
from sketchmark.picture import Picture
from sketchmark.runs import readings, summary
from sketchmark.runs.index import CellIndex, RunIndex, change, outcome
from sketchmark.runs.record import drawn_names, input_names, said, sound_names
from sketchmark.runs.standings import standings
from sketchmark.view import differences, sounds
from sketchmark.view.families import family_of
from sketchmark.view.pictures import Thumbnails, original
from sketchmark.view.query import PAGE, Hit, Query, Readings, facets, readings_of
from sketchmark.view.recent import Recent
from sketchmark.view.run_list import RunList

Asked = Mapping[str, str]


class Views:
    """One method a page. The index changes only under the lock; pictures and transcripts are read outside of it."""

    def __init__(self, root: Path) -> None:
        self._shelf = RunList(root)
        self._recent = Recent()
        self._thumbnails = Thumbnails()
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Take in what there is while the browser is still opening."""
        with self._lock:
            self._shelf.look()

    def _run(self, asked: Asked, name: str = "run") -> RunIndex:
        with self._lock:
            return self._shelf.run(asked.get(name, ""))

    def _cell(self, asked: Asked) -> CellIndex:
        return self._run(asked).cell(asked.get("cell", ""))

    def version(self, asked: Asked) -> dict[str, Any]:
        """What a page asks every second: has anything been added?"""
        if asked.get("run"):
            run = self._run(asked)
            return {"version": run.version, "state": run.state(time.time())}
        with self._lock:
            runs = self._shelf.look()
        return {"version": [[run.key, run.version, run.state(time.time())] for run in runs]}

    def runs(self, asked: Asked) -> dict[str, Any]:
        with self._lock:
            return {"runs": self._shelf.rows(_standing), "troubles": self._shelf.troubles}

    def run(self, asked: Asked) -> dict[str, Any]:
        run = self._run(asked)
        with self._lock:
            charts = self._recent.get(run, "charts", lambda: _charts(run))
            return {
                **_run_row(run),
                **charts,
                "gains": plain(summary.gains(run)),
                "about": plain(run.about),
                "has_report": _report_of(run) is not None,
            }

    def _hits(self, run: RunIndex, asked: Asked) -> list[Hit]:
        query = Query.of(asked)
        return self._recent.get(run, query, lambda: query.hits(run, self._readings(run)))

    def _readings(self, run: RunIndex) -> Readings:
        """Read from the lines of scores, of a run with several scorings alone."""
        return self._recent.get(run, "readings", lambda: readings_of(run))

    def samples(self, asked: Asked) -> dict[str, Any]:
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

    def episode(self, asked: Asked) -> dict[str, Any]:
        """A transcript, its scores, the same sample in the run's other cells, and its neighbours in the list that
        the reader came from."""
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
            "sounds": sounds.in_words(cell.folder, record),
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

    def compare(self, asked: Asked) -> dict[str, Any]:
        """Two cells, of two runs or of one, on the samples that both have."""
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

    def difference(self, asked: Asked) -> dict[str, Any]:
        target, drawn, true = self._two_pictures(asked)
        found = differences.difference(target, drawn, true)
        return {**asdict(found), "words": found.in_words()}

    def overlay(self, asked: Asked) -> tuple[bytes, str]:
        return differences.overlay(*self._two_pictures(asked)), "image/png"

    def _two_pictures(self, asked: Asked) -> tuple[dict[str, Any], Picture, Picture]:
        cell = self._cell(asked)
        target = cell.episode(asked.get("sample", "")).sample.target
        load = cell.folder.pictures.load
        return target, load(asked.get("drawn", "")), load(asked.get("true", ""))

    def picture(self, asked: Asked) -> tuple[bytes, str]:
        return original(self._run(asked).folder, asked.get("name", ""))

    def sound(self, asked: Asked) -> tuple[Path, str]:
        return sounds.recording(self._run(asked).folder, asked.get("name", ""))

    def thumbnail(self, asked: Asked) -> tuple[bytes, str]:
        side = _number(asked, "side", 320)
        return self._thumbnails.get(self._run(asked).folder, asked.get("name", ""), side), "image/webp"

    def report(self, asked: Asked) -> Path:
        path = _report_of(self._run(asked))
        if path is None:
            raise BadInput("this run has no report yet", "sketchmark report RUN makes it")
        return path


def _charts(run: RunIndex) -> dict[str, Any]:
    drawn = [found for cell in run.cells.values() if (found := summary.drawing_and_answer(cell))]
    return {
        "curves": plain(summary.curves(run)),
        "drawing_and_answer": plain(drawn),
        "readings": readings.told(run.folder),
    }


def _run_row(run: RunIndex) -> dict[str, Any]:
    """A row of the list of runs."""
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


def _standing(run: RunIndex) -> dict[str, Any]:
    """A row of the list with what the leaderboard shows: its standings, and what others published for the same."""
    figures = [
        {**plain(figure), "task": run.cells[name].task, "mode": run.cells[name].mode}
        for name, cell in summary.summed_up(run).items()
        for figure in cell.published
        if figure.score == run.cells[name].headline
    ]
    return {**_run_row(run), "standings": plain(standings(run)), "published": figures}


def _cell_row(cell: CellIndex) -> dict[str, Any]:
    rows = cell.rows.values()
    return {
        **plain(summary.of_cell(cell)),
        "cell": cell.name,
        "headline": cell.headline,
        "played": len(cell.episodes),
        "seconds": sum(row.seconds for row in rows) / max(1, len(rows)),
    }


def _report_of(run: RunIndex) -> Path | None:
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


def _settings_that_differ(before: CellIndex, after: CellIndex) -> list[str]:
    """What else is different between two cells, besides what was meant to be: a caution beside the numbers."""
    from sketchmark.runs.store import differences as changed

    keys = ("task", "draw_with", "steps", "source", "on_draw_failure")
    one, other = ({key: getattr(cell.about, key) for key in keys} for cell in (before, after))
    return changed(one, other)


def _number(asked: Asked, name: str, default: int) -> int:
    text = asked.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else default
