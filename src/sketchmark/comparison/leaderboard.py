"""Leaderboard: several runs as rows, tasks as columns, with notes on numbers that can't be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct, structs

from sketchmark.comparison.findings import bounds, mean_of
from sketchmark.comparison.headlines import repeats_table
from sketchmark.comparison.pairs import how_asked, how_generated, how_grouped, how_sourced
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.folder import RunFolder, run_folders
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.results_format import Gain, Metric, Repeats
from sketchmark.results import summary
from sketchmark.results.gains import gains
from sketchmark.tasks.files import BLIND
from sketchmark.terminal.tables import Table


class Standing(Struct, kw_only=True):
    """One cell: its score, the number of samples, and its gain: over direct, or of direct over blind."""

    cell: str
    task: str
    mode: str
    canvas: str
    metric: str
    """Name of the score: the task's headline, or the requested one."""

    scoring: str
    score: Metric | None
    """None without one; `problem` then gives the reason, if known."""

    gain: Gain | None
    n: int
    """Samples that have this score."""

    played: int
    """All episodes."""

    unscored: int
    """Those without this score."""

    failures: dict[str, int]
    problem: str
    usage: dict[str, int]
    """Usage of the episodes, also of replies from the cache."""

    paid: dict[str, int]
    """The part of it that was paid for when the episodes ran."""

    repeats: Repeats | None = None
    """Results of repeated episodes, in the headline score."""


def standings(run: RunView, metric: str = "") -> list[Standing]:
    """Return the current standings of a run's cells, in its order. `metric` replaces each task's headline score."""
    about = {name: structs.replace(cell.about, headline=metric or cell.headline) for name, cell in run.cells.items()}
    found = gains(about, lambda name: run.cells[name].scored())
    by_cell = {(gain.task, gain.mode, gain.canvas): gain for gain in found}
    stored = {} if metric else summary.live_results(run)
    repeats = {name: cell.repeats for name, cell in stored.items()}
    return [
        _standing(
            cell, metric or cell.headline, by_cell.get((cell.task, cell.mode, cell.canvas)), repeats.get(cell.name)
        )
        for cell in run.cells.values()
    ]


def _standing(cell: CellView, metric: str, gain: Gain | None, repeats: Repeats | None) -> Standing:
    numbers = summary.live_result(cell)
    score = numbers.metrics.get(metric)
    played = len(cell.episodes) or numbers.episodes
    scored = int((~np.isnan(cell.rows.metric(metric))).sum()) if score else 0
    return Standing(
        cell=cell.name,
        task=cell.task,
        mode=cell.mode,
        canvas=cell.canvas,
        metric=metric,
        scoring=numbers.scoring,
        score=score,
        gain=gain,
        n=score.n if score else 0,
        played=played,
        unscored=played - scored,
        failures=numbers.failures,
        problem=numbers.problem,
        usage=numbers.usage,
        paid=numbers.spent,
        repeats=repeats,
    )


Prices = Callable[[str], Callable[[Mapping[str, int]], float] | None]
"""Model → cost of its usage; None if the price is unknown."""


class BoardRow(Struct, kw_only=True):
    """One run. `costs` has the cost of each cell's usage, if prices are known; `paid` is without the cache's part.
    `tags` are its labels."""

    run: str
    model: str
    standings: list[Standing]
    costs: dict[str, float]
    paid: dict[str, float]
    tags: list[str] = []


class Leaderboard(Struct, kw_only=True):
    """Several runs. `notes` lists numbers that are not of the same test, and unreadable folders."""

    tasks: list[str]
    rows: list[BoardRow]
    """The best in the first task comes first."""

    notes: list[str]


def is_shelf(path: Path) -> bool:
    """Test whether a folder holds runs without being one."""
    return path.is_dir() and not (path / "run.json").exists() and next(run_folders(path), None) is not None


def leaderboard(
    folder: Path | str,
    *,
    runs: Sequence[Path] | None = None,
    metric: str = "",
    prices: Prices = lambda model: None,
    sort: str = "score",
    tags: Sequence[str] = (),
) -> Leaderboard:
    """Rank the runs below a folder, or the given ones. `metric` replaces each task's headline score.

    `sort`: by score or gain in the first task, by name, cost or tag. Equal ones are ordered by model, then by run.
    Only runs with all of the `tags` are ranked.
    """
    root = Path(folder)
    notes: list[str] = []
    indexes = list(_opened(root, run_folders(root) if runs is None else runs, notes))
    indexes = [run for run in indexes if set(tags) <= set(run.folder.about().tags)]
    if tags and not indexes:
        raise BadInput(f"no run in {root} has the tag {', '.join(tags)}", "`sketchmark run --tag NAME` sets it")
    rows = [_row(run, metric, prices(run.model)) for run in indexes]
    tasks = list(dict.fromkeys(one.task for row in rows for one in row.standings))
    if not tasks:
        raise BadInput(f"no run in {root} has any episodes", "; ".join(notes) or "`sketchmark run` makes runs")
    if metric and not any(one.score for row in rows for one in row.standings):
        raise BadInput(f"nothing in {root} is scored by {metric}", "leave --metric out for each task's headline")
    if sort == "cost" and not any(row.costs for row in rows):
        raise BadInput("no cost is known to sort by", "give --prices FILE")
    rows.sort(key=lambda row: (row.tags if sort == "tag" else [], _rank(row, tasks[0], sort), row.model, row.run))
    notes += _left(rows)
    notes += _without_judge(indexes, rows)
    notes += _unlike(indexes, metric)
    return Leaderboard(tasks=tasks, rows=rows, notes=notes)


def _opened(root: Path, paths: Iterator[Path] | Sequence[Path], notes: list[str]) -> Iterator[RunView]:
    """Open every readable run, with a note on each other one."""
    for path in paths:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        run = RunView(RunFolder(path), name)
        try:
            run.refresh()
        except (SketchmarkError, OSError) as error:
            notes.append(f"{name} cannot be read: {error}")
        else:
            yield run


def _row(run: RunView, metric: str, price: Callable[[Mapping[str, int]], float] | None) -> BoardRow:
    found = standings(run, metric)
    costs = {one.cell: price(one.usage) for one in found} if price else {}
    paid = {one.cell: price(one.paid) for one in found} if price else {}
    tags = run.folder.about().tags
    return BoardRow(run=run.key, model=run.model or run.key, standings=found, costs=costs, paid=paid, tags=tags)


def _rank(row: BoardRow, task: str, sort: str) -> list[float]:
    """Order by the best mode, then by the others; runs without a number come last."""
    own = [one for one in row.standings if one.task == task and one.canvas == "own"]
    if sort == "cost":
        return [sum(row.costs.values()) if row.costs else float("inf")]
    if sort == "gain":
        found = [one.gain.gain for one in own if one.gain and one.gain.gain is not None and one.gain.over == "direct"]
    else:
        found = [one.score.mean for one in own if one.score and sort in ("score", "tag")]
    return [*sorted(-mean for mean in found), float("inf")]


def _left(rows: Sequence[BoardRow]) -> Iterator[str]:
    """Explain missing numbers."""
    for row in rows:
        for one in row.standings:
            if one.problem:
                yield f"{one.cell} of {row.run}: {one.problem}; `sketchmark score` on its folder tries again"
            elif not one.metric:
                yield f"{one.cell} of {row.run} names no headline score: choose one with --metric"


def _without_judge(runs: Sequence[RunView], rows: Sequence[BoardRow]) -> Iterator[str]:
    """Note that costs are without the judge: a run folder does not keep the judge's usage."""
    if not any(row.costs for row in rows):
        return
    judges = {judge for run in runs for cell in run.cells.values() for judge in cell.rows.judges()}
    if judges:
        yield f"the cost is without the judge ({', '.join(sorted(judges))})"


def _unlike(runs: Sequence[RunView], metric: str) -> Iterator[str]:
    """Note where runs of a cell differ in prompts, settings or samples from the first run with that cell.

    Runs and cells with the same difference share a note.
    """
    first: dict[tuple[str, str, str], tuple[RunView, CellView]] = {}
    found: dict[tuple[str, str, str], list[str]] = {}
    for run in runs:
        for cell in run.cells.values():
            other = first.setdefault((cell.task, cell.mode, cell.canvas), (run, cell))
            if other[1] is not cell:
                for line in _differing(*other, run, cell, metric):
                    found.setdefault((run.key, other[0].key, line), []).append(cell.name)
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (name, against, line), cells in found.items():
        alike.setdefault((against, line, tuple(cells)), []).append(name)
    for (against, line, together), names in alike.items():
        yield f"{', '.join(together)}: {', '.join(names)} and {against} {line}"


def _differing(first: RunView, before: CellView, run: RunView, after: CellView, metric: str) -> Iterator[str]:
    sides = before, after
    rows = before.scored(), after.scored()
    if not all(rows):  # a run that stopped early has not reached it
        return
    found = [*how_sourced(*sides, *rows), *how_asked(*sides), *how_grouped(*rows)]
    if found:
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        yield f"are not the same test: {'; '.join(found[:3])}{more}"
        return
    score = metric or after.headline
    mine, theirs = rows[0].align(rows[1])
    one, other = (~np.isnan(side.metric(score)) for side in rows)
    shared = int((one[mine] & other[theirs]).sum())
    if not shared == one.sum() == other.sum():
        yield (
            f"are scored on different samples ({other.sum()} and {one.sum()}, {shared} of them shared)"
            ", so their scores can't be ranked; `sketchmark compare` pairs the samples that two folders share"
        )
    for line in how_generated(*sides):
        yield f"differ in settings: {line}"


_USAGE = ("calls", "tokens_in", "tokens_out", "pictures_out")


def board_tables(board: Leaderboard, details: bool = False) -> Iterator[Table]:
    """Yield the ranking, and the scores of repeated episodes; with `details` also all intervals and the usage."""
    names = _names(board)
    yield _overview(board, names)
    repeated: dict[tuple[str, ...], Repeats] = {
        (names[row.run], one.cell): one.repeats for row in board.rows for one in row.standings if one.repeats
    }
    if found := repeats_table(repeated, ("model", "task.mode")):
        yield found
    if details:
        yield _scores(board, names)
        yield _costs(board, names)


def _names(board: Leaderboard) -> dict[str, str]:
    """Return run → name of its row: the model, with the run if a model has several."""
    times = Counter(row.model for row in board.rows)
    return {row.run: f"{row.model} ({row.run})" if times[row.model] > 1 else row.model for row in board.rows}


def _overview(board: Leaderboard, names: dict[str, str]) -> Table:
    """Make the table with one column per task: the score and the gain over direct."""
    every = [one for row in board.rows for one in row.standings]
    scorings = ", ".join(dict.fromkeys(one.scoring for one in every if one.scoring)) or "no scoring yet"
    priced = any(row.costs for row in board.rows)
    tagged = any(row.tags for row in board.rows)
    seen = ", of direct over blind" * any(one.gain is not None and one.gain.over == BLIND for one in every)
    table = Table(
        f"Leaderboard: scores in percent by {scorings}, with the gain over direct{seen}",
        (*["tags"] * tagged, "model", "mode", *board.tasks, "n", *(["cost"] if priced else [])),
        texts=2 + tagged,
    )
    for row in board.rows:
        for mode, found in _by_mode(row.standings).items():
            cells = {one.task: one for one in found}
            cost = sum(row.costs.get(one.cell, 0.0) for one in found)
            shown = [_score_and_gain(cells.get(task)) for task in board.tasks]
            counts = sorted({one.n for one in found})
            span = "–".join(map(str, counts if len(counts) < 2 else (counts[0], counts[-1])))
            labels = (*[", ".join(row.tags)] * tagged, names[row.run], mode)
            table.add(*labels, *shown, span, *([f"{cost:.4f}"] if row.costs else []))
    return table


def _by_mode(found: Iterable[Standing]) -> dict[str, list[Standing]]:
    modes: dict[str, list[Standing]] = {}
    for one in found:
        modes.setdefault(_played(one), []).append(one)
    return modes


def _played(one: Standing) -> str:
    return one.mode if one.canvas == "own" else f"{one.mode} ({one.canvas})"


def _score_and_gain(one: Standing | None) -> str:
    """Return a text of constant width, so that numbers align."""
    if one is None or one.score is None:
        return f"–{'':7}"
    gain = mean_of(one.gain) if one.gain else ""
    return f"{mean_of(one.score)} {gain:>6}"


def _scores(board: Leaderboard, names: dict[str, str]) -> Table:
    """Make the table with one row per score, for papers."""
    table = Table(
        "The same with 95% intervals, task by task",
        ("task", "model", "mode", "score", "95%", "gain", "gain, 95%", "n", "not scored"),
        texts=3,
        below=tuple(_troubles(board, names)),
    )
    for task in board.tasks:
        for row in board.rows:
            for one in row.standings:
                if one.task == task:
                    score = (mean_of(one.score), bounds(one.score)) if one.score else ("–", "")
                    gain = (mean_of(one.gain), bounds(one.gain)) if one.gain else ("", "")
                    table.add(task, names[row.run], _played(one), *score, *gain, str(one.n), str(one.unscored))
    return table


def _troubles(board: Leaderboard, names: dict[str, str]) -> Iterator[str]:
    for row in board.rows:
        for one in row.standings:
            if one.failures:
                counts = ", ".join(f"{kind} {count}" for kind, count in one.failures.items())
                yield f"Failures in {one.cell} of {names[row.run]}: {counts}."


def _costs(board: Leaderboard, names: dict[str, str]) -> Table:
    """Make the table of usage, with columns for the paid part if some replies came from the cache."""
    priced = any(row.costs for row in board.rows)
    kept = any(one.paid != one.usage for row in board.rows for one in row.standings)
    columns = [name.replace("_", " ") for name in _USAGE]
    table = Table(
        "Usage, with replies from the cache; paid: without them" if kept else "Usage",
        (
            "model",
            "episodes",
            *columns,
            *["cost"] * priced,
            *["calls paid"] * kept,
            *["cost paid"] * (kept and priced),
        ),
        texts=1,
    )
    for row in board.rows:
        usage: Counter[str] = Counter()
        paid: Counter[str] = Counter()
        for one in row.standings:
            usage.update(one.usage)
            paid.update(one.paid)
        costs = [f"{sum(of.values()):.4f}" if of else "" for of in (row.costs, row.paid)]
        table.add(
            names[row.run],
            f"{sum(one.played for one in row.standings):,}",
            *(f"{usage[name]:,}" for name in _USAGE),
            *costs[:1] * priced,
            *[f"{paid['calls']:,}"] * kept,
            *costs[1:] * (kept and priced),
        )
    return table
