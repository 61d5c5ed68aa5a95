"""A document known by what it holds: whether it is the one that was asked about is told before it is scored.

A task file of lmms-eval's shape with its data and its functions at hand.

Few-shot examples: other questions with their answers, put before a question as lmms-eval does it.

They are drawn anew for every question, by one generator with lmms-eval's own seed, so that the n-th question has the
same examples here and there, however many are played. What a file says of its examples alone (other texts, or which
they are) counts, although lmms-eval does not look at it: its author wrote it, and it is what lm-eval does.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, NamedTuple
from weakref import finalize

from sketchmark.errors import BadInput, DataMissing, RunConflict, SketchmarkError
from sketchmark.files.tables import data_path
from sketchmark.lmms_eval.data import NamedData, decode_sounds, to_media
from sketchmark.lmms_eval.functions import Document, TaskCode
from sketchmark.lmms_eval.shape import (
    Config,
    examples_given,
    examples_split,
    examples_wanted,
    mapping,
    not_sent,
    pipelines,
    worded_otherwise,
)
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.tasks.imports import Notify, blamed


def digest(document: Any) -> str:
    """The same wherever the same document is read again. Of what only its own code can look into: its kind."""
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
    elif value is None or isinstance(value, (bool, int, float, date, time, timedelta, Decimal)):
        yield repr(value).encode()
    elif str(getattr(value, "dtype", "")) == "object":
        yield from _pieces(value.tolist())
    elif hasattr(value, "tobytes"):  # numpy's, and pictures
        yield f"{getattr(value, 'dtype', '')} {getattr(value, 'mode', '')} {_size(value)}".encode()
        yield _bytes(value)
    else:
        yield type(value).__name__.encode()


def _size(value: Any) -> object:
    return getattr(value, "shape", None) or getattr(value, "size", "")


def _bytes(value: Any) -> bytes:
    try:
        return bytes(value.tobytes())
    except Exception:  # a broken picture: whoever needs it will say so
        return b""


class AdoptedFile:
    """A task file that the user named, with the `--data` of its run. Its tasks share it: scorers need the data too,
    and are not given it."""

    def __init__(self, path: Path, notify: Notify) -> None:
        self.path = path
        self._notify = notify
        self._data: tuple[Path | None] | None = None
        self._opened: dict[Path | None, LmmsFile] = {}

    def reopen(self) -> None:
        """Read the file again at the next use: its author may have changed it."""
        self._opened.clear()

    def read_from(self, data: Path | None) -> None:
        """Set where its documents are; None: beside the file, or on the hub."""
        self._data = (data,)

    def opened(self, path: str) -> LmmsFile:
        """`path` is the file that the task's functions are asked about: this one, or it is refused."""
        if Path(path).resolve() != self.path.resolve():
            raise not_adopted(path)
        data = data_path(None) if self._data is None else self._data[0]
        if data not in self._opened:
            self._opened[data] = LmmsFile(self.path, data, self._notify)
        return self._opened[data]


def not_adopted(path: str) -> BadInput:
    """A YAML file of our own shape may not use another file's code."""
    return BadInput(f"{path} was not opened as a task file of lmms-eval's shape", "name it with --include")


class _Total(NamedTuple):
    """What an aggregation made of which results, and the files that it wrote."""

    results: list[Any]
    made: Any
    written: list[Path]


class LmmsFile(TaskCode):
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


FIRST, ANY = "first_n", "default"
"""The ways to choose examples, by lmms-eval's names."""

_SEED = 1234
_EMPTY_LINE = "\n\n"


class Examples:
    """To be asked for every question of a task, in their order."""

    def __init__(self, task: LmmsFile, settings: Config | None, targets: Any) -> None:
        self._task, self._settings, self._targets = task, settings, targets
        self._wanted = examples_wanted(task.config)
        self._words = copy(task)
        self._words.config = {**task.config, **worded_otherwise(task.config)}
        self._random = Random(_SEED)

    def before(self, doc: Document) -> str:
        """What stands before the question. The question is no example of itself, so that there is one fewer where
        the file did not say that it has them from the questions (`fewshot_split`)."""
        if not self._wanted:
            return ""
        drawn = self._drawn()
        with blamed(f"comparing few-shot examples of {self._task.path}"):
            chosen = [one for one in drawn if one != doc][: self._wanted]
        return "".join(map(self._worded, chosen))

    def _drawn(self) -> list[Document]:
        config, there = self._task.config, len(self._task.pool)
        spare = examples_given(config) is None and config.get("fewshot_split") == config.get("test_split")
        wanted = self._wanted + spare
        if wanted > there:
            raise DataMissing(f"{self._task.path} wants {wanted} few-shot examples, and there are {there}")
        if mapping(config.get("fewshot_config")).get("sampler") == FIRST:
            return self._task.from_pool(range(wanted))
        return self._task.from_pool(self._random.sample(range(there), wanted))

    def _worded(self, doc: Document) -> str:
        """With its end. One whose answer is said to be nothing brings it, and its end, in its text."""
        config, where = self._words.config, f"a few-shot example of {self._task.path}"
        question = self._words.text("doc_to_text", doc, self._settings, where)
        if config["doc_to_target"] == "":
            return question
        answer = self._words.target(doc, self._targets, where)
        if answer == []:
            raise BadInput(f"{where} has no answer")
        first = answer if isinstance(answer, str) else answer[0]
        return f"{question}{config.get('target_delimiter', ' ')}{first}{config.get('fewshot_delimiter', _EMPTY_LINE)}"
