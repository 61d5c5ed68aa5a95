"""Scoring of MMMU and MMMU-Pro, strict or as published (docs/benchmarks/mmmu.md, "Accidents"), totals and files.

`official` is the benchmark's program; `paper` means the same here. `code-upstream` and `code-fork` are MedEvalKit's,
which has no MMMU-Pro: there they mean `official` too. The totals have the keys of the program
(docs/benchmarks/mmmu.md, "Totals"). `sample_of` builds samples from published output files, whose rows contain the
questions. MMMU's test answers are withheld: `write` makes the file to submit.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from sketchmark.answers import UNREAD, Parsed, plain
from sketchmark.answers.choices import read_choice
from sketchmark.answers.numbers import read_number
from sketchmark.answers.phrases import answers_with, read_answer
from sketchmark.answers.vocabulary import number
from sketchmark.answers.yes_no import NO, YES, read_yes_no
from sketchmark.benchmarks import Graded, share, table
from sketchmark.benchmarks.mmmu import DOMAINS, groups_of, has_gold, lettering, subject_of, target_of
from sketchmark.benchmarks.mmmu.official import (
    open_is_right,
    open_is_right_medevalkit,
    parse_choice,
    parse_choice_medevalkit,
    parse_choice_pro,
    parse_open,
)
from sketchmark.episode import Episode, Grading, Scores, Totals
from sketchmark.episode.sample import Sample
from sketchmark.errors import UnknownName
from sketchmark.files import write_json

_DECIMALS = 2
"""MMMU rounds numbers before comparing (docs/benchmarks/mmmu.md, "Open answers"); `strict` does too."""


def open_verdict(gold: str | Sequence[str], response: Any) -> Parsed[bool]:
    """Score an open answer strictly: right if any gold is the answer, not just a mention; None if unparsed.

    Each kind of gold has its parser: numbers, single letters, yes and no, words.
    """
    golds = [gold] if isinstance(gold, str) else list(gold)
    values = [value for value in map(number, golds) if value is not None]
    letters = [wanted.strip().upper() for wanted in golds if len(plain(wanted)) == 1 and plain(wanted).isalpha()]
    sides = [plain(wanted) in YES for wanted in golds if plain(wanted) in YES | NO]
    texts = [wanted for wanted in golds if number(wanted) is None and len(plain(wanted)) > 1]
    words = [wanted for wanted in texts if plain(wanted) not in YES | NO]
    read: list[Parsed[bool]] = []
    if values:
        answer = read_number(response)
        right = None if answer.value is None else any(_same(answer.value, value) for value in values)
        read.append(Parsed(right, answer.how))
    if letters:
        letter = read_choice(response, dict.fromkeys(ascii_uppercase, ""))
        read.append(Parsed(None if letter.value is None else letter.value in letters, letter.how))
    if sides:
        side = read_yes_no(response)
        read.append(Parsed(None if side.value is None else side.value in sides, side.how))
    if words:
        read.append(answers_with(words, response))
    return next((one for value in (True, False) for one in read if one.value is value), UNREAD)


def _same(given: float, wanted: float) -> bool:
    return math.isclose(round(given, _DECIMALS), round(wanted, _DECIMALS), abs_tol=1e-9)


_CHOICE = "multiple-choice"


def sample_of(row: Mapping[str, Any]) -> Sample | None:
    """Build the sample from a row of a published output file; None without the ground truth."""
    options = _options(row)
    if "id" not in row or "answer" not in row or options is None:
        return None
    target = target_of({"options": options, "answer": row["answer"]})
    subject = str(row.get("subject") or subject_of(str(row["id"])))
    return Sample(id=str(row["id"]), target=target, groups=groups_of(subject, row))


def _options(row: Mapping[str, Any]) -> Any:
    """Return the options of a row, none for an open question, or None if the row lacks them."""
    if "options" in row:
        return row["options"] or []
    if "index2ans" in row:
        lettered: Mapping[str, str] = row["index2ans"] or {}
        return [lettered[letter] for letter in sorted(lettered)]
    return [] if row.get("question_type", _CHOICE) != _CHOICE else None


_OFFICIAL_DECIMALS = 3


def official_totals(items: Sequence[Graded]) -> dict[str, dict[str, float]]:
    """Build the official table over samples: `Overall-<Domain>`, its subjects, and `Overall`, to three decimals.

    Subjects and domains without samples are left out.
    """
    totals: dict[str, dict[str, float]] = {}
    for domain, subjects in DOMAINS.items():
        of_domain = [item for item in items if item.groups["subject"] in subjects]
        if not of_domain:
            continue
        totals[f"Overall-{domain}"] = _official_row(of_domain)
        for subject in subjects:
            if of_subject := [item for item in of_domain if item.groups["subject"] == subject]:
                totals[subject] = _official_row(of_subject)
    return {**totals, "Overall": _official_row(items)}


def medevalkit_totals(items: Sequence[Graded]) -> dict[str, Any]:
    """Build MedEvalKit's validation results: one table per subject, and `total`."""
    totals: dict[str, Any] = {}
    for subject in dict.fromkeys(item.groups["subject"] for item in items):
        of_subject = [item for item in items if item.groups["subject"] == subject]
        right, total = sum(item.right for item in of_subject), len(of_subject)
        totals[subject] = {"acc": share(right, total), "right": right, "total": total, "num_example": total}
    return {**totals, "total": table(sum(item.right for item in items), len(items))}


def _official_row(items: Sequence[Graded]) -> dict[str, float]:
    accuracy = share(sum(item.right for item in items), len(items))
    return {"num": len(items), "acc": round(accuracy, _OFFICIAL_DECIMALS)}


SCORINGS = ("strict", "official", "paper", "code-upstream", "code-fork")
SEED = 42
"""Seed of the official program, and MedEvalKit's default."""


def score(sample: Sample, episode: Episode, grading: Grading, *, program: str) -> Scores:
    """Score one episode. A sample with a withheld answer gets no score.

    With invalid options, `strict` gives no score and the published programs count the sample as wrong. They answer an
    unparsed choice at random: the row has the expected value, 1/n, and the tables (`totals`) the seeded draw, which
    depends on all samples before.
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


def totals(rows: Sequence[Mapping[str, Any]], scoring: str, *, program: str) -> Mapping[str, Any]:
    """Build the benchmark's table, or MedEvalKit's under its scorings."""
    how = _checked(scoring)
    known = [row for row in rows if row["scored"] and row["values"].get("correct") is not None]
    if not known:
        return {"withheld": sum(row["scored"] for row in rows)}
    items = _replayed(known, _program(program, how)) if how != "strict" else [_graded(row) for row in known]
    medevalkit = _program(program, how) == "medevalkit"
    counts = {"unparsed": sum("unparsed" in row["flags"] for row in known)}
    found = Totals({**(medevalkit_totals(items) if medevalkit else official_totals(items)), **counts})
    drawn = sum("by_lot" in row["notes"] for row in known)
    if drawn and how != "strict":
        overall = found["total" if medevalkit else "Overall"]["acc"]
        found.remarks.append(
            f"correct counts the {drawn} unparsed choices at the expected value of a lot, 1 of n options; the "
            f"published table draws them with seed {SEED}, and its overall accuracy is {overall:.3f}"
        )
    return found


def _strict(target: Mapping[str, Any], reply: str) -> Scores:
    if target["kind"] == "open":
        verdict = open_verdict(target["gold"], reply)
        notes = {"read": verdict.how, "gold": target["gold"]}
        return Scores({"correct": float(verdict.value is True)}, notes, unparsed=verdict.value is None)
    read = read_choice(reply, target["options"])
    notes = {"answer": read.value, "read": read.how, "gold": target["gold"]}
    return Scores({"correct": float(read.value == target["gold"])}, notes, unparsed=read.value is None)


def _graded(row: Mapping[str, Any]) -> Graded:
    return Graded(right=row["values"]["correct"] == 1.0, groups={"subject": str(row["groups"]["subject"])})


def _replayed(rows: Sequence[Mapping[str, Any]], program: str) -> list[Graded]:
    """Score all samples with one seeded random stream for unparsed choices.

    The order is that of the published programs: subjects by name, samples as in their file.
    """
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


def write(episodes: Iterable[Episode], folder: Path) -> list[Path]:
    """Write the file for MMMU's EvalAI page: id -> answer, as JSON. An unparsed choice is empty: no guesses."""
    answers: dict[str, str] = {}
    for episode in episodes:
        target = episode.sample.target
        if not target or target["gold"] is not None:
            continue
        choice = target["kind"] == "choice"
        read = read_choice(episode.answer, target["options"]) if choice else read_answer(episode.answer)
        answers[episode.sample.id] = read.value or ""
    if not answers:
        return []
    path = folder / "answers.json"
    write_json(path, answers)
    return [path]
