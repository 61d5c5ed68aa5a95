"""`sketchmark voila score`: VOILA's results file against its CSV, by rule and by judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sketchmark.terminal import tell, tell_all


@click.command("score")
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
      sketchmark voila score --json_file_name results.json --csv_file_name voila.csv --distraction no
      sketchmark voila score … --judge openai/gpt-4o-2024-08-06 --batch
    A batch continues at the provider when this command is stopped; the same command finds it again.
    Exit code 1 where a verdict could not be had: the same command asks for what is missing.
    """
    import json

    from sketchmark.commands._voila_scoring import PUBLISHED_JUDGE, ScoringOrder, score_file
    from sketchmark.tasks.voila.tables import lines

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
        for line in lines(summary, by_rule=by == "rule"):
            tell(line)
        if not order.judge:
            tell(
                "\nScored by rule. Published figures are a judge's: these are not comparable with them "
                f"(--judge {PUBLISHED_JUDGE})."
            )
    failed = sum(sum(kinds.values()) for kinds in summary.get("judge", {}).get("failed_verdicts", {}).values())
    if not failed:
        return 0
    again = "all again" if order.no_cache and not order.batch else "these alone"
    told = f"{failed} verdicts could not be had and are not counted; the same command asks for {again}"
    tell(f"sketchmark: {told}", err=True)
    return 1
