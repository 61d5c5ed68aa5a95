"""`sketchmark score-file`: score replies that were produced elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sketchmark.terminal import tell


@click.command()
@click.option("--task", "-t", required=True, help="The task or group the replies belong to (mmmu, vqa_rad…).")
@click.option("--predictions", "-p", required=True, type=click.Path(path_type=Path), help="The replies.")
@click.option("--scoring", default="strict", show_default=True, help="How answers are read; several with commas.")
@click.option("--data", type=click.Path(path_type=Path), help="Where the task's data is on disk.")
@click.option("--task-args", default="", help="key=value,… for the task's data (split=test).")
@click.option("--judge", default="", help="A model that judges open answers.")
@click.option("--judge-args", default="", help="key=value,… for the judge.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(**options: Any) -> int:
    """Score a file of replies with the scorer of a task.

    \b
    FILE is JSON or JSONL with `id` and `response`; a folder of MMMU's <subject>/output.json; MMMU-Pro's *.jsonl.
      sketchmark score-file --task mmmu --predictions outputs/llava --scoring strict,official
      sketchmark score-file --task vqa_rad --data data/VQA_RAD --predictions results.json --scoring strict,code-fork
    """
    from sketchmark.commands._printed import print_all, print_json
    from sketchmark.commands._unscored import tell_unscored
    from sketchmark.runs.progress import watcher
    from sketchmark.runs.score_file import score_files

    with watcher(brief=True) as looking:
        asked = {name: value for name, value in options.items() if name != "as_json"}
        results = score_files(**asked, looking=looking)
    code = 1 if tell_unscored(results.tasks, "the same command tries again") else 0
    if options["as_json"]:
        print_json(results)
        return code
    print_all(results, "--json lists them")
    for name, cell in results.tasks.items():
        for what, ids in (("unanswered", cell.unanswered), ("unknown", cell.unknown)):
            if ids:
                tell(f"{name}: {len(ids)} {what}, the first: {ids[0]}", err=True)
    return code
