"""Tables of short texts for people: the scores of a run, and comparisons."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sketchmark.comparison.findings import (
    Breakdown,
    CanvasTable,
    Findings,
    PublishedTable,
    TableRow,
    bounds,
    group_lines,
    line_of,
    mean_of,
    points,
    table_columns,
    verdict_text,
)
from sketchmark.comparison.headlines import (
    by_scoring,
    comparison_sentences,
    control_sentences,
    controls_table,
    is_gain,
    is_perception,
    is_seeing,
    repeats_table,
    side_names,
)
from sketchmark.folder.results_format import CellResult, Gain, Metric, Results
from sketchmark.models.code_drawing import SVG
from sketchmark.models.layout import NATIVE_HISTORY
from sketchmark.results.aggregate import own_numbers, why_none
from sketchmark.stats.differences import Difference
from sketchmark.stats.intervals import Interval, as_p, as_percent, as_points
from sketchmark.tasks.files import BLIND
from sketchmark.terminal.tables import Table, wrapped

_WAYS = {SVG: "drawn by code (svg), not by pixels", NATIVE_HISTORY: "with native history, a separate condition"}


def scores_table(results: Results) -> Table:
    """Make the table of all scores with intervals, guessing baselines, and truncated and unparsed replies.

    The scoring is in the title, or a column if there are several. The headline score is bold.
    """
    scorings = {name for cell in results.tasks.values() for name in by_scoring(cell)}
    by = f" by {scorings.pop()}" if len(scorings) == 1 else ""
    title = f"{results.model}: scores in percent{by}, with 95% intervals"
    names = ("task.mode", "score", *["scoring"] * bool(scorings))
    guessed = any(cell.baselines for cell in results.tasks.values())
    numbers = ("mean", "95%", *["guess"] * guessed, "n", "cut", "unparsed")
    table = Table(title, (*names, *numbers), texts=len(names))
    for label, cell in results.tasks.items():
        _add_scores(table, label, cell, several=bool(scorings), guessed=guessed)
    return table


def _add_scores(table: Table, label: str, cell: CellResult, *, several: bool, guessed: bool) -> None:
    ways = by_scoring(cell)
    numbers = {name: _numbers(one, cell.headline) for name, one in ways.items()}
    told: set[str] = set()
    for metric in dict.fromkeys(metric for found in numbers.values() for metric in found):
        for name, of in numbers.items():
            found = of.get(metric)
            shares = ("", "") if name in told else (_share(ways[name].cut), _share(ways[name].unparsed))
            told.add(name)
            counts = metric == cell.headline
            table.add(
                *(label, metric, *[name] * several, mean_of(found), bounds(found)),
                *[_guess(ways[name], metric)] * guessed,
                *(str(found.n) if found else "", *shares),
                style="bold" if counts else "",
            )
    if not told:
        table.add(label, "(no score)" if cell.aggregate else "(nothing scored)")
        table.below += (f"{label}: {why_none(cell)}",) * bool(cell.problem or cell.aggregate)


def _numbers(cell: CellResult, headline: str) -> dict[str, Metric]:
    numbers = own_numbers(cell, headline).items()
    own = {name: Metric(value, (None, None), cell.samples_of(name)) for name, value in numbers}
    return {**own, **cell.metrics} if headline in own else {**cell.metrics, **own}


def _share(share: float | None) -> str:
    return "-" if share is None else f"{as_percent(share)}%" if share else "0%"


def _guess(cell: CellResult, metric: str) -> str:
    """Return the best guessing baseline."""
    found = cell.baselines.get(metric)
    return as_percent(found.best) if found else ""


def gains_table(gains: Sequence[Gain]) -> Table:
    names = ("task", "score", "mode", "canvas")
    numbers = ("gain", "95%", "p (Holm)", "verdict", "helped", "hurt", "same", "p")
    table = Table("Gain over direct, on the same samples", (*names, *numbers), texts=len(names))
    for gain in gains:
        table.add(
            *(gain.task, gain.metric, gain.mode, f"over {BLIND}" if gain.over == BLIND else gain.canvas),
            mean_of(gain),
            bounds(gain),
            as_p(gain.p_holm),
            verdict_text(gain, gain.verdict),
            *map(str, (gain.helped, gain.hurt, gain.same)),
            as_p(gain.p),
            style={"better": "green", "worse": "red"}.get(gain.verdict or "", ""),
        )
    return table


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


def tables(comparison: Findings, details: bool = False) -> Iterator[Table]:
    """Yield the tables of a comparison, the answer first; breakdowns only with `details`."""
    several = len({side.run for row in comparison.rows for side in (row.before, row.after)}) > 1
    apart = [tuple(filter(kind, comparison.rows)) for kind in (is_seeing, is_perception)]
    rest = [row for row in comparison.rows if not any(row in rows for rows in apart)]
    for kind in ("runs", "modes"):
        rows = tuple(row for row in rest if row.kind == kind and (details or _leads(row, rest)))
        if rows:
            yield _differences(rows, details, several)
    yield from (_differences(rows, details, several) for rows in apart if rows)
    if controls := controls_table(comparison):
        controls.below = tuple(control_sentences(comparison.canvases))
        yield controls
    runs = len({one.run for one in comparison.repeats}) > 1
    repeated = {(*[one.run] * runs, one.cell): one.found for one in comparison.repeats}
    if shown := repeats_table(repeated, (*["run"] * runs, "task.mode")):
        yield shown
    planned = next((row.plan for row in comparison.rows if row.plan), None)
    if planned:
        yield _plans(comparison.rows, planned.gain)
    if details:
        for row in comparison.rows:
            if row.drawing:
                yield _drawing(row)
            for breakdown in row.breakdowns:
                yield _breakdown(row, breakdown)
        for canvases in comparison.canvases:
            yield _canvases(canvases)
    for published in comparison.published:
        yield from _published(published)


def _leads(row: TableRow, rows: Sequence[TableRow]) -> bool:
    """Tell a row of the first table from details: of each run's modes, the drawing gain if there is one."""
    same = [one for one in rows if (one.kind, one.task, one.after.run) == (row.kind, row.task, row.after.run)]
    return row.kind == "runs" or is_gain(row) or not any(map(is_gain, same))


def _differences(rows: tuple[TableRow, ...], details: bool, several: bool) -> Table:
    """Make the table of differences between runs, or between modes."""
    scorings = dict.fromkeys(side.scoring or "strict" for row in rows for side in (row.before, row.after))
    columns = table_columns(details=details)
    across = rows[0].kind == "runs"
    kind = next((kind for kind in _KINDS if all(map(kind, rows))), None)
    gains = not across and not details and kind is not None
    modes, before, after = _KINDS[kind] if kind and (gains or kind is not is_gain) else ("Modes", "", "")
    heads = {"compared": "run", "before": before, "after": after, "change": "gain"} if gains else _heads(rows)
    label = _short_label(rows) if not details and (across or gains) else None
    drawn = [replace(row, label=label(row)) if label else row for row in rows]
    if gains and not several:
        columns = [column for column in columns if column.head != "compared"]
    about = f"in percent by {', '.join(scorings)}, with 95% intervals"
    return Table(
        f"{'Runs' if across else modes}, same samples, {about}",
        tuple(heads.get(column.head, column.head) for column in columns),
        rows=[tuple(column.shown(line_of(row)) for column in columns) for row in drawn],
        texts=1 if gains and not several else 2,
        rivals=tuple(at for at, column in enumerate(columns) if column.head in ("before", "after")),
        below=(*comparison_sentences(rows), *_left_out(rows), *_troubles(rows)),
    )


_KINDS = {
    is_gain: ("Drawn against direct", "direct", "drawn"),
    is_seeing: ("Direct against blind", "blind", "direct"),
    is_perception: ("The puzzle as text against its image", "direct", "text_input"),
}
"""Test of a row → title of a table of such rows, and the heads of its scores."""
_LONGEST_HEAD = 14


def _heads(rows: tuple[TableRow, ...]) -> dict[str, str]:
    """Name the columns of the scores: before and after for one model, else the two models."""
    if all(row.before.model == row.after.model for row in rows):
        return {}
    sides = {side_names(row) for row in rows}
    first, second = next(iter(sides)) if len(sides) == 1 else ("first", "other")
    brief = [name.rpartition("/")[2] for name in (first, second)]
    if brief[0] == brief[1] or max(map(len, brief)) > _LONGEST_HEAD:
        brief = ["first", "second"]
    return dict(zip(("before", "after"), brief, strict=True))


def _short_label(rows: tuple[TableRow, ...]) -> Callable[[TableRow], str]:
    """Name a row by what the heads do not say: the mode, and the run where there are more than two."""
    others = {row.after.run for row in rows}

    def label(row: TableRow) -> str:
        if row.kind == "modes":
            return row.after.run
        mode = row.after.mode if row.after.canvas == "own" else f"{row.after.mode} ({row.after.canvas})"
        return f"{row.after.run}, {mode}" if len(others) > 1 else mode

    return label


def _plans(rows: tuple[TableRow, ...], gain: float) -> Table:
    return Table(
        f"Samples needed to see a true gain of {points(gain)}",
        ("task", "compared", "n needed", "n run", "smallest visible gain"),
        rows=[
            (row.task, row.label, f"{row.plan.needed:,}", f"{row.difference.n:,}", as_points(row.plan.smallest))
            for row in rows
            if row.plan
        ],
        texts=2,
        below=("In four runs of five, with two-sided p < 0.05, and if as many samples change as here.",),
    )


_DIFFERENCE = ("change", "95%")
_CHANGED = ("helped", "hurt", "same")


def _score(found: Interval | Difference) -> tuple[str, str]:
    return mean_of(found), bounds(found)


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
        ends = found.trend.low, found.trend.high
        slope = f"{points(found.trend.slope, ends)} [{as_points(ends[0], ends)}, {as_points(ends[1], ends)}]"
        below = (f"It changes by {slope} for each unit of {found.key} (p {as_p(found.trend.p)}, uncorrected).",)
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
            (name, *_score(score), *_score(gain), *_changed(gain), str(gain.n))
            for name, score, gain in (
                ("all right", split.right, split.gain_right),
                ("not all right", split.wrong, split.gain_wrong),
            )
        ],
        texts=1,
        below=(split.sentence,),
    )


def _canvases(found: CanvasTable) -> Table:
    return Table(
        f"{found.task}: what the model sees of its drawing ({found.model}, {found.metric}, {found.scoring})",
        ("canvas", "score", "95%", "own − this", "95%", "p (Holm)", "n", "failures"),
        rows=[
            (
                one.canvas,
                *_score(one.score),
                *(_score(one.own_minus_this) if one.own_minus_this else ("", "")),
                as_p(one.p_holm) if one.own_minus_this else "",
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
                    as_percent(row.value),
                    str(row.n or ""),
                    mean_of(row.apart) if row.apart else "",
                    bounds(row.apart),
                )
                for row in rows
            ],
            texts=2,
            below=(*(f"Published: {one}" for one in found.sources), *found.notes) if figure == figures[-1] else (),
        )


def to_terminal(comparison: Findings, details: bool = False) -> str:
    return printed(tables(comparison, details), (f"Note: {note}" for note in comparison.notes))


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
