"""All that a run asks of a task's code, on documents that are being made up."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, meta

from bench.lmms_eval_tasks.documents import Document, Inventor, plain
from bench.lmms_eval_tasks.guesses import is_sound
from sketchmark.errors import BadInput
from sketchmark.lmms_eval.documents import LmmsFile
from sketchmark.lmms_eval.functions import filled
from sketchmark.lmms_eval.shape import mapping, reduced_by_function, specific, target_setting

_WHERE = "a made-up document"


class Attempt:
    def __init__(self, code: LmmsFile) -> None:
        self.code, self.config = code, code.config
        self.documents: list[Document] = []
        self.answer = "A"
        blocks = mapping(self.config.get("lmms_eval_specific_kwargs"))
        self.model = "says" if "default" in blocks or not blocks else str(next(iter(blocks)))
        """Some files have prompts for the models of their authors alone: then it is called like one of these."""

    def whole(self, inventor: Inventor) -> None:
        """All steps in turn; whatever the code raises is raised, with the number of its step."""
        self.documents = inventor.documents()
        self.answer = str(inventor.value("@answer", 0)) or "A"
        inventor.pairs = inventor.value("@pairs", 0) == "pairs"
        docs: Any = MadeUpSet(self.documents)
        if "process_docs" in self.config:
            docs = _at(0, self.code.function("process_docs"), docs)
        seen = []
        for doc in docs:
            _at(1, self._look, doc)
            _at(2, self._text, "doc_to_text", doc, specific(self.config, self.model))
            _at(3, self._text, "doc_to_target", doc, target_setting(self.config, self.model))
            if "process_results" in self.config:
                seen.append(_at(4, self.code.processed, self.answer, doc, docs, _WHERE))
        for metric in reduced_by_function(self.config):
            results = [one[metric["metric"]] for one in seen if one.get(metric["metric"]) is not None]
            if results:
                with tempfile.TemporaryDirectory() as aside:
                    _at(5, self.code.reduce, metric, json.loads(json.dumps(results, default=str)), Path(aside))

    def rows(self) -> list[dict[str, Any]]:
        """The documents as rows of one table."""
        rows = [plain(document.row) for document in self.documents]
        columns = dict.fromkeys(key for row in rows for key in row)
        return [{key: row.get(key) for key in columns} or {"nothing": "x"} for row in rows]

    def _text(self, key: str, doc: Document, settings: Any) -> None:
        entry = self.config.get(key)
        if isinstance(entry, Mapping):
            self.code.called(key, doc, settings, _WHERE)
        elif not str(entry).isidentifier():
            for name in _columns(str(entry or "")):
                _ = doc[name]
            filled(str(entry or ""), doc, _WHERE)
        elif key == "doc_to_text" or "process_results" not in self.config:
            _ = doc[str(entry)]

    def _look(self, doc: Document) -> None:
        """Whether it can be shown, without decoding it: that is left to the run."""
        entry = self.config.get("doc_to_visual")
        found: Any = []
        if isinstance(entry, Mapping):
            found = self.code.called("doc_to_visual", doc, specific(self.config, self.model), _WHERE)
        elif entry:
            found = doc[str(entry)]
        _check_shown(found)


def _check_shown(found: Any) -> None:
    for one in found if isinstance(found, (list, tuple)) else [found]:
        if isinstance(one, (list, tuple)):
            _check_shown(one)
        elif isinstance(one, str) and not Path(one).is_file():
            raise FileNotFoundError(one)
        elif isinstance(one, (int, float, Document)) or (isinstance(one, dict) and not _holds_something(one)):
            raise TypeError("no picture and no sound")


def _holds_something(one: dict[str, Any]) -> bool:
    return is_sound(one) or bool(one.get("bytes") or one.get("path"))


def _columns(template: str) -> list[str]:
    return sorted(meta.find_undeclared_variables(Environment().parse(template)))


def _at(step: int, call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except (Exception, SystemExit) as error:
        own = error.__cause__ if isinstance(error, BadInput) and error.__cause__ else error
        own.step = step  # type: ignore[attr-defined]
        raise own from None


class MadeUpSet(list[Any]):
    """What `process_docs` does with a data set, on documents that are being made up."""

    column_names: list[str] = []  # noqa: RUF012
    features: dict[str, Any] = {}  # noqa: RUF012

    def filter(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> MadeUpSet:
        for doc in self:
            if not function(doc, **kwargs.get("fn_kwargs", {})):
                raise LookupError("a made-up document is left out")
        return self

    def map(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> MadeUpSet:
        for number, doc in enumerate(self):
            numbered = [number] if kwargs.get("with_indices") else []
            for key, value in dict(function(doc, *numbered, **kwargs.get("fn_kwargs", {})) or {}).items():
                doc[key] = value
        return self

    def __getitem__(self, key: Any) -> Any:
        return [doc[key] for doc in self] if isinstance(key, str) else super().__getitem__(key)

    def select(self, indices: Any, *args: Any, **kwargs: Any) -> MadeUpSet:
        if not list(indices):
            raise LookupError("all made-up documents are left out")
        return self

    def _same(self, *args: Any, **kwargs: Any) -> MadeUpSet:
        return self

    sort = _same  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        return self._same
