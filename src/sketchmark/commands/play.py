"""`sketchmark play`: people solve samples in the browser, as a baseline for models."""

from __future__ import annotations

import re
from typing import Any

import click

from sketchmark.commands.options import open_address, setting_options
from sketchmark.errors import BadInput
from sketchmark.terminal import tell

_SETTINGS = (
    *("mode", "canvas", "steps", "limit", "repeats", "seed", "output_path", "tag", "task_args", "prompts", "data"),
    *("scoring", "include", "trust_code"),
)
_LIMIT = 10
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@click.command("play")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--name", default="me", show_default=True, help="Name of the person: the run is of human/NAME.")
@click.option("--practice", default=0, type=click.IntRange(0, 50), help="Practice samples of each task and mode.")
@click.option("--seconds", type=click.FloatRange(1), help="Time limit of a sample; then it counts as not solved.")
@click.option("--port", default=0, show_default=True, help="0 takes any free port.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def play_command(
    tasks: tuple[str, ...],
    name: str,
    practice: int,
    seconds: float | None,
    port: int,
    no_browser: bool,
    **options: Any,
) -> int:
    """Solve samples of TASKS yourself in the browser. The result is a run of human/NAME, like any model's.

    \b
      sketchmark play maze --limit 5
      sketchmark play maze paper_fold --mode direct,visual_cot \\
          --name ann --practice 1

    You see exactly the texts and images that a model gets, and your answers are parsed and scored as a model's. The
    same command resumes where you stopped. Without --limit, it shows 10 samples of each task and mode.

    Exit code: 0 when all samples were shown, 1 when you stopped before.
    """
    from sketchmark.engines import run_async
    from sketchmark.errors import RunStopped
    from sketchmark.folder import RunFolder
    from sketchmark.human import PREFIX, Human, Person
    from sketchmark.human.server import alone
    from sketchmark.human.visit import Practice, Visit, last_page
    from sketchmark.runs import prepare

    if not _NAME.fullmatch(name):
        raise BadInput(f"--name {name[:60]!r} is not a name", "up to 40 letters, digits, dots and dashes")
    person = Person(name)
    options["limit"] = options["limit"] or _LIMIT
    path = options.pop("output_path") or f"runs/human-{name}"
    run = prepare(
        Human(person), ",".join(tasks), **options, output_path=path, cache=f"{path}/calls", concurrency=1, quiet=True
    )
    for line in run.warnings:
        tell(f"warning: {line}", err=True)
    facts = [", ".join(dict.fromkeys(cell.name for cell in run.cells)), f"{run.cells[0].limit} samples of each"]
    facts += [f"{seconds:g} s for each sample"] if seconds else []
    visit = Visit(
        person, run, f"{run.settings.seed}:{name}", Practice(practice, practice), seconds, welcome={"facts": facts}
    )
    stopped = False

    def ready(address: str) -> None:
        tell(f"Solve {', '.join(tasks)} as {PREFIX}{name} on {address}  (Ctrl-C to stop)")
        open_address(address, no_browser)

    async def course() -> dict[str, Any]:
        nonlocal stopped
        try:
            await visit.take_place()
        except RunStopped:
            stopped = True
        return last_page(RunFolder(run.path), stopped=stopped)

    run_async(alone(person, port, ready, course))
    if (run.path / "results.json").exists():
        from sketchmark.commands.tables import print_all

        folder = RunFolder(run.path)
        print_all(folder.results(), f"the viewer shows them (sketchmark view {run.path})", folder)
    tell(f"run folder: {run.path}")
    if stopped:
        tell("stopped before the last sample; the same command resumes", err=True)
    return int(stopped)


play_command.params += [option for option in setting_options({}) if option.name in _SETTINGS]
