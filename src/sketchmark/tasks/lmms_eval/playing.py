"""Samples of such a file, and the scores of their episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sketchmark.episode import Episode
from sketchmark.models import combined_prompt
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.sounds import Sound
from sketchmark.tasks import generic_drawing
from sketchmark.tasks.lmms_eval.config import Config, mapping, metrics, pipelines, specific, target_setting
from sketchmark.tasks.lmms_eval.examples import Examples
from sketchmark.tasks.lmms_eval.kept import written
from sketchmark.tasks.lmms_eval.opened import AdoptedFile, Opened
from sketchmark.tasks.lmms_eval.provided.metrics import anls, exact_match_hf_evaluate
from sketchmark.tasks.lmms_eval.provided.reasoning import BEFORE_SCORING, strip_reasoning_tags
from sketchmark.tasks.lmms_eval.templates import filled

_OF_EXACT_MATCH = ("regexes_to_ignore", "ignore_case", "ignore_punctuation", "ignore_numbers")


def documents(
    file: AdoptedFile, *, seed: int, data: Path | None, task_file: str, model: str = "", frames: int = 8
) -> Iterator[Sample]:
    """The file says itself what its data is; it lies beside the file, under `data`, or on the hub. Of a video
    `frames` pictures are shown."""
    file.read_from(data)
    task = file.opened(task_file)
    settings = specific(task.config, model)
    targets = target_setting(task.config, model)
    examples = Examples(task, settings, targets)
    for number, doc in enumerate(task.documents()):
        known = task.known(number, doc)  # before code of the file could change it
        yield _sample(task, number, known, doc, settings, targets, frames, examples.before(doc))


def _sample(
    task: Opened,
    number: int,
    known: str,
    doc: Mapping[str, Any],
    settings: Config | None,
    targets: Any,
    frames: int,
    examples: str,
) -> Sample:
    where = f"document {number} of {task.path}"
    text = task.text("doc_to_text", doc, settings, where)
    generation_prompt, question = combined_prompt.split(text) or ((settings or {}).get("generation_prompt"), text)
    question = filled(str(task.config.get("description") or ""), doc, where) + examples + question
    fields = {"question": question}
    if generation_prompt:
        fields["generation_prompt"] = str(generation_prompt).replace("{question}", question)
        fields["variant"] = generic_drawing.OWN_PROMPT
    target: dict[str, Any] = {"doc": number, "digest": known}
    if "doc_to_target" in task.config:
        target["answer"] = task.target(doc, targets, where)
    visuals = task.visuals(doc, settings, where, frames)
    sounds = [one for one in visuals if isinstance(one, Sound)]
    cluster = doc.get(str(task.config.get("cluster_key", "")))
    return Sample(
        id=f"{number:06d}",
        pictures={"visuals": [one for one in visuals if isinstance(one, Picture)]},
        sounds={"visuals": sounds} if sounds else {},
        fields=fields,
        target=target,
        groups={} if cluster is None else {"cluster": str(cluster)},
    )


def score(file: AdoptedFile, sample: Sample, episode: Episode, grading: Grading, *, task_file: str) -> Scores:
    """The file's own `process_results`, or its metrics against `doc_to_target`. Numbers are of the metrics that the
    file lists, as in lmms-eval; one with the aggregation `bypass` is not to have any."""
    task = file.opened(task_file)
    answer = _cut(task.config, episode.answer)
    asked = int(sample.target["doc"]), str(sample.target.get("digest", ""))
    if "process_results" in task.config:
        found = task.results(*asked, answer)
    else:
        found = {
            f"{metric['metric']}{suffix}": _compared(metric, replies, sample.target.get("answer", ""))
            for suffix, replies in task.replies(*asked, answer).items()
            for metric in metrics(task.config)
        }
    values: dict[str, float | None] = {}
    for name, metric in _listed(task.config):
        if metric.get("aggregation") == "bypass":
            values[name] = None
        elif (value := _number(found.get(name))) is not None:
            values[name] = value
    return Scores(values, {"results": {str(name): written(value) for name, value in found.items()}})


def _listed(config: Config) -> list[tuple[str, Config]]:
    return [(f"{metric['metric']}{suffix}", metric) for suffix in pipelines(config) for metric in metrics(config)]


def _cut(config: Config, answer: str) -> str:
    """As lmms-eval hands it on: up to where the file says that it ends, without reasoning, without spaces around."""
    until = mapping(config.get("generation_kwargs")).get("until") or ()
    for stop in filter(None, [until] if isinstance(until, str) else until):
        answer = answer.partition(stop)[0]
    tags = config.get("reasoning_tags", BEFORE_SCORING)
    return strip_reasoning_tags(answer, tags if isinstance(tags, (list, tuple)) else ())


def _compared(metric: Config, replies: list[Any], target: str | list[str]) -> float:
    targets = [target] if isinstance(target, str) else target
    said = str(replies[0]) if replies else ""
    if metric["metric"] == "anls":
        return anls(targets, [said])["anls"] if targets else 0.0
    ignored = {key: metric[key] for key in _OF_EXACT_MATCH if key in metric}
    return max(
        (exact_match_hf_evaluate([said], [one.strip()], **ignored)["exact_match"] for one in targets), default=0
    )


def _number(value: Any) -> float | None:
    """A plain number, also numpy's; anything else goes to the file's own aggregation."""
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
    return float(value) if isinstance(value, (bool, int, float)) else None
