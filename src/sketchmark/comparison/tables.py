"""A comparison as tables of short texts, for every output that people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sketchmark.comparison.findings import Breakdown, CanvasTable, Findings, PublishedTable, TableRow
from sketchmark.comparison.wording import bounds, chance, number, points, signed
from sketchmark.stats import Difference, Interval
from sketchmark.terminal.tables import Table


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
    return Table(
        f"Differences on the same samples, scored by {', '.join(scorings)}, with 95 % intervals",
        ("task", "score", "compared", "before", "after", *_DIFFERENCE, "p (Holm)", "verdict", *_CHANGED, "p", "n"),
        rows=[
            (
                row.task,
                row.metric,
                row.label,
                number(row.before.score.mean),
                number(row.after.score.mean),
                *_difference(row.difference),
                chance(row.p_holm),
                row.verdict,
                *_changed(row.difference),
                chance(row.difference.p),
                str(row.difference.n),
            )
            for row in rows
        ],
        texts=3,
        below=(*_left_out(rows), *_troubles(rows)),
    )


def _plans(rows: tuple[TableRow, ...], gain: float) -> Table:
    return Table(
        f"Samples needed to see a true gain of {points(gain)}",
        ("task", "compared", "n needed", "n played", "smallest visible gain"),
        rows=[
            (row.task, row.label, f"{row.plan.needed:,}", f"{row.difference.n:,}", signed(row.plan.smallest))
            for row in rows
            if row.plan
        ],
        texts=2,
        below=("In four runs of five, with two-sided p < 0.05, and if as many samples change as here.",),
    )


_DIFFERENCE = ("difference", "95 %")
_CHANGED = ("helped", "hurt", "same")


def _difference(found: Difference) -> tuple[str, ...]:
    return signed(found.mean), bounds(found)


def _changed(found: Difference) -> tuple[str, ...]:
    return str(found.helped), str(found.hurt), str(found.same)


def _left_out(rows: tuple[TableRow, ...]) -> Iterator[str]:
    for row in rows:
        missing = []
        if row.unpaired:
            missing.append(f"{row.unpaired} samples were played on one side only")
        if row.unscored:
            missing.append(f"{row.unscored} failed for reasons that say nothing about the model")
        if missing:
            yield f"{row.task}, {row.label}: {' and '.join(missing)}; they are left out."


def _troubles(rows: tuple[TableRow, ...]) -> Iterator[str]:
    """Once a cell, however many rows it is part of."""
    sides = {(side.run, side.cell): side for row in rows for side in (row.before, row.after) if side.trouble}
    for (run, cell), side in sides.items():
        yield f"Trouble in {cell} of {run}: {_counts(side.trouble)}."


def _counts(trouble: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in trouble.items())


def _breakdown(row: TableRow, found: Breakdown) -> Table:
    below: tuple[str, ...] = ()
    if found.trend:
        slope, low, high = (100 * end for end in (found.trend.slope, found.trend.low, found.trend.high))
        below = (
            f"The difference changes by {slope:+.1f} points [{low:+.1f}, {high:+.1f}] for each unit of "
            f"{found.key} (p {chance(found.trend.p)}, of this line alone).",
        )
    return Table(
        f"{row.task}: {row.label}, by {found.key}",
        (found.key, "before", "after", *_DIFFERENCE, "p (Holm)", *_CHANGED, "n"),
        rows=[
            (
                group.value,
                number(group.before.mean),
                number(group.after.mean),
                *_difference(group.difference),
                chance(group.p_holm),
                *_changed(group.difference),
                str(group.difference.n),
            )
            for group in found.groups
        ],
        texts=1,
        below=below,
    )


def _drawing(row: TableRow) -> Table:
    assert row.drawing is not None
    split = row.drawing
    return Table(
        f"{row.task}: {row.label}, by whether the drawing was right",
        ("drawn frames", "after", "95 %", *_DIFFERENCE, *_CHANGED, "n"),
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
        ("canvas", "score", "95 %", "own − this", "95 %", "p (Holm)", "n", "trouble"),
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
    """One table a figure; where it comes from stands under the last."""
    figures = list(dict.fromkeys((row.score, row.channel) for row in found.rows))
    for figure in figures:
        rows = [row for row in found.rows if (row.score, row.channel) == figure]
        yours = f"yours {' '.join(_score(rows[0].yours))}".rstrip()
        about = f"{yours}, n {rows[0].yours.n}, by {rows[0].scoring}" if rows[0].yours.n else "not scored here"
        yield Table(
            f"{found.task}.{found.mode}, published: {figure[1]} ({figure[0]}); {about}",
            ("published for", "yours", "theirs", "n", "apart", "apart, 95 %"),
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
