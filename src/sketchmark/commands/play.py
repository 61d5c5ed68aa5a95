"""`sketchmark play`: people solve samples in the browser, as a baseline for models."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sketchmark.commands.options import is_given, open_address, setting_options
from sketchmark.errors import BadInput
from sketchmark.secrets import remember
from sketchmark.terminal import tell

if TYPE_CHECKING:
    from sketchmark.human.study import Study

_SETTINGS = (
    *("mode", "canvas", "steps", "limit", "repeats", "seed", "output_path", "tag", "task_args", "prompts", "data"),
    *("scoring", "include", "trust_code"),
)
_LIMIT = 10
_SHORTEST = 16
_HOST = re.compile(r"([A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){0,10})?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@click.command("play")
@click.argument("tasks", nargs=-1)
@click.option("--name", default="me", show_default=True, help="Name of the person: the run is of human/NAME.")
@click.option("--practice", default=0, type=click.IntRange(0, 50), help="Practice samples of each task and mode.")
@click.option("--seconds", type=click.FloatRange(1), help="Time limit of a sample; then it counts as not solved.")
@click.option("--port", default=0, show_default=True, help="0 takes any free port.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--study", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Study file (YAML).")
@click.option("--hosted", is_flag=True, help="Serve the study to many people at once; needs --token-env.")
@click.option("--token-env", default="", help="Environment variable with the token that admits people.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on (--hosted).")
@click.option("--public-host", default="", help="Name that people reach this server by, over TLS (--hosted).")
@click.option("--forget", default="", metavar="PERSON", help="Delete all that the study has of a person, and stop.")
@click.pass_context
def play_command(
    context: click.Context,
    /,
    tasks: tuple[str, ...],
    study: Path | None,
    hosted: bool,
    token_env: str,
    host: str,
    public_host: str,
    forget: str,
    **options: Any,
) -> int:
    """Solve samples of TASKS yourself in the browser. The result is a run of human/NAME, like any model's.

    \b
      sketchmark play maze --limit 5
      sketchmark play maze paper_fold --mode direct,visual_cot \\
          --name ann --practice 1
      sketchmark play --study study.yaml --hosted --token-env STUDY_TOKEN

    You see exactly the texts and images that a model gets, and your answers are parsed and scored as a model's. The
    same command resumes where you stopped. Without --limit, it shows 10 samples of each task and mode.

    With --hosted, the people of a study take part at the same time, each in a separate run. The group's run is
    written whenever a person has finished, and by --study FILE without --hosted.

    Exit code: 0 when all samples were shown, 1 when you stopped before.
    """
    if study is None:
        if hosted or token_env or forget or public_host:
            raise BadInput("--hosted, --token-env, --public-host and --forget are for a study", "add --study FILE")
        if not tasks:
            raise BadInput("no tasks", "sketchmark play maze, or --study FILE")
        return _play_alone(tasks, **options)
    given = [name for name in ("name", "practice", "seconds", *_SETTINGS) if is_given(context, name)]
    if tasks or (given := [name for name in given if name != "output_path"]):
        named = f"--{given[0].replace('_', '-')}" if given else tasks[0]
        raise BadInput(f"{named} and a study file", "the study file says what people are shown")
    return _play_study(
        study,
        options["output_path"],
        hosted=hosted,
        token_env=token_env,
        listen=(host, options["port"], public_host),
        forgotten=forget,
    )


def _play_study(
    file: Path,
    out: Path | None,
    *,
    hosted: bool,
    token_env: str,
    listen: tuple[str, int, str],
    forgotten: str,
) -> int:
    from sketchmark.engines import run_async
    from sketchmark.human.group import forget, regroup
    from sketchmark.human.server import hosting
    from sketchmark.human.study import Hall, Study

    study = Study(file, out)
    for line in study.warnings:
        tell(f"warning: {line}", err=True)
    if forgotten:
        forget(study, forgotten)
        tell(f"{forgotten} is deleted from {study.root}")
        return 0
    host, port, public = listen
    if hosted:
        token = remember(os.environ.get(token_env, "")) if token_env else ""
        if len(token) < _SHORTEST:
            raise BadInput(
                f"--hosted needs a token of {_SHORTEST} characters or more in an environment variable",
                "export STUDY_TOKEN=…, and add --token-env STUDY_TOKEN",
            )
        if not _HOST.fullmatch(public):
            raise BadInput(f"--public-host {public[:80]!r} is not the name of a host", "study.example.org")
        study.write()

        def ready(address: str) -> None:
            own = address.partition("?")[0]
            where = f"https://{public}/" if public else own
            tell(f"{study.file.study} is on {own}  (Ctrl-C to stop)")
            tell(f"people open {where}?token=… with the token of {token_env}")

        try:
            run_async(hosting(Hall(study, public, lambda: _regrouped(study)), port, ready, token, host))
        finally:
            regroup(study)
        return 0
    made = regroup(study)
    if made is None:
        tell(f"no person of {study.root} counts yet", err=True)
        return 1
    _print(made)
    return 0


def _regrouped(study: Study) -> None:
    from sketchmark.human.group import regroup

    made = regroup(study)
    finished = sum(bool(notes.finished) for _, notes, _ in study.people())
    tell(f"{finished} people have finished{f'; group: {made}' if made else ''}")


def _print(path: Path) -> None:
    from sketchmark.commands.tables import print_all
    from sketchmark.folder import RunFolder

    folder = RunFolder(path)
    if folder.results_file.exists():
        print_all(folder.results(), f"the viewer shows them (sketchmark view {path})", folder)
    tell(f"run folder: {path}")


def _play_alone(
    tasks: tuple[str, ...],
    name: str,
    practice: int,
    seconds: float | None,
    port: int,
    no_browser: bool,
    **options: Any,
) -> int:
    from sketchmark.engines import run_async
    from sketchmark.errors import RunStopped
    from sketchmark.folder import RunFolder
    from sketchmark.folder.format import PEOPLE
    from sketchmark.human import Human, Person
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
        tell(f"Solve {', '.join(tasks)} as {PEOPLE}{name} on {address}  (Ctrl-C to stop)")
        open_address(address, no_browser)

    async def course() -> dict[str, Any]:
        nonlocal stopped
        try:
            await visit.take_place()
        except RunStopped:
            stopped = True
        return last_page(RunFolder(run.path), stopped=stopped)

    run_async(alone(person, port, ready, course))
    _print(run.path)
    if stopped:
        tell("stopped before the last sample; the same command resumes", err=True)
    return int(stopped)


play_command.params += [option for option in setting_options({}) if option.name in _SETTINGS]
