"""Scoring of MMMU and MMMU-Pro: strict, or as the published programs do it (docs/benchmarks/mmmu.md, "Accidents").

`official` is the benchmark's own program; `paper` means the same here. `code-upstream` and `code-fork` are
MedEvalKit's, which has no MMMU-Pro: there they mean `official` too.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.episode import Episode
from sketchmark.errors import UnknownName
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.choices import read_choice
from sketchmark.scoring.graded import Graded
from sketchmark.tasks.mmmu.data import has_gold, lettering
from sketchmark.tasks.mmmu.official import (
    open_is_right,
    open_is_right_medevalkit,
    parse_choice,
    parse_choice_medevalkit,
    parse_choice_pro,
    parse_open,
)
from sketchmark.tasks.mmmu.open_answers import open_verdict
from sketchmark.tasks.mmmu.totals import medevalkit_totals, official_totals

SCORINGS = ("strict", "official", "paper", "code-upstream", "code-fork")
SEED = 42
"""What the official program seeds `random` with, and MedEvalKit by default."""


def score(sample: Sample, episode: Episode, grading: Grading, *, program: str) -> Scores:
    """Grade one episode; an item whose answer is withheld gets no score, and neither does, in `strict`, one whose
    options cannot be read: the published programs count it as wrong.

    Under the published scorings an unreadable choice is drawn at random. The row then holds the expected value, 1/n;
    the tables (`totals`) hold what the seeded draw gives, which depends on all the items before.
    """
    scoring, target, reply = _checked(grading.scoring), sample.target, episode.answer
    if target["gold"] is None or (scoring == "strict" and not has_gold(target)):
        return Scores({"correct": None}, {"reply": reply}, unparsed=not reply.strip())
    if scoring == "strict":
        return _strict(target, reply)
    letter = _letter(target, reply, _program(program, scoring), None)
    notes: dict[str, Any] = {"reply": reply, "item": {key: target[key] for key in ("kind", "gold", "options")}}
    if target["kind"] == "choice":
        notes["answer"] = letter
    if target["kind"] == "choice" and letter is None:
        expected = 1 / len(target["options"]) if has_gold(target) else 0.0
        return Scores({"correct": expected}, {**notes, "by_lot": True}, unparsed=True)
    right = _published_right(target, reply, _program(program, scoring), letter)
    return Scores({"correct": float(right)}, notes)


def totals(rows: Sequence[Mapping[str, Any]], scoring: str, *, program: str) -> dict[str, Any]:
    """The benchmark's own table, or MedEvalKit's under its scorings."""
    how = _checked(scoring)
    known = [row for row in rows if row["scored"] and row["values"].get("correct") is not None]
    if not known:
        return {"withheld": sum(row["scored"] for row in rows)}
    items = _replayed(known, _program(program, how)) if how != "strict" else [_graded(row) for row in known]
    medevalkit = _program(program, how) == "medevalkit"
    counts = {"unparsed": sum("unparsed" in row["flags"] for row in known)}
    return {**(medevalkit_totals(items) if medevalkit else official_totals(items)), **counts}


def _strict(target: Mapping[str, Any], reply: str) -> Scores:
    if target["kind"] == "open":
        verdict = open_verdict(target["gold"], reply)
        return Scores(
            {"correct": float(verdict.value is True)},
            {"read": verdict.how, "gold": target["gold"]},
            unparsed=verdict.value is None,
        )
    read = read_choice(reply, target["options"])
    notes = {"answer": read.value, "read": read.how, "gold": target["gold"]}
    return Scores({"correct": float(read.value == target["gold"])}, notes, unparsed=read.value is None)


def _graded(row: Mapping[str, Any]) -> Graded:
    return Graded(right=row["values"]["correct"] == 1.0, groups={"subject": str(row["groups"]["subject"])})


def _replayed(rows: Sequence[Mapping[str, Any]], program: str) -> list[Graded]:
    """All items again, with one seeded stream of chance for what cannot be read, in the order in which the published
    programs come to them: subject by subject, by name, each as its file has it."""
    rng = random.Random(SEED)
    items = []
    for row in sorted(rows, key=lambda row: str(row["groups"]["subject"])):
        target, reply = row["notes"]["item"], row["notes"]["reply"]
        letter = _letter(target, reply, program, rng)
        right = _published_right(target, reply, program, letter)
        items.append(Graded(right=right, groups={"subject": str(row["groups"]["subject"])}))
    return items


def _letter(target: Mapping[str, Any], reply: str, program: str, rng: random.Random | None) -> str | None:
    if target["kind"] != "choice":
        return None
    parser = {"mmmu": parse_choice, "mmmu_pro": parse_choice_pro, "medevalkit": parse_choice_medevalkit}[program]
    return parser(reply, lettering(target), rng)


def _published_right(target: Mapping[str, Any], reply: str, program: str, letter: str | None) -> bool:
    gold = target["gold"]
    if target["kind"] == "choice":
        return bool(letter == gold)
    if program == "medevalkit":
        return open_is_right_medevalkit(gold, reply)
    return open_is_right(gold, parse_open(reply))


def _program(program: str, scoring: str) -> str:
    return "medevalkit" if program == "mmmu" and scoring.startswith("code-") else program


def _checked(scoring: str) -> str:
    if scoring not in SCORINGS:
        raise UnknownName(f"no scoring {scoring!r}", f"there are: {', '.join(SCORINGS)}")
    return scoring
