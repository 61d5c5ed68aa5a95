"""`sketchmark audit` (where a drawing gain comes from) and `sketchmark compare` (modes, canvases and runs)."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sketchmark.audit import AT_COST_LIMIT, Settling, audit, divided
from sketchmark.audit.contrasts import DRAWING_MODE, MODES, lines
from sketchmark.audit.contrasts import as_json as in_json
from sketchmark.catalog import Catalog
from sketchmark.commands import run as _run
from sketchmark.commands.options import RUN, details_option, output_option
from sketchmark.commands.outcome import exit_code
from sketchmark.comparison import SORTS, sorted_rows
from sketchmark.comparison.leaderboard import Prices
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.report import report_run
from sketchmark.runs import prepare
from sketchmark.secrets import keys_not_needed
from sketchmark.stats.intervals import as_percent
from sketchmark.stats.repeats import Division
from sketchmark.terminal import notice, tell, tell_all
from sketchmark.terminal.tables import tell_wrapped

_LIMIT, _MOST = 100, 500


def audit_and_print(
    *,
    model: str,
    tasks: str,
    until: str | None,
    limit: int | None,
    block: int,
    margin: float,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    plan: float | None,
    **options: Any,
) -> int:
    if not model or not tasks:
        raise BadInput("an audit needs --model and --tasks to run, or a RUN to look at", "sketchmark audit --help")
    modes = _modes(tasks, Catalog(options["include"], options["trust_code"], notice))
    most = limit or (_MOST if until else _LIMIT)
    with keys_not_needed() if dry_run else nullcontext():
        prepared = prepare(
            model,
            [f"{task}_{mode}" for task, found in modes.items() for mode in found],
            canvas="all",
            limit=min(block, most) if until else most,
            quiet=quiet or as_json,
            **options,
        )
    for line in prepared.warnings:
        tell(f"warning: {line}", err=True)
    if dry_run:
        from sketchmark.commands.outcome import print_estimate

        print_estimate(prepared)
        return 0
    settling = Settling(frozenset(modes), margin, block, most, lambda: prepared.budget.used_up)
    folder = prepared.play(report_run, settling.grow if until else None)
    plans = _plans(folder.path, plan, options["prices"], None)
    outcomes = settling.outcomes
    print_audit(folder.path, margin=margin, as_json=as_json, quiet=quiet, outcomes=outcomes, plans=plans)
    if not prepared.quiet:
        tell(f"run folder: {folder.path}")
        tell(f"report:     {folder.report_file}")
    out_of_money = AT_COST_LIMIT in settling.outcomes.values() if until else prepared.is_stopped_by_cost()
    return exit_code(folder, prepared, at_cost_limit=out_of_money)


def _modes(tasks: str, catalog: Catalog) -> dict[str, list[str]]:
    """Return the modes of each task that an audit runs."""
    found = {}
    for name in dict.fromkeys(pick.task for pick in catalog.pick(tasks)):
        has = catalog.task(name).modes
        if DRAWING_MODE not in has or "direct" not in has:
            raise BadInput(
                f"task {name!r} cannot be audited: it has no mode {DRAWING_MODE if 'direct' in has else 'direct'}",
                f"an audit needs direct and {DRAWING_MODE}; `sketchmark show {name}` lists what it has",
            )
        found[name] = [mode for mode in MODES if mode in has]
        if "text_cot" not in has:
            tell(f"warning: {name} has no mode text_cot: a picture is not held against words", err=True)
    return found


def print_audit(
    run: Path,
    *,
    margin: float,
    as_json: bool,
    quiet: bool = False,
    outcomes: Mapping[str, str] | None = None,
    plans: Mapping[str, Division | str] | None = None,
) -> None:
    found = audit(run, margin)
    if as_json:
        planned = {task: one if isinstance(one, str) else asdict(one) for task, one in (plans or {}).items()}
        made = {**in_json(found), "until": dict(outcomes or {}), **({"plan": planned} if plans else {})}
        tell_all(json.dumps(made, indent=1, ensure_ascii=False))
    elif not quiet:
        tell_all("\n".join(lines(found)))
        for task, outcome in (outcomes or {}).items():
            tell(f"{task}: {outcome}")
        for task, one in (plans or {}).items():
            tell_wrapped(f"Plan for {task}: {one if isinstance(one, str) else _in_words(one)}")


def _plans(run: Path, budget: float | None, prices: Path | None, most: int | None) -> dict[str, Division | str]:
    """Divide a budget of calls, or of money if there are prices."""
    if budget is None:
        return {}
    if not math.isfinite(budget):
        raise BadInput(f"--plan {budget} is not a budget", "give a number of calls, or with --prices of money")
    from sketchmark.models.wrappers import price_of

    cost = price_of(prices, RunFolder.open(run).about().model.name) if prices else lambda usage: usage.get("calls", 0)
    return divided(run, budget, cost, most)


def _in_words(one: Division) -> str:
    return (
        f"--limit {one.samples} --repeats {one.repeats} --answers {one.answers} costs {one.cost:,.6g} in direct and "
        f"{DRAWING_MODE}, and gives the gain to about ±{as_percent(one.half_width)} points."
    )


_CHOSEN = {"mode", "canvas", "limit", "shard", "log_samples", "details", "verbose", "show_settings"}
"""Options of `sketchmark run` that an audit sets."""


@click.command("audit")
@click.argument("run", required=False, type=RUN)
@click.option("--limit", type=click.IntRange(2), help="Samples of each task [default: 100; --until settled: 500].")
@click.option(
    "--until",
    type=click.Choice(["settled"]),
    help="Add samples in blocks until the drawing gain is settled, at most --limit or --max-cost.",
)
@click.option("--block", type=click.IntRange(2), default=20, show_default=True, help="Samples per block (--until).")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="A difference whose interval is within ± this is negligible.",
)
@click.option(
    "--plan",
    type=click.FloatRange(0, min_open=True),
    metavar="BUDGET",
    help="Divide so many calls, or money with --prices, among samples (at most --limit), repeats and answers.",
)
@click.option("--json", "as_json", is_flag=True, help="All numbers as JSON.")
def audit_command(run: Path | None, **options: Any) -> int:
    """Run blind, direct, text_cot and visual_cot on every canvas that the task allows, and show where the gain comes
    from.

    \b
    Each with its interval, and the number of samples that would settle it:
      direct − blind     what the images of the question add
      oracle − own       the cost of wrong drawings
      oracle, not right  the cost of misreading correct ones
      own − blank        what the drawing's content adds
      own − text_cot     what an image adds over text
      follows corrupt    how often a wrong drawing is believed

    It is an ordinary run: the same command resumes it, and report and viewer show it. A run folder that has the cells
    is audited without calls. Exit codes are those of `sketchmark run`.

    \b
      sketchmark audit -m player/sketcher -t maze,sliding,jigsaw --limit 60
      sketchmark audit -m player/sketcher -t maze --until settled --margin 0.05
      sketchmark audit runs/player-sketcher
      sketchmark audit runs/player-sketcher --plan 5000
    """

    if run is None:
        return audit_and_print(**options)
    if options["model"] or options["tasks"]:
        raise click.UsageError("give a RUN to look at, or --model and --tasks to run; not both")
    plans = _plans(run, options["plan"], options["prices"], options["limit"])
    print_audit(run, margin=options["margin"], as_json=options["as_json"], plans=plans)
    return 0


def _shared() -> list[click.Option]:
    """Return the options of `sketchmark run`, so that an audit can do all that a run can."""
    options = (param for param in _run.run_command.params if isinstance(param, click.Option))
    shared = [copy.copy(param) for param in options if param.name not in _CHOSEN]
    for param in shared:
        param.required = False
    return shared


audit_command.params += _shared()


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="FOLDER | RUN [RUN ...]", type=RUN)
@click.option("--metric", default="", help="Compare this score instead of each task's headline.")
@click.option("--power", type=float, metavar="GAIN", help="How many samples would show a gain of this size (0.05).")
@click.option("--published", is_flag=True, help="Show published scores.")
@click.option("--anyway", is_flag=True, help="Compare although prompts, scoring or data differ.")
@click.option(
    "--format",
    "form",
    default="table",
    show_default=True,
    type=click.Choice(["table", "md", "csv", "latex", "json"]),
    help="csv and json hold all digits.",
)
@click.option(
    "--sort", type=click.Choice(list(SORTS)), help="Order of the rows, best first [default: score in a leaderboard]."
)
@click.option("--tag", "tags", multiple=True, help="Only runs with this label; given twice: with both.")
@details_option
@click.option("--prices", type=click.Path(path_type=Path, exists=True), help="A price table or run file, for costs.")
@output_option("Write there instead of printing.", folder=False)
def compare_command(
    runs: tuple[Path, ...], metric: str, power: float | None, published: bool, anyway: bool, form: str,
    sort: str | None, tags: tuple[str, ...], details: bool, prices: Path | None, output_path: Path | None,
) -> None:  # fmt: skip
    """Compare modes and canvases within a run, and further runs with the first, on the same samples; or print the
    leaderboard of a folder of runs.

    \b
      sketchmark compare runs/a runs/b
      sketchmark compare runs --format latex --output_path board.tex

    The answer comes first; --details adds p values, breakdowns by group and what each canvas shows.
    Differences run from the first to the second: positive means that drawing, or the later run, is better.
    Published scores are marked: `differs`, `compatible` or `too few to tell` weighs both uncertainties.
    """
    from sketchmark.comparison import compare
    from sketchmark.comparison.formats import BOARD_FORMATS, FORMATS
    from sketchmark.comparison.leaderboard import is_shelf, leaderboard

    shelf = len(runs) == 1 and is_shelf(runs[0])
    if tags and not shelf:
        runs = tuple(run for run in runs if set(tags) <= set(RunFolder.open(run).about().tags))
    if shelf:
        if power is not None or anyway or published:
            raise BadInput(
                "--power, --anyway and --published are for comparing runs",
                f"name them: sketchmark compare {runs[0]}/…",
            )
        found = leaderboard(runs[0], metric=metric, prices=_prices(prices), sort=sort or "score", tags=tags)
        text = BOARD_FORMATS[form](found, details)
    elif prices is not None:
        raise BadInput("--prices is for the leaderboard of a folder of runs", "name the folder they are in")
    else:
        compared = compare(runs, metric=metric, power=power, anyway=anyway, published=published)
        text = FORMATS[form](sorted_rows(compared, sort) if sort else compared, details)
    if output_path:
        output_path.write_text(text, "utf-8")
        tell(f"written to {output_path}")
    else:
        tell_all(text)


def _prices(file: Path | None) -> Prices:
    from sketchmark.models.wrappers import price_of

    return (lambda model: price_of(file, model)) if file else (lambda model: None)
