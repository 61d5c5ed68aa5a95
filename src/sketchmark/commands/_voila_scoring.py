"""`sketchmark voila score`: a results file and its CSV in, all that can be said about them out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sketchmark.catalog import Catalog
from sketchmark.engines.loop import run_async
from sketchmark.errors import BadInput, CallFailed
from sketchmark.key_values import parse_arguments
from sketchmark.models.batch import connect
from sketchmark.models.batch.job import Tell
from sketchmark.models.cached import default_cache, with_cache
from sketchmark.models.secrets import remember
from sketchmark.models.tally import Counted
from sketchmark.runs.calls import Calls
from sketchmark.runs.progress import told_of_calls, watcher
from sketchmark.tasks.voila.marks import Marked, by_batch, by_judge, by_rule, steps_of
from sketchmark.tasks.voila.results_file import AnsweredQuestion, pair
from sketchmark.tasks.voila.totals import agreement, summarise

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
        summary["agreement"] = agreement(_only(ruled, asked), _only(judged, asked))
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
                        Counted(judge, calls.judge),
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
