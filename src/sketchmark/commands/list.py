"""`sketchmark list`: tasks by family, models and worlds; and `sketchmark show`: the prompts of a task and one
sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sketchmark.catalog import Catalog, fits, near_misses
from sketchmark.commands.options import include_option, output_option
from sketchmark.errors import UnknownName
from sketchmark.tasks.files import in_words
from sketchmark.terminal import notice, tell, tell_all
from sketchmark.terminal.tables import tell_wrapped, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sketchmark.episode.sample import Content, Sample
    from sketchmark.media.sound import Sound
    from sketchmark.tasks import Task


@dataclass(frozen=True)
class ListedTask:
    name: str
    family: str
    modes: tuple[str, ...]
    about: str
    generated: bool = False
    """It needs no data."""


@dataclass(frozen=True)
class TaskList:
    tasks: tuple[ListedTask, ...]
    groups: Mapping[str, Sequence[str]]
    unread: str = ""
    """Number of files in an included folder that could not be read, and the first of them."""


def find_tasks(catalog: Catalog, words: Sequence[str] = ()) -> TaskList:
    """Return the tasks whose name contains or matches one of the words, and all of a family that is named; without
    words, all tasks."""
    tasks = [_listed(catalog, name) for name in catalog.task_names()]
    unread = catalog.unread(lambda name: _wanted(name, words))
    found = TaskList(
        tuple(task for task in tasks if _wanted(task.name, words) or task.family in words),
        {name: catalog.group_members(name) for name in catalog.group_names() if _wanted(name, words)},
        in_words(unread) if unread else "",
    )
    if not found.tasks and not found.groups:
        if unread:
            raise unread[0].error
        _refuse("task or group", words, [*(task.name for task in tasks), *catalog.group_names()])
    return found


def find_about(told: Mapping[str, str], what: str, words: Sequence[str]) -> dict[str, str]:
    found = {name: about for name, about in told.items() if _wanted(name, words)}
    if not found:
        _refuse(what.removesuffix("s"), words, list(told))
    return found


def _refuse(what: str, words: Sequence[str], known: Sequence[str]) -> None:
    raise UnknownName(f"no {what} fits {' or '.join(map(repr, words))}", near_misses(words[0], known))


def _wanted(name: str, words: Sequence[str]) -> bool:
    return not words or any(word.lower() in name.lower() or fits(name, word) for word in words)


def _listed(catalog: Catalog, name: str) -> ListedTask:
    told = catalog.summary(name)
    about = " ".join(told["about"].split())
    return ListedTask(name, catalog.family(name), tuple(told["modes"]), about, told["generated"])


def print_tasks(found: TaskList, *, as_json: bool = False) -> None:
    from sketchmark.terminal.console import columns, has_width

    if as_json:
        _print_json(asdict(found))
        return
    for line in _task_lines(found, columns() if has_width() else _ENDLESS):
        tell(line)
    if found.unread:
        tell(f"could not be read: {found.unread}", err=True)


_ENDLESS = 100_000
"""Width of a pipe, whose lines are for programs."""


def _task_lines(found: TaskList, width: int) -> Iterator[str]:
    """Yield the lines, first the tasks that need no data. The usual modes follow the family's name, and a task with
    other modes lists them. Only the first sentence about a task is printed; `show` prints all of it."""
    families: dict[str, list[ListedTask]] = {}
    for task in found.tasks:
        families.setdefault(task.family, []).append(task)
    for family, tasks in sorted(families.items(), key=lambda one: (-_generated(one[1]), one[0])):
        usual = Counter(task.modes for task in tasks).most_common(1)[0][0]
        yield from wrapped(f"{family} ({', '.join(usual)}): {_NEEDED[_generated(tasks)]}", width)
        column = max(len(task.name) for task in tasks)
        for task in tasks:
            modes = "" if task.modes == usual else f"({', '.join(task.modes)}) "
            yield from _entry(task.name, f"{modes}{task.about.split('. ')[0]}", column, width)
        yield ""
    if found.groups:
        yield "groups"
        column = max(map(len, found.groups))
        for name, members in found.groups.items():
            count = "1 task" if len(members) == 1 else f"{len(members)} tasks"
            more = f" and {len(members) - _MEMBERS} more" if len(members) > _MEMBERS else ""
            yield from _entry(name, f"{count}: {', '.join(members[:_MEMBERS])}{more}", column, width)
        yield ""
    yield from wrapped("Data comes from the hub (the extra `data`) or from --data PATH.", width)
    yield from wrapped("`sketchmark show TASK` prints more; `list tasks WORD` lists fewer, --json everything.", width)


_MEMBERS = 3
_NEEDED = {2: "generated, no data needed", 1: "generated or from data", 0: "needs data"}


def _generated(tasks: Sequence[ListedTask]) -> int:
    """Return 2 if all of them are generated, 1 if some are, else 0."""
    return all(task.generated for task in tasks) + any(task.generated for task in tasks)


def _entry(name: str, about: str, column: int, width: int) -> list[str]:
    return wrapped(about, width, f"  {name:<{column}}  ") or [f"  {name}"]


def print_about(told: Mapping[str, str], *, as_json: bool) -> None:
    from sketchmark.terminal.console import columns

    if as_json:
        _print_json([{"name": name, "about": about} for name, about in told.items()])
        return
    column = max(map(len, told)) + 2
    for name, about in told.items():
        for number, line in enumerate(wrapped(about, max(20, columns() - column))):
            tell(f"{name if not number else '':<{column}}{line}")


def _print_json(value: Any) -> None:
    import json

    tell_all(json.dumps(value, indent=1, ensure_ascii=False))


@click.command()
@click.argument("what", default="tasks", type=click.Choice(["tasks", "models", "worlds"]))
@click.argument("words", nargs=-1, metavar="[WORD ...]")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@include_option("Tasks or models of your own.")
@click.option("--trust-code", is_flag=True, help="Run Python that a task in an --include folder names.")
def list_command(
    what: str, words: tuple[str, ...], as_json: bool, include: tuple[Path, ...], trust_code: bool
) -> int:
    """List tasks, models or worlds; with a WORD only those whose name contains or matches it.

    \b
      sketchmark list
      sketchmark list models
      sketchmark list tasks maze
      sketchmark list tasks 'uni_mmmu*' --json
    """
    from sketchmark import models as registry
    from sketchmark.catalog import Catalog

    catalog = Catalog(include, trust_code, notice)
    if what == "tasks":
        print_tasks(find_tasks(catalog, words), as_json=as_json)
    elif what == "models":
        models = registry.about(catalog.model_names())
        print_about(find_about(models, what, words), as_json=as_json)
    else:
        print_about(find_about(_worlds(catalog), what, words), as_json=as_json)
    return 0


def _worlds(catalog: Catalog) -> dict[str, str]:
    """Return the first two paragraphs of each world's docstring."""
    return {world.name: " ".join(" ".join(world.about.split("\n\n")[:2]).split()) for world in catalog.worlds}


@click.command()
@click.argument("task")
@click.option("--mode", default="", help="Only this mode.")
@click.option("--prompts", default="", help="A prompt set of the task.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--data", type=click.Path(path_type=Path), envvar="SKETCHMARK_DATA", help="Where the task's data is on disk."
)
@output_option("Write the sample's images into this folder.", "--save")
@include_option("Tasks of your own.")
@click.option("--trust-code", is_flag=True, help="Run Python that a task in an --include folder names.")
def show_command(
    task: str, mode: str, prompts: str, seed: int, data: Path | None, output_path: Path | None,
    include: tuple[Path, ...], trust_code: bool,
) -> int:  # fmt: skip
    """Show the prompts of TASK, which may be a question file, exactly as a model would get them."""
    from sketchmark.catalog import Catalog
    from sketchmark.errors import DataMissing
    from sketchmark.tasks import TaskOptions

    catalog = Catalog(include, trust_code, notice)
    pick = catalog.pick(task)[0]
    found = catalog.task(pick.task, TaskOptions(prompts=prompts))
    tell(found.name, bold=True)
    tell_wrapped(found.about)
    world = found.declared.source["use"].partition(".")[0]
    if world in catalog.worlds:
        for paragraph in catalog.worlds[world].about.strip().split("\n\n"):
            tell()
            tell_wrapped(" ".join(paragraph.split()))
        tell()
    tell_wrapped(f"headline score: {found.headline}    prompt sets: {', '.join(sorted(found.prompt_sets))}")
    try:
        sample = next(found.samples(seed=seed, data=data, limit=1), None)
    except DataMissing as error:
        tell(f"(no sample: {error})")
        sample = None
    for name in [mode or pick.mode] if mode or pick.mode else found.declared.modes:
        _show_mode(found, str(name), sample)
    if sample and output_path:
        _save(sample, output_path)
    return 0


def _show_mode(task: Task, name: str, sample: Sample | None) -> None:
    mode = task.mode(name)
    in_words = ", each drawing put into words" if mode.in_words else ""
    tell()
    tell(f"── {name}: protocol {mode.protocol_name}{in_words}", bold=True)
    tell_wrapped(f"generation: {_plain(mode.saying.key())}")
    tell_wrapped(f"drawing: {_plain(mode.drawing.key())}")
    if sample is None:
        for key, value in mode.prompts.items():
            tell_all(f"[{key}] {value}")
        return
    prompts = mode.fill(sample, "truth")
    tell(f"sample {sample.id}:")
    for part in prompts.parts():
        tell_all(_in_short(part))
    for key in mode.prompts:
        if key not in ("inputs", "prompt") and "@" not in key and isinstance(mode.prompts[key], str):
            tell_all(f"  {key}: {prompts.text(key)}")


def _in_short(part: Content) -> str:
    from sketchmark.media import Picture

    if isinstance(part, str):
        return _indent(part)
    if isinstance(part, Picture):
        return f"  [picture {part.size[0]}x{part.size[1]}]"
    return f"  [sound, {part.format}, {len(part.data):,} bytes]"


def _plain(options: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in options.items() if value not in (None, {}))


def _indent(text: str) -> str:
    return "\n".join(f"  │ {line}" for line in text.splitlines())


def _save(sample: Sample, folder: Path) -> None:
    from sketchmark.files import file_name
    from sketchmark.media import Picture

    folder.mkdir(parents=True, exist_ok=True)
    pictures = {name: [one] if isinstance(one, Picture) else one for name, one in sample.pictures.items()}
    shown: list[tuple[str, Sequence[Picture | Sound]]] = [*pictures.items(), *sample.sounds.items()]
    for name, several in shown:
        for number, one in enumerate(several):
            path = folder / f"{file_name(name)}{number or ''}.{one.format}"
            path.write_bytes(one.data)
            tell(f"wrote {path}")
