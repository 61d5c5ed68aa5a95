"""Scores of VOILA by rule: free, offline, deterministic (docs/benchmarks/voila.md, "Reading by rule").

Steps 1 to 3 are parsed from the answers, step 4 is read from the drawing where the built-in image reader can. An
ambiguous or unreadable value is None: wrong, and unparsed if nothing was found. Scores are not comparable with
published ones, which GPT-4o judged; `agreement` is reported when both exist. RA and AL need no judge: the drawing is
compared with the third step and with the ground truth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sketchmark.answers import without_thinking
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Sample
from sketchmark.tasks.files import BLIND
from sketchmark.worlds.voila import reader
from sketchmark.worlds.voila.scenes import (
    Scene,
    actions_in,
    first_number,
    numbers_in,
    only,
    read_statement,
    subjects_in,
)

PROPERTIES = ("number", "subject", "action")

_IMAGE = re.compile(r"(?:\bimage\s*#?\s*([123])\b|\b(first|second|third) image\b)\s*\**\s*:?", re.IGNORECASE)
_ORDINALS = {"first": 1, "second": 2, "third": 3}
_UNNUMBERED = (re.compile(r"\bimage\W{0,9}:", re.IGNORECASE), re.compile(r"^[ *'\"-]*[123][.):]", re.MULTILINE))
"""The prompt's own 'Image : Description' taken at its word, or a list: read in order when there are just three."""
_SAME = re.compile(
    r"\b(remain\w*|constant|same|unchanged|no change|not change\w*|stays?|identical|stable)\b", re.IGNORECASE
)
_CHANGED = re.compile(
    r"\b(chang\w*|increas\w*|decreas\w*|differ\w*|from\b.{1,99}?\bto|becomes?|reduc\w*|doubl\w*|add\w*|fewer|more)\b",
    re.IGNORECASE,
)
_NAMES: Mapping[str, re.Pattern[str]] = {
    "number": re.compile(r"\b(numbers?|counts?|quantity)\b", re.IGNORECASE),
    "subject": re.compile(
        r"\b(subject types?|types? of subjects?"
        r"|(?<!of )(?<!\d )(?<!one )(?<!two )(?<!three )(?<!four )subjects?(?! count))\b",
        re.IGNORECASE,
    ),
    "action": re.compile(r"\b(actions?|activit(?:y|ies))\b", re.IGNORECASE),
}
_CLAUSES = re.compile(r"(?<=[.;!])\s+|\n+|,? (?:but|while|whereas)\b", re.IGNORECASE)
_HEADING = re.compile(r"\bpropert(?:y|ies)\b|:[ *_]{0,9}$", re.IGNORECASE)

_NOT = r"(?:\b(?:not|never|neither|nor|no longer|cannot|without)\b|n['’]t\b)"
_DENIED = re.compile(rf"(?:{_NOT}|\bno\b(?!:))(?:(?!\b(?:but|rather|instead)\b)[^,.;!?()\n])*", re.IGNORECASE)
"""A negation and what it denies: the rest of its clause."""
_NEAR = r"(?:\W+\w+){0,3}?\W+"
_NOT_SAME = re.compile(
    rf"{_NOT}{_NEAR}(?:remain\w*|constant|same|unchanged|stay\w*|identical|stable)\b(?:\W+the\W+same\b)?",
    re.IGNORECASE,
)
_NOT_CHANGED = re.compile(rf"(?:{_NOT}|\bno\b){_NEAR}(?:chang\w*|differ\w*|becomes?)\b", re.IGNORECASE)
_NOT_MOVED = re.compile(
    rf"(?:{_NOT}|\bno\b){_NEAR}(?:increas\w*|decreas\w*|reduc\w*|doubl\w*|add\w*|fewer|more)\b", re.IGNORECASE
)
"""Says neither that the number changed nor that it did not."""
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_STATEMENT = re.compile(r"\bnumber\W{0,9}[=:]", re.IGNORECASE)
_CLAUSE = re.compile(r"[,.;:!?\n]|\b(?:so|but|thus|hence|therefore)\b", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\baction\W{0,9}[=:][^\n.]{0,99}?\b(?:(?:is|are|would be)\W+(?:not|wrong|incorrect|false)\b|isn['’]t\b)",
    re.IGNORECASE,
)
_LEAD = 100
"""Characters before a statement that may deny it."""


@dataclass(frozen=True)
class Relation:
    """Statement about one property between images 1 and 2; None if the answer does not say."""

    changed: bool | None
    values: tuple[int, ...] = ()
    direction: int = 0


def read_step1(reply: str) -> list[Scene]:
    """The three scenes described; a property that is missing, denied or ambiguous is None."""
    text = without_thinking(reply)
    marks = [
        (match.start(), match.end(), int(match[1] or _ORDINALS[match[2].lower()])) for match in _IMAGE.finditer(text)
    ]
    for pattern in _UNNUMBERED:
        found = list(pattern.finditer(text))
        if not marks and len(found) == 3:
            marks = [(match.start(), match.end(), place) for place, match in enumerate(found, 1)]
    pieces = {1: "", 2: "", 3: ""}
    for (_, end, image), following in zip(marks, [*(mark[0] for mark in marks[1:]), len(text)], strict=False):
        pieces[image] += " " + text[end:following]
    return [_scene(piece) for piece in pieces.values()]


def _scene(piece: str) -> Scene:
    """The scene of one description. Alternatives ("two or four cats") give only what all of them say."""
    said = _DENIED.sub(" ", piece)
    numbers = {number for part in _OR.split(said) if (number := first_number(part)) is not None}
    return Scene(only([*numbers]), only(subjects_in(said)), only(actions_in(said)))


def read_step2(reply: str) -> dict[str, Relation]:
    """Return the statement about each property: changed or not, the values named, and for numbers the direction.

    Read clause by clause; a heading such as "Unchanged properties:" holds for the clauses below it that do not say.
    """
    said: dict[str, Relation] = {}
    heading: bool | None = None
    for clause in _CLAUSES.split(without_thinking(reply)):
        pieces = _pieces(clause)
        changed = _changed(clause)
        if changed is not None and len(pieces) != 1 and _HEADING.search(clause):
            heading = changed
        for name, piece in pieces.items():
            own = _changed(piece)
            verdict = next((known for known in (own, changed, heading) if known is not None), None)
            if verdict is None or name in said:
                continue
            part = piece if own is not None or len(pieces) == 1 else ""
            direction = _direction(part) if name == "number" else 0
            said[name] = Relation(None if direction is None else verdict, _values(name, part), direction or 0)
    return {name: said.get(name, Relation(None)) for name in PROPERTIES}


def _pieces(clause: str) -> dict[str, str]:
    """The properties a clause names, each with the words from its own name to the next one's."""
    starts = {name: match.start() for name, pattern in _NAMES.items() if (match := pattern.search(clause))}
    ordered = sorted(starts, key=lambda name: starts[name])
    cuts = [0, *(starts[name] for name in ordered[1:]), len(clause)]
    return {name: clause[cuts[at] : cuts[at + 1]] for at, name in enumerate(ordered)}


def right_step1(read: Sequence[Scene], truth: Sequence[Scene]) -> dict[str, float]:
    """Per property and overall, each the share of the three pictures (the published averages)."""
    hits = [[getattr(r, p) == getattr(t, p) for p in PROPERTIES] for r, t in zip(read, truth, strict=True)]
    shares = {p: sum(hit[i] for hit in hits) / 3 for i, p in enumerate(PROPERTIES)}
    return {**shares, "overall": sum(all(hit) for hit in hits) / 3}


def right_step2(read: Mapping[str, Relation], first: Scene, second: Scene) -> dict[str, float]:
    """A property is right when changed/unchanged is right and nothing that is named contradicts the pictures."""
    right = {}
    for name in PROPERTIES:
        before, after = getattr(first, name), getattr(second, name)
        relation, changed = read[name], before != after
        fits = relation.changed == changed and set(relation.values) <= {before, after}
        if changed and relation.direction:
            fits = fits and (after > before) == (relation.direction > 0)
        right[name] = float(fits)
    return {**right, "overall": float(all(right.values()))}


def right_step3(read: Mapping[str, int | str | None] | None, answer: Scene) -> dict[str, float]:
    """`any` is one more value: right only where it is due."""
    due = {name: "any" if value is None else value for name, value in zip(PROPERTIES, answer, strict=True)}
    right = {name: float(read is not None and read[name] == due[name]) for name in PROPERTIES}
    return {**right, "overall": float(all(right.values()))}


def _changed(clause: str) -> bool | None:
    """ "Unchanged" and "does not change" mean the same, and "does not stay the same" the opposite. A clause that says
    both change and no change says nothing, and neither does "does not increase"."""
    denied = [pattern.search(clause) is not None for pattern in (_NOT_SAME, _NOT_CHANGED)]
    for pattern in (_NOT_SAME, _NOT_CHANGED, _NOT_MOVED):
        clause = pattern.sub(" ", clause)
    same = denied[1] or _SAME.search(clause) is not None
    rest = re.sub(r"\bunchanged\b", " ", _SAME.sub(" ", clause), flags=re.IGNORECASE)
    changed = denied[0] or _CHANGED.search(rest) is not None
    return None if same == changed else changed


def _values(name: str, clause: str) -> tuple[int, ...]:
    if name == "number":
        return tuple(numbers_in(clause, articles=False))
    return tuple(subjects_in(clause) if name == "subject" else actions_in(clause))


def _direction(clause: str) -> int | None:
    """1 for more, -1 for fewer, 0 if it is not said; None for alternatives ("increases or decreases")."""
    clause = _NOT_MOVED.sub(" ", clause)
    up = re.search(r"\bincreas\w*|\bmore\b|\bdoubl\w*", clause, re.IGNORECASE) is not None
    down = re.search(r"\bdecreas\w*|\bfewer\b|\breduc\w*", clause, re.IGNORECASE) is not None
    return None if up and down and _OR.search(clause) else up - down


def read_step3(reply: str) -> dict[str, int | str | None] | None:
    """The last `number = …, subject = …, action = …` that is not denied.

    None: there is none, or it is one of two that are offered as alternatives. A denied value is None.
    """
    text = without_thinking(reply)
    starts = [found.start() for found in _STATEMENT.finditer(text)]
    found: list[dict[str, int | str | None]] = []
    offered: list[dict[str, int | str | None]] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        values = read_statement(text[start:end])
        lead = _CLAUSE.split(text[max(0, start - _LEAD) : start])[-1]
        if values is None or _DENIED.search(lead) or _TAKEN_BACK.search(text[start:end]):
            continue
        kept = {name: None if _denies(name, text[start:end]) else value for name, value in values.items()}
        offered = [*offered, kept] if offered and _OR.search(lead) else [kept]
        found.append(kept)
    return found[-1] if found and all(one == found[-1] for one in offered) else None


def _denies(name: str, statement: str) -> bool:
    """Return whether the value of a property begins with a negation."""
    negated = rf"\b{name}(?: type)?\W{{0,9}}[=:]\W{{0,9}}(?:{_NOT}|\bno\b)"
    return re.search(negated, statement, re.IGNORECASE) is not None


def by_rule(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`voila_step{k}_{number,subject,action,overall}`; the headline is step 3 overall, as in the paper.

    A step that the mode does not ask for has no score; one that was asked for and not reached is wrong. The published
    scores are the judge's: under `official` these stand in the place of the rule's.
    """
    if grading.scoring == "official":
        return Scores({})
    first, second, third = (Scene(*scene) for scene in sample.target["scenes"])
    answer = Scene(*sample.target["answer"])
    stepwise = episode.settings.get("mode") not in ("direct", BLIND)
    says = dict(zip((1, 2, 3) if stepwise else (3,), [*episode.says, "", "", ""], strict=False))
    values: dict[str, float | None] = {}
    notes: dict[str, Any] = {}
    if stepwise:
        values |= _named(1, right_step1(read_step1(says[1]), (first, second, third)))
        values |= _named(2, right_step2(read_step2(says[2]), first, second))
    final = read_step3(says[3])
    values |= _named(3, right_step3(final, answer))
    notes |= {"answer": dict(final) if final else None, "expected": sample.target["answer_text"]}
    if episode.draw_attempts:
        drawn = _read_drawing(episode)
        values |= {f"voila_step4_reader_{key}": value for key, value in _right_drawing(drawn, answer).items()}
        notes["drawn"] = drawn.describe() if drawn else None
        notes["frames_right"] = [values["voila_step4_reader_overall"] == 1.0]
    return Scores(values, notes, unparsed=final is None)


def _named(step: int, right: dict[str, float]) -> dict[str, float | None]:
    return {f"voila_step{step}_{key}": value for key, value in right.items()}


def _read_drawing(episode: Episode) -> Scene | None:
    return reader.read(episode.drawings[-1]) if episode.drawings else None


def _right_drawing(drawn: Scene | None, answer: Scene) -> dict[str, float]:
    """Score the drawing. If the answer is `any`, every drawing is right: our choice, step 4 has no published score
    (docs/benchmarks/voila.md, "Scores")."""
    right = {
        name: float(drawn is not None and (due is None or getattr(drawn, name) == due))
        for name, due in zip(PROPERTIES, answer, strict=True)
    }
    return {**right, "overall": float(all(right.values()))}


def drawn(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Shares of number, subject and action; `any` is fulfilled by every picture. `answer_as_drawn` is None where the
    picture or the statement cannot be read."""
    if not episode.drawings:
        return Scores({})
    found = by_rule(sample, episode, Grading())
    right = [found.values[f"voila_step4_reader_{name}"] or 0.0 for name in PROPERTIES]
    scene, said = reader.read(episode.drawings[-1]), read_step3(episode.answer)
    agrees = None
    if scene is not None and said is not None:
        agrees = sum(said[name] in ("any", getattr(scene, name)) for name in PROPERTIES) / len(PROPERTIES)
    notes = {"answer": found.notes["answer"], "drawn": found.notes["drawn"]}
    return Scores({"drawing_right": sum(right) / len(right), "answer_as_drawn": agrees}, notes)
