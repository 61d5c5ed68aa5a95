"""A leaderboard as tables of short texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from sketchmark.comparison.leaderboard import BoardRow, Leaderboard
from sketchmark.runs.results_format import Gain, Mean
from sketchmark.runs.standings import Standing
from sketchmark.stats.scale import in_points
from sketchmark.terminal.tables import Table

_USAGE = ("calls", "tokens_in", "tokens_out", "pictures_out")


def board_tables(board: Leaderboard) -> Iterator[Table]:
    names = _names(board)
    yield _overview(board, names)
    yield _scores(board, names)
    yield _costs(board, names)


def _names(board: Leaderboard) -> dict[str, str]:
    """Run → what its row is called: the model, with the run where a model has several."""
    times = Counter(row.model for row in board.rows)
    return {row.run: f"{row.model} ({row.run})" if times[row.model] > 1 else row.model for row in board.rows}


def _overview(board: Leaderboard, names: dict[str, str]) -> Table:
    """A column a task: the score, and beside it the gain over direct."""
    every = [one for row in board.rows for one in row.standings]
    scorings = ", ".join(dict.fromkeys(one.scoring for one in every if one.scoring)) or "no scoring yet"
    priced = any(row.costs for row in board.rows)
    table = Table(
        f"Leaderboard: scores in percent by {scorings}, with the gain over direct; best in {board.tasks[0]} first",
        ("model", "mode", *board.tasks, "n", *(["cost"] if priced else [])),
        texts=2,
    )
    for row in board.rows:
        for mode, found in _by_mode(row.standings).items():
            cells = {one.task: one for one in found}
            cost = sum(row.costs.get(one.cell, 0.0) for one in found)
            shown = [_score_and_gain(cells.get(task)) for task in board.tasks]
            counts = sorted({one.n for one in found})
            span = "–".join(map(str, counts if len(counts) < 2 else (counts[0], counts[-1])))
            table.add(names[row.run], mode, *shown, span, *([f"{cost:.4f}"] if row.costs else []))
    return table


def _by_mode(found: Iterable[Standing]) -> dict[str, list[Standing]]:
    modes: dict[str, list[Standing]] = {}
    for one in found:
        modes.setdefault(_played(one), []).append(one)
    return modes


def _played(one: Standing) -> str:
    return one.mode if one.canvas == "own" else f"{one.mode} ({one.canvas})"


def _score_and_gain(one: Standing | None) -> str:
    """Of one width, so that numbers stand under each other."""
    if one is None or one.score is None:
        return f"–{'':7}"
    gain = _points(one.gain) if one.gain else ""
    return f"{_score(one.score)} {gain:>6}"


def _scores(board: Leaderboard, names: dict[str, str]) -> Table:
    """All that a paper asks for, a row each."""
    table = Table(
        "The same with 95 % intervals, task by task",
        ("task", "model", "mode", "score", "95 %", "gain", "gain, 95 %", "n", "not scored"),
        texts=3,
        below=tuple(_troubles(board, names)),
    )
    for task in board.tasks:
        for row in board.rows:
            for one in row.standings:
                if one.task == task:
                    score = (_score(one.score), _bounds(one.score)) if one.score else ("–", "")
                    gain = (_points(one.gain), _bounds(one.gain)) if one.gain else ("", "")
                    table.add(task, names[row.run], _played(one), *score, *gain, str(one.n), str(one.played - one.n))
    return table


def _troubles(board: Leaderboard, names: dict[str, str]) -> Iterator[str]:
    for row in board.rows:
        for one in row.standings:
            if one.failures:
                counts = ", ".join(f"{kind} {count}" for kind, count in one.failures.items())
                yield f"Trouble in {one.cell} of {names[row.run]}: {counts}."


def _costs(board: Leaderboard, names: dict[str, str]) -> Table:
    priced = any(row.costs for row in board.rows)
    table = Table(
        "What it took",
        ("model", "episodes", *(name.replace("_", " ") for name in _USAGE), *(["cost"] if priced else [])),
        texts=1,
    )
    for row in board.rows:
        table.add(names[row.run], *_took(row), *([f"{sum(row.costs.values()):.4f}"] if row.costs else []))
    return table


def _took(row: BoardRow) -> list[str]:
    usage: Counter[str] = Counter()
    for one in row.standings:
        usage.update(one.usage)
    return [f"{sum(one.played for one in row.standings):,}", *(f"{usage[name]:,}" for name in _USAGE)]


def _score(found: Mean) -> str:
    return "–" if found.mean is None else f"{in_points(found.mean, found.ci95):.1f}"


def _points(found: Gain) -> str:
    return "–" if found.gain is None else f"{in_points(found.gain, found.ci95):+.1f}"


def _bounds(found: Mean | Gain) -> str:
    low, high = found.ci95
    sign = "+" if isinstance(found, Gain) else ""
    if low is None or high is None:
        return ""
    return f"[{in_points(low, found.ci95):{sign}.1f}, {in_points(high, found.ci95):{sign}.1f}]"
