"""Sentences and sections about a run that viewer and report share, made from its numbers.

They name no cause that a paired difference does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sketchmark.audit import audit
from sketchmark.audit.contrasts import settled_when
from sketchmark.comparison import Comparison, compare
from sketchmark.comparison.findings import PublishedTable
from sketchmark.comparison.headlines import of_fewer_samples
from sketchmark.episode.desk import CANVASES
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder.format import DRAWING_MODE, label_of
from sketchmark.folder.index import RunView
from sketchmark.folder.results_format import CellResult, Gain, Mean, Metric
from sketchmark.markup import MINUS, Child, Html, as_table, bracket, join, percent, points, tag
from sketchmark.results import MEANING, summary
from sketchmark.results.gains import correct, gain_of, live_gains, pair
from sketchmark.stats.intervals import in_points
from sketchmark.tasks import RA_AL


def compared(run: RunView) -> Comparison:
    """Compare the cells of a run; empty if there is nothing to compare (one mode, or no scores yet)."""
    try:
        return compare(run, anyway=True, published=True)
    except BadInput:
        return Comparison((), (), ())


def findings(run: RunView) -> list[str]:
    """Return the sentences of the audit, one per finding; none if the run has no canvas to compare drawings with."""
    try:
        found = audit(run)
    except (BadInput, RunConflict):
        return []
    tasks = [task for task in found.tasks if sum(one.place in CANVASES for one in task.scores) > 1]
    told = [f"{task.task}: {one.sentence}" for task in tasks for one in task.findings]
    return [*told, settled_when(found)] if told else []


def repeated_tables(cells: Mapping[str, CellResult]) -> Html | None:
    """Make the tables of repeated episodes: scores, sources of variance, and headroom; None without any."""
    found = {name: cell.repeats for name, cell in cells.items() if cell.repeats}
    if not found:
        return None
    drawn = any(one.best_of for one in found.values())
    scores: list[list[Child]] = []
    sources: list[list[Child]] = []
    room: list[list[Child]] = []
    for name, one in found.items():
        k = str(one.repeats)
        ties = f", {one.ties} tied" if one.ties else ""
        best = [_share(one.best_of)] if drawn else []
        passed = (_share(one.pass_at.get(k)), _share(one.pass_all.get(k)))
        mean = one.headroom.random if one.headroom else None
        scores.append([name, k, one.answers, _share(mean), *passed, _share(one.majority) + ties, *best,
                       _share(one.agreement)])  # fmt: skip
        if (parts := one.variance) and parts.samples:
            sources.append([name, *map(_part, (parts.samples, parts.drawings, parts.answers, parts.episodes))])
        if one.headroom:
            choices = (one.headroom.best_drawing, one.headroom.best_answer, one.headroom.best)
            room.append([name, *map(_share, (one.headroom.random, *choices))])
    image = ["Best by image score"] if drawn else []
    columns = ("Cell", "k", "Answers", "Mean", "pass@k", "pass^k", "Vote", *image, "Agreement")
    sentences = [
        f"{name}: {line}"
        for name, one in found.items()
        for line in (*of_fewer_samples(one), one.variance.sentence if one.variance else "")
        if line
    ]
    return join(
        as_table("k repeats of each sample, in percent with 95% intervals", columns, scores),
        as_table(
            "Variance of the score of a single episode by its source",
            ("Cell", "Between samples", "Between drawings", "Between answers", "Within a sample"),
            sources,
        )
        if sources
        else None,
        tag("ul", *(tag("li", line) for line in sentences)),
        as_table(
            "Headroom: the score if the ground truth chose among drawings and answers",
            ("Cell", "Chosen at random", "Best drawing", "Best answer", "Best of all"),
            room,
        ),
    )


def _share(mean: Mean | None) -> str:
    return "–" if mean is None else f"{percent(mean.mean, mean.ci95)} {bracket(mean.ci95)}"


def _part(mean: Mean | None) -> str:
    """Return a variance with its interval."""
    if mean is None or mean.mean is None:
        return "–"
    ends = "" if None in mean.ci95 else " [" + ", ".join(f"{end:.3f}" for end in mean.ci95) + "]"
    return f"{mean.mean:.3f}{ends}".replace("-", MINUS)


def alignment(cells: Mapping[str, CellResult]) -> Html | None:
    looked_at = {name: cell.scorings[RA_AL] for name, cell in cells.items() if RA_AL in cell.scorings}
    rows: list[list[Child]] = [
        [name, words, _on_its_scale(score, cell.metrics[score]), cell.metrics[score].n]
        for name, cell in looked_at.items()
        for score, words in MEANING.items()
        if score in cell.metrics
    ]
    failed = {name: cell.failures.get("judge_failed", 0) for name, cell in looked_at.items()}
    told = [f"{name}: the judge gave no verdict on {count} episodes" for name, count in failed.items() if count]
    if not rows and not told:
        return None
    found = as_table("By a judge, and by image readers", ("Task.mode", "Measure", "Mean [95%]", "n"), rows)
    return join(found, tag("ul", *(tag("li", line) for line in told)) if told else None)


def _on_its_scale(score: str, found: Metric) -> str:
    """Show a mean: RA and AL run from 1 to 5, all others are proportions."""
    if score not in ("ra", "al"):
        return f"{percent(found.mean, found.ci95)} {bracket(found.ci95)}"
    low, high = found.ci95
    return f"{found.mean:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else "")


def published(tables: Sequence[PublishedTable]) -> Html:
    """Show published scores next to the run's own; they enter no number of the report."""
    parts = [tag("p", "Scores of others, copied from their pages. They enter no statistic of this run.")]
    for found in tables:
        rows: list[list[Child]] = [
            [
                row.model,
                f"{row.channel} ({row.score})",
                percent(row.value),
                row.n or "–",
                f"{percent(row.yours.mean)} {bracket((row.yours.low, row.yours.high))}",
                f"{points(row.apart.mean)} {bracket((row.apart.low, row.apart.high))}" if row.apart else "",
                row.apart.verdict if row.apart else row.untold,
            ]
            for row in found.rows
        ]
        columns = ("Published for", "Score", "Theirs", "n", "Yours [95%]", "Yours − theirs [95%]", "Yours is")
        notes = [*(f"Published: {source}" for source in found.sources), *found.notes]
        parts.append(as_table(f"{found.task}, {found.mode}: published", columns, rows))
        parts.append(tag("ul", *(tag("li", note) for note in notes)))
    return join(*parts)


_MOST = 6
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Story:
    """`headline` is one or two sentences, `lede` has the numbers, `controls` is about the canvases, if any."""

    headline: str
    lede: str = ""
    controls: str = ""
    gains: list[Gain] = field(default_factory=list)
    """Gains by drawing, one per task."""

    apart: dict[str, dict[str, Gain]] = field(default_factory=dict)
    """Task → canvas → own minus this canvas, corrected over the canvases of the task."""


def story_of(run: RunView, results: Sequence[CellResult] = ()) -> Story:
    """Describe a run as it is now; a running one may have few scores yet."""
    cells = results or [summary.live_result(cell) for cell in run.cells.values()]
    every = live_gains(run) if len(run.cells) > 1 else []
    gains = [gain for gain in every if gain.mode == DRAWING_MODE and gain.canvas == "own"]
    apart = {gain.task: found for gain in gains if (found := own_minus(run, gain.task))}
    if not gains:
        return Story(_scored(run.model, cells), apart=apart)
    blank = {gain.task: gain for gain in every if gain.mode == DRAWING_MODE and gain.canvas == "blank"}
    control = _control(gains, apart, blank)
    headline = f"{_verdicts(gains)}{control}"
    return Story(headline, _numbers(gains, apart), _controls(cells, apart), gains, apart)


def own_minus(run: RunView, task: str) -> dict[str, Gain]:
    """Return the score with its own drawing minus the score on each other canvas, on the same samples."""
    cells = {cell.canvas: cell for cell in run.cells.values() if cell.task == task and cell.mode == DRAWING_MODE}
    own = cells.pop("own", None)
    if own is None:
        return {}
    found = {}
    for canvas in CANVASES:
        if canvas in cells:
            difference = pair(cells[canvas].scored(), own.scored(), own.headline).difference()
            if difference.n:
                found[canvas] = gain_of(own.about, difference)
    correct(list(found.values()), "its own drawing against other canvases, per task")
    return found


def tasks_in_words(names: Sequence[str], among: int) -> str:
    """Name one to three tasks; count more."""
    count = len(names)
    if count == 1:
        return names[0]
    if count == among:
        return "both tasks" if count == 2 else f"all {_number(count)} tasks"
    if count <= 3:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{_number(count)} of {_number(among)} tasks"


def _number(value: int) -> str:
    return _NUMBERS[value] if value < len(_NUMBERS) else f"{value:,}"


def _verdicts(gains: Sequence[Gain]) -> str:
    said = []
    for verdict, phrase in (("better", "drawing helped on"), ("worse", "drawing hurt on")):
        if names := [gain.task for gain in gains if gain.verdict == verdict]:
            said.append(f"{phrase} {tasks_in_words(names, len(gains))}")
    if names := [gain.task for gain in gains if gain.verdict not in ("better", "worse")]:
        changed = any(gain.helped or gain.hurt for gain in gains if gain.task in names)
        whole = tasks_in_words(names, len(gains))
        if changed:
            said.append(f"no clear difference on {whole}")
        else:
            either = whole.replace("both tasks", "either task") if len(names) == 2 else whole
            said.append(f"drawing changed no answer on {either}")
    sentence = "; ".join(said) + "."
    return sentence[0].upper() + sentence[1:]


def _control(gains: Sequence[Gain], apart: Mapping[str, Mapping[str, Gain]], blank: Mapping[str, Gain]) -> str:
    """Say what is left of a gain when the model sees a blank image; empty without that control or without a gain."""
    helped = [gain.task for gain in gains if gain.verdict == "better" and "blank" in apart.get(gain.task, {})]
    if not helped:
        return ""
    gone: list[str] = []
    smaller: list[str] = []
    open_: list[str] = []
    for task in helped:
        kept = task in blank and blank[task].verdict == "better"
        needed = apart[task]["blank"].verdict == "better"
        (open_ if not needed else smaller if kept else gone).append(task)
    instead = "With a blank image in place of its drawing, the gain"
    if len(gone) == len(helped):
        return f" {instead} is gone: the model uses what it drew."
    if len(smaller) == len(helped):
        return f" {instead} is smaller, but still there."
    if len(open_) == len(helped):
        return f" {instead} is not clearly smaller."
    parts = [
        f"{phrase} on {tasks_in_words(tasks, len(gains))}"
        for phrase, tasks in (("is gone", gone), ("is smaller", smaller), ("is not clearly smaller", open_))
        if tasks
    ]
    return f" {instead} {', '.join(parts)}."


def _numbers(gains: Sequence[Gain], apart: Mapping[str, Mapping[str, Gain]]) -> str:
    shown = [
        f"{gain.task} {points(gain.gain, gain.ci95)}{' points' if not at else ''} {bracket(gain.ci95)}".rstrip()
        for at, gain in enumerate(gains[:_MOST])
    ]
    more = f"; {len(gains) - _MOST} more tasks below" if len(gains) > _MOST else ""
    said = f"Gain by drawing: {'; '.join(shown)}{more}."
    lost = [found["oracle"] for found in apart.values() if "oracle" in found and found["oracle"].verdict == "worse"]
    if lost:
        said += f" With ground-truth images it scores {_span(lost)} points more: wrong drawings cost that much."
    return said


def _span(gains: Sequence[Gain]) -> str:
    """Return the range of some differences without their sign."""
    sizes = sorted(abs(in_points(gain.gain or 0.0, gain.ci95)) for gain in gains)
    low, high = percent(sizes[0], (101,)), percent(sizes[-1], (101,))
    return low if low == high else f"{low} to {high}"


def _controls(cells: Sequence[CellResult], apart: Mapping[str, Mapping[str, Gain]]) -> str:
    """Say in one sentence what the canvases show, over all tasks that have them."""
    own = [
        _score(cell) for cell in cells if cell.task in apart and cell.mode == DRAWING_MODE and cell.canvas == "own"
    ]
    own = [score for score in own if score]
    if not own:
        return ""
    parts = [f"With its own drawing the model scores {_range(own)}%"]
    for canvas in ("blank", "other"):
        found = [one[canvas] for one in apart.values() if canvas in one]
        if found:
            told = {"blank": "a blank image", "other": "another sample’s drawing"}[canvas]
            lower = all(one.verdict == "better" for one in found)
            parts.append(f"{_span(found)} points less with {told}" if lower else f"not clearly less with {told}")
    found = [one["oracle"] for one in apart.values() if "oracle" in one]
    if found:
        more = all(one.verdict == "worse" for one in found)
        size = f"{_span(found)} points more" if more else "not clearly more"
        parts.append(f"{size} with ground-truth images")
    return f"{parts[0]}{', ' if len(parts) > 1 else ''}{_listed(parts[1:])}."


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def _score(cell: CellResult) -> float | None:
    found = cell.metrics.get(cell.headline)
    return in_points(found.mean, found.ci95) if found else None


def _range(values: Sequence[float | None]) -> str:
    known = sorted(value for value in values if value is not None)
    low, high = (percent(end, (101,)) for end in (known[0], known[-1]))
    return low if low == high else f"{low} to {high}"


def _scored(model: str, cells: Sequence[CellResult]) -> str:
    told = list(_scores(cells))
    if not told:
        return "Nothing has been scored yet."
    more = f"; {len(told) - _MOST} more below" if len(told) > _MOST else ""
    return f"{model or 'The model'} scores {'; '.join(told[:_MOST])}{more}."


def _scores(cells: Sequence[CellResult]) -> Iterator[str]:
    for cell in cells:
        if found := cell.metrics.get(cell.headline):
            several = len(cells) > 1 or cell.canvas != "own" or cell.draw_with
            how = label_of(cell.mode, cell.canvas, cell.draw_with, short=True) if several else cell.mode
            yield f"{percent(found.mean, found.ci95)}% {bracket(found.ci95)} on {cell.task} ({how})".replace(
                "  ", " "
            )
