"""A task file of lmms-eval's shape with its data and its functions at hand."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple
from weakref import finalize

from sketchmark.errors import BadInput, RunConflict, SketchmarkError
from sketchmark.files.tables import data_path
from sketchmark.picture import Picture
from sketchmark.sounds import Sound
from sketchmark.task_files.functions import blamed
from sketchmark.task_files.importing import Notify
from sketchmark.tasks.lmms_eval.config import Config, examples_given, examples_split, not_sent, pipelines
from sketchmark.tasks.lmms_eval.document_digest import digest
from sketchmark.tasks.lmms_eval.heard import heard
from sketchmark.tasks.lmms_eval.task_code import Document, TaskCode
from sketchmark.tasks.lmms_eval.visuals import shown
from sketchmark.tasks.named_data import NamedData


class AdoptedFile:
    """A task file that the user named, with the `--data` of its run. Its tasks share it: scorers need the data too,
    and are not given it."""

    def __init__(self, path: Path, notify: Notify) -> None:
        self.path = path
        self._notify = notify
        self._data: tuple[Path | None] | None = None
        self._opened: dict[Path | None, Opened] = {}

    def reopen(self) -> None:
        """Read the file again at the next use: its author may have changed it."""
        self._opened.clear()

    def read_from(self, data: Path | None) -> None:
        """Set where its documents are; None: beside the file, or on the hub."""
        self._data = (data,)

    def opened(self, path: str) -> Opened:
        """`path` is the file that the task's functions are asked about: this one, or it is refused."""
        if Path(path).resolve() != self.path.resolve():
            raise not_adopted(path)
        data = data_path(None) if self._data is None else self._data[0]
        if data not in self._opened:
            self._opened[data] = Opened(self.path, data, self._notify)
        return self._opened[data]


def not_adopted(path: str) -> BadInput:
    """A YAML file of our own shape may not use another file's code."""
    return BadInput(f"{path} was not opened as a task file of lmms-eval's shape", "name it with --include")


class _Total(NamedTuple):
    """What an aggregation made of which results, and the files that it wrote."""

    results: list[Any]
    made: Any
    written: list[Path]


class Opened(TaskCode):
    """What is asked of such a file: its documents, and of each its text, pictures, target and results. Documents are
    not read before one is asked for: an aggregation needs none."""

    def __init__(self, path: Path, data: Path | None, notify: Notify) -> None:
        super().__init__(path, notify)
        self._place = data
        self._digests: dict[int, str] = {}
        self._results: dict[tuple[str, str], dict[str, Any]] = {}
        self._totals: dict[str, _Total] = {}
        name = self.config.get("task", path.stem)
        if unsent := not_sent(self.config):
            told = ", ".join(f"{key}: {value}" for key, value in unsent.items())
            notify(f"{name}: of its generation_kwargs no model is told {told}")
        if self.files:
            notify(f"{name}: running {', '.join(self.files)} of {path.parent} (--trust-code)")
        self.check()

    @cached_property
    def data(self) -> NamedData:
        return NamedData(self.config, self.path.parent, self._place, self.features())

    @cached_property
    def docs(self) -> Any:
        return self._made(self.data.documents)

    def documents(self) -> Iterable[Document]:
        """For functions as `datasets` decodes them, else as they are in the files."""
        return self.docs if self.names else self.data.rows(self.data.documents)

    def known(self, number: int, doc: Document) -> str:
        """By what a document is known again, as it was when it was first looked at."""
        if number not in self._digests:
            self._digests[number] = digest(doc)
        return self._digests[number]

    def _document(self, number: int) -> Document:
        return self.docs[number] if self.names else next(self.data.rows(self.docs.select([number])))

    def _number_now(self, number: int, played: str) -> int:
        """Where the document that was played stands now: `process_docs` may shuffle."""
        where = self._name_of(number)
        if not played:
            raise RunConflict(f"an earlier version played {where} without noting what it holds", "play it again")
        try:
            same = number < len(self.docs) and self._known_now(number) == played
        except SketchmarkError as error:
            raise RunConflict(f"the data that was played cannot be read: {error}") from error
        if same:
            return number
        if played not in self._places:
            raise RunConflict(
                f"{where} is not the one that was played before: the data changed",
                "name the data that was played with --data",
            )
        return self._places[played]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {self._known_now(number): number for number in range(len(self.docs))}

    def _known_now(self, number: int) -> str:
        return self._digests.get(number) or self.known(number, self._document(number))

    @cached_property
    def pool(self) -> Any:
        """The documents that few-shot examples are drawn from."""
        if (given := examples_given(self.config)) is not None:
            return given
        split = examples_split(self.config)
        return self.docs if split in (None, self.data.split) else self._made(self.data.of(str(split)))

    def from_pool(self, numbers: Sequence[int]) -> list[Document]:
        if self.names or isinstance(self.pool, list):
            return [self.pool[number] for number in numbers]
        return list(self.data.rows(self.pool.select(numbers)))

    def _made(self, documents: Any) -> Any:
        documents = heard(documents)
        if "process_docs" not in self.config:
            return documents
        with blamed(f"process_docs of {self.path}"):
            return self.function("process_docs")(documents)

    def visuals(self, doc: Document, settings: Config | None, where: str, frames: int) -> list[Picture | Sound]:
        entry = self.config.get("doc_to_visual")
        if entry is None:
            return []
        if isinstance(entry, Mapping):
            found, root = self.called("doc_to_visual", doc, settings, where), None
        elif str(entry) in doc:
            found, root = doc[str(entry)], self.data.root
        else:
            raise BadInput(f"{where} has no column {entry!r}", f"it has: {', '.join(doc)}")
        return list(shown(found, where, root, frames))

    def results(self, number: int, played: str, answer: str) -> dict[str, Any]:
        """What `process_results` says of an answer to the document that was `played`; it is asked once, since it may
        ask a judge."""
        if (played, answer) not in self._results:
            doc = self._document(self._number_now(number, played))
            self._results[played, answer] = self.processed(answer, doc, self.docs, self._name_of(number))
        return self._results[played, answer]

    def replies(self, number: int, played: str, answer: str) -> dict[str, list[Any]]:
        """The answer as each pipeline leaves it."""
        steps = [step for one in pipelines(self.config).values() for step in one]
        needs_document = any(step.get("function") != "take_first" for step in steps)
        doc = self._document(self._number_now(number, played)) if needs_document else {}
        return self.filtered(answer, doc, self._name_of(number))

    def total(self, metric: Config, results: list[Any]) -> Any:
        """The file's own aggregation of all results; what it raised is raised. Whoever asks for the same again is
        told the same: it may ask a judge."""
        made = self._total(metric, results).made
        if isinstance(made, BaseException):
            raise made
        return made

    def written(self, metric: Config, results: list[Any]) -> list[Path]:
        """The files that it wrote meanwhile, here for as long as this object is."""
        return self._total(metric, results).written

    def _total(self, metric: Config, results: list[Any]) -> _Total:
        name = str(metric["metric"])
        if name not in self._totals or self._totals[name].results != results:
            folder = Path(mkdtemp())
            finalize(self, shutil.rmtree, folder, ignore_errors=True)
            try:
                made = self.reduce(metric, results, folder)
            except (Exception, SystemExit) as error:  # the user's code: anything may come
                made = error
            written = sorted(path for path in folder.rglob("*") if path.is_file())
            self._totals[name] = _Total(results, made, written)
        return self._totals[name]

    def _name_of(self, number: int) -> str:
        return f"document {number} of {self.path}"
