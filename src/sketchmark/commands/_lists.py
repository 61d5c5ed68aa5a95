"""What `sketchmark list` prints: a line for each task under its family, a few for each model and world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sketchmark.catalog import Catalog, fits, near_misses
from sketchmark.errors import UnknownName
from sketchmark.task_files.included import in_words
from sketchmark.terminal import tell, tell_all


@dataclass(frozen=True)
class ListedTask:
    name: str
    family: str
    modes: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class TaskList:
    tasks: tuple[ListedTask, ...]
    groups: Mapping[str, Sequence[str]]
    unread: str = ""
    """How many files of an included folder could not be read, and the first of them."""


def find_tasks(catalog: Catalog, words: Sequence[str] = ()) -> TaskList:
    """Those whose name holds one of the words or fits it, and all of a family that is named; without words, all."""
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
    return ListedTask(name, catalog.family(name), tuple(told["modes"]), " ".join(told["about"].split()))


def print_tasks(found: TaskList, *, as_json: bool = False) -> None:
    from sketchmark.terminal.console import columns, has_width

    if as_json:
        _print_json(asdict(found))
        return
    for line in _task_lines(found, columns() if has_width() else None):
        tell(line)
    if found.unread:
        tell(f"could not be read: {found.unread}", err=True)


def _task_lines(found: TaskList, width: int | None) -> Iterator[str]:
    """A family's modes stand beside its name, and a task that has others says so. Of what it is about the first
    sentence, as far as there is room (in a pipe there is): `show` has it all."""
    for family in sorted({task.family for task in found.tasks}):
        tasks = [task for task in found.tasks if task.family == family]
        usual = Counter(task.modes for task in tasks).most_common(1)[0][0]
        yield f"{family} ({', '.join(usual)})"
        column = max(len(task.name) for task in tasks)
        for task in tasks:
            modes = "" if task.modes == usual else f"({', '.join(task.modes)}) "
            yield _cut(f"  {task.name:<{column}}  {modes}{task.about.split('. ')[0]}", width)
        yield ""
    if found.groups:
        yield "groups"
        column = max(map(len, found.groups))
        for name, members in found.groups.items():
            count = "1 task" if len(members) == 1 else f"{len(members)} tasks"
            yield _cut(f"  {name:<{column}}  {count}: {', '.join(members)}", width)
        yield ""
    yield "sketchmark show TASK tells more; list tasks WORD lists fewer, --json everything"


def _cut(line: str, width: int | None) -> str:
    """At the end of a word: nobody takes half a name or number for the whole."""
    if width is None or len(line) <= width:
        return line.rstrip()
    return f"{line[: width - 1].rsplit(' ', 1)[0].rstrip(' ,;:(')} …"


def print_about(told: Mapping[str, str], *, as_json: bool) -> None:
    from sketchmark.terminal.console import columns
    from sketchmark.terminal.tables import wrapped

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
