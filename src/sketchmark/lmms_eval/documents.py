"""Opened task files of lmms-eval's shape: their documents, and their functions applied to documents."""

from __future__ import annotations

import hashlib
import inspect
import shutil
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from datetime import time as moment
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple
from weakref import finalize

from sketchmark.errors import BadInput, RunConflict, SketchmarkError
from sketchmark.files.jsonl import python_literal
from sketchmark.files.tables import data_path, datasets_library
from sketchmark.lmms_eval.data import NamedData, decode_sounds, to_media
from sketchmark.lmms_eval.filters import FILTERS, Filter
from sketchmark.lmms_eval.functions import Functions, filled, quiet, read, written
from sketchmark.lmms_eval.shape import (
    FUNCTION,
    Config,
    examples_given,
    examples_split,
    features,
    functions,
    functions_in,
    mapping,
    pipelines,
    read_config,
    together,
)
from sketchmark.lmms_eval.stand_ins import MODULES
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.tasks.imports import Notify, blamed, unheard

Document = Mapping[str, Any]


class AdoptedFile:
    """A task file that the user gave, with the `--data` of its run. All its tasks share it, because scorers need
    the data too and are not given it."""

    def __init__(self, path: Path, notify: Notify) -> None:
        self.path = path
        self._notify = notify
        self._data: tuple[Path | None] | None = None
        self._opened: dict[Path | None, LmmsFile] = {}

    def reopen(self) -> None:
        """Read the file again at the next use: its author may have changed it."""
        self._opened.clear()

    def read_from(self, data: Path | None) -> None:
        """Set where its documents are; None: next to the file, or on the hub."""
        self._data = (data,)

    def opened(self, path: str) -> LmmsFile:
        """Open the file. `path` is the file that the task's functions name; any other file is refused."""
        if Path(path).resolve() != self.path.resolve():
            # A YAML file of our own shape may not use another file's code.
            raise BadInput(f"{path} was not opened as a task file of lmms-eval's shape", "name it with --include")
        data = data_path(None) if self._data is None else self._data[0]
        if data not in self._opened:
            self._opened[data] = LmmsFile(self.path, data, self._notify)
        return self._opened[data]


class _Total(NamedTuple):
    """The result of an aggregation, its inputs, the files that it wrote, and what the call showed.

    `steady`: a second call gives the same, so that the aggregation keeps no state.
    """

    results: list[Any]
    made: Any
    written: list[Path]
    seconds: float
    slow: bool
    steady: bool


SLOW, SLOWEST = 0.1, 3.0
"""Seconds per result, and for all of them. A slower aggregation is called once: it may pay a judge."""


class Influence(NamedTuple):
    """The value of each result in an aggregation's number; none, and why not. `proportion`: the number is in 0..1
    whichever results are left out."""

    values: list[float]
    why: str = ""
    proportion: bool = False


class LmmsFile:
    """A task file of lmms-eval's shape with its data: documents, and the text, images, target and results of each.

    Documents are read when one is asked for: an aggregation needs none.
    """

    def __init__(self, path: Path, data: Path | None = None, notify: Notify = unheard) -> None:
        self.path, self.config = path, read_config(path)
        self.names = functions(self.config)
        self._functions = Functions(self.names, path.parent, MODULES, notify)
        self._filters: dict[str, list[Filter]] | None = None
        self._place = data
        self._digests: dict[int, str] = {}
        self._results: dict[tuple[str, bool, tuple[str, ...]], dict[str, Any]] = {}
        self._totals: dict[str, _Total] = {}
        self.influence: dict[str, Influence] = {}
        """Metric → the influence of its results, once it is computed."""
        name = self.config.get("task", path.stem)
        if files := self._functions.files:
            notify(f"{name}: running {', '.join(files)} of {path.parent} (--trust-code)")
        self._check()

    def _check(self) -> None:
        """Find every function that is named, before the first call and before data is fetched."""
        columns = functions_in(features(self.config))
        for name in self.names:
            if name not in columns:
                self._functions[{FUNCTION: name}]
        self.features()

    def features(self) -> Any:
        """Return `datasets.Features`; None if the data's own are used."""
        if (entry := features(self.config)) is None:
            return None
        found = self._functions.value(entry)
        if not isinstance(found, datasets_library("a task file of lmms-eval's shape").Features):
            raise BadInput(f"dataset_kwargs.features of {self.path}: {entry[FUNCTION]} is not a datasets.Features")
        return found

    def function(self, key: str) -> Callable[..., Any]:
        return self._functions[self.config[key]]

    def text(self, key: str, doc: Document, settings: Config | None, where: str) -> str:
        """Return the text of a document, by a function, a column's name, or a template."""
        entry = self.config[key]
        if isinstance(entry, Mapping):
            return str(self.called(key, doc, settings, where))
        return str(doc[str(entry)]) if str(entry) in doc else filled(str(entry), doc, where)

    def target(self, doc: Document, setting: Any, where: str) -> str | list[str]:
        """Return the target of the file's own metrics; several if any of them is accepted."""
        entry = self.config.get("doc_to_target", "")
        if isinstance(entry, Mapping):
            found = self.called("doc_to_target", doc, setting, where)
        else:
            found = doc[entry] if entry in doc else _listed(filled(str(entry), doc, where))
        return [str(one) for one in found] if isinstance(found, (list, tuple)) else str(found)

    def called(self, key: str, doc: Document, settings: Any, where: str) -> Any:
        """Call a function of the file. lmms-eval passes the settings as a second argument if the file has any."""
        function = self.function(key)
        second = [*inspect.signature(function).parameters.values()][1:2]
        needed = bool(second) and second[0].default is second[0].empty and second[0].kind is not second[0].VAR_KEYWORD
        with blamed(f"{key} of {where}"):
            if second and settings is not None:
                return function(doc, dict(settings) if isinstance(settings, Mapping) else settings)
            return function(doc, {}) if needed else function(doc)

    def processed(
        self, answers: Sequence[str], doc: Document, all_docs: Any, where: str, *, jointly: bool
    ) -> dict[str, Any]:
        """Return `process_results` of the answers, for each pipeline of filters that scores them so."""
        process = self.function("process_results")
        wants_all = self.config.get("full_docs") and "full_docs" in inspect.signature(process).parameters
        found: dict[str, Any] = {}
        for suffix, replies in self.filtered(answers, doc, where, jointly=jointly).items():
            with blamed(f"process_results of {where}"):
                one = dict(process(doc, replies, **({"full_docs": all_docs} if wants_all else {})))
            found |= {f"{name}{suffix}": value for name, value in one.items()}
        return found

    def filtered(self, answers: Sequence[str], doc: Document, where: str, *, jointly: bool) -> dict[str, list[Any]]:
        """Return the replies for `process_results` by pipeline, as lmms-eval passes them: stripped, and empty for
        None. `jointly`: of the pipelines that make one score of several replies, else of the others."""
        joint = together(self.config)
        if self._filters is None:
            self._filters = {
                suffix: [self._filter(step) for step in steps] for suffix, steps in pipelines(self.config).items()
            }
        found = {}
        for suffix, steps in self._filters.items():
            if (suffix in joint) is not jointly:
                continue
            replies: Any = [list(answers)]
            for step in steps:
                with blamed(f"the filter {type(step).__name__} on {where}"):
                    replies = list(step.apply(replies, [doc]))
            left = list(replies[0]) if isinstance(replies[0], (list, tuple)) else [replies[0]]
            found[suffix] = [one.strip() if isinstance(one, str) else "" if one is None else one for one in left]
        return found

    def reduce(self, metric: Config, results: Sequence[Any], folder: Path, functions: Functions | None = None) -> Any:
        """Call the file's own aggregation on kept results. One that writes files gets a folder."""
        function = (functions or self._functions)[metric["aggregation"]]
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

    @cached_property
    def data(self) -> NamedData:
        return NamedData(self.config, self.path.parent, self._place, self.features())

    @cached_property
    def docs(self) -> Any:
        return self._made(self.data.documents)

    def documents(self) -> Iterable[Document]:
        """Return the documents: decoded by `datasets` if functions use them, otherwise as the files have them."""
        return self.docs if self.names else self.data.rows(self.data.documents)

    def known(self, number: int, doc: Document) -> str:
        """Return the digest of a document, taken when it was first read."""
        if number not in self._digests:
            self._digests[number] = digest(doc)
        return self._digests[number]

    def _document(self, number: int) -> Document:
        return self.docs[number] if self.names else next(self.data.rows(self.docs.select([number])))

    def _number_now(self, number: int, played: str) -> int:
        """Return the current number of a document that was run earlier: `process_docs` may shuffle."""
        where = self._name_of(number)
        if not played:
            raise RunConflict(f"an earlier version ran {where} without recording its content", "run it again")
        try:
            same = number < len(self.docs) and self._known_now(number) == played
        except SketchmarkError as error:
            raise RunConflict(f"the data of the run cannot be read: {error}") from error
        if same:
            return number
        if played not in self._places:
            raise RunConflict(
                f"{where} is not the one of the run: the data changed", "give the data of the run with --data"
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
        documents = decode_sounds(documents)
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
        return list(to_media(found, where, root, frames))

    def results(self, number: int, played: str, *answers: str, jointly: bool = False) -> dict[str, Any]:
        """Return `process_results` of answers to an earlier document. Each is computed once, because it may call
        a judge."""
        known = played, jointly, answers
        if known not in self._results:
            doc = self._document(self._number_now(number, played))
            self._results[known] = self.processed(answers, doc, self.docs, self._name_of(number), jointly=jointly)
        return self._results[known]

    def replies(self, number: int, played: str, *answers: str, jointly: bool = False) -> dict[str, list[Any]]:
        """Return the answers after each pipeline of filters."""
        steps = [step for one in pipelines(self.config).values() for step in one]
        needs_document = any(step.get("function") != "take_first" for step in steps)
        doc = self._document(self._number_now(number, played)) if needs_document else {}
        return self.filtered(answers, doc, self._name_of(number), jointly=jointly)

    def total(self, metric: Config, results: list[Any]) -> Any:
        """Return the file's own aggregation of all results, or raise its error. Equal inputs are computed once,
        because it may call a judge."""
        made = self.totalled(metric, results).made
        if isinstance(made, BaseException):
            raise made
        return made

    def written(self, metric: Config, results: list[Any]) -> list[Path]:
        """Return the files that the aggregation wrote. They exist as long as this object."""
        return self.totalled(metric, results).written

    def totalled(self, metric: Config, results: list[Any]) -> _Total:
        """Call the aggregation, and again to see whether it keeps state, unless it fails or is slow.

        One that does (lmms-eval's OCRBench adds into a dictionary of its module) has its number from the first call
        in a fresh copy of its file: the results of an earlier cell would be in it otherwise.
        """
        name = str(metric["metric"])
        if name not in self._totals or self._totals[name].results != results:
            folder = Path(mkdtemp())
            finalize(self, shutil.rmtree, folder, ignore_errors=True)
            began = time.perf_counter()
            made = self._attempt(metric, results, folder)
            seconds = max(time.perf_counter() - began, 1e-6)
            written = sorted(path for path in folder.rglob("*") if path.is_file())
            slow, steady = seconds > min(SLOW * len(results), SLOWEST), True
            if not slow and not isinstance(made, BaseException):
                with TemporaryDirectory() as spare, quiet():
                    steady = _same(made, self._attempt(metric, results, Path(spare)))
                    if not steady:
                        fresh = Functions(self.names, self.path.parent, MODULES)
                        first = self._attempt(metric, results, Path(spare), fresh)
                        made = made if isinstance(first, BaseException) else first
            self._totals[name] = _Total(results, made, written, seconds, slow, steady)
        return self._totals[name]

    def _attempt(self, metric: Config, results: list[Any], folder: Path, functions: Functions | None = None) -> Any:
        try:
            return self.reduce(metric, results, folder, functions)
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            return error

    def _name_of(self, number: int) -> str:
        return f"document {number} of {self.path}"


def _same(one: Any, other: Any) -> bool:
    """Compare what two calls made, NaN and arrays included."""
    return repr(written(one)) == repr(written(other))


def _listed(text: str) -> str | list[Any]:
    """Parse a filled template that is a Python list, as lmms-eval does: `{{answers}}` of a list of answers."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    try:
        found = python_literal(text)
    except ValueError:
        return text
    return found if isinstance(found, list) else text


def digest(document: Any) -> str:
    """Return a digest that is the same whenever the same document is read. An opaque object counts by its type."""
    body = hashlib.sha256()
    for piece in _pieces(document):
        body.update(b"%d:" % len(piece))
        body.update(piece)
    return body.hexdigest()[:16]


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, Mapping):
        yield b"{%d" % len(value)
        for key in sorted(value, key=str):
            yield str(key).encode("utf-8", "surrogatepass")
            yield from _pieces(value[key])
    elif isinstance(value, (list, tuple)):
        yield b"[%d" % len(value)
        for one in value:
            yield from _pieces(one)
    elif isinstance(value, (bytes, bytearray)):
        yield bytes(value)
    elif isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif value is None or isinstance(value, (bool, int, float, date, moment, timedelta, Decimal)):
        yield repr(value).encode()
    elif str(getattr(value, "dtype", "")) == "object":
        yield from _pieces(value.tolist())
    elif hasattr(value, "tobytes"):  # NumPy arrays and images
        yield f"{getattr(value, 'dtype', '')} {getattr(value, 'mode', '')} {_size(value)}".encode()
        yield _bytes(value)
    else:
        yield type(value).__name__.encode()


def _size(value: Any) -> object:
    return getattr(value, "shape", None) or getattr(value, "size", "")


def _bytes(value: Any) -> bytes:
    try:
        return bytes(value.tobytes())
    except Exception:  # a broken image is reported where it is used
        return b""
