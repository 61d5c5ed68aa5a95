"""Scores of replies from another tool, with the same scorers, tables and intervals as a run's.

Forms: JSON (a list of objects, or an object of id -> reply) and JSONL, each object with `id` and `response`; a folder
of `<subject>/output.json`, or of such folders, one per model; a folder of `*.jsonl`. Rows with their questions need
no dataset, if the task names a reader for them (`replies:` in its YAML).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sketchmark.catalog import Catalog
from sketchmark.engines import run_async
from sketchmark.episode import EXTRACTED, Episode, Grading, Turn, check_extractor
from sketchmark.episode.model import Reply, Usage
from sketchmark.episode.sample import Part, Sample
from sketchmark.errors import BadInput, CallFailed
from sketchmark.files.tables import data_path, json_lines
from sketchmark.folder.format import ScoreRow
from sketchmark.folder.results_format import CellResult, Results
from sketchmark.models.cache import default_cache, with_cache
from sketchmark.progress import NOBODY, Calls, Watcher, told_of_calls
from sketchmark.results import CHECK, NO_VERDICT, checked, counted, grade
from sketchmark.results.rescore import settled, to_check
from sketchmark.results.scorings import held_against
from sketchmark.results.summary import cell_result
from sketchmark.settings import parse_arguments
from sketchmark.tasks import RepliesReader, Task

Row = dict[str, Any]


@dataclass
class Matched:
    """Episodes made from replies, the samples without a reply, and the replies without a sample."""

    episodes: list[Episode] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def reply_sets(path: Path) -> dict[str, list[Row]]:
    """Return the replies by set: one set per file, per folder of subjects, or per file of a folder of `*.jsonl`."""
    sets = _read_sets(path)
    for name, rows in sets.items():
        if not rows:
            raise BadInput(f"{name} holds no reply", "a JSON or JSONL file, a row for each reply")
        counts = Counter(str(row["id"]) for row in rows if "id" in row)
        if twice := next((one for one, count in counts.items() if count > 1), None):
            raise BadInput(f"{name} has two replies for {twice}", "give each sample one reply, or two files")
    return sets


def _read_sets(path: Path) -> dict[str, list[Row]]:
    if path.is_file():
        return {path.stem: list(_rows(path))}
    if not path.is_dir():
        raise BadInput(f"no such file or folder: {path}")
    models = {file.parents[1] for file in (*path.glob("*/output.json"), *path.glob("*/*/output.json"))}
    if models:
        return {model.name: list(_of_subjects(model)) for model in sorted(models)}
    if files := sorted(path.glob("*.jsonl")):
        return {file.stem: list(_rows(file)) for file in files}
    raise BadInput(f"{path} holds neither <subject>/output.json nor *.jsonl", "give a JSON or JSONL file of replies")


def _of_subjects(folder: Path) -> Iterator[Row]:
    for file in sorted(folder.glob("*/output.json")):
        yield from (row | {"subject": file.parent.name} for row in _rows(file))


def _rows(path: Path) -> Iterator[Row]:
    try:
        text = path.read_text("utf-8-sig")
        found: Any = json_lines(text) if path.suffix == ".jsonl" else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read as JSON: {error}") from error
    if isinstance(found, dict):
        found = [value | {"id": key} if isinstance(value, dict) and "response" in value
                 else {"id": key, "response": value} for key, value in found.items()]  # fmt: skip
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise BadInput(f"{path} is not a list of objects", "each with `id` and `response`")
    for number, row in enumerate(found, start=1):
        if "response" not in row:
            raise BadInput(f"{path}, item {number}: no `response`")
        yield row


def _episodes_with_questions(rows: Iterable[Row], sample_of: RepliesReader) -> Matched | None:
    """Make episodes from rows with their questions; None if a row has none, so that the dataset is needed. Unusable
    rows are listed as unknown."""
    matched = Matched()
    for number, row in enumerate(rows):
        try:
            sample = sample_of(row)
        except (BadInput, TypeError, AttributeError) as error:
            matched.unknown.append(f"{row.get('id', number)}: {error}")
            continue
        if sample is None:
            return None
        matched.episodes.append(_episode(sample, row["response"]))
    return matched


def match(samples: Iterable[Sample], rows: list[Row]) -> Matched:
    """Make episodes from a dataset's samples, in the order of the replies: published programs use that order, and
    their random choices depend on it. Samples without a reply come last and stay in the denominator. Rows without any
    `id` are taken in the order of the dataset, if their number is the same."""
    matched = Matched()
    by_order = not any("id" in row for row in rows)
    replies = {} if by_order else {str(row.get("id")): row["response"] for row in rows}
    known = [sample for sample in samples if "broken" not in sample.fields]
    if by_order:
        if len(known) != len(rows):
            raise BadInput(f"{len(rows)} replies without `id` for {len(known)} samples", "give every reply its id")
        replies = {sample.id: row["response"] for sample, row in zip(known, rows, strict=True)}
    order = {name: number for number, name in enumerate(replies)}
    for sample in sorted(known, key=lambda sample: order.get(sample.id, len(order))):
        if sample.id not in replies:
            matched.unanswered.append(sample.id)
        matched.episodes.append(_episode(sample, replies.pop(sample.id, None)))
    matched.unknown += list(replies)
    return matched


def _episode(sample: Sample, response: Any) -> Episode:
    """Make an episode of one reply. A reply that is not text (null, an error object) is an empty one."""
    said = response if isinstance(response, str) else ""
    reply = Reply(said, usage=Usage(calls=0))
    return Episode(sample, (Turn("say", (Part(said, "model"),) if said else (), reply=reply),))


_AT_ONCE = 16
"""Calls to a judge at the same time."""


def score_files(
    task: str,
    predictions: Path,
    scoring: str = "strict",
    data: Path | None = None,
    task_args: str = "",
    judge: str = "",
    judge_args: str = "",
    extractor: str = "",
    extractor_args: str = "",
    looking: Watcher = NOBODY,
) -> Results:
    """Return results in the form of results.json, one entry per set of replies, with further scorings inside it."""
    catalog = Catalog()
    arguments = parse_arguments(task_args)
    tasks = [catalog.task(pick.task, None, arguments) for pick in catalog.pick(task)]
    scorings = [name.strip() for name in scoring.split(",") if name.strip()] or ["strict"]
    check_extractor(scorings, given=bool(extractor))
    for how in scorings:
        tasks[0].check_scoring(how, with_judge=bool(judge))
    judging, quoting = (
        with_cache(catalog.model(name, parse_arguments(arguments)), default_cache()) if name else None
        for name, arguments in ((judge, judge_args), (extractor, extractor_args))
    )
    results: dict[str, CellResult] = {}
    for name, rows in reply_sets(predictions).items():
        matched = _matched(tasks, rows, data)
        (first, own), *others = [
            run_async(_summary(tasks[0], matched, Grading(how, judging, quoting), f"{task}.{name}", looking))
            for how in scorings
        ]
        for other, scored in others:
            if first.metrics and other.metrics:
                other.against = held_against(own, scored, first.headline)
        if others:
            first.scorings = {other.scoring: other for other, _ in others}
        results[f"{task}.{name}"] = first
    return Results(model=predictions.name, tasks=results, gains=[])


def _matched(tasks: list[Task], rows: list[Row], data: Path | None) -> Matched:
    """Match replies with samples. The tasks of a group share their scorer, so their samples are one set. Replies with
    their questions need no data, whatever SKETCHMARK_DATA says."""
    sample_of = tasks[0].replies
    if sample_of and data is None and (found := _episodes_with_questions(rows, sample_of)):
        return found
    if any(task.config.get("scorers") != tasks[0].config.get("scorers") for task in tasks):
        raise BadInput("the tasks of this group are scored differently", "score them one by one with --task")

    def samples() -> Iterator[Sample]:
        for task in tasks:
            yield from task.samples(data=data_path(data))

    return match(samples(), rows)


async def _summary(
    task: Task, matched: Matched, grading: Grading, name: str, looking: Watcher
) -> tuple[CellResult, list[ScoreRow]]:
    calls, label = Calls(), f"{name} {grading.scoring}"
    asked = counted(grading, calls)
    free = asyncio.Semaphore(_AT_ONCE)
    stopped: list[CallFailed] = []

    async def row(index: int, episode: Episode) -> list[ScoreRow]:
        async with free:
            if stopped:
                return []
            try:
                scored = await grade(task, episode, index, asked)
                looking.played(label, bool(NO_VERDICT & set(scored.flags)))
                return [scored]
            except CallFailed as error:  # calls in flight are paid for, so their replies are awaited
                stopped.append(error)
                return []

    looking.begin(label, len(matched.episodes), 0)
    async with told_of_calls(looking, calls):
        found = await asyncio.gather(*(row(index, episode) for index, episode in enumerate(matched.episodes)))
    looking.end(label)
    if stopped:
        raise stopped[0]
    made = [scored for rows in found for scored in rows]
    if asked.extractor and grading.scoring == EXTRACTED:
        episodes = {row.key: episode for row, episode in zip(made, matched.episodes, strict=True)}
        for one in to_check(made):
            one.notes[CHECK] = await checked(task, episodes[one.key], asked, asked.extractor)
    rows = settled(made, task, grading.scoring)
    summary = cell_result(rows, lambda: rows, task, grading.scoring)
    summary.headline = task.headline
    summary.cut = None  # a file of replies does not say whether they were truncated
    summary.unanswered, summary.unknown = matched.unanswered, matched.unknown
    return summary, rows
