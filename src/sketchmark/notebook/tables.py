"""What a run found, as tables of short texts: every score with its interval, and what drawing changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sketchmark.comparison.wording import bounds_of, chance, number, signed
from sketchmark.report.markup import Html, as_table, join, tag
from sketchmark.runs.baselines import warned
from sketchmark.runs.own_numbers import own_numbers, why_none
from sketchmark.runs.results_format import CellSummary, Gain, Metric, Results
from sketchmark.terminal import one_line
from sketchmark.terminal.columns import in_columns


@dataclass(frozen=True)
class Shown:
    """A table; the first `texts` columns hold words and stand to the left."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int


def tables(results: Results) -> Iterator[Shown]:
    scorings = dict.fromkeys(cell.scoring or "strict" for cell in results.tasks.values())
    yield Shown(
        f"{results.model}: scores by {', '.join(scorings) or 'no scoring yet'}, with 95 % intervals (* headline)",
        ("task.mode", "score", "mean", "95 %", "n", "failures"),
        tuple(row for name, cell in results.tasks.items() for row in _scores(name, cell)),
        texts=2,
    )
    if results.gains:
        yield Shown(
            "Gain over direct in the headline score, on the same samples",
            ("task", "mode", "canvas", "gain", "95 %", "helped", "hurt", "same", "n", "p"),
            tuple(map(_gain, results.gains)),
            texts=3,
        )


def notes(results: Results) -> Iterator[str]:
    """What the numbers must not be read without."""
    if results.part:
        yield results.part
    for name, cell in results.tasks.items():
        for kind, reason in cell.reasons.items():
            yield f"{name}: {kind}, the first: {reason}"
    yield from (f"warning: {line}" for line in (*results.warnings, *warned(results.tasks)))


def as_text(results: Results) -> str:
    """For a terminal: nothing that it would obey."""
    parts = [_text(table) for table in tables(results)]
    return "\n\n".join([*parts, *["\n".join(map(one_line, notes(results)))]]).rstrip()


def as_html(results: Results) -> Html:
    """For a page: everything is text."""
    shown = [as_table(table.title, table.columns, table.rows) for table in tables(results)]
    return tag("div", *shown, join(*(tag("p", note) for note in notes(results))), class_="sketchmark")


def _text(table: Shown) -> str:
    return "\n".join([one_line(table.title), *in_columns((table.columns, *table.rows), table.texts)])


def _scores(name: str, cell: CellSummary) -> Iterator[tuple[str, ...]]:
    failures = ", ".join(f"{kind} {count}" for kind, count in cell.failures.items())
    found = {metric: _metric(value) for metric, value in cell.metrics.items()}
    for metric, value in own_numbers(cell, cell.headline).items():
        found[metric] = (number(value), "", str(cell.n))
    if not found:
        found[f"({why_none(cell)})"] = ("–", "", str(cell.n))
    for metric, numbers in found.items():
        yield name, f"{metric} *" if metric == cell.headline else metric, *numbers, failures
        name = failures = ""


def _metric(found: Metric) -> tuple[str, str, str]:
    return number(found.mean), bounds_of(found), str(found.n)


def _gain(gain: Gain) -> tuple[str, ...]:
    counts = map(str, (gain.helped, gain.hurt, gain.same, gain.n))
    return gain.task, gain.mode, gain.canvas, signed(gain.gain), bounds_of(gain), *counts, chance(gain.p)
