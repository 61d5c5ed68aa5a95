"""A run as it shows itself: the tables that the command line prints, and what they must not be read without."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sketchmark.comparison.results_tables import conditions, gains_table, labelled, scores_table, trouble_of
from sketchmark.comparison.terminal import printed
from sketchmark.report.markup import Html, as_table, join, tag
from sketchmark.request import WHOLE, Shard
from sketchmark.runs.baselines import warned
from sketchmark.runs.index import RunIndex
from sketchmark.runs.results_format import Results
from sketchmark.runs.store import RunFolder
from sketchmark.terminal.tables import Table


def as_text(folder: RunFolder) -> str:
    """For a terminal, as wide as it is: nothing that it would obey."""
    tables, notes = _shown(folder)
    below = {sentence for table in tables for sentence in table.below}
    return printed(tables, (note for note in notes if note not in below)).rstrip()


def as_html(folder: RunFolder) -> Html:
    """For a page: everything is text."""
    tables, notes = _shown(folder)
    sentences = dict.fromkeys([*(sentence for table in tables for sentence in table.below), *notes])
    shown = [as_table(table.title, table.columns, table.rows) for table in tables]
    return tag("div", *shown, join(*(tag("p", sentence) for sentence in sentences)), class_="sketchmark")


def _shown(folder: RunFolder) -> tuple[list[Table], list[str]]:
    results = folder.results()
    tables = [scores_table(results, headline=" *")] if results.tasks else []
    if results.gains:
        tables.append(gains_table(results.gains))
    return tables, [*_ending(folder, results), *_notes(results)]


def _ending(folder: RunFolder, results: Results) -> Iterator[str]:
    """That a run has not come to its end, and how far it came."""
    about = folder.about()
    if not results.tasks:
        yield f"{about.model.name}: no scores yet"
    if about.ended and about.ended.how == "finished":
        return
    run = RunIndex(folder, folder.path.name)
    run.refresh()
    state = run.state(time.time())
    if state == "finished":
        return
    why = f": {about.ended.why}" if about.ended and about.ended.how == state else ""
    shard = Shard.parse(about.shard) if about.shard else WHOLE
    played = []
    for name, cell in run.cells.items():
        asked = shard.size(about.totals.get(name, cell.limit))
        if asked is None or len(cell.episodes) < asked:
            played.append(f"{name} {len(cell.episodes)}{'' if asked is None else f' of {asked}'} episodes")
    rest = "; the same call again plays the rest" if state in ("stopped", "killed") else ""
    told = f" ({', '.join(played)})" if played else ""
    yield f"{state}{why}{told}{rest}"


def _notes(results: Results) -> Iterator[str]:
    if results.part:
        yield results.part
    for name, cell in results.tasks.items():
        if trouble := trouble_of(cell):
            yield f"{name}: {trouble}"
    for label, one in labelled(results.tasks):
        yield from (f"{label}: {kind}, the first: {reason}" for kind, reason in one.reasons.items())
        if one.problem:
            yield f"{label}: {one.problem}"
    yield from conditions(results)
    yield from (f"warning: {line}" for line in (*results.warnings, *warned(results.tasks)))
