"""lmms-eval's task files, run as they are, so that users can bring their own.

docs/benchmarks/lmms-eval-tasks.md lists what such a file may say. What a file names with `!function` is the user's
own Python and can do anything the user can. It runs only with the user's consent, and only when the task runs. A key
that would change a score and is not supported is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchmark.errors import BadInput
from sketchmark.lmms_eval.filters import FILTERS
from sketchmark.lmms_eval.functions import is_plain
from sketchmark.lmms_eval.shape import (
    ANY,
    FIRST,
    FUNCTION,
    examples_wanted,
    features,
    functions,
    functions_in,
    generation,
    is_group,
    is_lmms_eval,
    mapping,
    may_be_a_task,
    members_of,
    metrics,
    mode_in,
    name_of,
    pipelines,
    read_config,
    reduced_by_function,
    together,
    wants_a_group_score,
    worded_otherwise,
)
from sketchmark.tasks.files import drawing_modes
from sketchmark.tasks.imports import Notify
from sketchmark.tasks.names import CodeNames

if TYPE_CHECKING:
    from sketchmark.lmms_eval.documents import AdoptedFile
    from sketchmark.tasks import Task

__all__ = [
    "LmmsTasks",
    "is_group",
    "is_lmms_eval",
    "may_be_a_task",
    "members_of",
    "mode_in",
    "name_of",
    "our_config",
    "read_config",
    "wants_a_group_score",
]

_OUTPUT_TYPES = ("generate_until", "generate_visual_cot")
_TEMPLATES = ("doc_to_text", "doc_to_target", "description")
_PATTERNS = ("regex_pattern", "regexes_to_ignore")
"""Keys whose patterns run on replies, possibly without end."""

_SCORED_HERE = ("exact_match", "anls")
_FUNCTIONS = tuple(
    f"lmms_eval.{name}" for name in ("documents", "score", "combined", "influences", "totals", "submission")
)
"""Names by which an adopted task refers to functions of `lmms_eval.scores`."""


class LmmsTasks:
    """The task files of lmms-eval's shape that a catalog has opened."""

    def __init__(self, trusted: bool, notify: Notify) -> None:
        self._trusted, self._notify = trusted, notify
        self._files: dict[Path, AdoptedFile] = {}

    def adopt(self, path: Path, model: str = "") -> tuple[dict[str, Any], CodeNames]:
        """Return a Sketchmark task's config for a file, and its code. Nothing that the file names runs here."""
        from sketchmark.lmms_eval.documents import AdoptedFile

        config = _as_task(path, self._trusted, model)
        file = self._files.setdefault(path, AdoptedFile(path, self._notify))
        file.reopen()
        return config, _AdoptedNames(file)

    def read_from(self, task: Task, data: Path | None) -> None:
        """Set where the documents of a task are, if it is one of these."""
        if file := self._files.get(Path(str(task.config["source"].get("task_file")))):
            file.read_from(data)


class _AdoptedNames(CodeNames):
    """The names in an adopted task: those that begin with `lmms_eval.` are functions of its file."""

    def __init__(self, file: AdoptedFile) -> None:
        super().__init__()
        self._file = file

    def find(self, dotted: str) -> Any:
        if dotted not in _FUNCTIONS:
            return super().find(dotted)
        from sketchmark.lmms_eval import scores

        return partial(getattr(scores, dotted.rpartition(".")[2]), self._file)

    def _is_alias(self, dotted: str) -> bool:
        return dotted in _FUNCTIONS or super()._is_alias(dotted)


def _as_task(path: Path, trusted: bool, model: str) -> dict[str, Any]:
    """Return the config of a Sketchmark task for the file. `model` selects its per-model prompts."""
    config = read_config(path)
    _check(path, config)
    code = functions(config)
    for place in (config, worded_otherwise(config)):
        code += [key for key in _TEMPLATES if isinstance(place.get(key), str) and not is_plain(place[key])]
    code += [key for key in _PATTERNS if any(key in step for step in [*_steps(config), *metrics(config)])]
    if code and not trusted:
        raise BadInput(
            f"task file {path} runs its own Python ({', '.join(code[:4])})",
            "add --trust-code if you trust it: it can do anything you can",
        )
    here = {"task_file": str(path)}
    names = [str(metric["metric"]) for metric in metrics(config) if metric.get("aggregation") != "bypass"]
    errors = [str(metric["metric"]) for metric in metrics(config) if metric.get("higher_is_better") is False]
    adopted: dict[str, Any] = {
        "about": f"A task file of lmms-eval's shape: {path.name}.",
        "source": {"use": "lmms_eval.documents", **here, "model": model},
        "generation": generation(config, model),
        "modes": drawing_modes(path.parent),
        "scorers": [{"use": "lmms_eval.score", **here}],
        "guesses": [],  # `process_results` may call a judge that costs money, so it gets real replies only
        **({"repeats": int(config["repeats"])} if config.get("repeats") else {}),
        "headline": next((name for name in names if name not in errors), ""),
        "less_is_better": errors,
    }
    if together(config):
        adopted["combine"] = {"use": "lmms_eval.combined", **here}
    if reduced_by_function(config):
        adopted["settle"] = {"use": "lmms_eval.influences", **here}
        adopted["aggregate"] = {"use": "lmms_eval.totals", **here}
        adopted["submission"] = {"use": "lmms_eval.submission", **here}
    return adopted


def _check(path: Path, config: Mapping[str, Any]) -> None:
    kind = config.get("output_type", "generate_until")
    if kind not in _OUTPUT_TYPES:
        raise BadInput(f"task file {path} is of type {kind}", f"supported: {', '.join(_OUTPUT_TYPES)}")
    for key in ("dataset_path", "doc_to_text", "metric_list"):
        if not config.get(key):
            raise BadInput(f"task file {path} has no {key}")
    if not metrics(config):
        raise BadInput(f"task file {path}: metric_list names no metric")
    if config.get("class") is not None:
        raise BadInput(
            f"task file {path} runs as a whole by its own Python (class)",
            "only the data, prompts and scores that a file declares are supported",
        )
    if features(config) is not None and not functions_in(features(config)):
        raise BadInput(f"task file {path}: dataset_kwargs.features must be a !function")
    if "process_results" not in config and config.get("doc_to_choice") is not None:
        raise BadInput(
            f"task file {path} compares with one of doc_to_choice", "have doc_to_target give the text of the answer"
        )
    _check_examples(path, config)
    _check_filters(path, config)
    for metric in metrics(config):
        aggregation = metric.get("aggregation", "mean")
        if aggregation not in ("mean", "bypass", None) and FUNCTION not in mapping(aggregation):
            raise BadInput(f"task file {path} aggregates by {aggregation!r}", "mean, or a !function")
        if "process_results" not in config and metric["metric"] not in _SCORED_HERE:
            raise BadInput(
                f"task file {path}: metric {metric['metric']!r} needs process_results",
                f"or {' or '.join(_SCORED_HERE)}",
            )


def _check_examples(path: Path, config: Mapping[str, Any]) -> None:
    """Refuse settings of few-shot examples that lmms-eval would silently ignore."""
    if not examples_wanted(config):
        return
    asked = f"task file {path} asks for few-shot examples (num_fewshot)"
    settings = {key: value for key, value in mapping(config.get("fewshot_config")).items() if value is not None}
    sampler, given = settings.pop("sampler", ANY), settings.pop("samples", [])
    if sampler not in (FIRST, ANY):
        raise BadInput(f"{asked} chosen by {sampler!r}", f"known: {ANY}, {FIRST}")
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise BadInput(f"{asked} with fewshot_config.samples that are not a list of documents")
    if unknown := settings.keys() - worded_otherwise(config):
        raise BadInput(
            f"{asked} with fewshot_config.{min(unknown)}", "known: sampler, samples, doc_to_text, doc_to_target"
        )
    if config.get("doc_to_visual") is not None:
        raise BadInput(
            f"{asked} of questions with pictures or sounds, which lmms-eval would send without them",
            "take doc_to_visual out if there are none, or set num_fewshot: 0",
        )
    target = worded_otherwise(config).get("doc_to_target", config.get("doc_to_target") or None)
    if config.get("doc_to_choice") is not None or target is None:
        raise BadInput(f"{asked} without their answers' text", "have doc_to_target give it, without doc_to_choice")


def _steps(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [step for steps in pipelines(config).values() for step in steps]


def _check_filters(path: Path, config: Mapping[str, Any]) -> None:
    several = int(config.get("repeats") or 1)
    for steps in pipelines(config).values():
        for step in steps:
            named = step.get("function")
            if FUNCTION not in mapping(named) and named not in FILTERS:
                raise BadInput(
                    f"task file {path} filters answers by {named!r}", f"known: {', '.join(FILTERS)}, or a !function"
                )
            if named == "take_first_k" and not 1 <= (k := _whole(step.get("k"))) <= several:
                raise BadInput(
                    f"task file {path} takes the first {k} of {several} replies to each question (take_first_k)",
                    f"set k to a number from 1 to {several}, or repeats: {max(k, 1)}",
                )


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
