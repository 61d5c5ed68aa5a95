"""Tables of short texts for people: the scores of a run, and comparisons."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sketchmark.comparison.findings import (
    Breakdown,
    CanvasTable,
    Findings,
    PublishedTable,
    TableRow,
    bounds,
    bounds_of,
    chance,
    group_lines,
    line_of,
    number,
    points,
    signed,
    table_columns,
)
from sketchmark.folder.results_format import Baseline, CellResult, Gain, Metric, Results
from sketchmark.models.code_drawing import SVG
from sketchmark.models.layout import NATIVE_HISTORY
from sketchmark.results.aggregate import own_numbers, why_none
from sketchmark.stats.differences import Difference
from sketchmark.stats.intervals import Interval
from sketchmark.tasks import RA_AL
from sketchmark.terminal.tables import Table, wrapped

_WAYS = {SVG: "drawn by code (svg), not by pixels", NATIVE_HISTORY: "with native history, a separate condition"}


def scores_table(results: Results, headline: str = "") -> Table:
    """Make the table of all scores with intervals, guessing baselines, and truncated and unparsed replies.

    The scoring is in the title, or a column if there are several. `headline` is appended to the name of the headline
    score, which is also bold.
    """
    scorings = {name for cell in results.tasks.values() for name in _by_scoring(cell)}
    title = f"{results.model}: scores{f' by {scorings.pop()}' if len(scorings) == 1 else ''}, with 95% intervals"
    title += f" ({headline.strip()} headline)" if headline else ""
    names = ("task.mode", "score", *["scoring"] * bool(scorings))
    guessed = any(cell.baselines for cell in results.tasks.values())
    numbers = ("mean", "95%", *["guess"] * guessed, "n", "cut", "unparsed")
    table = Table(title, (*names, *numbers), texts=len(names))
    for label, cell in results.tasks.items():
        _add_scores(table, label, cell, headline, several=bool(scorings), guessed=guessed)
    return table


def _add_scores(table: Table, label: str, cell: CellResult, headline: str, *, several: bool, guessed: bool) -> None:
    ways = _by_scoring(cell)
    numbers = {name: _numbers(one, cell.headline) for name, one in ways.items()}
    told: set[str] = set()
    for metric in dict.fromkeys(metric for found in numbers.values() for metric in found):
        for name, of in numbers.items():
            found = of.get(metric)
            shares = ("", "") if name in told else (_share(ways[name].cut), _share(ways[name].unparsed))
            told.add(name)
            counts = metric == cell.headline
            table.add(
                *(label, metric + headline * counts, *[name] * several, mean_of(found), bounds_of(found)),
                *[_guess(ways[name].baselines.get(metric))] * guessed,
                *(str(found.n) if found else "", *shares),
                style="bold" if counts else "",
            )
    for name, way in ways.items():
        table.below += tuple(f"{label}{f' by {name}' * several}: {remark}" for remark in way.remarks)
    if not told:
        table.add(label, "(no score)" if cell.aggregate else "(nothing scored)")
        table.below += (f"{label}: {why_none(cell)}",) * bool(cell.problem or cell.aggregate)


def _by_scoring(cell: CellResult) -> dict[str, CellResult]:
    """Return scoring → result. `ra-al` does not parse answers and has a separate table."""
    return {cell.scoring or "strict": cell, **{name: one for name, one in cell.scorings.items() if name != RA_AL}}


def _numbers(cell: CellResult, headline: str) -> dict[str, Metric]:
    numbers = own_numbers(cell, headline).items()
    own = {name: Metric(value, (None, None), cell.counts.get(name, cell.n)) for name, value in numbers}
    return {**own, **cell.metrics} if headline in own else {**cell.metrics, **own}


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%" if share else "0%"


def gains_table(gains: Sequence[Gain]) -> Table:
    names = ("task", "score", "mode", "canvas")
    numbers = ("gain", "95%", "p (Holm)", "verdict", "helped", "hurt", "same", "p")
    table = Table("Gain over direct, on the same samples", (*names, *numbers), texts=len(names))
    for gain in gains:
        table.add(
            *(gain.task, gain.metric, gain.mode, gain.canvas),
            signed(gain.gain),
            bounds_of(gain),
            chance(gain.p_holm),
            gain.verdict or "",
            *map(str, (gain.helped, gain.hurt, gain.same)),
            chance(gain.p),
            style={"better": "green", "worse": "red"}.get(gain.verdict or "", ""),
        )
    return table


def mean_of(found: Metric | None) -> str:
    if not found:
        return "-"
    return str(found.mean) if isinstance(found.mean, int) else f"{found.mean:.3f}"


def _guess(found: Baseline | None) -> str:
    """Return the best guessing baseline."""
    return f"{found.best:.3f}" if found else ""


def trouble_of(cell: CellResult) -> str:
    """Count flags without a column in the table of scores."""
    counts = [f"{kind} {count}" for kind, count in cell.failures.items() if kind not in ("truncated", "unparsed")]
    if cell.left_out:
        counts.append(f"context left out {cell.left_out} ({cell.calls_left_out} calls)")
    return ", ".join(counts)


def conditions(results: Results) -> Iterator[str]:
    """Name the cells that draw by code or use native history."""
    for way, words in _WAYS.items():
        if played := [name for name, cell in results.tasks.items() if cell.draw_with == way]:
            yield f"{words}: {', '.join(played)}"


def labelled(cells: Mapping[str, CellResult]) -> Iterator[tuple[str, CellResult]]:
    """Yield each cell, followed by the same cell under its other scorings."""
    for name, cell in cells.items():
        yield name, cell
        yield from ((f"{name}, {scoring}", one) for scoring, one in cell.scorings.items())


def tables(comparison: Findings) -> Iterator[Table]:
    if comparison.rows:
        yield _differences(comparison.rows)
    planned = next((row.plan for row in comparison.rows if row.plan), None)
    if planned:
        yield _plans(comparison.rows, planned.gain)
    for row in comparison.rows:
        if row.drawing:
            yield _drawing(row)
        for breakdown in row.breakdowns:
            yield _breakdown(row, breakdown)
    for canvases in comparison.canvases:
        yield _canvases(canvases)
    for published in comparison.published:
        yield from _published(published)


def _differences(rows: tuple[TableRow, ...]) -> Table:
    scorings = dict.fromkeys(side.scoring for row in rows for side in (row.before, row.after))
    columns = table_columns()
    return Table(
        f"Differences on the same samples, scored by {', '.join(scorings)}, with 95% intervals",
        tuple(column.head for column in columns),
        rows=[tuple(column.shown(line_of(row)) for column in columns) for row in rows],
        texts=3,
        below=(*_left_out(rows), *_troubles(rows)),
    )


def _plans(rows: tuple[TableRow, ...], gain: float) -> Table:
    return Table(
        f"Samples needed to see a true gain of {points(gain)}",
        ("task", "compared", "n needed", "n run", "smallest visible gain"),
        rows=[
            (row.task, row.label, f"{row.plan.needed:,}", f"{row.difference.n:,}", signed(row.plan.smallest))
            for row in rows
            if row.plan
        ],
        texts=2,
        below=("In four runs of five, with two-sided p < 0.05, and if as many samples change as here.",),
    )


_DIFFERENCE = ("difference", "95%")
_CHANGED = ("helped", "hurt", "same")


def _difference(found: Difference) -> tuple[str, ...]:
    return signed(found.mean), bounds(found)


def _changed(found: Difference) -> tuple[str, ...]:
    return str(found.helped), str(found.hurt), str(found.same)


def _left_out(rows: tuple[TableRow, ...]) -> Iterator[str]:
    for row in rows:
        missing = []
        if row.unpaired:
            missing.append(f"{row.unpaired} samples were run on one side only")
        if row.unscored:
            missing.append(f"{row.unscored} failed without fault of the model")
        if missing:
            yield f"{row.task}, {row.label}: {' and '.join(missing)}; they are left out."


def _troubles(rows: tuple[TableRow, ...]) -> Iterator[str]:
    """Report each cell once, even if it is part of several rows."""
    sides = {(side.run, side.cell): side for row in rows for side in (row.before, row.after) if side.trouble}
    for (run, cell), side in sides.items():
        yield f"Failures in {cell} of {run}: {_counts(side.trouble)}."


def _counts(trouble: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in trouble.items())


def _breakdown(row: TableRow, found: Breakdown) -> Table:
    below: tuple[str, ...] = ()
    if found.trend:
        slope, low, high = (100 * end for end in (found.trend.slope, found.trend.low, found.trend.high))
        below = (
            f"The difference changes by {slope:+.1f} points [{low:+.1f}, {high:+.1f}] for each unit of "
            f"{found.key} (p {chance(found.trend.p)}, uncorrected).",
        )
    columns = table_columns(groups=True)
    return Table(
        f"{row.task}: {row.label}, by {found.key}",
        (found.key, *(column.head for column in columns)),
        rows=[(line.value, *(column.shown(line) for column in columns)) for line in group_lines(line_of(row), found)],
        texts=1,
        below=below,
    )


def _drawing(row: TableRow) -> Table:
    assert row.drawing is not None
    split = row.drawing
    return Table(
        f"{row.task}: {row.label}, by whether the drawing was right",
        ("drawn frames", "after", "95%", *_DIFFERENCE, *_CHANGED, "n"),
        rows=[
            (name, *_score(score), *_difference(gain), *_changed(gain), str(gain.n))
            for name, score, gain in (
                ("all right", split.right, split.gain_right),
                ("not all right", split.wrong, split.gain_wrong),
            )
        ],
        texts=1,
        below=(split.sentence,),
    )


def _score(found: Interval) -> tuple[str, str]:
    return number(found.mean), bounds(found)


def _canvases(found: CanvasTable) -> Table:
    return Table(
        f"{found.task}: what the model sees of its drawing ({found.model}, {found.metric}, {found.scoring})",
        ("canvas", "score", "95%", "own − this", "95%", "p (Holm)", "n", "failures"),
        rows=[
            (
                one.canvas,
                *_score(one.score),
                *(_difference(one.own_minus_this) if one.own_minus_this else ("", "")),
                chance(one.p_holm) if one.own_minus_this else "",
                str(one.score.n),
                _counts(one.trouble),
            )
            for one in found.scores
        ],
        texts=1,
        below=(found.sentence,),
    )


def _published(found: PublishedTable) -> Iterator[Table]:
    """Yield one table per published score, with the sources under the last."""
    figures = list(dict.fromkeys((row.score, row.channel) for row in found.rows))
    for figure in figures:
        rows = [row for row in found.rows if (row.score, row.channel) == figure]
        yours = f"yours {' '.join(_score(rows[0].yours))}".rstrip()
        about = f"{yours}, n {rows[0].yours.n}, by {rows[0].scoring}" if rows[0].yours.n else "not scored here"
        yield Table(
            f"{found.task}.{found.mode}, published: {figure[1]} ({figure[0]}); {about}",
            ("published for", "yours", "theirs", "n", "apart", "apart, 95%"),
            rows=[
                (
                    row.model,
                    row.apart.verdict if row.apart else row.untold,
                    number(row.value),
                    str(row.n or ""),
                    signed(row.apart.mean) if row.apart else "",
                    f"[{signed(row.apart.low)}, {signed(row.apart.high)}]" if row.apart else "",
                )
                for row in rows
            ],
            texts=2,
            below=(*(f"Published: {one}" for one in found.sources), *found.notes) if figure == figures[-1] else (),
        )


def to_terminal(comparison: Findings) -> str:
    return printed(tables(comparison), (f"Note: {note}" for note in comparison.notes))


def printed(tables: Iterable[Table], below: Iterable[str]) -> str:
    """Print tables to a text as wide as the terminal."""
    from sketchmark.terminal.console import columns, written_to

    text = io.StringIO()
    console = written_to(text, columns())
    for table in tables:
        console.print(table)
    for sentence in below:
        for line in wrapped(sentence, console.width):
            console.print(line)
    return text.getvalue()
