"""One task of lmms-eval, in a process of its own: loaded, given rows, played. See bench/lmms_eval_tasks.py."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import sketchmark
from bench.fake_documents import Document, Inventor, picture
from sketchmark.catalog import Catalog
from sketchmark.errors import SketchmarkError
from sketchmark.models.base import Model, Options, Reply
from sketchmark.parts import Context
from sketchmark.task_files.functions import FUNCTION, Functions
from sketchmark.task_files.reading import read_config
from sketchmark.tasks.lmms_eval.config import functions, mapping, metrics, pipelines, specific, target_setting
from sketchmark.tasks.lmms_eval.provided import MODULES
from sketchmark.tasks.lmms_eval.provided.filters import FILTERS
from sketchmark.tasks.lmms_eval.templates import filled
from sketchmark.tasks.lmms_eval.visuals import is_sound

ROWS = 4
_MEDIA = re.compile(r"\.(mp4|mkv|webm|avi|mov|jpe?g|png|gif|wav|mp3|flac|m4a|ogg)$", re.I)


class Says(Model):
    """Gives one answer to everything."""

    def __init__(self, answer: str) -> None:
        super().__init__("says")
        self.answer = answer

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply(text=self.answer)


def tried(task_file: Path, home: Path, told: Path) -> dict[str, str]:
    def tell(state: str, kind: str, reason: object = "") -> dict[str, str]:
        found = {"state": state, "kind": kind, "reason": " ".join(str(reason).split())[:300], "task": task_file.name}
        told.write_text(json.dumps(found))
        return found

    _surroundings(home)
    inventor = Inventor()
    _other_sets(inventor)
    config = read_config(task_file)
    try:
        Catalog((task_file,), trust_code=True).task(str(config["task"]))
        code = Functions(functions(config), task_file.parent, MODULES)
        for name in functions(config):
            code[{FUNCTION: name}]
    except SketchmarkError as error:
        return tell("does not load", _why(str(error)), error)
    tell("loads", "not done in time", "looking for rows")
    if "audio" in str(config.get("doc_to_visual")):
        return tell("loads", "sound", "it is to be listened to")
    attempt = _Attempt(config, code)
    try:
        failed = inventor.search(attempt.whole, task_file.parent)
    except Sound as error:
        return tell("loads", "sound", error)
    if failed is not None:
        return tell("loads", _why(f"{type(failed).__name__}: {failed}"), f"{type(failed).__name__}: {failed}")
    try:
        _save(inventor, attempt, config, home / "data")
        folder = sketchmark.run(
            Says(attempt.answer),
            str(config["task"]),
            include=(task_file,),
            trust_code=True,
            data=home / "data",
            output_path=home / "run",
            no_cache=True,
        )
        [cell] = folder.results().tasks.values()
    except SketchmarkError as error:
        return tell("loads", _why(str(error)), error)
    except Exception as error:
        return tell("loads", "no made-up rows fit its code", f"{type(error).__name__}: {error}")
    names = [str(metric["metric"]) for metric in metrics(config)]
    if cell.problem or cell.failures or not cell.n:
        return tell("loads", _why(f"{cell.problem} {cell.reasons}"), f"{cell.problem} {cell.reasons} {cell.failures}")
    given = [name for name in names if name in cell.metrics or name in cell.aggregate]
    if not given:
        return tell("loads", "no metric of its list gets a number", ", ".join(names))
    return tell("plays", "", f"n={cell.n}: {', '.join(given)}")


_REASONS = [
    (r"is to be listened to", "sound"),
    (r"few-shot", "few-shot examples"),
    (r"scores \d+ replies", "several replies to a question"),
    (r"there is no module (\w+)", "a module that is not installed: {}"),
    (r"metric '(\w+)' needs process_results", "metric {} without process_results"),
    (r"aggregates by '(\w+)'", "aggregation {}"),
    (r"has no (doc_to_text|metric_list|dataset_path)", "no {}"),
    (
        r"(?i)offline|couldn't reach|cannot find the requested files|LocalEntryNotFound|ConnectionError",
        "looks at the hub",
    ),
    (r"Resource .* not found", "data of nltk that is not here"),
    (r"No module named '(\w+)", "a module that is not installed: {}"),
    (r"cannot be loaded", "its own code fails when it is imported"),
    (r"dataset_kwargs", "dataset_kwargs that are not known"),
    (r"no such function", "names a function that is not there"),
    (r"include", "includes a file that is not there"),
]


def _why(message: str) -> str:
    for pattern, kind in _REASONS:
        if found := re.search(pattern, message):
            return kind.format(*found.groups()) if found.groups() else kind
    return "no made-up rows fit its code"


_OF_JINJA = frozenset(
    ("if", "else", "endif", "for", "in", "endfor", "set", "strip", "range", "loop", "not", "and", "or")
)
_OF_JINJA |= {
    "replace",
    "join",
    "elif",
    "index",
    "split",
    "format",
    "length",
    "first",
    "last",
    "lower",
    "upper",
    "is",
}


class Sound(BaseException):
    """No other value is tried: with another, the task would be another."""


def _look(one: Any) -> None:
    """Whether it can be shown, without decoding it: that is left to the run."""
    if is_sound(one):
        raise Sound("it is to be listened to")
    if isinstance(one, str) and not Path(one).is_file():
        raise FileNotFoundError(one)
    if isinstance(one, dict) and not (one.get("bytes") or one.get("path")):
        raise TypeError("no picture")
    if isinstance(one, (int, float)):
        raise TypeError("no picture")


class _Attempt:
    """All that a run asks of the task's code, on documents that are being made up."""

    def __init__(self, config: Mapping[str, Any], code: Functions) -> None:
        self.config, self.code = config, code
        self.documents: list[Document] = []
        self.answer = "A"
        self.settings = specific(config, "")
        self.targets = target_setting(config, "")

    def whole(self, inventor: Inventor) -> None:
        self.documents = [inventor.document(number) for number in range(ROWS)]
        inventor.asked = []
        self.answer = str(inventor.value("@answer", 0)) or "A"
        inventor.pairs = inventor.value("@pairs", 0) == "pairs"
        if "process_docs" in self.config:
            _at(0, self.code[self.config["process_docs"]], _Set(self.documents))
        seen: list[dict[str, Any]] = []
        for doc in self.documents:
            _at(1, self._called, "doc_to_visual", doc)
            _at(2, self._called, "doc_to_text", doc)
            _at(3, self._called, "doc_to_target", doc)
            if "process_results" in self.config:
                seen.append(_at(4, self._results, doc))
        for metric in metrics(self.config):
            if seen and FUNCTION in mapping(metric.get("aggregation")):
                _at(5, self._reduced, metric, seen)

    def _called(self, key: str, doc: Document) -> None:
        entry = self.config.get(key)
        if not isinstance(entry, Mapping):
            text = str(entry or "")
            column = text.isidentifier() and (key != "doc_to_target" or "process_results" not in self.config)
            for name in re.findall(r"[A-Za-z_]\w*", "".join(re.findall(r"\{[{%].*?[%}]\}", text))):
                _ = name in _OF_JINJA or doc[name]
            _ = doc[text] if column else filled(text, doc, key)
            return
        settings = self.targets if key == "doc_to_target" else self.settings
        function = self.code[entry]
        several = len(signature(function).parameters) > 1 and settings is not None
        found = function(doc, settings) if several else function(doc)
        if key == "doc_to_visual":
            for one in found if isinstance(found, (list, tuple)) else [found]:
                _look(one)

    def _results(self, doc: Document) -> dict[str, Any]:
        steps = next(iter(pipelines(self.config).values()))
        replies: Any = [[self.answer]]
        for step in steps:
            named = step["function"]
            make = self.code[named] if mapping(named) else FILTERS[str(named)]
            settings = {key: value for key, value in step.items() if key != "function"}
            replies = list(make(**settings).apply(replies, [doc]))
        given = list(replies[0]) if isinstance(replies[0], list) else [replies[0]]
        process = self.code[self.config["process_results"]]
        wants_all = self.config.get("full_docs") and "full_docs" in signature(process).parameters
        return dict(process(doc, given, **({"full_docs": _Set(self.documents)} if wants_all else {})))

    def _reduced(self, metric: Mapping[str, Any], seen: list[dict[str, Any]]) -> None:
        results = [one[metric["metric"]] for one in seen if one.get(metric["metric"]) is not None]
        if not results:
            return
        function = self.code[metric["aggregation"]]
        with tempfile.TemporaryDirectory() as aside:
            extra = {"args": Namespace(output_path=aside)} if "args" in signature(function).parameters else {}
            function(json.loads(json.dumps(results, default=str)), **extra)


def _at(stage: int, call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except (Exception, SystemExit) as error:
        error.stage = stage  # type: ignore[union-attr]
        raise


class _Set(list[Any]):
    """What `process_docs` does with a data set, on documents that are being made up."""

    column_names: list[str] = []  # noqa: RUF012
    features: dict[str, Any] = {}  # noqa: RUF012

    def filter(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> _Set:
        for doc in self:
            if not function(doc, **kwargs.get("fn_kwargs", {})):
                raise LookupError("a made-up document is left out")
        return self

    def map(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> _Set:
        for number, doc in enumerate(self):
            numbered = [number] if kwargs.get("with_indices") else []
            for key, value in dict(function(doc, *numbered, **kwargs.get("fn_kwargs", {})) or {}).items():
                doc[key] = value
        return self

    def __getitem__(self, key: Any) -> Any:
        return [doc[key] for doc in self] if isinstance(key, str) else super().__getitem__(key)

    def select(self, indices: Any, *args: Any, **kwargs: Any) -> _Set:
        if not list(indices):
            raise LookupError("all made-up documents are left out")
        return self

    def _same(self, *args: Any, **kwargs: Any) -> _Set:
        return self

    def __getattr__(self, name: str) -> Any:
        return self._same


def _save(inventor: Inventor, attempt: _Attempt, config: Mapping[str, Any], data: Path) -> None:
    """The rows where `--data` is looked for: as the data set with its name, saved by `datasets`."""
    import datasets  # type: ignore[import-untyped]

    rows = [inventor.plain(doc) for doc in attempt.documents]
    columns = dict.fromkeys(key for row in rows for key in row)
    rows = [{key: row.get(key) for key in columns} or {"nothing": "x"} for row in rows]
    keys = ("test_split", "validation_split", "training_split")
    split = next((str(config[key]) for key in keys if config.get(key)), "test")
    made = datasets.Dataset.from_list(rows)
    datasets.DatasetDict({re.sub(r"\W.*", "", split) or "test": made}).save_to_disk(str(data))


def _surroundings(home: Path) -> None:
    """A machine on which everything is at hand that a task looks for, and nothing else is reached."""
    media = home / "media"
    media.mkdir()
    picture().save(media / "media.jpg")
    _video(media / "media.mp4")
    (media / "media.wav").write_bytes(
        b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0"
    )
    judge = ThreadingHTTPServer(("127.0.0.1", 0), _Judge)
    threading.Thread(target=judge.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{judge.server_port}/v1"
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "AZURE_ENDPOINT", "AZURE_OPENAI_ENDPOINT", "API_BASE"):
        os.environ[name] = address
    os.environ["OPENAI_API_URL"] = f"{address}/chat/completions"
    for name in ("OPENAI_API_KEY", "AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "HF_TOKEN", "GEMINI_API_KEY"):
        os.environ[name] = "made-up"
    os.environ |= {"HF_HOME": str(home / "hf"), "HOME": str(home), "TMPDIR": str(home)}
    os.environ |= {"LMMS_EVAL_DATASETS_CACHE": str(home / "hf"), "HF_DATASETS_CACHE": str(home / "hf")}
    os.chdir(home)
    time.sleep = lambda seconds: None
    _files_appear(home, media)
    _the_hub(home)


def _other_sets(inventor: Inventor) -> None:
    """A data set that a task's own code loads beside its documents is made up as well."""
    import datasets

    loaded = datasets.load_dataset

    class Splits(dict[str, _Set]):
        def __missing__(self, split: str) -> _Set:
            return _Set([Document(inventor, "other/", number) for number in range(ROWS)])

    def load(path: str, *args: Any, **kwargs: Any) -> Any:
        if "/" not in path or Path(path).exists() or "data_files" in kwargs:
            return loaded(path, *args, **kwargs)
        return Splits()[""] if "split" in kwargs else Splits()

    datasets.load_dataset = load


def _the_hub(home: Path) -> None:
    """Repositories of the hub are folders in which media are made where they are looked for."""
    import huggingface_hub

    def snapshot(repo_id: str, *args: Any, **kwargs: Any) -> str:
        folder = home / "hub" / repo_id
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    def download(repo_id: str, filename: str, *args: Any, **kwargs: Any) -> str:
        path = Path(snapshot(repo_id)) / filename
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("[]" if path.suffix == ".json" else "")
        return str(path)

    for name, made in (("snapshot_download", snapshot), ("hf_hub_download", download)):
        setattr(huggingface_hub, name, made)


def _files_appear(home: Path, media: Path) -> None:
    """A media file is made where it is looked for, below the home."""

    def made(name: Any) -> bool:
        path = Path(os.fspath(name)).absolute()
        suffix = _MEDIA.search(path.name)
        if not path.suffix and path.is_relative_to(home / "hf"):
            (path / "main" if path.name == "snapshots" else path).mkdir(parents=True, exist_ok=True)
            return True
        if not suffix or not path.is_relative_to(home):
            return False
        kind = {"jpg": "jpg", "jpeg": "jpg", "png": "jpg", "gif": "jpg"}.get(suffix[1].lower(), "mp4")
        kind = "wav" if suffix[1].lower() in ("wav", "mp3", "flac", "m4a", "ogg") else kind
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(media / f"media.{kind}", path)
        return True

    def looked_for(there: Callable[..., bool]) -> Callable[..., bool]:
        def look(name: Any, *args: Any, **kwargs: Any) -> bool:
            try:
                return there(name, *args, **kwargs) or made(name)
            except (TypeError, ValueError):
                return False

        return look

    os.path.exists, os.path.isfile = looked_for(os.path.exists), looked_for(os.path.isfile)
    Path.exists = looked_for(Path.exists)  # type: ignore[method-assign]
    Path.is_file = looked_for(Path.is_file)  # type: ignore[method-assign]
    from PIL import Image

    opened = Image.open

    def image(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, (str, Path)) and not Path(file).exists():
            raise FileNotFoundError(str(file))
        return opened(file, *args, **kwargs)

    Image.open = image  # type: ignore[assignment]


def _video(path: Path) -> None:
    try:
        av: Any = import_module("av")
    except ImportError:
        path.write_bytes(b"")
        return
    with av.open(str(path), "w") as video:
        stream = video.add_stream("mpeg4", rate=8)
        stream.width, stream.height = 64, 48
        for _ in range(16):
            video.mux(stream.encode(av.VideoFrame.from_image(picture())))
        video.mux(stream.encode())


class _Judge(BaseHTTPRequestHandler):
    """Agrees with everything."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        text = '{"score": 1, "correct": "yes", "judgement": "yes", "pred": "yes", "reason": "1"}'
        said = {"role": "assistant", "content": text}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "judge",
                "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Nothing."""
