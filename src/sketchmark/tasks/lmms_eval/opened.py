"""A task file of lmms-eval's shape with its data and its functions at hand."""

from __future__ import annotations

import inspect
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.files.tables import data_path
from sketchmark.parts import Picture
from sketchmark.task_files.functions import FUNCTION, Functions, blamed
from sketchmark.task_files.reading import read_config
from sketchmark.tasks.lmms_eval.config import Config, functions, mapping, pipelines
from sketchmark.tasks.lmms_eval.provided import MODULES
from sketchmark.tasks.lmms_eval.provided.filters import FILTERS, Filter
from sketchmark.tasks.lmms_eval.templates import filled
from sketchmark.tasks.lmms_eval.visuals import pictures
from sketchmark.tasks.named_data import NamedData
from sketchmark.terminal import tell

_TRUSTED: set[Path] = set()
"""Files that were adopted in this process. A YAML file of our own shape cannot name another one's code in passing."""

_DATA: dict[Path, Path | None] = {}
"""The `--data` that a file's documents were last read with: its scorers need them too, and are not told."""

_OPENED: dict[tuple[Path, Path | None], Opened] = {}

Document = Mapping[str, Any]


def trust(path: Path) -> None:
    """From now on the file may be opened, and is opened anew: its author may have changed it since."""
    _TRUSTED.add(path.resolve())
    for known in [known for known in _OPENED if known[0] == path]:
        del _OPENED[known]


def opened(path: Path) -> Opened:
    if path.resolve() not in _TRUSTED:
        raise BadInput(f"{path} was not opened as a task file of lmms-eval's shape", "name it with --include")
    known = (path, _DATA.get(path) or data_path(None))
    if known not in _OPENED:
        _OPENED[known] = Opened(*known)
    return _OPENED[known]


def opened_with(path: Path, data: Path | None) -> Opened:
    _DATA[path] = data
    return opened(path)


class Opened:
    """What is asked of such a file: its documents, and of each its text, pictures, target and results."""

    def __init__(self, path: Path, data: Path | None) -> None:
        self.path, self.config = path, read_config(path)
        self._coded = functions(self.config)
        self._functions = Functions(self._coded, path.parent, MODULES)
        self._results: dict[tuple[int, str], dict[str, Any]] = {}
        self._filters: dict[str, list[Filter]] | None = None
        if self._coded:
            files = ", ".join(self._functions.files)
            tell(f"{self.config.get('task', path.stem)}: running {files} of {path.parent} (--trust-code)", err=True)
            self.check()
        self.data = NamedData(self.config, path.parent, data)
        self.docs = self.data.documents
        if "process_docs" in self.config:
            with blamed(f"process_docs of {path}"):
                self.docs = self.function("process_docs")(self.docs)

    def check(self) -> None:
        """Every function that is named is there: what could not be scored after the last call is told before the
        first, and before data is fetched."""
        for name in self._coded:
            self._functions[{FUNCTION: name}]

    def function(self, key: str) -> Callable[..., Any]:
        return self._functions[self.config[key]]

    def documents(self) -> Iterable[Document]:
        """For functions as `datasets` decodes them, else as they are in the files."""
        return self.docs if self._coded else self.data.rows()

    def text(self, key: str, doc: Document, settings: Config | None, where: str) -> str:
        """A function, a column's name, or a template."""
        entry = self.config[key]
        if isinstance(entry, Mapping):
            return str(self._with_settings(key, doc, settings, where))
        return str(doc[str(entry)]) if str(entry) in doc else filled(str(entry), doc, where)

    def target(self, doc: Document, setting: Any, where: str) -> str | list[str]:
        """What the file's own metrics compare with; several where any of them will do."""
        entry = self.config.get("doc_to_target", "")
        if isinstance(entry, Mapping):
            found = self._with_settings("doc_to_target", doc, setting, where)
        else:
            found = doc[entry] if entry in doc else filled(str(entry), doc, where)
        return [str(one) for one in found] if isinstance(found, (list, tuple)) else str(found)

    def visuals(self, doc: Document, settings: Config | None, where: str, frames: int) -> list[Picture]:
        entry = self.config.get("doc_to_visual")
        if entry is None:
            return []
        if isinstance(entry, Mapping):
            found, root = self._with_settings("doc_to_visual", doc, settings, where), None
        elif str(entry) in doc:
            found, root = doc[str(entry)], self.data.root
        else:
            raise BadInput(f"{where} has no column {entry!r}", f"it has: {', '.join(doc)}")
        return list(pictures(found, where, root, frames))

    def results(self, number: int, answer: str) -> dict[str, Any]:
        """`process_results` on an answer, by each pipeline of filters; asked once, since it may ask a judge."""
        if (number, answer) not in self._results:
            doc = self.docs[number]
            found: dict[str, Any] = {}
            for suffix, replies in self._filtered(answer, doc, f"document {number} of {self.path}").items():
                with blamed(f"process_results of document {number} of {self.path}"):
                    process = self.function("process_results")
                    wants_all = self.config.get("full_docs") and "full_docs" in inspect.signature(process).parameters
                    one = process(doc, replies, **({"full_docs": self.docs} if wants_all else {}))
                found |= {f"{name}{suffix}": value for name, value in dict(one).items()}
            self._results[number, answer] = found
        return self._results[number, answer]

    def filtered(self, answer: str, number: int) -> dict[str, list[Any]]:
        needs_document = any(step.get("function") != "take_first" for one in self._steps() for step in one)
        doc = self.docs[number] if needs_document else {}
        return self._filtered(answer, doc, f"document {number} of {self.path}")

    def reduce(self, metric: Config, results: Sequence[Any], folder: Path) -> Any:
        """The file's own aggregation; one that writes a file for a benchmark's server is told where."""
        function = self._functions[metric["aggregation"]]
        takes_args = "args" in inspect.signature(function).parameters
        return function(list(results), **({"args": Namespace(output_path=str(folder))} if takes_args else {}))

    def writes_files(self, metric: Config) -> bool:
        return "args" in inspect.signature(self._functions[metric["aggregation"]]).parameters

    def _steps(self) -> Iterable[list[Config]]:
        return pipelines(self.config).values()

    def _filtered(self, answer: str, doc: Document, where: str) -> dict[str, list[Any]]:
        """What `process_results` is given, for each pipeline."""
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
            found[suffix] = list(replies[0]) if isinstance(replies[0], (list, tuple)) else [replies[0]]
        return found

    def _filter(self, step: Config) -> Filter:
        settings = {key: value for key, value in step.items() if key != "function"}
        named = step["function"]
        make = self._functions[named] if mapping(named) else FILTERS[str(named)]
        with blamed(f"the filter {named} of {self.path}"):
            made: Filter = make(**settings)
            return made

    def _with_settings(self, key: str, doc: Document, settings: Any, where: str) -> Any:
        """lmms-eval passes the settings as a second argument where the file has any."""
        function = self.function(key)
        second = [*inspect.signature(function).parameters.values()][1:2]
        needed = bool(second) and second[0].default is second[0].empty and second[0].kind is not second[0].VAR_KEYWORD
        with blamed(f"{key} of {where}"):
            if second and settings is not None:
                return function(doc, dict(settings) if isinstance(settings, Mapping) else settings)
            return function(doc, {}) if needed else function(doc)
