"""Figures for papers: gains, scores, difficulty, a film strip, a leaderboard, each with its numbers as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files import small, write_atomic
from sketchmark.folder.format import DRAWING_MODE, label_of
from sketchmark.folder.index import CellView, RunView, change, outcome
from sketchmark.folder.records import drawings_right, drawn_names, input_names
from sketchmark.folder.results_format import Gain, Mean
from sketchmark.markup import bracket, percent, points
from sketchmark.plots import FORMATS, Drawing, breadth, charts
from sketchmark.plots.charts import Frame, Panel, Row
from sketchmark.results import summary
from sketchmark.results.gains import live_gains
from sketchmark.stats.intervals import in_points, rounded

INCH = 72.0
WIDTHS = {"column": 3.25, "page": 6.875}
"""Inches: one column and the full page of a two-column paper."""
MARGIN = 3.0
FONT = 7.5
"""Points, as captions and tick labels of papers have it."""

Cells = tuple[object, ...]


@dataclass(frozen=True)
class Figure:
    """A figure and the numbers in it. Notebooks show it as SVG; `save` writes SVG, PNG or PDF by the file's name."""

    drawing: Drawing
    columns: tuple[str, ...]
    rows: tuple[Cells, ...]

    def save(self, path: str | Path) -> list[Path]:
        """Write the figure, and its numbers as CSV next to it."""
        path = Path(path)
        if path.suffix.lower().removeprefix(".") not in FORMATS:
            raise BadInput(f"{path.name} is not the name of a figure", f"end it in .{', .'.join(FORMATS)}")
        self.drawing.save(path)
        table = path.with_suffix(".csv")
        write_atomic(table, self.csv().encode())
        return [path, table]

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def _repr_svg_(self) -> str:
        return self.drawing.svg()


KINDS = {
    "gain": "forest plot of the gains over direct",
    "scores": "direct, blind, text_cot and every canvas with intervals",
    "difficulty": "score by difficulty",
    "strip": "film strip of one episode",
    "leaderboard": "direct → drawn, one row per run",
}


def figure(
    runs: Sequence[RunView], kind: str = "gain", *, task: str = "", sample: str = "", width: str | float = ""
) -> Figure:
    """Draw one of `KINDS`. `task` leaves the others out; `sample` chooses the episode of a strip.

    `width` is `column`, `page` or a number of inches.
    """
    if kind not in KINDS:
        raise BadInput(f"there is no figure {kind!r}", f"there are: {', '.join(KINDS)}")
    if not runs:
        raise BadInput("no run is given", "name one or more run folders")
    known = {cell.task for run in runs for cell in run.cells.values()}
    if task and task not in known:
        raise BadInput(f"no run has the task {task!r}", f"there are: {', '.join(sorted(known))}")
    room = _inches(width or ("column" if kind in ("gain", "difficulty") else "page")) * INCH - 2 * MARGIN
    if kind == "strip":
        return _framed(_strip(runs[0], task, sample, room))
    draw = {"gain": _gain, "scores": _scores, "difficulty": _difficulty, "leaderboard": _leaderboard}[kind]
    return _framed(draw(_named(runs), task, room))


def _framed(made: Figure) -> Figure:
    """Put a margin around a figure, so that no line or letter touches its edge."""
    inner = made.drawing
    whole = Drawing(inner.width + 2 * MARGIN, inner.height + 2 * MARGIN, inner.label, inner.font)
    whole.place(inner, MARGIN, MARGIN)
    return replace(made, drawing=whole)


def _inches(width: str | float) -> float:
    try:
        inches = WIDTHS.get(str(width)) or float(width)
    except ValueError:
        inches = 0.0
    if not 1 <= inches <= 40:
        raise BadInput(f"{width!r} is not the width of a figure", f"give {', '.join(WIDTHS)} or inches (1 to 40)")
    return inches


def _named(runs: Sequence[RunView]) -> dict[str, RunView]:
    """Return the runs by a short label: the model, with the folder's name if several have the same model."""
    models = [run.model for run in runs]
    labels: dict[str, RunView] = {}
    for run in runs:
        short = run.model.rpartition("/")[2] or run.key
        label = short if models.count(run.model) == 1 else f"{short}, {run.folder.path.name}"
        while label in labels:
            label += "′"
        labels[label] = run
    return labels


def _wanted(run: RunView, task: str) -> list[CellView]:
    return [cell for cell in run.cells.values() if task in ("", cell.task)]


def _numbers(mean: Mean | None) -> tuple[object, object, object, object]:
    """Return mean, interval and n in points for a table."""
    if mean is None or mean.mean is None:
        return "", "", "", 0
    low, high = ("" if end is None else rounded(in_points(end, mean.ci95), 3) for end in mean.ci95)
    return rounded(in_points(mean.mean, mean.ci95), 3), low, high, mean.n


def _nothing(what: str) -> BadInput:
    return BadInput(f"nothing to draw: {what}", "`sketchmark run --mode direct,visual_cot` makes such a run")


def _gain(runs: dict[str, RunView], task: str, width: float) -> Figure:
    """Several runs: the gain by drawing of each. One run: every condition minus direct."""
    groups: dict[str, list[Row]] = {}
    rows = []
    for name, run in runs.items():
        for gain in live_gains(run):
            if gain.over != "direct":
                continue
            own = gain.mode == DRAWING_MODE and gain.canvas == "own"
            if gain.gain is None or (task and gain.task != task) or (len(runs) > 1 and not own):
                continue
            mean = Mean(gain.gain, gain.ci95, gain.n)
            label = name if len(runs) > 1 else label_of(gain.mode, gain.canvas, short=True)
            groups.setdefault(gain.task, []).append(Row(label, mean, gain.verdict in ("better", "worse")))
            rows.append((*_of(run, gain), *_numbers(mean), gain.p, gain.p_holm, gain.verdict, gain.helped, gain.hurt))
    if not groups:
        raise _nothing("no gain over direct")
    drawing = charts.forest(
        groups, width, FONT, title="Gain over direct, points (filled: p < 0.05, Holm)", people=_gain_of_people(runs)
    )
    columns = ("model", "run", "task", "mode", "canvas", "gain", "low", "high", "n", "p", "p_holm", "verdict")
    return Figure(drawing, (*columns, "helped", "hurt"), tuple(rows))


def _people(runs: dict[str, RunView], task: str) -> RunView | None:
    """Return the run of the most people on a task, if there are people and models."""
    having = [run for run in runs.values() if any(cell.task == task for cell in run.cells.values())]
    people = max((run for run in having if run.about.people), key=lambda run: run.about.people, default=None)
    return people if people and any(not run.about.people for run in having) else None


def _gain_of_people(runs: dict[str, RunView]) -> dict[str, float]:
    """Return task → the gain of people by drawing."""
    found = {}
    for task in {cell.task for run in runs.values() for cell in run.cells.values()}:
        gain = _standing(run, task)[2] if (run := _people(runs, task)) else None
        if gain and gain.gain is not None:
            found[task] = gain.gain
    return found


def _of(run: RunView, gain: Gain) -> Cells:
    return run.model, run.folder.path.name, gain.task, gain.mode, gain.canvas


def _scores(runs: dict[str, RunView], task: str, width: float) -> Figure:
    panels, rows = [], []
    for name, run in runs.items():
        cells = [summary.live_result(cell) for cell in _wanted(run, task)]
        for panel in Panel.all_of(cells, live_gains(run)):
            panels.append(Panel(f"{panel.task}, {name}" if len(runs) > 1 else panel.task, panel.rows, panel.gain))
            rows += [
                (run.model, run.folder.path.name, panel.task, mode, canvas, draw_with, *_numbers(mean))
                for mode, canvas, draw_with, mean in panel.rows
            ]
    if not panels:
        raise _nothing("no score yet")
    columns = ("model", "run", "task", "mode", "canvas", "draw_with", "score", "low", "high", "n")
    return Figure(charts.scores(panels, width, FONT, short=True), columns, tuple(rows))


def _difficulty(runs: dict[str, RunView], task: str, width: float) -> Figure:
    """Draw every difficulty of every run, as many next to each other as fit."""
    drawn: list[tuple[str, Drawing]] = []
    rows = []
    per_row = max(1, round(width / (WIDTHS["column"] * INCH)))
    share = (width - (per_row - 1) * 14) / per_row
    for name, run in runs.items():
        for found in summary.curves(run):
            if task and found.task != task:
                continue
            chart = (
                charts.curve(found, share, FONT)
                if found.numeric
                else charts.forest(charts.groups_of(found), share, FONT, signed=False)
            )
            title = f"{found.task}: score by {found.key}" + (f", {name}" if len(runs) > 1 else "")
            drawn.append((title, chart))
            rows += [
                (run.model, run.folder.path.name, found.task, found.key, point.value, line.mode, *_numbers(point))
                for line in found.lines
                for point in line.points
            ]
    if not drawn:
        raise _nothing("the samples have no difficulty or category")
    columns = ("model", "run", "task", "key", "value", "mode", "score", "low", "high", "n")
    return Figure(_grid(drawn, per_row, width), columns, tuple(rows))


def _grid(drawn: Sequence[tuple[str, Drawing]], per_row: int, width: float) -> Drawing:
    """Place titled drawings in rows."""
    whole = Drawing(width, 0, "; ".join(chart.label for _, chart in drawn), FONT)
    share = (width - (per_row - 1) * 14) / per_row
    for start in range(0, len(drawn), per_row):
        row = drawn[start : start + per_row]
        for at, (title, chart) in enumerate(row):
            x = at * (share + 14)
            whole.words(x, whole.height + 9, title, bold=True)
            whole.place(chart, x, whole.height + 15)
        whole.height += max(chart.height for _, chart in row) + 26
    return whole


def _leaderboard(runs: dict[str, RunView], task: str, width: float) -> Figure:
    """Draw direct → drawn per task, best first by the first task, ties by model and run."""
    tasks = list(dict.fromkeys(cell.task for run in runs.values() for cell in _wanted(run, task)))
    found = {name: {one: _standing(run, one) for one in tasks} for name, run in runs.items()}

    def rank(name: str) -> tuple[float, str, str]:
        before, after, _ = found[name][tasks[0]]
        best = after or before
        return -(best.mean if best and best.mean is not None else -1.0), runs[name].model, runs[name].key

    left = min(width * 0.3, max(breadth(name, FONT, True) for name in runs) + 8)
    share, step = (width - left) / len(tasks), 27.0
    drawing = Drawing(width, 16 + step * len(runs), "", FONT)
    rows, told = [], []
    for at, one in enumerate(tasks):
        drawing.words(left + at * share, 8, one, bold=True)
    for number, name in enumerate(sorted(runs, key=rank)):
        y = 16 + number * step
        drawing.line(0, y - 3, width, y - 3, "line", 0.5)
        drawing.words(0, y + 11, name, bold=True)
        for at, one in enumerate(tasks):
            before, after, gain = found[name][one]
            x, bell = left + at * share, min(0.52 * share, 62.0)
            if before or after:
                people = _people(runs, one)
                best = people and next((mean for mean in reversed(_standing(people, one)[:2]) if mean), None)
                drawing.place(charts.dumbbell(before, after, "", people=best or None), x, y, bell / 112)
                if best and not number:
                    beam = f"people {percent(best.mean, best.ci95)}"
                    drawing.line(x + bell + 7, 2, x + bell + 7, 9, "other", 1, dashed=True)
                    drawing.words(x + bell + 12, 8, beam, 0.9, "other")
                    told.append(f"{one}: {beam}")
            said = " → ".join(percent(mean.mean, mean.ci95) for mean in (before, after) if mean)
            drawing.words(x + bell + 5, y + 8, said, 0.95)
            if gain:
                glyph = {"better": "▲ ", "worse": "▼ "}.get(gain.verdict or "", "")
                drawing.words(x, y + 19, f"{glyph}{points(gain.gain, gain.ci95)} {bracket(gain.ci95)}", 0.9, "quiet")
            told.append(f"{name}, {one}: {said}")
            rows.append((runs[name].model, runs[name].folder.path.name, one, *_numbers(before), *_numbers(after)))
    drawing.label = "; ".join(told)
    columns = ("direct", "direct_low", "direct_high", "direct_n", "drawn", "drawn_low", "drawn_high", "drawn_n")
    return Figure(drawing, ("model", "run", "task", *columns), tuple(rows))


def _standing(run: RunView, task: str) -> tuple[Mean | None, Mean | None, Gain | None]:
    cells = {cell.mode: cell for cell in run.cells.values() if cell.task == task and cell.canvas == "own"}
    means = [
        (found := summary.live_result(cells[mode])).metrics.get(found.headline) if mode in cells else None
        for mode in ("direct", DRAWING_MODE)
    ]
    gains = (gain for gain in live_gains(run) if gain.task == task and gain.canvas == "own")
    return means[0], means[1], next((gain for gain in gains if gain.mode == DRAWING_MODE), None)


def _strip(run: RunView, task: str, sample: str, width: float) -> Figure:
    cell, sample = _chosen(run, task, sample)
    record, score = cell.episode(sample), cell.score(sample)
    judged, true = drawings_right(record, score.notes if score else {}), record.sample.frames or []
    frames, rows = [], []
    for name in list(input_names(record.sample))[:1]:
        frames.append(Frame(_image(run, name), "input"))
    wrong = False
    for at, name in enumerate(drawn_names(record)):
        right = judged[at]
        frames.append(Frame(_image(run, name), f"{at + 1}{' ✕' if right is False else ''}", right))
        rows.append((run.model, run.folder.path.name, cell.name, sample, at + 1, "" if right is None else int(right)))
        if right is False and not wrong and at < len(true):
            frames.append(Frame(_image(run, true[at]), f"ground truth {at + 1}", truth=True))
            wrong = True
    if not frames:
        raise _nothing(f"{sample} has no image")
    answer = outcome(cell.value(sample))
    drawing = charts.film(frames, f"{sample}: the answer is {answer}", width, FONT)
    return Figure(drawing, ("model", "run", "cell", "sample", "drawing", "right"), tuple(rows))


def _image(run: RunView, name: str) -> bytes:
    return small(run.folder.pictures.load(name), 320)


def _chosen(run: RunView, task: str, sample: str) -> tuple[CellView, str]:
    """Return the episode that was asked for, or else the first that drawing helped."""
    cells = [cell for cell in _wanted(run, task) if cell.mode == DRAWING_MODE and cell.canvas == "own"]
    for cell in cells:
        if sample and sample in cell.episodes:
            return cell, sample
    if sample:
        raise BadInput(f"no drawn episode of the run has the sample {sample[:80]!r}")
    every = [(cell, one) for cell in cells for one in cell.order()]
    helped = (place for place in every if _helped(run, *place))
    found = next(helped, every[0] if every else None)
    if found is None:
        raise _nothing("the run has no drawn episode")
    return found


def _helped(run: RunView, cell: CellView, sample: str) -> bool:
    base = run.baseline(cell)
    return base is not None and change(base.value(sample), cell.value(sample)) == "helped"


def opened(paths: Sequence[Path]) -> Iterator[RunView]:
    """Open the named runs; a folder of runs stands for every run in it."""
    from sketchmark.folder import RunFolder, run_folders

    for path in paths:
        if not path.exists():
            raise BadInput(f"{path} does not exist", "name a run folder, or a folder of runs")
        found = [path] if (path / "run.json").exists() else list(run_folders(path))
        if not found:
            raise BadInput(f"{path} holds no run")
        for one in found:
            run = RunView(RunFolder.open(one), one.name)
            try:
                run.refresh()
            except OSError as error:
                raise SketchmarkError(f"{one} cannot be read: {error}") from error
            yield run
