"""Task files of lmms-eval's shape, played as they are: people bring their own tasks.

What such a file may say: docs/benchmarks/lmms-eval-tasks.md, "Task files".

What such a file names with `!function` is the user's own Python and can do anything the user can, so it runs only
when the user said so. Keys that would change a score and are not understood are refused, never ignored.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from sketchmark.desk import Desk
from sketchmark.episode import Episode
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.tables import as_picture
from sketchmark.models import combined_prompt
from sketchmark.parts import Picture, Sample
from sketchmark.protocols import PROTOCOLS
from sketchmark.task import Grading, Scores, for_model
from sketchmark.task_files.functions import FUNCTION, function, functions_in
from sketchmark.task_files.prompts import FilledPrompts
from sketchmark.tasks.named_data import NamedData

_TRUSTED: set[Path] = set()
"""Files that were adopted in this process. A YAML file of our own shape cannot name another one's code in passing."""

_DATA: dict[Path, Path | None] = {}
"""The `--data` that a file's documents were last read with: its scorers need them too, and are not told."""

_OUTPUT_TYPES = ("generate_until", "generate_visual_cot")
_FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def adopt(path: Path, trusted: bool, model: str = "") -> dict[str, Any]:
    """A Sketchmark task for a file of lmms-eval's shape. `model` selects its per-model prompts."""
    from sketchmark.task_files.reading import read_config

    config = read_config(path)
    _check(path, config)
    code = functions_in(config)
    if code and not trusted:
        raise BadInput(
            f"task file {path} runs Python of its own ({', '.join(code[:4])})",
            "add --trust-code if you trust it: it can do anything you can",
        )
    metrics = [str(metric["metric"]) for metric in _metrics(config)]
    if not metrics:
        raise BadInput(f"task file {path}: metric_list names no metric")
    _TRUSTED.add(path.resolve())
    here = {"task_file": str(path)}
    adopted: dict[str, Any] = {
        "about": f"A task file of lmms-eval's shape: {path.name}.",
        "source": {"use": "lmms_eval:documents", **here, "model": model},
        "generation": _generation(config, model),
        "modes": {
            "direct": {"protocol": "direct", "prompts": {"inputs": ["<visuals>", "{question}"]}},
            "visual_cot": {
                "protocol": "lmms_eval:two_stages",
                "prompts": {
                    "inputs": ["<visuals>"],
                    "generation_prompt": "{generation_prompt}",
                    "ask": "{question}",
                },
            },
        },
        "scorers": [{"use": "lmms_eval:score", **here}],
        "guesses": [],  # its `process_results` may ask a judge that costs money: it is called for real replies only
        "headline": metrics[0],
    }
    if any(FUNCTION in _mapping(metric.get("aggregation")) for metric in _metrics(config)):
        adopted["aggregate"] = {"use": "lmms_eval:totals", **here}
    return adopted


def documents(*, seed: int, data: Path | None, task_file: str, model: str = "") -> Iterator[Sample]:
    """The file says itself what its data is; it lies beside the file, under `data`, or on the hub."""
    _DATA[Path(task_file)] = data
    task = _opened(Path(task_file))
    settings = _specific(task.config, model)
    for index, doc in enumerate(task.documents()):
        where = f"document {index} of {task_file}"
        text = task.text("doc_to_text", doc, settings, where)
        generation_prompt, question = combined_prompt.split(text) or (settings.get("generation_prompt"), text)
        fields = {"question": question}
        if generation_prompt:
            fields["generation_prompt"] = str(generation_prompt).replace("{question}", question)
        target: dict[str, Any] = {"doc": index}
        if "doc_to_target" in task.config:
            target["answer"] = task.text("doc_to_target", doc, settings, where)
        yield Sample(
            id=f"{index:06d}", pictures={"visuals": task.visuals(doc, settings, where)}, fields=fields, target=target
        )


async def _two_stages(desk: Desk, prompts: FilledPrompts) -> None:
    if "generation_prompt" not in prompts.sample.fields:
        raise BadInput(
            "this task has no generation prompt",
            "doc_to_text must return [GEN_PROMPT]…[/GEN_PROMPT][QUESTION]…[/QUESTION]",
        )
    await PROTOCOLS["draw_then_answer"].play(desk, prompts)


two_stages = replace(PROTOCOLS["draw_then_answer"], play=_two_stages)


def score(sample: Sample, episode: Episode, grading: Grading, *, task_file: str) -> Scores:
    """The file's own `process_results`, or its metrics against `doc_to_target`."""
    task = _opened(Path(task_file))
    answer = episode.answer
    until = _mapping(task.config.get("generation_kwargs")).get("until") or ()
    for stop in filter(None, [until] if isinstance(until, str) else until):
        answer = answer.partition(stop)[0]
    if "process_results" not in task.config:
        target = str(sample.target.get("answer", ""))
        found: dict[str, Any] = {
            str(metric["metric"]): _exact(answer, target, metric) for metric in _metrics(task.config)
        }
    else:
        doc = task.docs[sample.target["doc"]]
        with _blamed(f"process_results of document {sample.target['doc']} of {task_file}"):
            found = dict(task.call("process_results", doc, [answer]))
    values = {name: _number(value) for name, value in found.items()}
    results = json.loads(json.dumps(found, default=str))
    return Scores({name: value for name, value in values.items() if value is not None}, {"results": results})


def totals(rows: Sequence[Mapping[str, Any]], scoring: str, *, task_file: str) -> dict[str, Any]:
    """Metrics with an aggregation of their own, over all rows that have a result."""
    task = _opened(Path(task_file))
    found: dict[str, Any] = {}
    for metric in _metrics(task.config):
        name, aggregation = str(metric["metric"]), _mapping(metric.get("aggregation"))
        results = [row["notes"].get("results", {}).get(name) for row in rows]
        if FUNCTION in aggregation:
            reduce = function(aggregation, task.folder)
            with _blamed(f"the aggregation of {name} in {task_file}"):
                found[name] = reduce([result for result in results if result is not None])
    return found


class _Opened:
    """A task file with its data and its functions at hand."""

    def __init__(self, path: Path, config: Mapping[str, Any], data: Path | None) -> None:
        self.config, self.folder = config, path.parent
        self.data = NamedData(config, self.folder, data)
        self.docs = self.data.documents
        if "process_docs" in config:
            with _blamed(f"process_docs of {path}"):
                self.docs = self.call("process_docs", self.docs)

    def documents(self) -> Iterable[Mapping[str, Any]]:
        """For functions as `datasets` decodes them, else as they are in the files."""
        return self.docs if functions_in(self.config) else self.data.rows()

    def call(self, key: str, *arguments: Any) -> Any:
        return function(self.config[key], self.folder)(*arguments)

    def text(self, key: str, doc: Mapping[str, Any], settings: Mapping[str, Any], where: str) -> str:
        """A function, a column's name, or a template with `{{column}}`."""
        entry = self.config[key]
        if isinstance(entry, Mapping):
            return str(self._with_settings(key, doc, settings, where))
        if str(entry) in doc:
            return str(doc[str(entry)])

        def column(match: re.Match[str]) -> str:
            if match[1] not in doc:
                raise BadInput(f"{where} has no column {match[1]!r}", f"it has: {', '.join(doc)}")
            return str(doc[match[1]])

        rest = _FIELD.sub("", str(entry))
        if "{%" in rest or "{{" in rest:
            raise BadInput(f"{key} of {where} is more than a template of columns", "write it as a !function")
        return _FIELD.sub(column, str(entry))

    def visuals(self, doc: Mapping[str, Any], settings: Mapping[str, Any], where: str) -> list[Picture]:
        entry = self.config.get("doc_to_visual")
        if entry is None:
            return []
        if isinstance(entry, Mapping):
            found = self._with_settings("doc_to_visual", doc, settings, where)
        elif str(entry) in doc:
            found = doc[str(entry)]
        else:
            raise BadInput(f"{where} has no column {entry!r}", f"it has: {', '.join(doc)}")
        pictures = found if isinstance(found, (list, tuple)) else [found]
        return [as_picture(one, where, self.data.root) for one in pictures if one is not None]

    def _with_settings(self, key: str, doc: Mapping[str, Any], settings: Mapping[str, Any], where: str) -> Any:
        """lmms-eval passes the prompt settings as a second argument to those who take one."""
        takes = len(inspect.signature(function(self.config[key], self.folder)).parameters)
        with _blamed(f"{key} of {where}"):
            return self.call(key, doc, settings) if takes > 1 else self.call(key, doc)


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    """An error in the user's code is one line that says where."""
    try:
        yield
    except SketchmarkError:
        raise
    except Exception as error:  # the user's code: anything may come
        raise BadInput(f"{what} failed: {type(error).__name__}: {error}") from error


def _opened(path: Path) -> _Opened:
    if path.resolve() not in _TRUSTED:
        raise BadInput(f"{path} was not opened as a task file of lmms-eval's shape", "name it with --include")
    return _with_data(path, _DATA.get(path))


@cache
def _with_data(path: Path, data: Path | None) -> _Opened:
    from sketchmark.task_files.reading import read_config

    return _Opened(path, read_config(path), data)


def _check(path: Path, config: Mapping[str, Any]) -> None:
    kind = config.get("output_type", "generate_until")
    if kind not in _OUTPUT_TYPES:
        raise BadInput(f"task file {path} is of type {kind}", f"only {' and '.join(_OUTPUT_TYPES)} can be played")
    for key in ("dataset_path", "doc_to_text", "metric_list"):
        if not config.get(key):
            raise BadInput(f"task file {path} has no {key}")
    if config.get("num_fewshot"):
        raise BadInput(f"task file {path} asks for few-shot examples (num_fewshot)", "they cannot be played")
    steps = [step.get("function") for one in config.get("filter_list") or () for step in one.get("filter", ())]
    if unknown := [step for step in steps if step != "take_first"]:
        raise BadInput(f"task file {path} filters answers by {unknown[0]!r}", "do it in process_results")
    for metric in _metrics(config):
        aggregation = metric.get("aggregation", "mean")
        if aggregation not in ("mean", "bypass", None) and FUNCTION not in _mapping(aggregation):
            raise BadInput(f"task file {path} aggregates by {aggregation!r}", "mean, or a !function")
        if "process_results" not in config and metric["metric"] != "exact_match":
            raise BadInput(f"task file {path}: metric {metric['metric']!r} needs process_results", "or exact_match")


def _metrics(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [
        metric for metric in config.get("metric_list") or () if isinstance(metric, Mapping) and "metric" in metric
    ]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _specific(config: Mapping[str, Any], model: str) -> dict[str, Any]:
    """A file may also give its settings flat, without any model's name: those are not blocks."""
    blocks = {
        name: block
        for name, block in _mapping(config.get("lmms_eval_specific_kwargs")).items()
        if isinstance(block, Mapping)
    }
    return {**blocks.get("default", {}), **for_model(blocks, model)}


def _generation(config: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The file's settings in our words. Sampling settings count only where it samples."""
    given = {
        **(config.get("generation_kwargs") or {}),
        **for_model(config.get("model_specific_generation_kwargs") or {}, model),
    }
    sampling = bool(given.get("do_sample"))
    settings = {"temperature": float(given.get("temperature") or 0) if sampling else 0.0}
    if given.get("max_new_tokens"):
        settings["max_new_tokens"] = int(given["max_new_tokens"])
    return settings | {key: given[key] for key in ("top_p", "top_k") if sampling and given.get(key)}


def _exact(answer: str, target: str, metric: Mapping[str, Any]) -> float:
    def plain(text: str) -> str:
        text = text.lower() if metric.get("ignore_case") else text
        text = re.sub(r"[^\w\s]", "", text) if metric.get("ignore_punctuation") else text
        return text.strip()

    return float(plain(answer) == plain(target))


def _number(value: Any) -> float | None:
    """A plain number, also numpy's; anything else goes to the file's own aggregation."""
    value = value.item() if hasattr(value, "item") else value
    return float(value) if isinstance(value, (bool, int, float)) else None
