r"""Uni-MMMU geometry: solutions and auxiliary lines by the published judges' questions, calculated numbers by rule.

The problems are rows of the hub's dataset, or `math_data/filtered.json` of the extracted folder
(docs/benchmarks/uni-mmmu.md, "Geometry"). The original asks Qwen3-32B about the text and Qwen2.5-VL-72B about the
overlay; here the judge is any model. `strict` scores a missing part as wrong, and `official` leaves out unproduced
items, as the published program does. Numbers are parsed as geometry writes them: `3\sqrt{3}/2`, `2√5 cm`, `30°`,
`\frac{5\pi}{3}`, `x = 12`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sketchmark.answers import without_thinking
from sketchmark.answers.numbers import read_number
from sketchmark.benchmarks import uni_mmmu
from sketchmark.benchmarks.uni_mmmu import OFFICIAL, labels, no_truth, published, unscored, whole_numbers
from sketchmark.benchmarks.uni_mmmu.puzzles import column, named
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Content, Sample
from sketchmark.errors import BadInput
from sketchmark.files.tables import as_picture, rows
from sketchmark.media import Picture

_LONGEST = 200
_DEEPEST = 40
_DECIMAL = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_OPTION = re.compile(r"\s*\(?[A-Z]\)?\s*[.:)、]\s*(?=\S)")
_LAST = (
    r"(?:(?<![a-z])(?:square|cubic|sq)\.?\s*)?(?:cm|mm|dm|km|m|degrees?|units?|radians?|rad|inches|feet)"
    r"(?:\s*(?:\^?\{?[23]\}?|[²³]))?"
)
_UNIT = re.compile(rf"(?<![a-z]){_LAST}\.?\s*\Z", re.IGNORECASE)
_SPELLINGS = (
    (re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\[dt]frac"), r"\\frac"),
    (re.compile(r"\\(?:left|right|,|;|!|quad|displaystyle)"), " "),
    (re.compile(r"\^\s*(?:\{\s*)?\\(?:circ|degree)(?:\s*\})?|°|\\degree"), " "),
    (re.compile(r"\\pi|π"), "p"),
    (re.compile(r"\\sqrt\s*|√\s*|\bsqrt\s*"), "r"),
    (re.compile(r"\\(?:times|cdot)|[×·⋅]"), "*"),
    (re.compile(r"\\div|÷"), "/"),
    (re.compile(r"[−–]"), "-"),
    (re.compile(r"²"), "^2"),
    (re.compile(r"³"), "^3"),
    (re.compile(r"[$`*_]{2,}|[$`]|\\[()\[\]]"), " "),
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
)


def quantity(text: str) -> float | None:
    """The finite number that a short text stands for, its unit and option letter taken off; None if it is none."""
    if not text or len(text) > _LONGEST:
        return None
    text = _OPTION.sub("", text, count=1)
    for spelling, plain in _SPELLINGS:
        text = spelling.sub(plain, text)
    text = text.rpartition("=")[2].rpartition("≈")[2].strip().rstrip(".").strip()
    try:
        value = _Reading(_UNIT.sub("", text).strip()).value()
    except (ValueError, ArithmeticError):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def same(one: float, other: float) -> bool:
    """Whole numbers are equal or not; others may be rounded: 6.93 is 4√3."""
    if one.is_integer() and other.is_integer():
        return one == other
    return math.isclose(one, other, rel_tol=1e-3)


class _Reading:
    """One pass from left to right: sums of products of powers, a product's sign left out or not (`3√2`, `2π`)."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def value(self) -> float:
        found = self._sum()
        if self._next():
            raise ValueError("something is left over")
        return found

    def _next(self) -> str:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, expected: str) -> bool:
        if self._next() and self._text.startswith(expected, self._at):
            self._at += len(expected)
            return True
        return False

    def _sum(self) -> float:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("nested too deep")
        found = -self._product() if self._take("-") else self._product()
        while (sign := self._next()) in ("+", "-"):
            self._at += 1
            found += self._product() if sign == "+" else -self._product()
        self._depth -= 1
        return found

    def _product(self) -> float:
        found = self._power()
        while following := self._next():
            if self._take("/"):
                found /= self._power()
            elif self._take("*") or following in "(pr\\{" or following.isdigit():
                found *= self._power()
            else:
                break
        return found

    def _power(self) -> float:
        base = self._atom()
        if not self._take("^"):
            return base
        found = base ** (-self._atom() if self._take("-") else self._atom())
        if isinstance(found, complex):
            raise ValueError("no real number")
        return float(found)

    def _atom(self) -> float:
        if self._take("p"):
            return math.pi
        if self._take("r"):
            return math.sqrt(self._atom())
        if self._take("\\frac"):
            above = self._atom()
            return above / self._atom()
        for opening, closing in (("(", ")"), ("{", "}")):
            if self._take(opening):
                found = self._sum()
                if not self._take(closing):
                    raise ValueError(f"no {closing}")
                return found
        self._next()
        number = _DECIMAL.match(self._text, self._at)
        if not number:
            raise ValueError("no number")
        self._at = number.end()
        return float(number[0])


CALCULATION, PROVING = "CALCULATION", "PROVING"

_FILE = "filtered.json"
_LONGEST_ID = 120


def problems(
    *, seed: int, data: Path | None, origin: Mapping[str, str], limit: int | None = None
) -> Iterator[Sample]:
    """Yield samples. `lines` describes the auxiliary lines; the ground-truth overlay, if any, is the only frame."""
    found = _filtered(data)
    if found is not None:
        yield from found
        return
    for where, name, row in named(rows(data, **origin, limit=limit)):
        drawn = row.get("auxiliary_image")
        column(row, "answer", where, "solution_en")
        yield _problem(
            name,
            row,
            as_picture(column(row, "image", where), where),
            str(column(row, "question", where, "problem")),
            as_picture(drawn, f"{where}, auxiliary_image") if drawn else None,
        )


def _filtered(data: Path | None) -> Iterator[Sample] | None:
    """The items of filtered.json, which is an object of objects; None if `data` is neither that nor its folder."""
    if data is not None and data.is_file() and data.suffix == ".json":
        body = uni_mmmu.read_json(data)
        return _items(data, body) if isinstance(body, dict) else None
    place = uni_mmmu.find(data, "math_data", lambda place: (place / _FILE).is_file())
    return _items(place / _FILE, uni_mmmu.read_json(place / _FILE)) if place else None


def _items(file: Path, body: Any) -> Iterator[Sample]:
    if not isinstance(body, dict) or not all(isinstance(group, dict) for group in body.values()):
        raise BadInput(f"{file} is not an object of objects, as math_data/{_FILE} is")
    for big, group in body.items():
        for small, item in group.items():
            where = f"{file}, item {big}/{small}"
            if not isinstance(item, dict):
                raise BadInput(f"{where} is not an object")
            if not item.get("original_image"):
                raise BadInput(f"{where} has no original_image", f"it has: {', '.join(item)}")
            drawn = item.get("auxiliary_image")
            yield _problem(
                f"{_safe(big)}__{_safe(small)}",
                item,
                Picture.from_file(uni_mmmu.path_in(file.parent, item["original_image"], where)),
                str(item.get("problem_text_en") or item.get("problem_text") or "(no problem text)"),
                Picture.from_file(uni_mmmu.path_in(file.parent, drawn, where)) if drawn else None,
            )


def _problem(name: str, row: Mapping[str, Any], diagram: Picture, question: str, overlay: Picture | None) -> Sample:
    answer = _text(row.get("answer"))
    filed = {
        "solution": row.get("solution_en") or row.get("solution") or row.get("answer"),
        "lines": row.get("auxiliary_text_en"),
    }
    blank = {name: str(value) for name, value in filed.items() if value is not None and str(value) != _text(value)}
    return Sample(
        id=name,
        pictures={"image": diagram},
        fields={
            "question": question,
            "choices": _choices(row.get("choices_en")),
            "lines": _text(row.get("auxiliary_text_en")),
        },
        target={
            "kind": _kind(_text(row.get("type")), answer),
            "solution": _text(row.get("solution_en")) or _text(row.get("solution")) or answer,
            "answer": answer,
            **({"as_filed": blank} if blank else {}),
        },
        groups={"type": str(row["type"])} if row.get("type") else {},
        frames=partial(list[Picture], [overlay]) if overlay else None,
    )


def _kind(said: str, answer: str) -> str:
    """Return the kind as the published sampler does; a row that does not say is a calculation if it has a number."""
    if said:
        return CALCULATION if said.lower().startswith("calc") else PROVING
    return CALCULATION if quantity(answer) is not None else PROVING


def _choices(value: Any) -> str:
    """One on a line; JSON rows have a list, parquet may have an array."""
    listed = [] if value is None or isinstance(value, str) else list(value)
    return "\n".join(map(str, listed)) or "(no choices)"


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _safe(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_\-.]+", "_", key.strip())[:_LONGEST_ID] or "item"


_TEXT, _OVERLAY, _NUMBER = "geometry_text_acc", "geometry_overlay_acc", "geometry_number_acc"
_TEXT_FIELDS = ("reasoning_rigorous", "conclusion_correct", "text_ok")
_TEXT_TOKENS, _OVERLAY_TOKENS = 16384, 512
"""The text judge thinks aloud. Published are 32,767 tokens, which some providers refuse as too many."""

_FINAL = re.compile(r"Final answer\s*[:：]\s*([^\n]{1,200})", re.IGNORECASE)


async def solution(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`geometry_text_acc`: rigorous and right, says the judge."""
    official = grading.scoring == OFFICIAL
    said = episode.answer if official else without_thinking(episode.answer).strip()
    if official and episode.failure:
        return _not_produced(_TEXT)
    if not said.strip() and not official:
        return Scores({_TEXT: 0.0}, {"answer": ""}, unparsed=True)
    if not sample.target["solution"] and not official:
        return no_truth("reference solution", _TEXT)
    if grading.judge is None:
        return unscored(_TEXT)
    question = published("geometry_text_user").format(
        task_type=_published_kind(sample) if official else sample.target["kind"],
        problem=sample.fields["question"],
        gt_text=_judged(sample, official, "solution", sample.target["solution"]),
        cand_text=said,
    )
    system, read = published("geometry_text_system"), whole_numbers(*_TEXT_FIELDS)
    found = await labels(grading, system, [question], _TEXT_TOKENS, ["text_ok"], read)
    notes = {"answer": said, "expected": sample.target["solution"], f"{_TEXT}_judge": found.reply}
    return Scores({_TEXT: float(found.verdict[0])}, notes)


async def overlay(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`geometry_overlay_acc`: all required lines are drawn, says the judge, who sees diagram, truth and drawing."""
    if not episode.draw_attempts:
        return Scores({})
    truth = sample.frames() if sample.frames else []
    if grading.scoring == OFFICIAL and episode.failure:
        return _not_produced(_OVERLAY)
    if not truth:
        return no_truth("picture of the required lines", _OVERLAY)
    if not episode.drawings:
        return Scores({_OVERLAY: 0.0}, {"frames_right": [False]})
    if grading.judge is None:
        return unscored(_OVERLAY)
    diagram = sample.pictures["image"]
    assert isinstance(diagram, Picture)
    lines = _judged(sample, grading.scoring == OFFICIAL, "lines", sample.fields["lines"])
    question = published("geometry_overlay_user").format(aux_en=lines or "(none)")
    system, read = published("geometry_overlay_system"), whole_numbers("overlay_ok")
    parts: list[Content] = [question, diagram, truth[0], episode.drawings[0]]
    found = await labels(grading, system, parts, _OVERLAY_TOKENS, ["overlay_ok"], read)
    notes = {f"{_OVERLAY}_judge": found.reply, "frames_right": list(found.verdict)}
    return Scores({_OVERLAY: float(found.verdict[0])}, notes)


def _published_kind(sample: Sample) -> str:
    """The kind by the published program: a row without a type is a proof."""
    return CALCULATION if str(sample.groups.get("type", "")).lower().startswith("calc") else PROVING


def _judged(sample: Sample, official: bool, name: str, stripped: str) -> str:
    """A text for the judge: for `official` as it is filed, blanks included."""
    return str(sample.target.get("as_filed", {}).get(name, stripped)) if official else stripped


def number(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`geometry_number_acc`, by rule, where a calculation's answer is a bare number. It asks for no rigour, so it is
    never `geometry_text_acc`."""
    truth = quantity(sample.target["answer"]) if sample.target["kind"] == CALCULATION else None
    if truth is None:
        return Scores({_NUMBER: None})
    found = _final(without_thinking(episode.answer))
    notes: dict[str, Any] = {"number": found, "expected_number": truth}
    return Scores({_NUMBER: float(found is not None and same(found, truth))}, notes, unparsed=found is None)


def _final(said: str) -> float | None:
    """The last `Final answer: …`; without one, the number that the reply gives as its answer."""
    marked = _FINAL.findall(said)
    return quantity(marked[-1].strip(" *_")) if marked else read_number(said).value


def _not_produced(name: str) -> Scores:
    return Scores({name: None}, {"skipped": "the published evaluator leaves out items that were not produced"})
