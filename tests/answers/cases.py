"""The corpus of labelled replies in `corpus/`, loaded and filled in.

`replies/*.jsonl` holds one reply per line. `templates/*.jsonl` holds templates whose marks are filled in from
`slots.json` with fixed seeds, so every run parses the same replies. `corpus/README.md` explains the fields and marks.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("corpus")
LETTERS = "ABCDEFGHIJ"
_MARK = re.compile(r"@(LIST|INLINE|[LlWwXYZUV])")


@dataclass(frozen=True)
class Case:
    """One reply and the answer in it. `answer` is None where a careful person would credit nothing."""

    where: str
    kind: str
    reply: Any
    answer: Any
    why: str
    options: Any = ()
    truth: Any = ""
    question: str = ""
    how: str = ""


@dataclass(frozen=True)
class Template:
    """One template. `unparsed` counts its fillings that are left unparsed although a person could parse them."""

    where: str
    kind: str
    reply: str
    answer: Any
    why: str
    part: str = ""
    question: str = ""
    unparsed: int = 0

    def case(self, reply: str, answer: object, **more: Any) -> Case:
        return Case(self.where, self.kind, reply, answer, self.why, **more)


def _rows(name: str) -> Iterator[dict[str, Any]]:
    lines = (CORPUS / name).read_text("utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if line:
            yield {"where": f"{name}:{number}", **json.loads(line)}


@cache
def replies() -> tuple[Case, ...]:
    names = sorted(path.name for path in (CORPUS / "replies").glob("*.jsonl"))
    return tuple(Case(**row) for name in names for row in _rows(f"replies/{name}"))


@cache
def templates(name: str) -> tuple[Template, ...]:
    return tuple(Template(**row) for row in _rows(f"templates/{name}.jsonl"))


@cache
def slots() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / "slots.json").read_text("utf-8"))
    return found


@cache
def filled(name: str) -> tuple[Case, ...]:
    """All fillings of the templates in one file."""
    fillings = {"choice": _choices, "mmsi": _choices, "yes_no": _yes_no, "findings": _findings, "open": _open}
    return tuple(fillings[name](templates(name)))


GENERAL = ("choice", "yes_no", "findings", "open")
"""Files of templates for the parsers in general. `mmsi` has replies to MMSI-Bench's questions."""


def _choices(rows: Sequence[Template]) -> Iterator[Case]:
    for part, how in slots()["parts"].items():
        rng, seen = random.Random(how["seed"]), set[tuple[str, tuple[str, ...]]]()
        for row in rows:
            if row.part == part:
                for reply, options, letter in _fillings(row.reply, how, rng):
                    if (reply, options) not in seen:
                        seen.add((reply, options))
                        yield row.case(reply, row.answer and letter, options=options)


def _fillings(template: str, how: dict[str, Any], rng: random.Random) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Up to `each` different fillings: the reply, its options and the letter that `@L` became."""
    before = slots()[how["before"]] if "before" in how else [""]
    sets, mmsi = slots()[how.get("options", "options")], "options" in how
    made: set[tuple[str, tuple[str, ...]]] = set()
    for turn in range(how["each"] * 4):
        whole = before[turn % len(before)] + template
        least = 4 if re.search("@[YZV]", whole) else 2
        options = tuple(rng.choice([options for options in sets if len(options) >= least]))
        reply, letter = _with_options(whole, options, rng)
        key = reply, options if mmsi else ()
        if key not in made and len(made) < how["each"]:
            made.add(key)
            yield reply, options, letter
        if len(made) == how["each"] and not mmsi:
            break


def _with_options(template: str, options: Sequence[str], rng: random.Random) -> tuple[str, str]:
    places = rng.sample(range(len(options)), len(options))
    meant, x, y, z = places[0], *(places[1 + place % (len(places) - 1)] for place in range(3))
    values = {
        "L": LETTERS[meant],
        "l": LETTERS[meant].lower(),
        "W": options[meant],
        "w": options[meant].lower(),
        "X": LETTERS[x],
        "Y": LETTERS[y],
        "Z": LETTERS[z],
        "U": options[x],
        "V": options[y],
        "LIST": "\n".join(f"{LETTERS[i]}. {words}" for i, words in enumerate(options)),
        "INLINE": " ".join(f"({LETTERS[i]}) {words}" for i, words in enumerate(options)),
    }
    return _MARK.sub(lambda mark: values[mark[1]], template), LETTERS[meant]


def _yes_no(rows: Sequence[Template]) -> Iterator[Case]:
    seen: set[str] = set()
    for row in rows:
        if row.answer == "@Y":
            yield row.case(_put(row.reply, {"@Y": "Yes", "@N": "No", "@y": "yes", "@n": "no"}), True)
            yield row.case(_put(row.reply, {"@Y": "No", "@N": "Yes", "@y": "no", "@n": "yes"}), False)
        elif row.answer is not None:
            yield row.case(row.reply, row.answer)
        else:
            for reply in (row.reply, row.reply.lower(), f"{row.reply}\n", f"<think>Hm.</think>{row.reply}"):
                if reply not in seen:
                    seen.add(reply)
                    yield row.case(reply, None)


def _findings(rows: Sequence[Template]) -> Iterator[Case]:
    for row in rows:
        if row.question not in slots():
            yield row.case(row.reply, row.answer, question=row.question)
            continue
        for question in slots()[row.question]:
            for finding, named, other in slots()["findings"]:
                marks = {"@X": finding, "@A": named, "@O": other}
                reply = _put(row.reply, marks)
                reply = reply[:1].upper() + reply[1:] if row.reply[0] == "@" else reply
                yield row.case(reply, row.answer, question=_put(question, marks))


def _open(rows: Sequence[Template]) -> Iterator[Case]:
    """A reply that names several values must be credited for none of them, so each is tried as the truth."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        mark, other_mark = ("@N", "@M") if row.part == "numbers" else ("@W", "@V")
        several = row.answer is None and row.why.startswith(f"{row.part}, several") and other_mark in row.reply
        swapped = _put(row.reply, {mark: other_mark, other_mark: mark})
        for template in (row.reply, swapped) if several else (row.reply,):
            for truth in slots()[row.part]:
                for other in slots()[f"other {row.part}"] if other_mark in template else ("",):
                    reply = _put(template, {mark: truth, other_mark: other})
                    if other != truth and (row.answer or (reply, truth) not in seen):
                        seen.add((reply, truth))
                        yield row.case(reply, row.answer, truth=truth)


def _put(template: str, marks: dict[str, str]) -> str:
    return re.sub("|".join(marks), lambda mark: marks[mark[0]], template)
