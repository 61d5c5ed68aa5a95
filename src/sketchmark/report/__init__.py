"""report.html: one self-contained file that opens from a mail attachment, with no network and no scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

from sketchmark.comparison import Comparison
from sketchmark.comparison.findings import TableRow
from sketchmark.files import write_atomic
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder, refuse_partial_scores, unscored
from sketchmark.folder.format import RunRecord, condition, label_of
from sketchmark.folder.index import RunView
from sketchmark.folder.lock import part_in_words
from sketchmark.folder.results_format import Baseline, BenchmarkTotal, CellResult
from sketchmark.markup import (
    Child,
    Html,
    as_table,
    bracket,
    join,
    p_value,
    percent,
    points,
    tag,
    with_interval,
    words,
)
from sketchmark.plots import Drawing, charts
from sketchmark.report.gallery import Frames, gallery, opening_strips
from sketchmark.report.story import Story, alignment, compared, findings, published, repeated_tables, story_of
from sketchmark.results import summary
from sketchmark.results.aggregate import results_before, warned
from sketchmark.results.repeats import sample_count
from sketchmark.results.scorings import told
from sketchmark.tasks import RA_AL

__all__ = ["report_run", "write_report"]


def write_report(run: RunView | RunFolder) -> Path:
    """Write report.html of a run from its scores and a few of its episodes; the file is whole or unchanged.

    A `RunView` that is open already is not read again: it must be up to date, with all episodes scored.
    """
    if isinstance(run, RunFolder):
        refuse_partial_scores(run)
        run = RunView.whole(run)
    write_atomic(run.folder.report_file, page(run).encode())
    return run.folder.report_file


def report_run(folder: RunFolder) -> Path:
    """Write the report without the cells of another command that was killed before it had scored them."""
    run = RunView.whole(folder)
    for cell in unscored(folder):
        del run.cells[cell]
    return write_report(run)


def overall(totals: Sequence[BenchmarkTotal]) -> Html | None:
    if not totals:
        return None
    return join(*(_whole(total) if total.overall else _missing(total) for total in totals))


def _whole(total: BenchmarkTotal) -> Html:
    rows: list[list[Child]] = []
    for name, mean in {"overall": total.overall, **total.categories}.items():
        if mean is not None:
            gain = total.gains.get(name)
            change = f"{points(gain.gain, gain.ci95)} {bracket(gain.ci95)}" if gain else ""
            rows.append([name, f"{percent(mean.mean, mean.ci95)} {bracket(mean.ci95)}", mean.n, change])
    caption = f"{_title(total)}: means weighted by the benchmark's constants"
    return as_table(caption, ("Category", "Score [95%]", "n", "Gain over direct"), rows)


def _missing(total: BenchmarkTotal) -> Html:
    tasks = tag("ul", *(tag("li", f"{task}: {why}") for task, why in total.missing.items()))
    told = f"{_title(total)} has no overall score: {len(total.missing)} of its tasks are missing."
    return tag("details", tag("summary", told), tasks)


def _title(total: BenchmarkTotal) -> str:
    canvas = "" if total.canvas == "own" else f", {total.canvas} canvas"
    return f"{total.benchmark} ({total.mode}{canvas}, {total.scoring})"


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""A second barrier: a browser would run no script and send no request."""
_MEANING = {
    "unparsed": "the answer could not be parsed",
    "truncated": "the reply ended at its length limit",
    "refused": "the model declined",
    "empty": "the reply was empty",
    "no_picture": "the model returned no image",
    "cannot_hear": "the sample has sounds, and the model takes none",
    "timeout": "the episode took too long",
    "judge_failed": "the judge gave no verdict; rerun the command to retry",
    "extractor_failed": "the extractor gave no reply; rerun the command to retry",
    "scorer_failed": "the scorer failed on the answer: no score is shown until it is fixed",
    "left_out": "a part of the context could not be passed to the model",
}


WIDE, NARROW = 940, 340


def page(run: RunView) -> str:
    cells, stored = [summary.live_result(cell) for cell in run.cells.values()], summary.live_results(run)
    totals = made.totals if (made := results_before(run.folder)) else []
    several = len(run.cells) > 1
    listed = any(cell.published for cell in stored.values()) or any(total.published for total in totals)
    found = compared(run) if several or listed else Comparison((), (), ())
    scorings = {name for cell in stored.values() for name in cell.scorings}
    story, frames = story_of(run, cells), Frames(run.folder)
    sections: dict[str, Html | None] = {
        "Does drawing help?": _gains(found.rows, found.notes),
        "Scores": _scores(cells, told(run.folder) if scorings else (), stored),
        "Overall": overall(totals),
        "Score by difficulty": _curves(summary.curves(run)),
        "Where does the gain come from?": listed_lines(findings(run)) if several else None,
        "Right drawing, right answer?": _drawn(run, found),
        "Does the answer follow the drawing?": alignment(stored) if RA_AL in scorings else None,
        "Repeats": _repeats(stored),
        "Published scores": published(found.published) if found.published else None,
        "Failures": _failures(cells),
        "Episodes": gallery(run, frames),
        "Settings": _configuration(run.about),
    }
    present = {title: body for title, body in sections.items() if body}
    model = run.model or "a model"
    style = files("sketchmark.report").joinpath("style.css").read_text("utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{model} · Sketchmark"),
        tag("style", Html(style)),
    )
    counts = {name: sample_count(cell.episodes) for name, cell in run.cells.items()} if run.about.shard else {}
    part = part_in_words(run.about, counts)
    args = " ".join(f"{key}={value}" for key, value in run.about.model.args.items() if isinstance(value, SHOWN))
    ways = {f"{cell.mode} {condition(cell.draw_with)}" for cell in stored.values() if cell.draw_with}
    facts = (
        *sorted(ways),
        f"{sum(len(cell.episodes) for cell in run.cells.values()):,} episodes",
        f"started {run.about.started}",
        f"Sketchmark {run.about.sketchmark}",
    )
    body = tag(
        "body",
        tag("a", "Skip to the tables", href="#details", class_="skip"),
        tag(
            "header",
            tag("p", "Does drawing help it think?", class_="kicker"),
            tag("h1", story.headline),
            tag("p", story.lede, class_="lede") if story.lede else None,
            *[tag("p", tag("strong", part))] * bool(part),
            tag(
                "p",
                tag("strong", tag("bdi", model)),
                " ",
                tag("code", args),
                " · ".join(("", *facts)),
                class_="quiet",
            ),
        ),
        tag(
            "main",
            strips if (strips := opening_strips(run, frames)) else None,
            _controls(cells, story),
            tag(
                "nav",
                *(tag("a", title, href=f"#{_anchor(title)}") for title in present),
                aria_label="Sections",
                id="details",
            ),
            *(_section(title, body) for title, body in present.items()),
        ),
        tag(
            "footer",
            "Scores are in percent, gains in percentage points, intervals are 95%. Differences are significant at "
            "p < 0.05 after Holm’s correction over all differences of this run’s comparison.",
            class_="quiet",
        ),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


SHOWN = (str, int, float, bool)


def _controls(cells: Sequence[CellResult], story: Story) -> Html | None:
    """Show every condition in one chart, with one sentence about the canvases."""
    panels = charts.Panel.all_of(cells, story.gains) if len(cells) > 1 else []
    if not panels:
        return None
    title = "Does the model use its drawings?" if story.controls else "Score by condition"
    chart = figure("", lambda width: charts.scores(panels, width))
    return tag(
        "section",
        tag("h2", title, id="controls-title"),
        tag("p", story.controls, class_="lede") if story.controls else None,
        chart,
        class_="slide",
        aria_labelledby="controls-title",
    )


def figure(title: str, draw: Callable[[float], Drawing]) -> Html:
    """Show a chart at two widths; the style sheet chooses by the page's width."""
    drawn = [
        tag("div", draw(width).svg(page=True), class_=name) for name, width in (("wide", WIDE), ("narrow", NARROW))
    ]
    return tag("figure", tag("figcaption", title) if title else None, *drawn, class_="chart")


def listed_lines(lines: Sequence[str]) -> Html | None:
    return tag("ul", *(tag("li", line) for line in lines)) if lines else None


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower()).strip("-")


def _section(title: str, body: Html) -> Html:
    anchor = _anchor(title)
    return tag("section", tag("h2", title, id=f"{anchor}-title"), body, id=anchor, aria_labelledby=f"{anchor}-title")


def _label(cell: CellResult | summary.CurveLine) -> str:
    return label_of(cell.mode, cell.canvas, cell.draw_with if isinstance(cell, CellResult) else "")


def _scores(cells: Sequence[CellResult], readings: Sequence[str], stored: Mapping[str, CellResult]) -> Html:
    guessed = {_place(cell): cell.baselines for cell in stored.values() if cell.baselines}
    rows: list[list[Child]] = []
    for cell in cells:
        metric = cell.metrics.get(cell.headline)
        guess = [_guess(guessed.get(_place(cell), {}).get(cell.headline))] if guessed else []
        rows.append(
            [
                cell.task,
                _label(cell),
                tag("span", f"{percent(metric.mean, metric.ci95)} {bracket(metric.ci95)}", class_="score")
                if metric
                else _none(cell),
                *guess,
                metric.n if metric else cell.samples_of(cell.headline),
                _share(cell.cut),
                _share(cell.unparsed),
                ", ".join(f"{count} {kind}" for kind, count in cell.failures.items()) or "none",
            ]
        )
    guess_column = ["Guessing: constant, random, best constant"] if guessed else []
    columns = ("Task", "Condition", "Score [95%]", *guess_column, "n", "Truncated", "Unparsed", "Failures")
    scorings = ", ".join(dict.fromkeys(cell.scoring for cell in cells if cell.scoring)) or "no scoring yet"
    every: list[list[Child]] = [
        [name, score, f"{percent(value.mean, value.ci95)} {bracket(value.ci95)}", value.n]
        for name, cell in stored.items()
        for score, value in cell.metrics.items()
    ]
    said = [*warned(stored), *readings]
    return join(
        as_table(f"Headline score of each task and condition in percent, by {scorings}", columns, rows),
        tag("ul", *(tag("li", line) for line in said)) if said else None,
        tag(
            "details",
            tag("summary", f"Every score ({len(every)})"),
            as_table("Every score by the name of its cell", ("Cell", "Score", "Mean [95%]", "n"), every),
        )
        if every
        else None,
    )


def _share(share: float | None) -> str:
    return "–" if share is None else f"{percent(share)}%"


def _place(cell: CellResult) -> tuple[str, str, str]:
    return cell.task, cell.mode, cell.canvas


def _guess(found: Baseline | None) -> str:
    return ", ".join(map(percent, (found.constant, found.random, found.majority))) if found else "–"


def _none(cell: CellResult) -> str:
    return f"–, {cell.problem}; sketchmark score RUN" if cell.problem else "–"


def _gain_mark(gain: TableRow) -> Html:
    ci = gain.difference.low, gain.difference.high
    glyph = {"better": "▲ ", "worse": "▼ "}.get(gain.verdict, "")
    said = f"{glyph}{points(gain.difference.mean, ci)} {bracket(ci)}"
    return tag("span", said.rstrip(), class_=f"gain {gain.verdict}")


def _gains(gains: Sequence[TableRow], notes: Sequence[str]) -> Html | None:
    if not gains:
        return None
    rows: list[list[Child]] = [
        [
            g.task,
            g.label,
            percent(g.before.score.mean),
            percent(g.after.score.mean),
            _gain_mark(g),
            p_value(g.p_holm),
            g.difference.helped,
            g.difference.hurt,
            g.difference.same,
            g.difference.n,
        ]
        for g in gains
    ]
    columns = ("Task", "Compared", "Before", "After", "Gain [95%]", "p (Holm)", "Helped", "Hurt", "Same", "n")
    counted = "this difference" if len(gains) == 1 else f"these {len(gains)} differences"
    caption = f"Differences on the same samples, in points; p corrected by Holm over {counted}"
    return join(as_table(caption, columns, rows), listed_lines(notes))


def _curves(curves: Sequence[summary.Curve]) -> Html | None:
    figures = []
    for curve in curves:
        title = f"{curve.task}: score by {curve.key}"
        draw = (
            partial(charts.curve, curve)
            if curve.numeric
            else partial(charts.forest, charts.groups_of(curve), signed=False)
        )
        figures.append(figure(title, draw))
    return tag("div", *figures, class_="charts") if figures else None


def _repeats(stored: Mapping[str, CellResult]) -> Html | None:
    """Show the scores of repeated episodes, with pass@k by k as a chart."""
    tables = repeated_tables(stored)
    figures = [
        figure(f"{one.task}: {name} by k", partial(charts.curve, one, name=name))
        for name, one in summary.passes(stored)
    ]
    return join(tables, tag("div", *figures, class_="charts") if figures else None) if tables else None


def _drawn(run: RunView, found: Comparison) -> Html | None:
    tables = [table for cell in run.cells.values() if (table := summary.drawing_and_answer(cell))]
    tables = [table for table in tables if table.canvas == "own"]
    if not tables:
        return None
    sentences = list(dict.fromkeys(f"{row.task}: {row.drawing.sentence}" for row in found.rows if row.drawing))
    rows: list[list[Child]] = [
        [
            table.task,
            with_interval(table.right),
            with_interval(table.wrong),
            table.right.right,
            table.right.other,
            table.wrong.right,
            table.wrong.other,
        ]
        for table in tables
    ]
    columns = (
        "Task",
        "Score, all drawings right",
        "Score, a drawing wrong",
        "Both right",
        "Only the drawings",
        "Only the answer",
        "Neither",
    )
    return join(as_table("Answers by whether the drawings are right", columns, rows), listed_lines(sentences))


def _failures(cells: Sequence[CellResult]) -> Html:
    counted = [{**cell.failures, "left_out": cell.left_out} for cell in cells]
    kinds = sorted({kind for counts in counted for kind, count in counts.items() if count})
    if not kinds:
        return tag("p", "None: all replies arrived and were parsed.", class_="empty")
    names = [f"{cell.task} {_label(cell)}" for cell in cells]
    rows: list[list[Child]] = [
        [kind, *(counts.get(kind, 0) for counts in counted), _MEANING.get(kind, "")] for kind in kinds
    ]
    return as_table("Episodes with each kind of failure", ("Kind", *names, "Meaning"), rows)


def _configuration(about: RunRecord) -> Html:
    facts: list[list[Child]] = [
        ["Model", about.model.name],
        ["Arguments", json.dumps(about.model.args, ensure_ascii=False)],
        ["Seed", str(about.seed)],
        ["Sketchmark", about.sketchmark],
        ["Machine", json.dumps(about.machine, ensure_ascii=False)],
    ]
    cells = [
        tag("details", tag("summary", name), words(json.dumps(plain(cell), indent=2, ensure_ascii=False), 20_000))
        for name, cell in about.cells.items()
    ]
    folded = tag("details", tag("summary", f"Settings of each cell ({len(cells)})"), *cells) if cells else None
    return join(as_table("Settings of the run", ("Setting", "Value"), facts), folded)
