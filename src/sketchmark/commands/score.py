"""The commands that score without the model: `score`, `score-file`, `submission` and `report-metrics`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sketchmark.commands.options import RUN, details_option, include_option
from sketchmark.terminal import notice, tell, tell_all


@click.command()
@click.argument("run", type=RUN)
@click.option(
    "--metric", "-m", "metrics", multiple=True, required=True, help="rate, green, radgraph, chexbert, bertscore."
)
def report_metrics_command(run: Path, metrics: tuple[str, ...]) -> int:
    """Score the reports of RUN with RaTEScore, GREEN, RadGraph-F1, CheXbert-F1 or BERTScore, as JSON.

    They need the extra `reports` (an error names the command that installs it) and download their weights on first
    use. Exit code 1 if a metric failed or a cell's scores are withheld.
    """
    import json

    from sketchmark.errors import BadInput, SketchmarkError
    from sketchmark.folder import RunFolder, refuse_partial_scores
    from sketchmark.results.summary import withheld

    folder = RunFolder.open(run)
    refuse_partial_scores(folder)
    found: dict[str, dict[str, float]] = {}
    problems: list[str] = []
    for cell in folder.cells:
        rows = list(folder.scores(cell))
        notes = [row.notes for row in rows if row.scored and "reference" in row.notes]
        if notes and (reason := withheld(rows)):
            problems.append(f"{cell}: {reason}; `sketchmark score {run}` tries again")
        elif notes:
            if len(notes) < len(rows):
                tell(f"{cell}: {len(rows) - len(notes)} of {len(rows)} episodes have no score: left out", err=True)
            found[cell] = {}
            for metric in metrics:
                try:
                    found[cell] |= _values(metric, [n["reference"] for n in notes], [n["reply"] for n in notes])
                except SketchmarkError:
                    raise
                except Exception as error:  # these packages may raise anything
                    problems.append(f"{cell}: {metric} failed: {type(error).__name__}: {error}")
    if not found and not problems:
        raise BadInput(f"{run} holds no reports", "iu_xray, mimic_cxr and chexpert_plus are report tasks")
    tell_all(json.dumps(found, indent=1))
    for problem in problems:
        tell(f"sketchmark: {problem}", err=True)
    return 1 if problems else 0


def _values(metric: str, references: list[str], replies: list[str]) -> dict[str, float]:
    """Return a metric's numbers. A value that is not finite is an error."""
    import math

    from sketchmark.benchmarks.medical.radiology import model_scores

    values = model_scores(metric, references, replies)
    for name, value in values.items():
        if not math.isfinite(value):
            raise ValueError(f"{name} is {value}")
    return values


@click.command()
@click.argument("run", type=RUN)
@click.option(
    "--scoring",
    default="strict",
    show_default=True,
    help="Rules that parse and score replies; several with commas. ra-al: do drawing and answer follow?",
)
@click.option("--judge", default="", help="A model that judges open answers.")
@click.option("--judge-args", default="", help="key=value,… for the judge.")
@click.option("--extractor", default="", help="A text model that quotes the answer of unparsed replies.")
@click.option("--extractor-args", default="", help="key=value,… for the extractor.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print results.json and every reply that is parsed differently."
)
@details_option
@include_option("Tasks of your own.")
@click.option("--data", type=click.Path(path_type=Path), help="Their data, if it was moved since the run.")
@click.option("--trust-code", is_flag=True, help="Run Python that a task in an --include folder names.")
def score_command(
    run: Path,
    scoring: str,
    judge: str,
    judge_args: str,
    extractor: str,
    extractor_args: str,
    as_json: bool,
    details: bool,
    include: tuple[Path, ...],
    data: Path | None,
    trust_code: bool,
) -> int:
    """Score the episodes of RUN again and print the table. The model is not called, and the old scores stay until all
    new ones are there. With several scorings, also list the replies that they parse differently.

    \b
    sketchmark score runs/my-run --scoring official
    sketchmark score runs/my-run --scoring strict,code-fork
    sketchmark score runs/my-run --scoring extracted --extractor openai/gpt-6-luna
    sketchmark score runs/my-run --scoring ra-al --judge openai/gpt-6-luna

    ra-al scores whether stored drawings follow the reasoning (RA) and whether the answer follows them (AL), by a
    judge and, if a drawing can be read, without one. It is reported next to the run's own scores.
    """

    from sketchmark.catalog import Catalog
    from sketchmark.commands.tables import print_all, print_json, tell_unscored
    from sketchmark.engines import run_async
    from sketchmark.episode import Grading
    from sketchmark.folder import RunFolder
    from sketchmark.folder.lock import RunLock
    from sketchmark.models.cache import default_cache, with_cache
    from sketchmark.progress import Calls, told_of_calls, watcher
    from sketchmark.report import write_report
    from sketchmark.results import counted
    from sketchmark.results.aggregate import aggregate, results_before
    from sketchmark.results.rescore import Helpers, rescore
    from sketchmark.results.scorings import with_replies
    from sketchmark.settings import parse_arguments

    folder = RunFolder.open(run)
    catalog = Catalog(include, trust_code, notice)
    about = folder.about()
    tasks = {
        name: catalog.played(about.cells[name].task, about.cells[name].source, data or about.data(name))
        for name in folder.cells
    }
    scorings = [name.strip() for name in scoring.split(",") if name.strip()]
    judging, quoting = (
        with_cache(catalog.model(name, parse_arguments(arguments)), default_cache()) if name else None
        for name, arguments in ((judge, judge_args), (extractor, extractor_args))
    )
    grading = Grading(judge=judging, extractor=quoting)
    helpers = Helpers(
        str(folder.path),
        tuple(str(path.resolve()) for path in include),
        trust_code,
        str(data or "") or None,
    )

    async def anew() -> None:
        calls = Calls()
        try:
            with watcher(brief=True) as looking:
                async with told_of_calls(looking, calls):
                    await rescore(folder, tasks, scorings, counted(grading, calls), looking, helpers)
        finally:
            for model in filter(None, (judging, quoting)):
                await model.close()

    lock = RunLock(folder.path)
    try:
        run_async(anew())
        unreadable = results_before(folder) is None
        aggregate(folder, tasks, about.seed, scorings)
        if unreadable:
            tell(f"sketchmark: {folder.path / 'results.json'} could not be read and was made again", err=True)
        write_report(folder)
    finally:
        lock.release()
    results = with_replies(folder, folder.results())
    if as_json:
        print_json(results)
    else:
        more = f"--json lists them, and the viewer shows them (sketchmark view {folder.path})"
        print_all(results, more, folder, details=details, replies=True)
    return 1 if tell_unscored(results.tasks, "the same command tries again") else 0


@click.command()
@click.option("--task", "-t", required=True, help="The task or group of the replies, such as mmmu or vqa_rad.")
@click.option("--predictions", "-p", required=True, type=click.Path(path_type=Path), help="The replies.")
@click.option(
    "--scoring", default="strict", show_default=True, help="Rules that parse and score replies; several with commas."
)
@click.option("--data", type=click.Path(path_type=Path), help="The task's data on disk.")
@click.option("--task-args", default="", help="key=value,… for the task's data (split=test).")
@click.option("--judge", default="", help="A model that judges open answers.")
@click.option("--judge-args", default="", help="key=value,… for the judge.")
@click.option("--extractor", default="", help="A text model that quotes the answer of unparsed replies.")
@click.option("--extractor-args", default="", help="key=value,… for the extractor.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@details_option
def score_file_command(**options: Any) -> int:
    """Score a file of replies with the scorer of a task.

    FILE is JSON or JSONL with `id` and `response`, a folder of MMMU's <subject>/output.json, or MMMU-Pro's *.jsonl.

    \b
      sketchmark score-file --task mmmu --predictions outputs/llava \\
          --scoring strict,official
      sketchmark score-file --task vqa_rad --data data/VQA_RAD \\
          --predictions results.json --scoring strict,code-fork
    """
    from sketchmark.commands.tables import print_all, print_json, tell_unscored
    from sketchmark.progress import watcher
    from sketchmark.results.score_file import score_files

    with watcher(brief=True) as looking:
        asked = {name: value for name, value in options.items() if name not in ("as_json", "details")}
        results = score_files(**asked, looking=looking)
    code = 1 if tell_unscored(results.tasks, "the same command tries again") else 0
    if options["as_json"]:
        print_json(results)
        return code
    print_all(results, "--json lists them", details=options["details"], replies=True)
    for name, cell in results.tasks.items():
        for what, ids in (("unanswered", cell.unanswered), ("unknown", cell.unknown)):
            if ids:
                tell(f"{name}: {len(ids)} {what}, the first: {ids[0]}", err=True)
    return code


@click.command()
@click.argument("run", type=RUN)
def submission_command(run: Path) -> int:
    """Write the submission files of RUN, for tasks that have them.

    MMMU test (answers withheld): one JSON of id -> answer, for EvalAI. IU X-Ray, MIMIC-CXR, CheXpert Plus:
    predictions.csv and ground_truth.csv, for report-metric suites.
    """
    from sketchmark.catalog import Catalog
    from sketchmark.errors import BadInput
    from sketchmark.folder import RunFolder
    from sketchmark.results.aggregate import write_submissions

    folder, catalog = RunFolder.open(run), Catalog()
    cells = folder.about().cells
    written = write_submissions(
        folder, {name: catalog.played(cells[name].task, cells[name].source) for name in folder.cells}
    )
    if not written:
        raise BadInput(f"no task of {run} has a submission file", "mmmu_test and the report sets have one")
    for path in written:
        tell(path)
    return 0
