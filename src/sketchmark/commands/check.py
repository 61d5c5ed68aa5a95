"""`sketchmark check`: check every row of a question file, or a task file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sketchmark.terminal import tell, tell_all

if TYPE_CHECKING:
    from sketchmark.benchmarks.questions.samples import QuestionFile
    from sketchmark.benchmarks.questions.survey import Broken, Survey
    from sketchmark.tasks import Task


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--data", type=click.Path(path_type=Path), envvar="SKETCHMARK_DATA", help="Another folder with images.")
@click.option("--task-args", default="", help="As for `run`: type=judged, tolerance=0.01.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON, one object per file.")
def check_command(files: tuple[str, ...], data: Path | None, task_args: str, as_json: bool) -> int:
    """Check every row of a question file (.jsonl, .csv, .tsv, .parquet, .xlsx) with its images, or a task file
    (.yaml). Print how each column was understood, and list what is broken. No model is called.

    \b
    sketchmark check my_questions.jsonl
    sketchmark check my_questions.csv --data pictures/
    sketchmark check my_task.yaml
    Exit code: 0 if all is in order, 2 if something is broken.
    """
    in_order = [_file(name, data, task_args, as_json) for name in files]
    return 0 if all(in_order) else 2


def _file(name: str, data: Path | None, task_args: str, as_json: bool) -> bool:
    """Check one file. A file that cannot be read does not stop the others."""
    import msgspec

    from sketchmark.benchmarks.questions import is_questions
    from sketchmark.errors import SketchmarkError

    try:
        return _questions(name, data, task_args, as_json) if is_questions(name) else _task(name, data, as_json)
    except SketchmarkError as error:
        if as_json:
            tell_all(msgspec.json.encode({"file": name, "problem": str(error)}).decode())
        tell(f"sketchmark: {error}", err=True)
        return False


def _questions(name: str, data: Path | None, task_args: str, as_json: bool) -> bool:
    from sketchmark.catalog import Catalog
    from sketchmark.settings import parse_arguments

    return _rows(Catalog().task(name, None, parse_arguments(task_args)), data, as_json)


def _rows(task: Task, data: Path | None, as_json: bool) -> bool:
    from sketchmark.benchmarks.questions import rows
    from sketchmark.benchmarks.questions.samples import QuestionFile
    from sketchmark.benchmarks.questions.survey import survey
    from sketchmark.terminal import counted

    said = {key: str(task.declared.source.get(key, "")) for key in ("file", "type", "tolerance")}
    file = QuestionFile.located(folder=task.folder or Path(), data=data, **said)
    with counted(rows(file.path), None, f"checking {file.path.name}") as watched:
        found = survey(file, watched)
    if as_json:
        _print_json(file, found)
    else:
        _print(file, found)
    return found.rows > 0 and not found.broken_rows


def _print(file: QuestionFile, found: Survey) -> None:
    if not found.rows:
        tell(f"{file.path}: no questions")
        return
    if not found.broken_rows:
        tell(f"{file.path}: {_many(found.rows, 'question')}, all in order", bold=True)
    else:
        tell(f"{file.path}: {found.broken_rows} of {_many(found.rows, 'row')} broken", bold=True)
    for line in _grouped(found):
        tell(f"  {line}")
    if (rest := found.broken_rows - len(found.broken)) > 0:
        tell(f"  and {rest} more broken rows")
    if found.types:
        tell(f"  types:    {', '.join(f'{name} {count}' for name, count in found.types.most_common())}")
        tell(f"  pictures: {found.pictures}")
        tell("  columns:")
    for ours, theirs in found.columns.items():
        tell(f"    {theirs}: {_MEANT[ours]}")
    if found.unused:
        tell(f"  not used: {', '.join(found.unused)}")


_MEANT = {
    "id": "the id of the question",
    "question": "the question",
    "hint": "a hint, shown before the question",
    "pictures": "one or several images, as paths or in base64",
    "options": "the options, A to Z in their order",
    "answer": "the right answer",
    "type": "the type of the answer",
    "tolerance": "the tolerance of a number",
    "category": "the category, for breakdowns",
    "cluster": "the source that questions share, for intervals",
    "generation_prompt": "what the model is asked to draw",
}
"""Documented column -> its use."""

_ROWS_NAMED = 5


def _grouped(found: Survey) -> Iterator[str]:
    """Yield one line per kind of problem, with its rows: a file has the same problem in many."""
    groups: dict[str, list[Broken]] = {}
    for one in found.broken:
        groups.setdefault(re.sub(r"'[^']*'|\d+", "…", one.problem), []).append(one)
    for same in groups.values():
        if len(same) == 1:
            yield str(same[0])
            continue
        rows = ", ".join(str(one.row) for one in same[:_ROWS_NAMED])
        more = f" and {len(same) - _ROWS_NAMED} more" if len(same) > _ROWS_NAMED else ""
        yield f"{len(same)} rows ({rows}{more}), the first: {same[0].problem}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _print_json(file: QuestionFile, found: Survey) -> None:
    import msgspec

    about = {"file": str(file.path), **msgspec.to_builtins(found), "unused": list(found.unused)}
    tell_all(msgspec.json.encode(about).decode())


def _task(name: str, data: Path | None, as_json: bool) -> bool:
    """Check a task file: its schema and modes, and its question file if it has one; for lmms-eval's shape only the
    schema. Code that it names does not run."""
    import msgspec

    from sketchmark.benchmarks.questions import SOURCE, SUFFIXES
    from sketchmark.errors import BadInput
    from sketchmark.lmms_eval import is_group, is_lmms_eval, members_of, name_of, read_config
    from sketchmark.lmms_eval.shape import our_config
    from sketchmark.tasks import Task

    path = Path(name)
    if path.suffix != ".yaml":
        raise BadInput(f"{name} is neither a file of questions nor a task file", f"{', '.join(SUFFIXES)} or .yaml")
    if not path.is_file():
        raise BadInput(f"there is no file {name}")
    config, task = read_config(path), None
    if is_group(config):
        what = f"a group of {', '.join(members_of(config))}"
    elif is_lmms_eval(config):
        what = "a task file of lmms-eval's shape; `sketchmark show` tries its code and data"
    else:
        task = Task(name_of(path), our_config(path), folder=path.parent)
        for mode in task.modes:
            if not task.plays_by_code(mode):
                task.mode(mode)
        what = f"task {task.name}, modes {', '.join(task.modes)}"
    if as_json:
        tell_all(msgspec.json.encode({"file": name, "what": what}).decode())
    else:
        tell(f"{name}: {what}; in order", bold=True)
    return task is None or task.declared.source["use"] != SOURCE or _rows(task, data, as_json)
