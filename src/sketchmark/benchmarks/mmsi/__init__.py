"""MMSI-Bench (https://arxiv.org/abs/2505.23764): spatial questions about several images at once.

Every image of a row is an input, in order. The annotator's `thought` is never read. There are two published
parsers of the answer letter (docs/benchmarks/mmsi.md, "The published readings"). `official` is the benchmark's own: A
to D in capitals. `lenient` is its later one: A to F in either case, which parses "e.g." as E. Neither guesses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sketchmark.answers.choices import options_of, read_choice
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput
from sketchmark.files.tables import Row, as_picture, rows
from sketchmark.media import Picture

ALIASES = {"questions": "sketchmark.benchmarks.mmsi:questions", "accuracy": "sketchmark.benchmarks.mmsi:accuracy"}
"""Stable names of this code in task files and run folders."""

_DASH = re.compile(r"[-\u2010-\u2015\u2212]")


def questions(
    *, seed: int, data: Path | None, origin: Mapping[str, str], category: str = "", limit: int | None = None
) -> Iterator[Sample]:
    """Yield the questions of one category, or of all. A file with all categories also serves a task of one.

    A duplicate question is run twice, as published; its second sample is clustered with the first.
    """
    seen: set[str] = set()
    times: Counter[str] = Counter()
    for number, row in enumerate(rows(data, **origin, limit=limit)):
        name = str(row["id"]) if row.get("id") is not None else f"{number:05d}"
        where = f"row {number} (id {name})"
        kind = category_of(_text(row, "question_type", where))
        seen.add(kind)
        if category and kind != category_of(category):
            continue
        times[name] += 1
        again = times[name] > 1
        pictures = _pictures(row.get("images"), where)
        yield Sample(
            id=f"{name}#{times[name]}" if again else name,
            pictures={"images": pictures},
            fields={"question": _text(row, "question", where)},
            target={"answer": _letter(row.get("answer"), where)},
            groups={"category": kind, "images": len(pictures), **({"cluster": name} if again else {})},
        )
    if not times:
        raise BadInput(f"the data has no question of category {category!r}", f"it has: {', '.join(sorted(seen))}")


def category_of(name: str) -> str:
    """Normalise the dash: `Positional Relationship (Cam.-Obj.)` also comes with a hyphen."""
    return "–".join(piece.strip() for piece in _DASH.split(name))


def _text(row: Row, name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where} has no {name}", f"it has: {', '.join(row)}")
    return value


def _letter(value: object, where: str) -> str:
    found = str(value).strip(" `().").upper()
    if not re.fullmatch(r"[A-F]", found):
        raise BadInput(f"{where}: the answer is {value!r}", "a letter from A to F")
    return found


def _pictures(value: object, where: str) -> list[Picture]:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
        raise BadInput(f"{where} has no list of images")
    return [as_picture(one, f"{where}, image {number}") for number, one in enumerate(value, start=1)]


_TICKED = (re.compile(r"``([^`]*)``"), re.compile(r"`([^`]*)`"))
_LETTER = {
    "official": re.compile(r"\b([A-D])\b(?!\s[a-zA-Z])"),
    "lenient": re.compile(r"\b([A-F])\b(?!\s[a-zA-Z])", re.IGNORECASE),
}


def letter(response: str, scoring: str) -> str | None:
    """Parse the answer letter by a published rule, in capitals.

    The text is narrowed to the content of double back-ticks, then of single ones, then of braces, if there are any.
    Then the first separate letter counts, unless a word follows ("A cat").
    """
    for ticked in _TICKED:
        if found := ticked.search(response):
            response = found[1]
    _, _, behind = response.partition("{")
    inside, closed, _ = behind.partition("}")
    match = _LETTER[scoring].search(inside if closed else response)
    return match[1].upper() if match else None


def accuracy(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score the answer letter. No letter is wrong, with a note."""
    expected = sample.target["answer"]
    if grading.scoring == "strict":
        answer = read_choice(episode.answer, _options(sample)).value
    else:
        answer = letter(episode.answer, grading.scoring)
    notes: dict[str, Any] = {"answer": answer, "expected": expected}
    if answer is None:
        notes["no_letter"] = "cannot find answer"
    return Scores({"accuracy": float(answer == expected)}, notes, unparsed=answer is None)


def _options(sample: Sample) -> dict[str, str]:
    """Return the options listed in the question, or only letters if it does not list the right one."""
    listed = dict(options_of(sample.fields.get("question", "")))
    return listed if sample.target["answer"] in listed else dict.fromkeys("ABCDEF", "")
