"""What the functions, templates and filters of a task file make of a document and of a reply."""

from __future__ import annotations

import ast
import inspect
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.tables import datasets_library
from sketchmark.task_files.foreign import read_config
from sketchmark.task_files.functions import FUNCTION, Functions, blamed, functions_in
from sketchmark.task_files.importing import Notify, unheard
from sketchmark.tasks.lmms_eval.config import Config, features, functions, mapping, pipelines
from sketchmark.tasks.lmms_eval.kept import read
from sketchmark.tasks.lmms_eval.provided import MODULES
from sketchmark.tasks.lmms_eval.provided.filters import FILTERS, Filter
from sketchmark.tasks.lmms_eval.templates import filled

Document = Mapping[str, Any]


class TaskCode:
    """Nothing is run before it is asked for."""

    def __init__(self, path: Path, notify: Notify = unheard) -> None:
        self.path, self.config = path, read_config(path)
        self.names = functions(self.config)
        self._functions = Functions(self.names, path.parent, MODULES, notify)
        self._filters: dict[str, list[Filter]] | None = None

    @property
    def files(self) -> list[str]:
        """What of the user's is run."""
        return self._functions.files

    def check(self) -> None:
        """Every function that is named is there: what could not be scored after the last call is told before the
        first, and before data is fetched."""
        columns = functions_in(features(self.config))
        for name in self.names:
            if name not in columns:
                self._functions[{FUNCTION: name}]
        self.features()

    def features(self) -> Any:
        """`datasets.Features`, None where the data's own will do."""
        if (entry := features(self.config)) is None:
            return None
        found = self._functions.value(entry)
        if not isinstance(found, datasets_library("a task file of lmms-eval's shape").Features):
            raise BadInput(f"dataset_kwargs.features of {self.path}: {entry[FUNCTION]} is no datasets.Features")
        return found

    def function(self, key: str) -> Callable[..., Any]:
        return self._functions[self.config[key]]

    def text(self, key: str, doc: Document, settings: Config | None, where: str) -> str:
        """A function, a column's name, or a template."""
        entry = self.config[key]
        if isinstance(entry, Mapping):
            return str(self.called(key, doc, settings, where))
        return str(doc[str(entry)]) if str(entry) in doc else filled(str(entry), doc, where)

    def target(self, doc: Document, setting: Any, where: str) -> str | list[str]:
        """What the file's own metrics compare with; several where any of them will do."""
        entry = self.config.get("doc_to_target", "")
        if isinstance(entry, Mapping):
            found = self.called("doc_to_target", doc, setting, where)
        else:
            found = doc[entry] if entry in doc else _listed(filled(str(entry), doc, where))
        return [str(one) for one in found] if isinstance(found, (list, tuple)) else str(found)

    def called(self, key: str, doc: Document, settings: Any, where: str) -> Any:
        """lmms-eval passes the settings as a second argument where the file has any."""
        function = self.function(key)
        second = [*inspect.signature(function).parameters.values()][1:2]
        needed = bool(second) and second[0].default is second[0].empty and second[0].kind is not second[0].VAR_KEYWORD
        with blamed(f"{key} of {where}"):
            if second and settings is not None:
                return function(doc, dict(settings) if isinstance(settings, Mapping) else settings)
            return function(doc, {}) if needed else function(doc)

    def processed(self, answer: str, doc: Document, all_docs: Any, where: str) -> dict[str, Any]:
        """`process_results` on an answer, by each pipeline of filters."""
        process = self.function("process_results")
        wants_all = self.config.get("full_docs") and "full_docs" in inspect.signature(process).parameters
        found: dict[str, Any] = {}
        for suffix, replies in self.filtered(answer, doc, where).items():
            with blamed(f"process_results of {where}"):
                one = dict(process(doc, replies, **({"full_docs": all_docs} if wants_all else {})))
            found |= {f"{name}{suffix}": value for name, value in one.items()}
        return found

    def filtered(self, answer: str, doc: Document, where: str) -> dict[str, list[Any]]:
        """What `process_results` is given, for each pipeline: as lmms-eval hands it on, without spaces around, and
        with nothing for None."""
        if self._filters is None:
            self._filters = {
                suffix: [self._filter(step) for step in steps] for suffix, steps in pipelines(self.config).items()
            }
        found = {}
        for suffix, steps in self._filters.items():
            replies: Any = [[answer]]
            for step in steps:
                with blamed(f"the filter {type(step).__name__} on {where}"):
                    replies = list(step.apply(replies, [doc]))
            left = list(replies[0]) if isinstance(replies[0], (list, tuple)) else [replies[0]]
            found[suffix] = [one.strip() if isinstance(one, str) else "" if one is None else one for one in left]
        return found

    def reduce(self, metric: Config, results: Sequence[Any], folder: Path) -> Any:
        """The file's own aggregation, of results as they are kept; one that writes files is told where."""
        function = self._functions[metric["aggregation"]]
        told = Namespace(
            output_path=str(folder),
            log_samples_suffix="model_outputs",
            model="model",
            tasks=str(self.config.get("task", self.path.stem)),
        )
        return function(read(list(results)), **({"args": told} if self.writes_files(metric) else {}))

    def writes_files(self, metric: Config) -> bool:
        return "args" in inspect.signature(self._functions[metric["aggregation"]]).parameters

    def _filter(self, step: Config) -> Filter:
        settings = {key: value for key, value in step.items() if key != "function"}
        named = step["function"]
        make = self._functions[named] if mapping(named) else FILTERS[str(named)]
        with blamed(f"the filter {mapping(named).get(FUNCTION, named)} of {self.path}"):
            made: Filter = make(**settings)
            return made


def _listed(text: str) -> str | list[Any]:
    """A template that comes out as a list of Python's is one, as in lmms-eval: `{{answers}}` of a list of answers."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text
    return found if isinstance(found, list) else text
