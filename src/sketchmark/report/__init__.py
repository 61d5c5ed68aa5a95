"""report.html: one self-contained file that opens from a mail attachment, with no network and no scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from sketchmark import plots
from sketchmark.comparison import Comparison
from sketchmark.comparison.findings import CanvasTable, TableRow
from sketchmark.files import write_atomic
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder, refuse_partial_scores
from sketchmark.folder.format import RunRecord, condition
from sketchmark.folder.index import RunView
from sketchmark.folder.lock import part_in_words
from sketchmark.folder.results_format import Baseline, BenchmarkTotal, CellResult, Mean
from sketchmark.markup import Child, Html, as_table, bracket, join, p_value, percent, points, tag, words
from sketchmark.report.gallery import gallery
from sketchmark.report.sections import alignment, audited, compared, published
from sketchmark.results import summary
from sketchmark.results.aggregate import results_before, warned
from sketchmark.results.scorings import told
from sketchmark.tasks import RA_AL

__all__ = ["write_report"]


def write_report(run: RunView | RunFolder) -> Path:
    """Write report.html of a run from its scores and a few of its episodes; the file is whole or unchanged.

    A `RunView` that is open already is not read again: it must be up to date, with all episodes scored.
    """
    if isinstance(run, RunFolder):
        refuse_partial_scores(run)
        run = RunView.whole(run)
    write_atomic(run.folder.report_file, page(run).encode())
    return run.folder.report_file


_MOST = 6
_PHRASES = {"better": "Drawing helped on", "worse": "Drawing hurt on", "unclear": "No clear difference on"}


def headline(cells: Sequence[CellResult], gains: Sequence[TableRow]) -> str:
    """Say for each task whether drawing helped, by the corrected test; the one sentence to remember."""
    drawn = [gain for gain in gains if gain.after.mode == "visual_cot" and gain.before.mode == "direct"]
    if drawn:
        shown, hidden = drawn[:_MOST], len(drawn) - _MOST
        told = [_told(phrase, [gain for gain in shown if gain.verdict == kind]) for kind, phrase in _PHRASES.items()]
        more = f" And {hidden} more tasks." if hidden > 0 else ""
        return " ".join(sentence for sentence in told if sentence) + more
    scored = [(cell, cell.metrics.get(cell.headline)) for cell in cells]
    told = [
        f"{percent(metric.mean, metric.ci95)} % {bracket(metric.ci95)} on {cell.task} ({cell.mode})"
        for cell, metric in scored
        if metric
    ]
    return f"Scored {'; '.join(told[:_MOST])}." if told else "Nothing has been scored yet."


def _told(phrase: str, gains: Sequence[TableRow]) -> str:
    tasks = [
        f"{gain.task}: {change_of(gain)}{'' if number else ' points'} {interval_of(gain)}".rstrip()
        + f", p {p_value(gain.p_holm)}"
        for number, gain in enumerate(gains)
    ]
    return f"{phrase} {'; '.join(tasks)}." if tasks else ""


def change_of(gain: TableRow) -> str:
    return points(gain.difference.mean, (gain.difference.low, gain.difference.high))


def interval_of(gain: TableRow) -> str:
    return bracket((gain.difference.low, gain.difference.high))


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
    return as_table(caption, ("Category", "Score [95 %]", "n", "Gain over direct"), rows)


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
    "unparsed": "the answer could not be read",
    "truncated": "the reply was cut off at its length limit",
    "refused": "the model declined",
    "empty": "the reply was empty",
    "no_picture": "a drawing was asked for and none came",
    "cannot_hear": "there was something to listen to, and the model takes no sounds",
    "timeout": "the episode took too long",
    "judge_failed": "the judge gave no verdict; the next start asks again",
    "extractor_failed": "the extractor gave no reply; rerun the command to ask again",
    "scorer_failed": "the scorer broke on the answer: no score is shown until it is mended",
    "left_out": "a part of the context could not be passed to the model",
}


def page(run: RunView) -> str:
    cells, stored = [summary.live_result(cell) for cell in run.cells.values()], summary.live_results(run)
    totals = made.totals if (made := results_before(run.folder)) else []
    several = len(run.cells) > 1
    listed = any(cell.published for cell in stored.values()) or any(total.published for total in totals)
    found = compared(run) if several or listed else Comparison((), (), ())
    scorings = {name for cell in stored.values() for name in cell.scorings}
    sections: dict[str, Html | None] = {
        "Scores": _scores(cells, found.rows, told(run.folder) if scorings else (), stored),
        "Overall": overall(totals),
        "Does drawing help?": _gains(found.rows, found.notes),
        "How hard can it get?": _curves(summary.curves(run)),
        "Does it use what it drew?": _canvases(found.canvases),
        "Where is it won or lost?": audited(run) if several else None,
        "Right drawing, right answer?": _drawn(run, found),
        "Does the answer follow the drawing?": alignment(stored) if RA_AL in scorings else None,
        "What others published": published(found.published) if found.published else None,
        "Failures": _failures(cells),
        "Episodes": gallery(run),
        "Configuration": _configuration(run.about),
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
    part = part_in_words(run.about, {name: len(cell.episodes) for name, cell in run.cells.items()})
    facts = (
        f"{sum(len(cell.episodes) for cell in run.cells.values()):,} episodes",
        f"started {run.about.started}",
        f"Sketchmark {run.about.sketchmark}",
    )
    body = tag(
        "body",
        tag("a", "Skip to the scores", href="#scores", class_="skip"),
        tag(
            "header",
            tag("p", "Does drawing help it think?", class_="kicker"),
            tag("h1", tag("bdi", model)),
            tag("p", headline(cells, found.rows), class_="headline"),
            *[tag("p", tag("strong", part))] * bool(part),
            tag("p", " · ".join(facts), class_="quiet"),
            tag("nav", *(tag("a", title, href=f"#{_anchor(title)}") for title in present), aria_label="Sections"),
        ),
        tag("main", *(_section(title, body) for title, body in present.items())),
        tag(
            "footer",
            "Intervals are 95 %. Scores are in percent, gains in percentage points. "
            "What is called a difference has a p below 0.05, corrected for all that are compared (Holm).",
            class_="quiet",
        ),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower()).strip("-")


def _section(title: str, body: Html) -> Html:
    anchor = _anchor(title)
    return tag("section", tag("h2", title, id=f"{anchor}-title"), body, id=anchor, aria_labelledby=f"{anchor}-title")


def _label(cell: CellResult | summary.CurveLine) -> str:
    drawn = f" {condition(cell.draw_with)}" if isinstance(cell, CellResult) and cell.draw_with else ""
    return f"{cell.mode}{drawn}" if cell.canvas == "own" else f"{cell.mode}{drawn}, {cell.canvas} canvas"


def _scores(
    cells: Sequence[CellResult], gains: Sequence[TableRow], readings: Sequence[str], stored: Mapping[str, CellResult]
) -> Html:
    guessed = {_place(cell): cell.baselines for cell in stored.values() if cell.baselines}
    gain_of = {(gain.task, gain.after.mode, "own"): gain for gain in gains if gain.before.mode == "direct"}
    rows: list[list[Child]] = []
    for cell in cells:
        metric = cell.metrics.get(cell.headline)
        gain = gain_of.get((cell.task, cell.mode, cell.canvas))
        rows.append(
            [
                cell.task,
                _label(cell),
                tag("span", f"{percent(metric.mean, metric.ci95)} {bracket(metric.ci95)}", class_="score")
                if metric
                else _none(cell),
                *(
                    [_guess(guessed.get((cell.task, cell.mode, cell.canvas), {}).get(cell.headline))]
                    if guessed
                    else []
                ),
                metric.n if metric else cell.n,
                _share(cell.cut),
                _share(cell.unparsed),
                _gain_mark(gain) if gain else "",
                ", ".join(f"{count} {kind}" for kind, count in cell.failures.items()) or "none",
            ]
        )
    guess = ["Guessing: constant, random, best constant"] if guessed else []
    columns = ("Task", "Mode", "Score [95 %]", *guess, "n", "Cut", "Unparsed", "Gain over direct", "Trouble")
    scorings = ", ".join(dict.fromkeys(cell.scoring for cell in cells if cell.scoring)) or "no scoring yet"
    every: list[list[Child]] = [
        [cell.task, _label(cell), name, f"{percent(value.mean, value.ci95)} {bracket(value.ci95)}", value.n]
        for cell in cells
        for name, value in cell.metrics.items()
    ]
    said = [*warned(stored), *readings]
    return join(
        as_table(f"Headline score of each task in each mode, by {scorings}", columns, rows),
        tag("ul", *(tag("li", line) for line in said)) if said else None,
        tag(
            "details",
            tag("summary", f"Every score ({len(every)})"),
            as_table("Every score", ("Task", "Mode", "Score", "Mean [95 %]", "n"), every),
        ),
    )


def _share(share: float | None) -> str:
    return "–" if share is None else f"{percent(share)} %"


def _place(cell: CellResult) -> tuple[str, str, str]:
    return cell.task, cell.mode, cell.canvas


def _guess(found: Baseline | None) -> str:
    return ", ".join(map(percent, (found.constant, found.random, found.majority))) if found else "–"


def _none(cell: CellResult) -> str:
    return f"–, {cell.problem}; sketchmark score RUN" if cell.problem else "–"


def _gain_mark(gain: TableRow) -> Html:
    return tag("span", f"{change_of(gain)} {interval_of(gain)}", class_=f"gain {gain.verdict}")


def _gains(gains: Sequence[TableRow], notes: Sequence[str]) -> Html | None:
    if not gains:
        return None
    rows: list[list[Child]] = [
        [g.task, g.label, _gain_mark(g), p_value(g.p_holm), g.difference.helped, g.difference.hurt, g.difference.same]
        for g in gains
    ]
    columns = ("Task", "Modes", "Gain [95 %]", "p (Holm)", "Helped", "Hurt", "Same")
    tasks = list(dict.fromkeys(gain.task for gain in gains))
    series: dict[str, list[plots.Point]] = {}
    for label in dict.fromkeys(gain.label for gain in gains):
        of = {gain.task: Mean.of(gain.difference) for gain in gains if gain.label == label}
        series[label] = [of.get(task) for task in tasks]
    chart = plots.bars("Gain in points, with 95 % intervals", tasks, series, signed=True)
    told = tag("ul", *(tag("li", note) for note in notes)) if notes else None
    return join(chart, as_table("One mode against another, on the same samples", columns, rows), told)


def _curves(curves: Sequence[summary.Curve]) -> Html | None:
    figures = []
    for curve in curves:
        labels = list(dict.fromkeys(str(point.value) for line in curve.lines for point in line.points))
        if curve.numeric:
            labels.sort(key=float)
        series = {
            _label(line): [{str(point.value): point for point in line.points}.get(label) for label in labels]
            for line in curve.lines
        }
        title = f"{curve.task}: score by {curve.key}"
        draw = plots.lines(title, labels, series, curve.key) if curve.numeric else None
        figures.append(draw or plots.bars(title, labels, series))
    return join(*figures) if figures else None


def _canvases(tables: Sequence[CanvasTable]) -> Html | None:
    """Show the score by canvas, with a sentence for each task."""
    if not tables:
        return None
    series: dict[str, list[plots.Point]] = {}
    for canvas in dict.fromkeys(score.canvas for table in tables for score in table.scores):
        series[canvas] = [
            next((Mean.of(score.score) for score in table.scores if score.canvas == canvas), None) for table in tables
        ]
    return join(
        plots.bars("Score by what the model saw of its own drawing", [table.task for table in tables], series),
        tag("ul", *(tag("li", f"{table.task}: {table.sentence}") for table in tables)),
    )


def _drawn(run: RunView, found: Comparison) -> Html | None:
    tables = [table for cell in run.cells.values() if (table := summary.drawing_and_answer(cell))]
    tables = [table for table in tables if table.canvas == "own"]
    if not tables:
        return None
    labels = [table.task for table in tables]
    series = {"drawing right": [table.right for table in tables], "drawing wrong": [table.wrong for table in tables]}
    sentences = {f"{row.task}: {row.drawing.sentence}": None for row in found.rows if row.drawing}
    counts = as_table(
        "Episodes by drawing and answer",
        ("Task", "Both right", "Drawing right, answer not", "Answer right, drawing not", "Neither"),
        [
            [
                table.task,
                table.right.right,
                table.right.n - table.right.right,
                table.wrong.right,
                table.wrong.n - table.wrong.right,
            ]
            for table in tables
        ],
    )
    chart = plots.bars("Score when the drawing was right, and when it was wrong", labels, series)
    return join(chart, tag("ul", *(tag("li", sentence) for sentence in sentences)), counts)


def _failures(cells: Sequence[CellResult]) -> Html:
    counted = [{**cell.failures, "left_out": cell.left_out} for cell in cells]
    kinds = sorted({kind for counts in counted for kind, count in counts.items() if count})
    if not kinds:
        return tag("p", "None: every reply came, every answer could be read.", class_="empty")
    names = [f"{cell.task} {_label(cell)}" for cell in cells]
    rows: list[list[Child]] = [
        [kind, *(counts.get(kind, 0) for counts in counted), _MEANING.get(kind, "")] for kind in kinds
    ]
    return as_table("Episodes with each kind of trouble", ("Kind", *names, "What it means"), rows)


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
    return join(as_table("What was run", ("Setting", "Value"), facts), *cells)
