"""UniG2U-Bench (https://arxiv.org/abs/2603.03241): thirty subtasks, each asked directly and after a drawing.

Here are the published programs' parsers, accidents included (docs/benchmarks/unig2u.md, "The published readings"),
for `official`. None means that nothing was found: the scorer decides what follows. The overall score weights the
subtasks of each category by their numbers of items ("The score").
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sketchmark.episode import Share, Total
from sketchmark.worlds.moves import unwrap

_DATA = (
    *("babyvision", "charts", "collisions", "geometry", "illusions"),
    *("maps", "physics", "realunify", "solids", "visual_puzzles"),
)
_SCORES = (
    *("illusions", "physics", "realunify", "visual_puzzles", "babyvision", "solution"),
    *("collision", "route", "jigsaw", "maze", "sliding"),
)
ALIASES = {
    **{name: f"sketchmark.benchmarks.unig2u.data:{name}" for name in _DATA},
    **{f"score_{name}": f"sketchmark.benchmarks.unig2u.scores:{name}" for name in _SCORES},
    "score_charts": "sketchmark.benchmarks.unig2u.scores:relaxed",
    "labels": "sketchmark.benchmarks.unig2u.scores:labels",
    "pairs_of_seconds": "sketchmark.benchmarks.unig2u.scores:pairs_of_seconds",
    "total": "sketchmark.benchmarks.unig2u:total",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""

LETTERS = "ABCD"

_BEFORE_TRIMMING = tuple(
    map(
        re.compile,
        (r"Answer:\s*\(([A-Za-z])\)", r"(?<!Final )Answer:\s*([A-Za-z])", r"Answer:\s*([A-Za-z])", r"\(([A-Za-z])\)"),
    )
)
_AFTER_TRIMMING = tuple(map(re.compile, (r"([A-Za-z])\)", r"\{([A-Za-z])\}", r"\$([A-Za-z])\$", r" ([A-Da-d])\.")))
_ALONE = re.compile(r"(?<![A-Za-z])([A-Za-z])\)")
_SHORT, _SHORTEST = re.compile(r" ([A-Da-d])"), 5


def visual_puzzles(reply: str, options: Sequence[str] | None, *, inside_words: bool = True) -> str | None:
    """VisualPuzzles' letter. `inside_words`: `rotated)` is D, as published; None where it would draw a lot."""
    text = reply.strip()
    for pattern in _BEFORE_TRIMMING:
        if letter := _last(pattern, text):
            return letter
    text = f" {text}"
    for pattern in _AFTER_TRIMMING if inside_words else (_ALONE, *_AFTER_TRIMMING[1:]):
        if letter := _last(pattern, text):
            return letter
    if len(text) <= _SHORTEST and (letter := _last(_SHORT, text)):
        return letter
    return _by_words(text, options) if options else None


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    return next((found.upper() for found in reversed(pattern.findall(text)) if found.upper() in LETTERS), None)


def _by_words(text: str, options: Sequence[str]) -> str | None:
    lowered = text.lower()
    for letter, option in zip(LETTERS, options, strict=True):
        if f"answer: {option}" in lowered or f"answer:{option}" in lowered:
            return letter
    places = [text.rfind(option) for option in options]
    return LETTERS[places.index(max(places))] if max(places) >= 0 else None


_PHRASES = (
    *("The best answer is", "The correct answer is", "The answer is", "The answer", "The best option is"),
    *("The correct option is", "Best answer:", "Best option:", "Answer", "Answer is"),
)


def realunify(reply: str) -> str | None:
    """The first capital from A to D, also inside a word, once some phrases are deleted."""
    text = reply.strip()
    for phrase in _PHRASES:
        text = text.replace(phrase, "")
    found = re.search(r"[ABCD]", text)
    return found[0] if found else None


def relaxed(reply: str, truth: str) -> bool:
    """Return ChartQA's relaxed accuracy: numbers within 5%, anything else equal except for case."""
    said, true = _number(reply.strip()), _number(truth)
    if said is not None and true:
        return abs(said - true) / abs(true) <= 0.05
    return reply.strip().lower() == truth.lower()


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


_DIRECTIONS = {name: re.compile(rf"{name}[:\s]*(\d{{1,400}})") for name in ("north", "south", "east", "west")}


def route(reply: str) -> tuple[int, int]:
    """(north - south, east - west) of all lines behind the first `Output`: two answers are added up."""
    start = reply.find("Output")
    start = start if start >= 0 else reply.find("Path")
    text = reply[start + 7 :] if start >= 0 else reply
    sums = dict.fromkeys(_DIRECTIONS, 0)
    for line in re.sub(r"[\"'.]", "", text).strip().lower().split("\n"):
        for name, pattern in _DIRECTIONS.items():
            if found := pattern.search(line):
                sums[name] += int(found[1])
    return sums["north"] - sums["south"], sums["east"] - sums["west"]


_TIME = re.compile(r"(car|person):\s*([0-9]*\.?[0-9]+)", re.IGNORECASE)


def times(reply: str) -> Mapping[str, float]:
    """Seconds of the car and the person, the last of each."""
    return {who.lower(): float(seconds) for who, seconds in _TIME.findall(reply)}


def extracted(reply: str, letters: str = "") -> str:
    """Return the text that PhyX and BabyVision hand to their judge.

    It is the last box, the last back-ticks, the first single capital among `letters` (none: skipped), or the first
    200 characters.
    """
    text = reply.strip()
    box = _box(text)
    if box is not None:
        return box
    if ticked := re.findall(r"`([^`]+)`", text):
        return str(ticked[-1]).strip()
    lone = re.search(rf"\b([{letters}])\b", text) if letters else None
    return lone[1] if lone else text[:200]


def _box(text: str) -> str | None:
    """The content of the last closed box, found from left to right; the outer one of nested boxes."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for at, character in enumerate(text):
        if character == "{":
            opened.append(at)
        elif character == "}" and opened:
            closing[opened.pop()] = at
    found, at = None, 0
    for start in (match.end() - 1 for match in re.finditer(r"\\boxed\{", text)):
        if start >= at and start in closing:
            found, at = text[start + 1 : closing[start]].strip(), closing[start] + 1
    return found


_JIGSAW = [
    (re.compile(rf"<{tag}>\s*(?=\{{)", re.IGNORECASE), re.compile(rf"\}}\s*</{tag}>", re.IGNORECASE))
    for tag in ("FINAL_ANSWER_JSON", r"FINAL_ANSWER\s+JSON")
]
_BARE_CHOICE = re.compile(r'"choice"\s*:\s*(\d)')


def jigsaw(reply: str) -> int | None:
    """The choice of the first tagged object as Python's `int` reads it (`true`, `"1"` and 1.7 are 1); without one the
    first `"choice": d` anywhere. The program does not check that it is 0 or 1."""
    text, value = unwrap(reply), None
    for opening, closing in _JIGSAW:
        begin = opening.search(text)
        end = closing.search(text, begin.end() + 1) if begin else None
        if begin and end:
            value = _choice(text[begin.end() : end.start() + 1])
            break
    if value is None and (bare := _BARE_CHOICE.search(text)):
        value = bare[1]
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _choice(text: str) -> Any:
    """The `choice` of the object that a text begins with."""
    try:
        return json.JSONDecoder().raw_decode(text)[0].get("choice")
    except (ValueError, RecursionError):
        return None


def _shares(category: str, items: int, *tasks: str) -> list[Share]:
    return [Share(f"unig2u_{task}", category, items) for task in tasks]


def _illusions(kind: str) -> list[Share]:
    """The same hundred pictures, asked for their shape and for their scene."""
    return [
        Share(f"unig2u_illusionbench_arshia_{kind}_{asks}_test", "Perception", 100, source=f"illusion_{kind}")
        for asks in ("shape", "scene")
    ]


def _port(task: str, items: int, score: str) -> Share:
    return Share(f"unig2u_{task}", "Puzzles", items, scores={"official": f"{score}_unig2u"})


def total() -> Total:
    return Total(
        "UniG2U",
        [
            *_shares("Real-world", 100, "realunify_attentional_focusing"),
            *_shares("Real-world", 50, "vsp_google_map", "vsp_collision"),
            *_shares("Geometry", 100, "geometry3k", "auxsolidmath_easy"),
            *_shares("Physics", 100, "phyx_mechanics100", "phyx_optics100"),
            *_shares("Puzzles", 100, "realunify_mental_reconstruction", "realunify_mental_tracking"),
            *_shares("Puzzles", 83, "babyvision_visual_tracking"),
            _port("uni_mmmu_jigsaw100", 100, "jigsaw_text_acc"),
            _port("uni_mmmu_maze100", 100, "maze_text_frame_acc"),
            _port("uni_mmmu_sliding54", 54, "sliding_text_frame_acc"),
            *_shares("Chart", 100, "chartqa100"),
            *_shares("Spatial", 100, "mmsi_attribute_appr", "mmsi_attribute_meas", "mmsi_motion_cam"),
            *_shares("Spatial", 100, "mmsi_motion_obj", "mmsi_msr"),
            *_shares("Perception", 100, *(f"VisualPuzzles_{kind}" for kind in KINDS)),
            *_illusions("icon"),
            *_illusions("logo"),
            *_illusions("in"),
            *_shares("Perception", 163, "babyvision_fine_grained"),
        ],
    )


KINDS = ("algorithmic", "analogical", "deductive", "inductive", "spatial")
"""Of VisualPuzzles."""
