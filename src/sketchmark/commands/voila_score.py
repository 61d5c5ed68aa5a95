"""`sketchmark voila score`: the scores of a results file and its CSV, by rule and by judge."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from sketchmark.benchmarks.voila.results_file import AnsweredQuestion, pair
from sketchmark.benchmarks.voila.totals import (
    Marked,
    by_batch,
    by_judge,
    by_rule,
    judge_agreement,
    steps_of,
    summarise,
)
from sketchmark.catalog import Catalog
from sketchmark.engines import run_async
from sketchmark.errors import BadInput, CallFailed
from sketchmark.models.cache import default_cache, with_cache
from sketchmark.models.providers.batch import Tell, connect
from sketchmark.models.wrappers import CountedModel
from sketchmark.progress import Calls, told_of_calls, watcher
from sketchmark.secrets import remember
from sketchmark.settings import parse_arguments
from sketchmark.terminal import tell, tell_all


@click.command("score", short_help="Score steps 1 to 4, by rule or with a judge.")
@click.option(
    "--json_file_name",
    "results",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The results file.",
)
@click.option(
    "--csv_file_name",
    "table",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The questions.",
)
@click.option(
    "--distraction", required=True, type=click.Choice(["yes", "no"]), help="Which judge prompt step 3 gets."
)
@click.option("--judge", default="", help="A model that judges too (published: openai/gpt-4o-2024-08-06).")
@click.option("--judge_args", default="", help="key=value,… for the judge (base_url=…).")
@click.option("--batch", is_flag=True, help="Ask the judge through the Batch API: half the price, up to a day.")
@click.option(
    "--batch_jsonl_file",
    "sent",
    default="batch",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Start of the names of the request files.",
)
@click.option(
    "--output_batch_job_file",
    "output",
    default="results",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Start of the names of the files with the judge's answers.",
)
@click.option(
    "--open_api_key",
    help="The original's way to give the key: judges as published. Better: export OPENAI_API_KEY, --judge, --batch.",
)
@click.option(
    "--answered_only", is_flag=True, help="Leave rows without an answer out, instead of counting them as 0."
)
@click.option("--by", type=click.Choice(["rule"]), help="Also a table for each structure.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of the call cache, for live judging.")
@click.option("--no_cache", is_flag=True, help="Ask the judge even what it has answered before.")
@click.option("--concurrency", default=16, show_default=True, type=click.IntRange(1), help="Live questions at once.")
def command(as_json: bool, by: str | None, distraction: str, open_api_key: str | None, **options: Any) -> int:
    """Score steps 1 to 3 (and 4): by rule, free and offline, and with --judge by a model as well.

    \b
      sketchmark voila score --json_file_name results.json \\
          --csv_file_name voila.csv --distraction no
      sketchmark voila score --json_file_name results.json \\
          --csv_file_name voila.csv --distraction no \\
          --judge openai/gpt-4o-2024-08-06 --batch

    A batch continues at the provider when this command is stopped; the same command finds it again. Exit code 1 if a
    verdict is missing: the same command asks for it again.
    """
    import json

    from sketchmark.benchmarks.voila.totals import parts
    from sketchmark.terminal.tables import Table, print_table, tell_wrapped

    if open_api_key:
        tell(
            "warning: a key on the command line is visible to others on this machine; export OPENAI_API_KEY instead",
            err=True,
        )
        if not options["judge"]:
            # The published command has this key and no judge: its judge is fixed, and always asked in batches.
            options |= {"judge": PUBLISHED_JUDGE, "batch": True}
            tell(f"judging with {PUBLISHED_JUDGE} through the Batch API, as published", err=True)
    order = ScoringOrder(distraction=distraction == "yes", key=open_api_key, **options)
    summary = score_file(order, lambda line: tell(line, err=True))
    if as_json:
        tell_all(json.dumps(summary, indent=1, ensure_ascii=False))
    else:
        for part in parts(summary, by_rule=by == "rule"):
            if isinstance(part, Table):
                print_table(part)
            else:
                tell_wrapped(part)
        if not order.judge:
            tell_wrapped(
                "Scored by rule. Published figures are a judge's: these are not comparable with them "
                f"(--judge {PUBLISHED_JUDGE})."
            )
    failed = sum(sum(kinds.values()) for kinds in summary.get("judge", {}).get("failed_verdicts", {}).values())
    if not failed:
        return 0
    again = "all again" if order.no_cache and not order.batch else "only these"
    told = f"{failed} verdicts could not be had and are not counted; the same command asks for {again}"
    tell(f"sketchmark: {told}", err=True)
    return 1


PUBLISHED_JUDGE = "openai/gpt-4o-2024-08-06"
_KEY = "OPENAI_API_KEY"


@dataclass(frozen=True)
class ScoringOrder:
    results: Path
    table: Path
    distraction: bool
    judge: str = ""
    judge_args: str = ""
    batch: bool = False
    sent: Path = Path("batch")
    output: Path = Path("results")
    key: str | None = field(default=None, repr=False)
    answered_only: bool = False
    cache: Path | None = None
    no_cache: bool = False
    concurrency: int = 16


def score_file(order: ScoringOrder, tell: Tell) -> dict[str, Any]:
    for option, given in (("--batch", order.batch), ("--judge_args", order.judge_args)):
        if given and not order.judge:
            raise BadInput(f"{option} needs a judge", f"add --judge {PUBLISHED_JUDGE}")
    paired = pair(order.results, order.table)
    missing = set(paired.missing)
    items = [item for item in paired.items if not (order.answered_only and item.question in missing)]
    if not items or len(missing) == len(paired.items):
        raise BadInput(f"no answer in {order.results} belongs to a row of {order.table}")
    ruled = by_rule(items)
    summary: dict[str, Any] = {
        "questions": len(items),
        "missing": paired.missing,
        "missing_count_as_0": not order.answered_only,
        "surplus": paired.surplus,
        "unchecked": paired.unchecked,
        "rule": summarise(items, ruled),
    }
    if order.judge:
        with _lent(order.key):
            judged = _judged(order, items, tell)
        asked = [item for item in items if item.question not in missing]
        summary["judge"] = {"model": order.judge, "batch": order.batch, **summarise(items, judged)}
        summary["agreement"] = judge_agreement(_only(ruled, asked), _only(judged, asked))
    return summary


def _only(marked: Marked, items: list[AnsweredQuestion]) -> Marked:
    """Rows without an answer are 0 by both and would make the two agree more than they do."""
    return {step: {item.question: verdicts[item.question] for item in items} for step, verdicts in marked.items()}


def _judged(order: ScoringOrder, items: list[AnsweredQuestion], tell: Tell) -> Marked:
    arguments = parse_arguments(order.judge_args)
    if order.key and "api_key_env" in arguments:
        raise BadInput("--open_api_key and api_key_env both name the judge's key", "leave one out")
    if order.batch:
        connection = connect(order.judge, arguments)

        async def through_batch() -> Marked:
            try:
                return await by_batch(connection, items, order.distraction, order.sent, order.output, tell)
            finally:
                await connection.close()

        return run_async(through_batch())
    kept = None if order.no_cache else order.cache or default_cache()
    judge = with_cache(Catalog().model(order.judge, arguments), kept)

    async def live() -> Marked:
        calls = Calls()
        try:
            with watcher() as looking:
                looking.begin("verdicts", len(items) * len(steps_of(items)), 0)
                async with told_of_calls(looking, calls):
                    marked = await by_judge(
                        CountedModel(judge, calls.judge),
                        items,
                        order.distraction,
                        order.concurrency,
                        lambda failed: looking.played("verdicts", failed),
                    )
                looking.end("verdicts")
            return marked
        finally:
            await judge.close()

    return run_async(live())


@contextmanager
def _lent(key: str | None) -> Iterator[None]:
    """A key from the command line is put where keys are looked for, for as long as they are needed."""
    if key is None:
        yield
        return
    before = os.environ.get(_KEY)
    os.environ[_KEY] = remember(key)
    try:
        yield
    except CallFailed as error:
        if error.kind == "auth":
            error.hint = "check the key that --open_api_key gave"
        raise
    finally:
        if before is None:
            del os.environ[_KEY]
        else:
            os.environ[_KEY] = before
