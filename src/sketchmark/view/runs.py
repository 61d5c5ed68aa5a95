"""Runs below a folder, scanned again for every request, a cache of results, and what pages say about a run."""

from __future__ import annotations

import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sketchmark.comparison.headlines import repeats_table
from sketchmark.comparison.leaderboard import standings
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder, run_folders
from sketchmark.folder.format import DRAWING_MODE, label_of
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import input_names
from sketchmark.folder.results_format import Gain, Mean, Metric
from sketchmark.markup import bracket, percent, points
from sketchmark.plots import Drawing, charts
from sketchmark.plots.charts import dumbbell
from sketchmark.report.story import findings, own_minus, story_of
from sketchmark.results import scorings, summary
from sketchmark.results.gains import live_gains
from sketchmark.terminal import one_line
from sketchmark.view.query import CHANGES, Hit, card, changes

Made = TypeVar("Made")
_KEPT = 64
_LARGEST = 50_000_000
"""Bytes of the lists that are kept."""


class Recent:
    """Cache of recent results, valid until the run grows."""

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, run: RunView, what: Hashable, make: Callable[[], Made]) -> Made:
        key = (run.key, run.version, what)
        if key not in self._made:
            self._made[key] = make()
            while len(self._made) > _KEPT or self._weight() > _LARGEST:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]  # type: ignore[return-value]

    def _weight(self) -> int:
        return sum(getattr(made, "nbytes", 0) for made in list(self._made.values())[:-1])


Row = TypeVar("Row")


def in_words(error: Exception) -> str:
    """Describe an error of a broken or hostile run folder in one line."""
    if isinstance(error, (SketchmarkError, OSError)):
        return one_line(str(error))
    return one_line(f"it holds what no run holds: {type(error).__name__}: {error}")


class RunList:
    """Run folders by key, their path below the root.

    A request can only name a key that a scan has found, so no name in a request ever becomes a path.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise BadInput(f"{root} is not a folder", "give a run folder, or a folder of runs")
        self.root = root.resolve()
        self._paths: dict[str, Path] = {}
        self._runs: dict[str, RunView] = {}
        self.troubles: dict[str, str] = {}

    def look(self) -> list[RunView]:
        """Scan again and refresh every readable run. Broken folders are named in `troubles`."""
        self._paths = {path.relative_to(self.root).as_posix(): path for path in run_folders(self.root)}
        self._runs = {key: run for key, run in self._runs.items() if key in self._paths}
        self.troubles = {}
        found = []
        for key in self._paths:
            try:
                found.append(self._refreshed(key))
            except Exception as error:  # an untrusted folder can cause any error
                self.troubles[key] = in_words(error)
        return found

    def _refreshed(self, key: str) -> RunView:
        """Refresh a run; one that fails halfway is opened again next time."""
        run = self._runs.pop(key, None) or RunView(RunFolder(self._paths[key]), key)
        run.refresh()
        self._runs[key] = run
        return run

    def rows(self, make: Callable[[RunView], Row]) -> list[Row]:
        """Apply `make` to every readable run. Runs on which it fails are named in `troubles`."""
        made = []
        for run in self.look():
            try:
                row = make(run)
                json.dumps(row, allow_nan=False)  # one invalid number would break the whole list
            except Exception as error:
                self.troubles[run.key] = in_words(error)
            else:
                made.append(row)
        return made

    def run(self, key: str) -> RunView:
        """Refresh one run without the others."""
        if key not in self._paths:
            self.look()
        if key not in self._paths:
            raise BadInput(f"there is no run {key[:80]!r} here")
        try:
            return self._refreshed(key)
        except Exception as error:
            raise BadInput(in_words(error)) from error


def run_row(run: RunView) -> dict[str, Any]:
    """Return what every page says about a run: its model, state, tags, progress and cells."""
    about = run.about
    wanted = sum(run.wanted(cell) or 0 for cell in run.cells.values())
    done = sum(cell.done for cell in run.cells.values())
    return {
        "run": run.key,
        "model": run.model,
        "args": {key: value for key, value in about.model.args.items() if isinstance(value, (str, int, float, bool))},
        "tags": _tags(about),
        "people": about.people,
        "started": about.started,
        "state": run.state(time.time()),
        "why": about.ended.why if about.ended else "",
        "version": run.version,
        "episodes": sum(len(cell.episodes) for cell in run.cells.values()),
        "progress": done / wanted if wanted and done <= wanted else None,
        "cells": [cell_row(cell) for cell in run.cells.values()],
    }


def _tags(about: object) -> list[str]:
    """Return the run's tags, which run.json may have as one text or a list."""
    found = getattr(about, "tags", None) or getattr(about, "tag", None) or ()
    return [found] if isinstance(found, str) else [str(one) for one in found]


def standing_row(run: RunView) -> dict[str, Any]:
    """Return a row of the leaderboard: direct → drawn per task, the blank control, cost, published scores."""
    found = standings(run)
    figures = [
        {**plain(figure), "task": run.cells[name].task, "mode": run.cells[name].mode}
        for name, cell in summary.live_results(run).items()
        for figure in cell.published
        if figure.score == run.cells[name].headline
    ]
    usage: Counter[str] = Counter()
    for one in found:
        usage.update(one.usage)
    tasks = {}
    for task in dict.fromkeys(one.task for one in found):
        by_mode = {one.mode: one for one in found if one.task == task and one.canvas == "own"}
        direct, drawn = by_mode.get("direct"), by_mode.get(DRAWING_MODE)
        before, after = direct.score if direct else None, drawn.score if drawn else None
        apart = own_minus(run, task).get("blank")
        label = described(task, before, after, drawn.gain if drawn else None)
        tasks[task] = {
            "direct": plain(before),
            "drawn": plain(after),
            "gain": plain(drawn.gain) if drawn else None,
            "blank": plain(apart),
            "picture": str(dumbbell(before, after, label).svg(page=True)) if before or after else "",
            "label": label,
            "n": max((one.n for one in by_mode.values()), default=0),
            "problem": next((one.problem for one in by_mode.values() if one.problem), ""),
        }
    return {
        "standings": plain(found),
        "tasks": tasks,
        "usage": dict(usage),
        "published": figures,
        "shot": _first_image(run),
    }


def described(task: str, before: Metric | None, after: Metric | None, gain: Gain | None) -> str:
    """Describe a dumbbell for readers who cannot see it."""
    told = [f"{name} {percent(one.mean, one.ci95)}%" for name, one in (("direct", before), ("drawn", after)) if one]
    change = f", gain {points(gain.gain, gain.ci95)} points {bracket(gain.ci95)}" if gain else ""
    return f"{task}: {', '.join(told) or 'no score'}{change}"


def _first_image(run: RunView) -> str | None:
    for cell in run.cells.values():
        for sample in cell.episodes:
            return next(input_names(cell.episode(sample).sample), None)
    return None


def cell_row(cell: CellView) -> dict[str, Any]:
    seconds = cell.rows.arrays["seconds"].tolist()
    return {
        **plain(summary.live_result(cell)),
        "cell": cell.name,
        "label": label_of(cell.mode, cell.canvas, cell.about.draw_with),
        "short": label_of(cell.mode, cell.canvas, cell.about.draw_with, short=True),
        "headline": cell.headline,
        "played": len(cell.episodes),
        "seconds": sum(seconds) / max(1, len(seconds)),
    }


WIDE, NARROW = 1240, 330
"""Widths of the charts: a page chooses by its own width."""


def run_charts(run: RunView) -> dict[str, Any]:
    """Return the run's sentences and charts, and the tables that only a full look at its rows gives."""
    results = [summary.live_result(cell) for cell in run.cells.values()]
    story = story_of(run, results)
    drawn = [found for cell in run.cells.values() if (found := summary.drawing_and_answer(cell))]
    every = live_gains(run)
    panels = charts.Panel.all_of(results, every)
    return {
        "story": {"headline": story.headline, "lede": story.lede, "controls": story.controls},
        "gains": plain(every),
        "scores_chart": _both(lambda width: charts.scores(panels, width)) if panels else None,
        "saved_chart": str(charts.scores(panels, 900).svg()) if panels else "",
        "curves": [_curve(one) for one in summary.curves(run)],
        "drawing_and_answer": plain(drawn),
        "repeats": _repeats(run),
        "readings": scorings.told(run.folder),
        "findings": findings(run),
    }


def _repeats(run: RunView) -> dict[str, Any] | None:
    """Return the table of repeated episodes as of the last scoring, and charts of pass@k by k."""
    stored = summary.live_results(run)
    table = repeats_table({(name,): cell.repeats for name, cell in stored.items() if cell.repeats})
    if table is None:
        return None
    charts = [_curve(one, name) for name, one in summary.passes(stored)]
    return {"columns": table.columns, "rows": table.rows, "below": table.below, "charts": charts}


def _both(draw: Callable[[float], Drawing]) -> dict[str, str]:
    return {"wide": str(draw(WIDE).svg(page=True)), "narrow": str(draw(NARROW).svg(page=True))}


def _curve(found: summary.Curve, name: str = "score") -> dict[str, Any]:
    title = f"{found.task}: {name} by {found.key}"
    draw: Callable[[float], Drawing] = partial(charts.curve, found, name=name)
    if not found.numeric:
        draw = partial(charts.forest, charts.groups_of(found), signed=False)
    pictures = {"wide": str(draw(560).svg(page=True)), "narrow": str(draw(NARROW).svg(page=True))}
    return {"task": found.task, "title": title, **pictures}


def _rows_of_people(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return task → the row of the most people, for tasks that people and models ran."""
    found: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        for task in row["tasks"]:
            if row["people"] > (found[task]["people"] if task in found else 0):
                found[task] = row
    models = {task for row in rows if not row["people"] for task in row["tasks"]}
    return {task: row["tasks"][task] for task, row in found.items() if task in models}


def with_people(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a leaderboard with a line at the score of people in each chart."""
    people = _rows_of_people(rows)
    made = []
    for row in rows:
        tasks = dict(row["tasks"])
        for task in tasks.keys() & people.keys():
            own, best = tasks[task], people[task]["drawn"] or people[task]["direct"]
            if best and (own["direct"] or own["drawn"]):
                ends = (_mean_in(own["direct"]), _mean_in(own["drawn"]))
                line = _mean_in(best)
                label = f"{own['label']}; people {percent(best['mean'], best['ci95'])}%"
                picture = str(dumbbell(*ends, label, people=line).svg(page=True))
                tasks[task] = {**own, "picture": picture, "label": label}
        made.append({**row, "tasks": tasks})
    return made


def _mean_in(found: Mapping[str, Any] | None) -> Mean | None:
    return Mean(found["mean"], (found["ci95"][0], found["ci95"][1]), found["n"]) if found else None


def gain_forest(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Draw the gains by drawing of several runs, task by task, with a line at the gain of people."""
    people = {
        task: found["gain"]["gain"]
        for task, found in _rows_of_people(rows).items()
        if found["gain"] and found["gain"]["gain"] is not None
    }
    groups: dict[str, list[charts.Row]] = {}
    for row in rows:
        for task, found in row["tasks"].items():
            if (gain := found["gain"]) and gain["gain"] is not None:
                mean = Mean(gain["gain"], tuple(gain["ci95"]), gain["n"])
                label = row["model"] if row["run"] == "." else f"{row['model']} ({row['run']})"
                groups.setdefault(task, []).append(
                    charts.Row(label, mean, gain.get("verdict") in ("better", "worse"))
                )
    return {"forest": _both(lambda width: charts.forest(groups, width, people=people)) if groups else None}


def two_strips(run: RunView) -> list[dict[str, Any]]:
    """Return one episode that drawing helped and one that it hurt, from the first task that has them."""
    found: dict[str, Hit] = {}
    for cell in run.cells.values():
        base = run.baseline(cell)
        if base is None or cell.mode != DRAWING_MODE or cell.canvas != "own":
            continue
        played = cell.rows.align(cell.episodes)[0]
        became = changes(run, cell)[played]
        for kind in ("helped", "hurt"):
            at = played[became == CHANGES.index(kind)]
            if len(at) and kind not in found:
                row = cell.rows.at(int(at[0]))
                found[kind] = Hit(cell, row.key, row, row.value(cell.headline), kind)
        if len(found) == 2:
            break
    return [card(run, found[kind]) for kind in ("helped", "hurt") if kind in found]
