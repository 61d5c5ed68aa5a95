"""Samples of a task file of lmms-eval's shape, the scores of their episodes, and totals by the file's own
aggregations.

An aggregation is any function of all results, so its number has no interval, and a later comparison of two runs has
the scores but not the code. So the code is called here without each sample in turn. The number plus what the sample
adds to it is that sample's value. Their mean is the number itself, and the spread of their mean is the jackknife's
(Efron and Stein 1981, https://doi.org/10.1214/aos/1176345462). For a plain mean they are the scores themselves.
Intervals, comparisons, reports and exports then treat them as any other score.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from math import isfinite
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from sketchmark.engines import patient, within
from sketchmark.episode import Episode, Grading, Scores, Totals
from sketchmark.episode import protocol as combined_prompt
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, DataMissing, SketchmarkError, TotalsFailed
from sketchmark.lmms_eval.documents import AdoptedFile, Document, Influence, LmmsFile
from sketchmark.lmms_eval.filters import BEFORE_SCORING, strip_reasoning_tags
from sketchmark.lmms_eval.functions import filled, quiet, written
from sketchmark.lmms_eval.shape import (
    FIRST,
    Config,
    examples_given,
    examples_wanted,
    mapping,
    metrics,
    pipelines,
    reduced_by_function,
    specific,
    target_setting,
    together,
    worded_otherwise,
)
from sketchmark.lmms_eval.stand_ins import anls, exact_match_hf_evaluate
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.tasks.files import OWN_PROMPT
from sketchmark.tasks.imports import blamed

_OF_EXACT_MATCH = ("regexes_to_ignore", "ignore_case", "ignore_punctuation", "ignore_numbers")


def documents(
    file: AdoptedFile, *, seed: int, data: Path | None, task_file: str, model: str = "", frames: int = 8
) -> Iterator[Sample]:
    """Yield the samples. The file names its data: next to it, under `data`, or on the hub. A video is shown as
    `frames` images."""
    file.read_from(data)
    task = file.opened(task_file)
    settings = specific(task.config, model)
    targets = target_setting(task.config, model)
    examples = Examples(task, settings, targets)
    for number, doc in enumerate(task.documents()):
        known = task.known(number, doc)  # before the file's code can change it
        yield _sample(task, number, known, doc, settings, targets, frames, examples.before(doc))


def _sample(
    task: LmmsFile,
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
        fields["variant"] = OWN_PROMPT
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


_SECONDS = 60.0
"""For one reply: the file's code may load a model, or ask a judge."""


@patient(3600)  # the first reply opens the data
def score(file: AdoptedFile, sample: Sample, episode: Episode, grading: Grading, *, task_file: str) -> Scores:
    """Score an episode by the file's own `process_results`, or by its metrics against `doc_to_target`. Only the
    metrics that the file lists are scores, as in lmms-eval. A metric with the aggregation `bypass` has no number."""
    task = file.opened(task_file)
    answer = _cut(task.config, episode.answer)
    joint = together(task.config)
    asked = {key: sample.target[key] for key in ("doc", "digest", "answer") if key in sample.target}
    scores = Scores({}) if len(joint) == len(pipelines(task.config)) else _scored(task, asked, [answer])
    kept = {"reply": answer, "asked": asked} if joint else {}
    later = dict.fromkeys(name for name, _ in _listed(task.config, jointly=True))
    return Scores({**later, **scores.values}, {"results": {}, **scores.notes, **kept})


_TOGETHER = "results of all repeats"


@patient(3600)
def combined(file: AdoptedFile, rows: Rows, scoring: str, *, task_file: str) -> dict[str, Scores]:
    """Return sample -> the scores that all replies to it have together, by the file's own pipelines: a vote, or the
    first k. A sample that lacks a reply has none, until the same command has run it again."""
    task = file.opened(task_file)
    wanted = max((row.get("repeat", 0) for row in rows), default=0) + 1
    by_sample: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row.get("repeat", 0)):
        by_sample.setdefault(str(row["sample"]), []).append(row)
    none = dict.fromkeys(name for name, _ in _listed(task.config, jointly=True))
    found = {}
    for sample, same in by_sample.items():
        notes = [row["notes"] for row in same if row["scored"] and "reply" in row["notes"]]
        if len(notes) == wanted:
            made = _scored(task, notes[0]["asked"], [str(one["reply"]) for one in notes], jointly=True)
            found[sample] = Scores(made.values, {_TOGETHER: made.notes["results"]})
        else:
            found[sample] = Scores(none, {_TOGETHER: {}})
    return found


def _scored(task: LmmsFile, asked: Mapping[str, Any], answers: Sequence[str], *, jointly: bool = False) -> Scores:
    document = int(asked["doc"]), str(asked.get("digest", ""))
    if "process_results" in task.config:
        call = partial(task.results, jointly=jointly)
        found = within(_SECONDS, call, *document, *answers, called=f"process_results of {task.path}")
    else:
        found = {
            f"{metric['metric']}{suffix}": _compared(metric, replies, asked.get("answer", ""))
            for suffix, replies in task.replies(*document, *answers, jointly=jointly).items()
            for metric in metrics(task.config)
        }
    values: dict[str, float | None] = {}
    for name, metric in _listed(task.config, jointly=jointly):
        if metric.get("aggregation") == "bypass":
            values[name] = None
        elif (value := _number(found.get(name))) is not None:
            values[name] = value
    return Scores(values, {"results": {str(name): written(value) for name, value in found.items()}})


def _listed(config: Config, *, jointly: bool) -> list[tuple[str, Config]]:
    suffixes = [suffix for suffix in pipelines(config) if (suffix in together(config)) is jointly]
    return [(f"{metric['metric']}{suffix}", metric) for suffix in suffixes for metric in metrics(config)]


def _cut(config: Config, answer: str) -> str:
    """Return the answer as lmms-eval passes it on: up to the file's stop texts, without reasoning, stripped."""
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
    """Return a plain number, also NumPy's. Any other value is left to the file's own aggregation."""
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
    return float(value) if isinstance(value, (bool, int, float)) else None


_SEED = 1234
_EMPTY_LINE = "\n\n"


class Examples:
    """The few-shot examples before each question, as lmms-eval places them. Ask for every question, in order.

    They are drawn for every question by one generator with lmms-eval's own seed, so that the n-th question has the
    same examples here and there, however many questions run. Settings of a file for its examples only (other texts,
    or which ones) count, although lmms-eval ignores them, because lm-eval uses them.
    """

    def __init__(self, task: LmmsFile, settings: Config | None, targets: Any) -> None:
        self._task, self._settings, self._targets = task, settings, targets
        self._wanted = examples_wanted(task.config)
        self._words = copy(task)
        self._words.config = {**task.config, **worded_otherwise(task.config)}
        self._random = Random(_SEED)

    def before(self, doc: Document) -> str:
        """Return the text before the question. The question is not an example of itself, so there is one example
        fewer if the file does not say that they come from the questions (`fewshot_split`)."""
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
        """Return an example with its delimiter. If the target is empty, the text already contains answer and
        delimiter."""
        config, where = self._words.config, f"a few-shot example of {self._task.path}"
        question = self._words.text("doc_to_text", doc, self._settings, where)
        if config["doc_to_target"] == "":
            return question
        answer = self._words.target(doc, self._targets, where)
        if answer == []:
            raise BadInput(f"{where} has no answer")
        first = answer if isinstance(answer, str) else answer[0]
        return f"{question}{config.get('target_delimiter', ' ')}{first}{config.get('fewshot_delimiter', _EMPTY_LINE)}"


LONGEST = 60.0
"""Maximum seconds for all scores of a cell together."""

_BLOCKS = (200, 20)

Rows = Sequence[Mapping[str, Any]]


def totals(file: AdoptedFile, rows: Rows, scoring: str, *, task_file: str) -> Totals:
    """Return the metrics with their own aggregation, over all rows that have a result. A metric of some documents
    only is left out if none of them was run. A failure affects only its own number."""
    task = file.opened(task_file)
    found = Totals()
    failed = []
    for name, metric in _reduced(task):
        if results := list(_results(rows, name).values()):
            influence = task.influence.get(name, Influence([]))
            found.counts[name] = len(results)
            found.proportions += [name] if influence.proportion else []
            found.remarks += [f"{name} has no interval: {influence.why}"] if influence.why else []
            try:
                with blamed(f"the aggregation of {name} in {task_file}"):
                    found[name] = _told(task.total(metric, results))
            except SketchmarkError as error:
                failed.append(str(error))
    if failed:
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise TotalsFailed(f"{failed[0]}{more}", found)
    return found


def influences(file: AdoptedFile, rows: Rows, scoring: str, *, task_file: str) -> dict[str, dict[str, float | None]]:
    """Return sample -> its values, with those of the file's own aggregations filled in. If an aggregation needs
    all results, or takes too long, its samples have no value and the number has no interval. The same holds if it
    fails or returns something other than a number: a mean of its inputs would be another score."""
    values = {str(row["sample"]): dict(row["values"]) for row in rows}
    try:
        task = file.opened(task_file)
    except SketchmarkError:  # its code cannot run; the rows have the error
        return values
    reduced = _reduced(task)
    for name, metric in reduced:
        results = _results(rows, name)
        if not results:
            continue
        found = task.influence[name] = _influence(task, metric, list(results.values()), LONGEST / len(reduced))
        for number, sample in enumerate(results):
            values[sample][name] = found.values[number] if found.values else None
    return values


def submission(file: AdoptedFile, episodes: Iterable[Episode], folder: Path, *, task_file: str) -> list[Path]:
    """Write the files that the aggregations make for a benchmark's server."""
    task = file.opened(task_file)
    writers = [(name, metric) for name, metric in _reduced(task) if task.writes_files(metric)]
    if not writers:
        return []
    notes = [
        score(file, episode.sample, episode, Grading(), task_file=task_file).notes["results"]
        for episode in episodes
        if episode.failure is None or episode.failure.blames_model
    ]
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for name, metric in writers:
        if results := [note[name] for note in notes if name in note]:
            with blamed(f"the aggregation of {name} in {task_file}"):
                task.total(metric, results)
            files += [Path(shutil.copy(one, folder / one.name)) for one in task.written(metric, results)]
    return files


def _reduced(task: LmmsFile) -> list[tuple[str, Config]]:
    """Return the aggregated metrics by name, once per pipeline of filters."""
    names = [
        (f"{one['metric']}{suffix}", one)
        for suffix in pipelines(task.config)
        for one in reduced_by_function(task.config)
    ]
    return [(name, {**metric, "metric": name}) for name, metric in names]


def _results(rows: Rows, name: str) -> dict[str, Any]:
    """Return the kept results of scored samples. None is a result like any other."""
    found = {
        str(row["sample"]): {**row["notes"].get("results", {}), **row["notes"].get(_TOGETHER, {})}
        for row in rows
        if row["scored"]
    }
    return {sample: results[name] for sample, results in found.items() if name in results}


def _influence(task: LmmsFile, metric: Config, results: list[Any], longest: float) -> Influence:
    """Return each result's value; none if there is no number to share, or no way to call for it again.

    If there is no time for each, blocks of results are left out at once. The distance of their values from the number
    is then scaled up by as much as the mean of a block varies less than one result.
    """
    found = task.totalled(metric, results)
    try:
        whole = _as_number(found.made)
    except TypeError:  # `totals` reports it
        return Influence([])
    if not found.steady:
        return Influence([], "called again, its aggregation gives another number: it keeps state, or draws lots")
    sizes = [len(results), *(size for size in _BLOCKS if size < len(results))]
    blocks = next((size for size in sizes if size * found.seconds <= longest), 0)
    if blocks < 2 or found.slow:
        return Influence([], "there is one result only" if len(results) < 2 else "its aggregation is slow")
    with TemporaryDirectory() as folder, quiet():

        def without_block(block: int) -> float:
            kept = [result for number, result in enumerate(results) if number % blocks != block]
            return _as_number(task.reduce(metric, kept, Path(folder)))

        try:
            without = [without_block(block) for block in range(blocks)]
        except (Exception, SystemExit):  # it may not work on fewer results
            return Influence([], "its aggregation needs all results")
    left = [without[number % blocks] for number in range(len(results))]
    middle, stretch = fmean(left), (blocks - 1) * (len(results) / blocks) ** 0.5
    values = [round(whole + stretch * (middle - one), 9) for one in left]
    return Influence(values, proportion=all(0 <= one <= 1 for one in (whole, *without)))


def _told(value: Any) -> Any:
    """Return a value that can be written. A value that is not a number (an empty category) becomes a text."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        return {str(key): _told(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_told(one) for one in value]
    plain = value is None or isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value))
    return value if plain else str(value)


def _as_number(value: Any) -> float:
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, (bool, int, float)) or not isfinite(value):
        raise TypeError(f"an aggregation gives {value!r}")
    return float(value)
