"""Replies that were produced elsewhere: reading them, and finding the sample each belongs to.

Forms: JSON (a list of objects, or an object of id -> reply) and JSONL, each object with `id` and `response`; a folder
of `<subject>/output.json`, or of such folders, one per model; a folder of `*.jsonl`. Rows that hold their questions
too need no data set, where the task names a reader for them (`replies:` in its YAML).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sketchmark.episode import Episode, Turn
from sketchmark.errors import BadInput
from sketchmark.files.tables import json_lines
from sketchmark.models.base import Reply, Usage
from sketchmark.parts import Part, Sample
from sketchmark.task import RepliesReader

Row = dict[str, Any]


@dataclass
class Matched:
    """Episodes made of replies, and what could not be matched: counted, never dropped in silence."""

    episodes: list[Episode] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def reply_sets(path: Path) -> dict[str, list[Row]]:
    """The replies by set: a file is one, a folder of subjects is one, a folder of such folders is one per folder, a
    folder of `*.jsonl` is one per file."""
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


def episodes_of(rows: Iterable[Row], sample_of: RepliesReader) -> Matched | None:
    """Episodes of rows that hold their questions; None if one does not: then the data are needed. A row that cannot
    be used is named among the unknown."""
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
    """Episodes of a data set's samples, in the order of the replies: published programs know no other, and what they
    draw at random depends on it. Samples without a reply come last; they stay in the denominator.

    Rows without any `id` are taken in the order of the data set, when there are as many.
    """
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
    """A reply that is not text (null, an error object) is an empty one."""
    said = response if isinstance(response, str) else ""
    reply = Reply(said, usage=Usage(calls=0))
    return Episode(sample, (Turn("say", (Part(said, "model"),) if said else (), reply=reply),))
