"""The answer first: one table and one sentence for a run or a comparison, then the controls and what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sketchmark.comparison.findings import (
    NO_CHANGE,
    CanvasTable,
    Findings,
    TableRow,
    bounds,
    mean_of,
    span,
    verdict_text,
)
from sketchmark.folder.results_format import CellResult, Gain, Mean, Repeats, Results
from sketchmark.results.aggregate import own_numbers, why_none
from sketchmark.results.gains import PERCEPTION, SEEING
from sketchmark.stats.differences import Difference
from sketchmark.stats.intervals import as_percent
from sketchmark.tasks import RA_AL
from sketchmark.terminal.tables import Table

DRAWN = "visual_cot"
_MOST_NAMED = 4
"""Tasks or cells that a sentence names; with more it counts them."""

_STYLES = {"better": "green", "worse": "red"}


class Headline(NamedTuple):
    """One task of a run: the score of direct, the score of the other mode, and the gain."""

    task: str
    mode: str
    direct: CellResult
    other: CellResult
    gain: Gain


def headlines(results: Results) -> list[Headline]:
    """Return a headline for each task that was run directly and, on its own canvas, with drawing (else in text). What
    perception loses is not one: `perception_table` has it."""
    found: dict[str, Headline] = {}
    cells = {(cell.task, cell.mode, cell.canvas): cell for cell in results.tasks.values()}
    for gain in sorted(results.gains, key=lambda gain: gain.mode != DRAWN):
        direct, other = cells.get((gain.task, "direct", "own")), cells.get((gain.task, gain.mode, "own"))
        is_headline = gain.canvas == "own" and gain.over == "direct" and gain.mode != PERCEPTION[1]
        if is_headline and gain.gain is not None and direct and other:
            found.setdefault(gain.task, Headline(gain.task, gain.mode, direct, other, gain))
    return [found[task] for task in dict.fromkeys(cell.task for cell in results.tasks.values()) if task in found]


_HEADLINE_CELLS = {("direct", "own"), (DRAWN, "own")}


def has_controls(results: Results) -> bool:
    apart = {*_HEADLINE_CELLS, (SEEING[0], "own"), (PERCEPTION[1], "own")}
    return any((cell.mode, cell.canvas) not in apart for cell in results.tasks.values())


def summary_tables(results: Results, found: Findings | None, costs: Mapping[str, float]) -> list[Table]:
    """Make the tables that answer: headlines with their sentence, controls, cells without a counterpart, scorings.

    `found` is the comparison of the run's own cells, for the controls.
    """
    tasks = {row.task for row in headlines(results)}
    seen = [gain for gain in results.gains if gain.over == SEEING[0] and gain.gain is not None]
    perceived = [gain for gain in results.gains if _of_modes(gain) == PERCEPTION and gain.gain is not None]
    controls = controls_table(found) if found and tasks else None
    shown = [
        name
        for name, cell in results.tasks.items()
        if (
            cell.task in tasks
            and cell.mode not in (SEEING[0], PERCEPTION[1])
            and (controls or (cell.mode, cell.canvas) in _HEADLINE_CELLS)
        )
        or (cell.mode in SEEING and any(gain.task == cell.task for gain in seen))
        or (cell.mode in PERCEPTION and any(gain.task == cell.task for gain in perceived))
    ]
    if found and controls:
        controls.below = tuple(control_sentences(found.canvases))
    seeing = perception_table(results) if perceived else seeing_table(results, seen)
    answers = (headline_table(results, costs), seeing)
    repeats = repeats_table({(name,): cell.repeats for name, cell in results.tasks.items() if cell.repeats})
    made = (*answers, controls, single_table(results, shown, costs), scorings_table(results), repeats)
    tables = [table for table in made if table]
    if tables:
        tables[-1].below += tuple(_remarks(results))
    return tables


def _remarks(results: Results) -> Iterator[str]:
    """Yield what the task's own totals say about their numbers, such as why one has no interval."""
    for label, cell in results.tasks.items():
        ways = by_scoring(cell)
        for name, way in ways.items():
            yield from (f"{label}{f' by {name}' * (len(ways) > 1)}: {remark}" for remark in way.remarks)


def headline_table(results: Results, costs: Mapping[str, float]) -> Table | None:
    """Make the table of `headlines`; None without any. `costs`: cell → cost, empty without prices."""
    rows = headlines(results)
    if not rows:
        return None
    drawn = all(row.mode == DRAWN for row in rows)
    names = ("task", *["mode"] * (not drawn))
    guessed = any(row.direct.baselines for row in rows)
    numbers = ("direct", "drawn" if drawn else "with it", *["guess"] * guessed, "gain", "95%", "verdict", "n")
    columns = (*names, *numbers, *["cost"] * bool(costs))
    table = Table(_title(results), columns, texts=len(names), below=tuple(run_sentences(results)))
    for row in rows:
        judged = verdict_text(row.gain, row.gain.verdict)
        table.add(
            *(row.task, *[row.mode] * (not drawn), score_of(row.direct), score_of(row.other)),
            *[guess_of(row.direct)] * guessed,
            *(mean_of(row.gain), bounds(row.gain), judged, str(row.gain.n)),
            *[f"{sum(costs.get(name, 0.0) for name in cells_of(results, row.task)):.4f}"] * bool(costs),
            style=_STYLES.get(judged, ""),
        )
    return table


def seeing_table(results: Results, seen: Sequence[Gain]) -> Table | None:
    """Make the table of direct minus blind, the gain by the images of a question; None without any."""
    if not seen:
        return None
    cells = {(cell.task, cell.mode): cell for cell in results.tasks.values() if cell.canvas == "own"}
    sides = {gain.task: [cells[gain.task, mode] for mode in SEEING] for gain in seen}
    title = _title(results) if not headlines(results) else "Seeing: direct − blind, on the same samples"
    table = Table(title, ("task", *SEEING, "gain", "95%", "verdict", "n"), texts=1)
    parts = []
    for gain in seen:
        before, after = map(score_of, sides[gain.task])
        judged = verdict_text(gain, gain.verdict)
        numbers = (before, after, mean_of(gain), bounds(gain), judged, str(gain.n))
        table.add(gain.task, *numbers, style=_STYLES.get(judged, ""))
        parts.append(_Part(gain.task, gain, gain.verdict or "", (before, after)))
    table.below = (_sentence(parts, _SEEING),)
    return table


_ASPECTS = {SEEING: "seeing", PERCEPTION: "perception", ("direct", DRAWN): "drawing"}


def _of_modes(gain: Gain) -> tuple[str, str]:
    """Return the two modes of a gain on the model's own canvas."""
    return (gain.over, gain.mode) if gain.canvas == "own" else ("", "")


def perception_table(results: Results) -> Table:
    """Make the table that shows together what seeing gives, what perception loses and what drawing gives."""
    cells = {(cell.task, cell.mode): cell for cell in results.tasks.values() if cell.canvas == "own"}
    columns = ("task", "aspect", "before", "after", "points", "95%", "verdict", "n")
    table = Table("Seeing, perception and drawing, on the same samples", columns, texts=2)
    lost = []
    for task in dict.fromkeys(cell.task for cell in results.tasks.values()):
        for modes, aspect in _ASPECTS.items():
            for gain in results.gains:
                if gain.task != task or _of_modes(gain) != modes or gain.gain is None:
                    continue
                scores = score_of(cells[task, modes[0]]), score_of(cells[task, modes[1]])
                judged = verdict_text(gain, gain.verdict)
                table.add(task, aspect, *scores, mean_of(gain), bounds(gain), judged, str(gain.n))
                lost += [_Part(task, gain, gain.verdict or "", scores)] * (modes == PERCEPTION)
    terms = (f"{aspect}: {after.replace(DRAWN, 'drawn')} − {before}" for (before, after), aspect in _ASPECTS.items())
    table.below = (_sentence(lost, _PERCEPTION), f"{'; '.join(terms)}.")
    return table


def _title(results: Results) -> str:
    scorings = dict.fromkeys(cell.scoring or "strict" for cell in results.tasks.values())
    scores = list(dict.fromkeys(cell.headline for cell in results.tasks.values() if cell.headline))
    what = scores[0] if len(scores) == 1 else "headline scores"
    return f"{results.model}: {what} in percent by {', '.join(scorings)}, with 95% intervals"


def cells_of(results: Results, task: str) -> list[str]:
    return [name for name, cell in results.tasks.items() if cell.task == task]


def headline_of(cell: CellResult, headline: str = "") -> Mean | None:
    """Return the headline score; a number of the task's own totals has no interval."""
    name = headline or cell.headline
    own = own_numbers(cell, name).get(name)
    return cell.metrics.get(name) or (None if own is None else Mean(own, (None, None), cell.samples_of(name)))


def score_of(cell: CellResult) -> str:
    return mean_of(headline_of(cell))


def guess_of(cell: CellResult) -> str:
    """Return the best guessing baseline."""
    found = cell.baselines.get(cell.headline)
    return as_percent(found.best) if found else ""


def single_table(results: Results, shown: Sequence[str], costs: Mapping[str, float]) -> Table | None:
    """Make the table of cells outside `shown`: those without a counterpart. None if there are none."""
    cells = {name: cell for name, cell in results.tasks.items() if name not in shown}
    if not cells:
        return None
    guessed = any(cell.baselines for cell in cells.values())
    numbers = ("score", "95%", *["guess"] * guessed, "n", *["cost"] * bool(costs))
    table = Table(_title(results), ("task.mode", *numbers), texts=1)
    for name, cell in cells.items():
        found = headline_of(cell)
        cost = [f"{costs.get(name, 0.0):.4f}"] * bool(costs)
        if found:
            table.add(name, mean_of(found), bounds(found), *[guess_of(cell)] * guessed, str(found.n), *cost)
        elif own := own_numbers(cell, cell.headline):  # totals of the task's own code, by names of its own
            for label, value in own.items():
                found = Mean(value, (None, None), cell.samples_of(label))
                table.add(f"{name}: {label}", mean_of(found), "", *[""] * guessed, str(found.n), *cost)
        else:
            table.add(name, "–")
            table.below += (f"{name}: {why_none(cell)}",)
    return table


def scorings_table(results: Results) -> Table | None:
    """Make the table of headline scores by each scoring; None if there is only one."""
    names = dict.fromkeys(name for cell in results.tasks.values() for name in by_scoring(cell))
    if len(names) < 2:
        return None
    table = Table("The same replies by other scorings", ("task.mode", *names), texts=1)
    for label, cell in results.tasks.items():
        ways = by_scoring(cell)
        scores = (headline_of(ways[name], cell.headline) if name in ways else None for name in names)
        table.add(label, *map(mean_of, scores))
    return table


def repeats_table(cells: Mapping[tuple[str, ...], Repeats], names: Sequence[str] = ("task.mode",)) -> Table | None:
    """Make the table of repeated episodes, with the sources of variance below; None without any. `cells` has the
    labels of each row, one for each of the `names`."""
    if not cells:
        return None
    drawn = any(one.best_of for one in cells.values())
    columns = ("mean", "pass@k", "pass^k", "vote", *["best image"] * drawn, "agree", "best of all")
    table = Table("Repeated episodes, in percent", (*names, "k", *columns), texts=len(names))
    for labels, one in cells.items():
        name = " ".join(labels)
        last, room = str(one.repeats), one.headroom
        best = (room.best or room.best_drawing) if room else None
        numbers: tuple[Mean | None, ...] = (
            *(room.random if room else None, one.pass_at.get(last), one.pass_all.get(last), one.majority),
            *[one.best_of] * drawn,
            *(one.agreement, best),
        )
        table.add(*labels, last, *map(mean_of, numbers))
        table.below += tuple(f"{name}: {line}" for line in of_fewer_samples(one))
        if one.ties:
            table.below += (f"{name}: votes are tied in {one.ties} sample{'s' * (one.ties > 1)}.",)
        if one.variance and one.variance.sentence:
            table.below += (f"{name}: {one.variance.sentence}",)
    return table


def of_fewer_samples(found: Repeats) -> Iterator[str]:
    """Say that pass@k is not of all samples, as after a run that was killed while repeats were added."""
    last, every = found.pass_at.get(str(found.repeats)), found.headroom
    if last and every and last.n < every.random.n:
        yield f"{last.n} of {every.random.n} samples have {found.repeats} repeats; pass@k and pass^k are of these."


def by_scoring(cell: CellResult) -> dict[str, CellResult]:
    """Return scoring → result. `ra-al` does not parse answers and has a separate table."""
    return {cell.scoring or "strict": cell, **{name: one for name, one in cell.scorings.items() if name != RA_AL}}


def controls_table(found: Findings) -> Table | None:
    """Make one table of all controls: each other canvas, and text_cot, against the model's own drawings."""
    several = len({one.run for one in found.canvases} | {row.after.run for row in found.rows}) > 1
    names = ("task", *["run"] * several, "control")
    table = Table(
        "Controls, on the same samples", (*names, "score", "own − control", "95%", "verdict", "n"), len(names)
    )
    for canvases in found.canvases:
        where = (canvases.task, *[canvases.run] * several)
        for one in canvases.scores:
            if other := one.own_minus_this:
                _add_control(table, (*where, one.canvas), mean_of(one.score), other, one.verdict)
    for row in _text_rows(found.rows):
        where = (row.task, *[row.after.run] * several)
        _add_control(table, (*where, row.before.mode), mean_of(row.before.score), row.difference, row.verdict)
    order = list(dict.fromkeys([*(one.task for one in found.canvases), *(row.task for row in found.rows)]))
    table.rows.sort(key=lambda row: (order.index(row[0]), row[1] if several else ""))
    return table if table.rows else None


def _add_control(table: Table, names: tuple[str, ...], score: str, found: Difference, verdict: str) -> None:
    table.add(*names, score, mean_of(found), bounds(found), verdict_text(found, verdict), str(found.n))


def _text_rows(rows: Iterable[TableRow]) -> list[TableRow]:
    return [row for row in rows if row.kind == "modes" and (row.before.mode, row.after.mode) == ("text_cot", DRAWN)]


def control_sentences(canvases: Sequence[CanvasTable]) -> Iterator[str]:
    """Yield what the controls show, one sentence per task; none if there are many."""
    if len(canvases) <= _MOST_NAMED:
        runs = len({one.run for one in canvases}) > 1
        for one in canvases:
            place = f"{one.task}, {one.run}" if runs else one.task
            yield f"{place}: {one.sentence}" if len(canvases) > 1 else one.sentence


class _Part(NamedTuple):
    task: str
    difference: Difference | Gain
    verdict: str
    scores: tuple[str, str]


_OUTCOMES = ("better", "worse", "unclear", NO_CHANGE)
_DRAWING = {
    "better": "Drawing helps on",
    "worse": "Drawing hurts on",
    "unclear": "Whether drawing helps is unclear on",
    NO_CHANGE: "No change seen on",
}
_TEXT = {**_DRAWING, "better": "Reasoning in text helps on", "worse": "Reasoning in text hurts on",
         "unclear": "Whether reasoning in text helps is unclear on"}  # fmt: skip

_SEEING = {
    "better": "Seeing helps on",
    "worse": "Seeing hurts on",
    "unclear": "Whether seeing helps is unclear on",
    NO_CHANGE: "No change seen by showing the images on",
}

_PERCEPTION = {
    "better": "Perception loses points on",
    "worse": "The image is worth more than its text on",
    "unclear": "Whether perception loses points is unclear on",
    NO_CHANGE: "No difference seen between the image and its text on",
}


def run_sentences(results: Results) -> Iterator[str]:
    """Answer the question for a run: does drawing help, on which tasks, by how much?"""
    rows = headlines(results)
    for mode in dict.fromkeys(row.mode for row in rows):
        parts = [
            _Part(row.task, row.gain, row.gain.verdict or "", (score_of(row.direct), score_of(row.other)))
            for row in rows
            if row.mode == mode
        ]
        yield _sentence(parts, _DRAWING if mode == DRAWN else _TEXT)


def comparison_sentences(rows: Sequence[TableRow]) -> Iterator[str]:
    """Answer for a comparison: each later run and mode against the first run, and the gain by drawing of each run."""
    across = [row for row in rows if row.kind == "runs"]
    for run, mode, canvas in dict.fromkeys((row.after.run, row.after.mode, row.after.canvas) for row in across):
        part = [row for row in across if (row.after.run, row.after.mode, row.after.canvas) == (run, mode, canvas)]
        first, second = side_names(part[0])
        place = mode if canvas == "own" else f"{mode} on {canvas} canvas"
        words = {
            "better": f"{place}: {second} scores higher than {first} on",
            "worse": f"{place}: {second} scores lower than {first} on",
            "unclear": f"{place}: whether {second} or {first} scores higher is unclear on",
            NO_CHANGE: f"{place}: no change seen between {first} and {second} on",
        }
        yield _sentence([_part(row) for row in part], words)
    for wanted, words in ((is_gain, _DRAWING), (is_seeing, _SEEING), (is_perception, _PERCEPTION)):
        gains = [row for row in rows if wanted(row)]
        runs = list(dict.fromkeys(row.after.run for row in gains))
        for run in runs:
            said = _sentence([_part(row) for row in gains if row.after.run == run], words)
            yield f"{run}: {said}" if len(runs) > 1 else said
    for row in rows:
        if row.further:
            yield f"{row.task}{f'.{row.after.mode}' if row.kind == 'runs' else ''}: {row.further.sentence}"


def is_gain(row: TableRow) -> bool:
    """Return whether a row is the gain by drawing."""
    return row.kind == "modes" and (row.before.mode, row.after.mode) == ("direct", DRAWN)


def is_seeing(row: TableRow) -> bool:
    """Return whether a row is the gain by seeing."""
    return row.kind == "modes" and (row.before.mode, row.after.mode) == SEEING


def is_perception(row: TableRow) -> bool:
    """Return whether a row is what perception loses."""
    return row.kind == "modes" and (row.before.mode, row.after.mode) == PERCEPTION


def _part(row: TableRow) -> _Part:
    return _Part(row.task, row.difference, row.verdict, (mean_of(row.before.score), mean_of(row.after.score)))


def side_names(row: TableRow) -> tuple[str, str]:
    """Return the names of the two sides: the models, or the runs if they are of one model."""
    if row.before.model != row.after.model:
        return row.before.model, row.after.model
    return row.before.run, row.after.run


def _sentence(parts: Sequence[_Part], words: Mapping[str, str]) -> str:
    by_outcome: dict[str, list[_Part]] = {}
    for part in parts:
        by_outcome.setdefault(verdict_text(part.difference, part.verdict), []).append(part)
    clauses = [
        f"{words[outcome]} {_listed(by_outcome[outcome], len(parts))}"
        for outcome in _OUTCOMES
        if outcome in by_outcome
    ]
    return ". ".join(clauses) + "."


def _listed(parts: Sequence[_Part], of: int) -> str:
    if len(parts) > _MOST_NAMED:
        return f"{len(parts)} of {of} tasks"
    return _joined([_named(part, alone=of == 1) for part in parts])


def _named(part: _Part, alone: bool) -> str:
    if not part.difference.helped and not part.difference.hurt:
        return f"{part.task} ({part.scores[0]})"
    if alone:
        return f"{part.task}: {span(part.difference)}, {' → '.join(part.scores)} on {part.difference.n} samples"
    return f"{part.task} ({span(part.difference)})"


def _joined(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


_TROUBLE = {
    "truncated": "reply truncated at the token limit",
    "unparsed": "answer not parsed, scored as wrong",
    "no_picture": "no image returned, scored as wrong",
    "refused": "refused by the model, scored as wrong",
}


def trouble_lines(cells: Mapping[str, CellResult]) -> Iterator[str]:
    """Yield one line per kind of failure, with the cells that have it, and one for context that was left out."""
    counts: dict[str, Counter[str]] = {}
    for name, cell in cells.items():
        for kind, count in cell.failures.items():
            counts.setdefault(kind, Counter())[name] += count
    for kind, found in counts.items():
        what = f" ({_TROUBLE[kind]})" if kind in _TROUBLE else ""
        episodes = sum(cell.episodes for cell in cells.values())
        yield f"{kind} {found.total():,} of {episodes:,} episodes{what}: {_where(found)}"
    left = Counter({name: cell.left_out for name, cell in cells.items() if cell.left_out})
    if left:
        calls = sum(cell.calls_left_out for cell in cells.values())
        yield f"context left out {left.total()} ({calls} calls): {_where(left)}"


def _where(counts: Counter[str]) -> str:
    named = [f"{name} {count:,}" for name, count in counts.most_common(_MOST_NAMED)]
    more = len(counts) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
