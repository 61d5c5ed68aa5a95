"""One task of lmms-eval, in a process of its own: loaded, given rows, played."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sketchmark
from bench.lmms_eval_tasks.attempt import Attempt
from bench.lmms_eval_tasks.documents import TRIES, Inventor
from bench.lmms_eval_tasks.finding import FAILS, LOADS, NO_MODULE, PLAYS, Finding
from bench.lmms_eval_tasks.known_rows import known_rows
from bench.lmms_eval_tasks.saving import save
from bench.lmms_eval_tasks.surroundings import other_sets, surround
from sketchmark.catalog import Catalog
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.errors import SketchmarkError
from sketchmark.folder.results_format import CellResult
from sketchmark.lmms_eval.documents import LmmsFile
from sketchmark.lmms_eval.shape import examples_given, examples_split, examples_wanted, metrics, read_config


class Says(Model):
    """Gives one answer to everything, also to what it hears."""

    hears = True

    def __init__(self, name: str, answer: str) -> None:
        super().__init__(name)
        self.answer, self.heard = answer, 0

    async def say(self, context: Context, options: Options) -> Reply:
        self.heard += len(context.sounds)
        return Reply(text=self.answer)


def try_task(folder: Path, task_file: Path, home: Path, told: Path) -> None:
    """The whole folder is included, as people do it. What is known so far always stands in the file `told`: the
    process may be ended at any time."""

    known = known_rows().get(folder.name, {})

    def tell(state: str, kind: str, reason: object = "") -> None:
        if state != PLAYS and not kind.startswith(NO_MODULE):
            kind = str(known.get("@why", kind))
        words = " ".join(str(reason).replace(str(task_file.parent), "").replace(str(home), "~").split())[:300]
        Finding(state, kind, words, task_file.name).write(told)

    surround(home, known)
    inventor = Inventor(known)
    other_sets(inventor)
    config = read_config(task_file)
    try:
        Catalog((folder,), trust_code=True).task(str(config["task"]))
        code = LmmsFile(task_file)
    except SketchmarkError as error:
        return tell(FAILS, _kind(str(error)), error)
    tell(LOADS, "not done in time", "looking for rows")
    attempt = Attempt(code)
    try:
        failed = inventor.search(attempt.whole, task_file.parent, most=1 if "@why" in known else TRIES)
        if failed is not None:
            words = f"{type(failed).__name__}: {failed} {_place(failed, task_file.parent)}"
            return tell(LOADS, _kind(words), words)
        tell(LOADS, "not done in time", "being played")
        model = Says(attempt.model, attempt.answer)
        cell = _played(model, attempt, config, folder, home)
    except SketchmarkError as error:
        return tell(LOADS, _kind(str(error)), error)
    names = [str(metric["metric"]) for metric in metrics(config)]
    given = [name for name in names if name in cell.metrics or cell.aggregate.get(name, "nan") not in (None, "nan")]
    given = given or [f"the file {one.name}" for one in sorted((home / "run").glob("**/submission/*/*"))]
    if cell.problem or cell.failures or not cell.n:
        words = f"{cell.problem} {cell.reasons} {cell.failures}"
        return tell(LOADS, _kind(words), words)
    if "audio" in str(config.get("doc_to_visual")) and not model.heard:
        return tell(LOADS, "nothing is heard", f"{cell.n} questions without a sound")
    if not given:
        return tell(LOADS, "no metric of its list gets a value", ", ".join(names))
    return tell(PLAYS, "", f"n={cell.n}, sounds={model.heard}: {', '.join(given)}")


def _played(model: Says, attempt: Attempt, config: Mapping[str, Any], folder: Path, home: Path) -> CellResult:
    """Where `--data` is looked for stands the data set with its name, as `datasets` saves it."""
    save(_splits(attempt.rows(), config), home / "data")
    run = sketchmark.run(
        model,
        str(config["task"]),
        include=(folder,),
        trust_code=True,
        data=home / "data",
        output_path=home / "run",
        no_cache=True,
    )
    [cell] = run.results.tasks.values()
    return cell


def _splits(rows: list[dict[str, Any]], config: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The last rows are few-shot examples where these come from a split of their own."""
    keys = ("test_split", "validation_split", "training_split")
    split = next((str(config[key]) for key in keys if config.get(key)), "test")
    split = re.sub(r"\W.*", "", split) or "test"
    wanted, others = examples_wanted(config), examples_split(config)
    if not wanted or others in (None, split) or examples_given(config):
        return {split: rows}
    return {split: rows[:-wanted], str(others): rows[-wanted:]}


def _place(error: BaseException, code: Path) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(code) in frame.filename]
    return f"({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


_KINDS = [
    (r"Python of its own as a whole", "a class of its own in place of what a file says (class)"),
    (r"few-shot", "few-shot examples"),
    (r"scores \d+ replies", "several replies to a question"),
    (r"there is no module (\w+)", f"{NO_MODULE}: {{}}"),
    (r"metric '(\w+)' needs process_results", "metric {} without process_results"),
    (r"aggregates by '(\w+)'", "aggregation {}"),
    (r"has no (doc_to_text|metric_list|dataset_path)", "no {}"),
    (r"(?i)offline|couldn't reach|cannot find the requested files|ConnectionError", "looks at the hub"),
    (r"Resource .* not found", "data of nltk that is not here"),
    (r"No module named '(\w+)", f"{NO_MODULE}: {{}}"),
    (r"cannot import name .* from '(\w+)", "another version of {}"),
    (r"cannot be loaded", "its own code fails when it is imported"),
    (r"dataset_kwargs", "dataset_kwargs that are not known"),
    (r"no such function", "names a function that is not there"),
    (r"NameError", "its own code uses a name that is not there"),
    (r"FileNotFoundError", "files that come with its data and are no rows"),
    (r"AssertionError: \(", "its own aggregation wants the whole data set"),
    (r"KeyError: '(pre|post)_prompt'", "its own file lacks a prompt that its code wants"),
    (r"include", "includes a file that is not there"),
]


def _kind(message: str) -> str:
    for pattern, kind in _KINDS:
        if found := re.search(pattern, message):
            return kind.format(*found.groups()) if found.groups() else kind
    return "no made-up rows fit its code"
