"""The tables of a run's numbers, one for every place that shows them: the end of a command, and a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sketchmark.comparison.wording import bounds_of, chance, signed
from sketchmark.models.by_code import SVG
from sketchmark.models.native import NATIVE_HISTORY
from sketchmark.runs.own_numbers import own_numbers, why_none
from sketchmark.runs.results_format import Baseline, CellSummary, Gain, Metric, Results
from sketchmark.task import RA_AL
from sketchmark.terminal.tables import Table

_WAYS = {
    SVG: "drawn by code (svg), not by pixels",
    NATIVE_HISTORY: "with native history, a condition of its own",
}


def scores_table(results: Results, headline: str = "") -> Table:
    """Every score with its interval, beside it what guessing would get (where there is something to guess) and how
    many replies were cut or could not be read. The scoring is in the title, or a column where there are several.

    `headline` stands behind the name of the score that counts; it is bold, where a place has bold.
    """
    scorings = {name for cell in results.tasks.values() for name in _by_scoring(cell)}
    title = f"{results.model}: scores{f' by {scorings.pop()}' if len(scorings) == 1 else ''}, with 95 % intervals"
    title += f" ({headline.strip()} headline)" if headline else ""
    names = ("task.mode", "score", *["scoring"] * bool(scorings))
    guessed = any(cell.baselines for cell in results.tasks.values())
    numbers = ("mean", "95 %", *["guess"] * guessed, "n", "cut", "unparsed")
    table = Table(title, (*names, *numbers), texts=len(names))
    for label, cell in results.tasks.items():
        _add_scores(table, label, cell, headline, several=bool(scorings), guessed=guessed)
    return table


def _add_scores(table: Table, label: str, cell: CellSummary, headline: str, *, several: bool, guessed: bool) -> None:
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
    if not told:
        table.add(label, "(no score)" if cell.aggregate else "(nothing scored)")
        table.below += (f"{label}: {why_none(cell)}",) * bool(cell.problem or cell.aggregate)


def _by_scoring(cell: CellSummary) -> dict[str, CellSummary]:
    """`ra-al` reads no answers and has a table of its own."""
    return {cell.scoring or "strict": cell, **{name: one for name, one in cell.scorings.items() if name != RA_AL}}


def _numbers(cell: CellSummary, headline: str) -> dict[str, Metric]:
    own = {name: Metric(value, (None, None), cell.n) for name, value in own_numbers(cell, headline).items()}
    return {**own, **cell.metrics} if headline in own else {**cell.metrics, **own}


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %" if share else "0 %"


def gains_table(gains: Sequence[Gain]) -> Table:
    names = ("task", "score", "mode", "canvas")
    numbers = ("gain", "95 %", "p (Holm)", "verdict", "helped", "hurt", "same", "p")
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
    """The best that one gets without looking."""
    return f"{found.best:.3f}" if found else ""


def trouble_of(cell: CellSummary) -> str:
    """What the table of scores has no column for."""
    counts = [f"{kind} {count}" for kind, count in cell.failures.items() if kind not in ("truncated", "unparsed")]
    if cell.left_out:
        counts.append(f"context left out {cell.left_out} ({cell.calls_left_out} calls)")
    return ", ".join(counts)


def conditions(results: Results) -> Iterator[str]:
    """Which cells were played otherwise than most."""
    for way, words in _WAYS.items():
        if played := [name for name, cell in results.tasks.items() if cell.draw_with == way]:
            yield f"{words}: {', '.join(played)}"


def labelled(cells: Mapping[str, CellSummary]) -> Iterator[tuple[str, CellSummary]]:
    """Each cell, and behind it the same by other rules."""
    for name, cell in cells.items():
        yield name, cell
        yield from ((f"{name}, {scoring}", one) for scoring, one in cell.scorings.items())
