"""`sketchmark score`: score a run again, without the model."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.commands._include import include_option
from sketchmark.terminal import notice, tell


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--scoring",
    default="strict",
    show_default=True,
    help="How answers are read; several with commas stand side by side. ra-al: do drawing and answer follow?",
)
@click.option("--judge", default="", help="A model that judges open answers.")
@click.option("--judge-args", default="", help="key=value,… for the judge.")
@click.option("--json", "as_json", is_flag=True, help="Print results.json and every reply that is read differently.")
@include_option("Where tasks of your own are.")
@click.option(
    "--data", type=click.Path(path_type=Path), help="Where their data is now; unless it was moved, run.json says it."
)
@click.option("--trust-code", is_flag=True, help="Run Python that a task in an --include folder names.")
def command(
    run: Path,
    scoring: str,
    judge: str,
    judge_args: str,
    as_json: bool,
    include: tuple[Path, ...],
    data: Path | None,
    trust_code: bool,
) -> int:
    """Score the episodes of RUN again and print the table. The model is not asked, and the old scores stay until all
    new ones are there. Of several scorings it also says which replies they read differently.

    \b
    sketchmark score runs/my-run --scoring official
    sketchmark score runs/my-run --scoring strict,code-fork
    sketchmark score runs/my-run --scoring ra-al --judge openai/gpt-6-luna
    ra-al asks of stored drawings whether they follow the reasoning (RA) and whether the answer follows them (AL),
    by a judge and, where a drawing can be read, without; it stands beside the run's own scores.
    """

    from sketchmark.catalog import Catalog
    from sketchmark.commands._printed import print_all, print_json
    from sketchmark.commands._unscored import tell_unscored
    from sketchmark.engines.loop import run_async
    from sketchmark.key_values import parse_arguments
    from sketchmark.models.cached import default_cache, with_cache
    from sketchmark.report import write_report
    from sketchmark.runs.aggregate import aggregate, results_before
    from sketchmark.runs.calls import Calls
    from sketchmark.runs.grading import counted
    from sketchmark.runs.lock import RunLock
    from sketchmark.runs.progress import told_of_calls, watcher
    from sketchmark.runs.readings import with_replies
    from sketchmark.runs.rescore import rescore
    from sketchmark.runs.store import RunFolder
    from sketchmark.scores import Grading

    folder = RunFolder.open(run)
    catalog = Catalog(include, trust_code, notice)
    about = folder.about()
    tasks = {
        name: catalog.played(about.cells[name].task, about.cells[name].source, data or about.data(name))
        for name in folder.cells
    }
    scorings = [name.strip() for name in scoring.split(",") if name.strip()]
    grading = Grading(
        judge=with_cache(catalog.model(judge, parse_arguments(judge_args)), default_cache()) if judge else None
    )

    async def anew() -> None:
        calls = Calls()
        try:
            with watcher(brief=True) as looking:
                async with told_of_calls(looking, calls):
                    await rescore(folder, tasks, scorings, counted(grading, calls.judge), looking)
        finally:
            if grading.judge:
                await grading.judge.close()

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
        print_all(results, f"--json lists them, and the viewer shows them (sketchmark view {folder.path})")
    return 1 if tell_unscored(results.tasks, "the same command tries again") else 0
